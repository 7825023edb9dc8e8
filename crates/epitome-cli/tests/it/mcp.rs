//! `mcp`: a client's lines on stdin, the server's on stdout. The official client asks in `./test services`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Stdio};

use serde_json::{Value, json};

use crate::bench::{Bench, SESSION};

/// What the server answers to a client that asks all of `calls`, by the number of the call.
pub(crate) fn asked(bench: &Bench, command: &str, calls: &[(&str, Value)]) -> Vec<Value> {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let params = json!({ "name": tool, "arguments": arguments });
        lines.push(
            json!({ "jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": params }),
        );
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let input = lines.join("\n") + "\n";
    let ran = bench.pipe(command, input.as_bytes()).ends(0);
    let mut answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), calls.len() + 1, "{}", ran.out);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "epitome");
    answers.split_off(1)
}

pub(crate) fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn archives_and_recordings_are_searched() {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    bench.run("compact in.jsonl --target 10% --archive store -o out.json");
    for command in ["mcp --archive store", "mcp in.jsonl"] {
        let calls = [
            ("recall_search", json!({ "query": "regex", "limit": 2 })),
            ("context_stats", json!({})),
            ("recall_get", json!({ "id": "nothing" })),
        ];
        let answers = asked(&bench, command, &calls);
        let found = said(&answers[0]);
        assert!(
            found.starts_with("[recalled ") && found.to_lowercase().contains("regex"),
            "{found}"
        );
        let stats: Value = serde_json::from_str(said(&answers[1])).expect("JSON");
        assert!(stats["messages"].as_u64() > Some(10), "{command}: {stats}");
        assert_eq!(answers[2]["result"]["isError"], true);
        let id = &found["[recalled ".len()..found.find(']').expect("it ends")];
        let call = [("recall_get", json!({ "id": id, "max_tokens": 20_000 }))];
        let whole = asked(&bench, command, &call);
        assert!(said(&whole[0]).contains(id), "{command}");
    }
}

#[test]
fn a_search_keeps_to_the_project_of_the_folder() {
    let bench = Bench::new();
    for (project, word) in [("one", "quokka"), ("two", "wombat")] {
        let folder = bench.path(project);
        std::fs::create_dir_all(folder.join(".git")).expect("a folder");
        std::fs::create_dir_all(folder.join("deep")).expect("a folder");
        let filler = "and so on ".repeat(400);
        let row = |at: usize| {
            let (kind, parent) =
                if at.is_multiple_of(2) { ("user", at) } else { ("assistant", at) };
            let content = json!([{ "type": "text", "text": format!("the {word} {at} {filler}") }]);
            let row = json!({ "type": kind, "uuid": format!("{project}{at}"), "sessionId": project,
                "parentUuid": parent.checked_sub(1).map(|at| format!("{project}{at}")),
                "cwd": folder.join("deep"), "message": { "role": kind, "content": content } });
            format!("{row}\n")
        };
        bench.write(&format!("{project}.jsonl"), (0..20).map(row).collect::<String>());
        bench
            .run(&format!("compact {project}.jsonl --target 20% --archive store -o out.json"))
            .ends(0);
    }
    let calls = [
        ("recall_search", json!({ "query": "quokka" })),
        ("recall_search", json!({ "query": "wombat" })),
        ("recall_search", json!({ "query": "wombat", "all": true })),
        ("context_stats", json!({})),
    ];
    // The folder that it runs in is the repository's, or somewhere in it.
    for project in ["one", "one/deep"] {
        let answers = asked(&bench, &format!("mcp --archive store --project {project}"), &calls);
        assert!(said(&answers[0]).contains("the quokka"), "{}", said(&answers[0]));
        assert!(said(&answers[1]).starts_with("Nothing that was removed in this project"));
        assert!(said(&answers[2]).contains("the wombat"), "{}", said(&answers[2]));
        let stats: Value = serde_json::from_str(said(&answers[3])).expect("JSON");
        assert_eq!((&stats["project_sessions"], &stats["sessions"]), (&json!(1), &json!(2)));
    }
    let elsewhere = asked(&bench, "mcp --archive store", &calls);
    assert!(said(&elsewhere[0]).starts_with("Nothing that was removed in this project"));
}

/// What a client says first, and then.
fn hello() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

const BEGUN: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn invalid_json_gets_an_error_reply() {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    let (hello, begun) = (hello(), BEGUN);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let long = " ".repeat(17 << 20);
    let input = format!("{{\n{hello}\n\n{begun}\n[1,\n{long}\n\u{7f}\n{ping}");
    let ran = bench.pipe("mcp in.jsonl", input.as_bytes()).ends(0);
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let codes = |code: i64| answers.iter().filter(|it| it["error"]["code"] == code).count();
    assert_eq!((codes(-32_700), codes(-32_600)), (3, 1), "{}", ran.out);
    let of = |id: u64| answers.iter().find(|it| it["id"] == id).expect("an answer");
    assert_eq!(of(0)["result"]["serverInfo"]["name"], "epitome");
    assert!(of(1)["result"].is_object(), "the last line, which has no end");
}

#[test]
fn every_call_is_answered() {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    let (hello, begun) = (hello(), BEGUN);
    let search = r#""method":"tools/call","params":{"name":"recall_search","arguments""#;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let calls = [
        format!(r#""jsonrpc":"2.0",{search}:{{"query":"\ud800 thread"}}}}"#),
        format!(r#""jsonrpc":"2.0",{search}:{{"query":{deep}}}}}"#),
        format!(r#""jsonrpc":"2.0",{search}:{{"query":1e999}}}}"#),
        format!(r#""jsonrpc":"2.0",{search}:["query"]}}"#),
        format!(r#""jsonrpc":"2.0",{search}:{{"query":"regex","query":"regex"}}}}"#),
        format!(r#""jsonrpc":"1.0",{search}:{{"query":"regex"}}}}"#),
        format!(r#"{search}:{{"query":"regex"}}}}"#),
        r#""jsonrpc":"2.0","method":"tools/call""#.to_owned(),
        r#""jsonrpc":"2.0","method":"tools/call","params":7"#.to_owned(),
        r#""jsonrpc":"2.0","method":"tools/call","params":{"name":7}"#.to_owned(),
        r#""jsonrpc":"2.0","method":"nonsense""#.to_owned(),
        r#""jsonrpc":"2.0","method":7"#.to_owned(),
        r#""jsonrpc":"2.0","method":"notifications/cancelled","params":{}"#.to_owned(),
        r#""jsonrpc":"2.0","method":"ping""#.to_owned(),
    ];
    let mut lines = vec![hello.to_string(), begun.to_owned()];
    let numbered = calls.iter().enumerate();
    lines.extend(numbered.map(|(at, call)| format!("{{\"id\":{},{call}}}", at + 1)));
    lines.push(format!("{{\"id\":\"x\",{}}}", calls[0]));
    lines.push(format!("{{\"id\":1.5,{}}}", calls[13]));
    // Another protocol's notification: nobody waits.
    lines.push(r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#.to_owned());
    let ran = bench.pipe("mcp in.jsonl", (lines.join("\n") + "\n").as_bytes()).ends(0);
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: Vec<Value> =
        (0..=calls.len()).map(Value::from).chain([json!("x"), json!(1.5)]).collect();
    for id in &ids {
        let of = answers.iter().filter(|answer| answer["id"] == *id).count();
        assert_eq!(of, 1, "{id}: {}", ran.out);
    }
    assert_eq!(answers.len(), ids.len(), "{}", ran.out);
    for (id, code) in [(1, -32_700), (8, -32_602), (9, -32_600), (10, -32_602), (11, -32_601)] {
        let answer = answers.iter().find(|answer| answer["id"] == id).expect("an answer");
        assert_eq!(answer["error"]["code"], code, "{id}");
    }
}

/// What a server on `listen` answers to a POST of `body` with these headers: the status, and what follows.
pub(crate) fn posted(address: &str, headers: &str, body: &str) -> (u16, String) {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let length = body.len();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {length}\r\nConnection: close\r\n{headers}\r\n\r\n{body}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
}

/// A server over HTTP, that runs as long as this lives.
pub(crate) struct Listening {
    process: Child,
    said: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Listening {
    pub(crate) fn new(bench: &Bench, words: &[&str]) -> Self {
        let mut command = bench.command(&[words, &["--listen", "127.0.0.1:0"]].concat());
        let mut process = command.stderr(Stdio::piped()).spawn().expect("it runs");
        let mut said = BufReader::new(process.stderr.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where");
        let url = line.trim().strip_prefix("serving http://").expect("an address").to_owned();
        let address = url.strip_suffix("/mcp").expect("the path").to_owned();
        Listening { process, said, address }
    }

    /// Ends it; what it said besides.
    pub(crate) fn end(mut self) -> String {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ended");
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("UTF-8");
        said
    }
}

#[test]
fn over_http_web_pages_are_kept_out() {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    let server = Listening::new(&bench, &["mcp", "in.jsonl"]);
    let address = server.address.clone();
    let params = json!({ "name": "recall_search", "arguments": { "query": "regex" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let call = call.to_string();
    let host = format!("Host: {address}");
    let (status, answer) = posted(&address, &host, &call);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("[recalled "), "{answer}");
    let port = address.rsplit(':').next().expect("a port");
    for headers in [
        // A page's own name that leads here.
        format!("Host: evil.example:{port}"),
        format!("{host}\r\nOrigin: https://evil.example"),
        format!("{host}\r\nOrigin: http://{address}"),
        format!("{host}\r\nOrigin: null"),
    ] {
        let (status, answer) = posted(&address, &headers, &call);
        assert!(status == 403 && !answer.contains("[recalled "), "{headers}: {status} {answer}");
    }
    let (status, answer) = posted(&address, &host, "{");
    assert!((400..500).contains(&status), "{status} {answer}");
    server.end();
    let ran = bench.run("mcp in.jsonl --listen 0.0.0.0:0");
    assert!(ran.code == 2 && ran.err.contains("can be reached from other machines"), "{}", ran.err);
}

#[test]
fn mcp_without_arguments_names_them() {
    let bench = Bench::new();
    assert_eq!(bench.run("mcp").code, 2);
    assert_eq!(bench.run("mcp --archive none").code, 1);
    assert_eq!(bench.run("mcp missing.jsonl").code, 1);
    bench.copy(SESSION, "in.jsonl");
    let ran = bench.pipe("mcp in.jsonl", b"hello\n");
    assert!(ran.code != 101 && ran.out.lines().all(|line| line.starts_with('{')), "{}", ran.out);
}
