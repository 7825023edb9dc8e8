//! Summaries by models over HTTP: what is sent where, what the receipt says, and every way in which it fails.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::shell::{Running, start};
use testkit::server::{Fault, Next, Queue, Reply, Server};
use tokio::runtime::{Builder, Runtime};

use crate::bench::{Bench, Ran, SESSION};

pub(crate) const KEY: &str = "sk-very-secret";

/// Sections as they are wanted, and next to nothing in them.
pub(crate) const GOOD: &str = "## Goal\nTo go on.\n## Constraints\nnone\n## Decisions\nnone\n## State\nnone\n\
                    ## Next step\nnone\n## Files\nnone\n## Errors and fixes\nnone\n## Facts\nnone";

/// Each kind of name, with the variables that say where and with which key.
const MODELS: [(&str, &str, &str, &str); 4] = [
    ("openai:gpt-4o", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"),
    ("openai-responses:gpt-5-mini", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"),
    ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY"),
    ("gemini:gemini-3.5-flash", "GOOGLE_GEMINI_BASE_URL", "", "GEMINI_API_KEY"),
];

/// A model server that runs besides.
pub(crate) struct Served {
    pub(crate) running: Running,
    _runtime: Runtime,
}

impl Served {
    pub(crate) fn new(script: impl IntoIterator<Item = Next>) -> Self {
        Served::of(Server::new(Queue::new(script)))
    }

    pub(crate) fn of(server: Server) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let running = runtime.block_on(start(server)).expect("a free port");
        Served { running, _runtime: runtime }
    }

    pub(crate) fn requests(&self) -> usize {
        self.running.recorded().len()
    }
}

pub(crate) fn bench() -> Bench {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    bench
}

pub(crate) fn compact(bench: &Bench, flags: &[&str], environment: &[(&str, &str)]) -> Ran {
    let words = ["compact", "in.jsonl", "--target", "10%", "-o", "out", "--receipt", "receipt"];
    let words: Vec<&str> = words.iter().chain(flags).copied().collect();
    let mut command = bench.command(&words);
    command.env("NO_PROXY", "127.0.0.1").envs(environment.iter().copied());
    let ran = Ran::of(&command.output().expect("the binary runs"));
    assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY), "{}", ran.err);
    ran
}

/// Asks the model of a row at `url`.
pub(crate) fn ask(bench: &Bench, row: usize, url: &str, flags: &[&str]) -> Ran {
    let (name, base, path, key) = MODELS[row];
    let flags: Vec<&str> =
        ["--summarizer", name].into_iter().chain(flags.iter().copied()).collect();
    compact(bench, &flags, &[(base, &format!("{url}{path}")), (key, KEY)])
}

pub(crate) fn receipt(bench: &Bench) -> Value {
    let text = bench.read("receipt");
    assert!(!text.contains(KEY));
    serde_json::from_str(&text).expect("JSON")
}

/// What is written without a summarizer.
fn plain() -> String {
    let bench = bench();
    assert_eq!(bench.run("compact in.jsonl --target 10% -o out").code, 0);
    bench.read("out")
}

/// Answers each connection with these bytes.
pub(crate) fn canned(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a client");
            let mut piece = vec![0; 1 << 16];
            let mut last = Vec::new();
            // The body is the last thing, and ends as JSON does; or there is none.
            while !last.ends_with(b"}") && !last.ends_with(b"\r\n\r\n") {
                let size = socket.read(&mut piece).expect("a request");
                last = piece[..size].to_vec();
            }
            // Who has heard enough may go.
            let _gone = socket.write_all(&answer);
        }
    });
    url
}

pub(crate) fn page(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

#[test]
fn each_provider_is_asked_in_its_own_format_and_paid_for() {
    for (row, (name, ..)) in MODELS.into_iter().enumerate() {
        let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
        let ran = ask(&bench, row, &server.running.url, &["--focus", "the workflow"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let recorded = server.running.recorded();
        let [request] = &recorded[..] else { panic!("{name}: {} requests", recorded.len()) };
        assert_eq!(request.status, 200, "{name}");
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(body.contains("Look most at this: the workflow"), "{name}");
        assert!(!body.contains(KEY) && !request.path.contains(KEY), "{name}");

        let told = receipt(&bench);
        let (summary, model) = (&told["summary"], name.split_once(':').expect("a name").1);
        assert_eq!(summary["by"], model);
        let usage = request.noted.usage.expect("it was answered");
        let call = &summary["calls"][0];
        assert_eq!((&call["result"], &call["requests"]), (&json!("admitted"), &json!(1)), "{name}");
        assert_eq!(call["input"], usage.prompt, "{name}");
        let cost = call["cost"].as_f64().unwrap_or_else(|| panic!("{name}: {call}"));
        assert!(cost > 0.0 && call["output"].as_u64() > Some(0), "{name}: {call}");
        assert_eq!(summary["spent"]["cost"].as_f64(), Some(cost), "{name}");
        assert!(ran.err.contains(&format!("tokens by {model} (1 call, ")), "{name}: {}", ran.err);
        assert!(bench.read("out").contains(r"\n\nSummary\n"), "{name}");
        assert_eq!(bench.run("check out").code, 0, "{name}");
    }
}

#[test]
fn a_server_of_ones_own_is_told_no_providers_key() {
    let key_of = |environment: &[(&str, &str)]| {
        let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
        let name = format!("{}/v1#gpt-4o-mini", server.running.url);
        compact(&bench, &["--summarizer", &name], environment).ends(0);
        assert_eq!(receipt(&bench)["summary"]["by"], "gpt-4o-mini");
        let headers = server.running.recorded()[0].headers.clone();
        assert!(headers.iter().all(|(_, value)| !value.contains("sk-of-openai")));
        headers.into_iter().find(|(name, _)| name == "authorization").map(|(_, value)| value)
    };
    assert_eq!(key_of(&[("OPENAI_API_KEY", "sk-of-openai")]), None);
    assert_eq!(key_of(&[("EPITOME_API_KEY", KEY)]), Some(format!("Bearer {KEY}")));
    // Nor is a key of one's own told two servers.
    let two = ["--summarizer", "http://127.0.0.1:1/v1#m", "--then", "http://127.0.0.1:2/v1#m"];
    let ran = compact(&bench(), &two, &[("EPITOME_API_KEY", KEY)]);
    assert!(ran.code == 2 && ran.err.contains("one key (EPITOME_API_KEY) for two"), "{}", ran.err);
}

#[test]
fn a_key_may_be_in_a_file_and_must_be_somewhere() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    bench.write("key", format!("{KEY}\n"));
    bench.write("empty", "\n");
    let anthropic = ["--summarizer", "anthropic:claude-haiku-4-5"];
    let url = server.running.url.as_str();
    let file = ("ANTHROPIC_API_KEY_FILE", "key");
    compact(&bench, &anthropic, &[("ANTHROPIC_BASE_URL", url), file]).ends(0);
    let recorded = server.running.recorded();
    assert!(recorded[0].headers.contains(&("x-api-key".to_owned(), KEY.to_owned())));

    std::fs::remove_file(bench.path("out")).expect("it was written");
    for (name, environment, words) in [
        ("anthropic:x", ("OPENAI_API_KEY", KEY), "needs a key, and no ANTHROPIC_API_KEY is set"),
        ("anthropic:x", ("ANTHROPIC_API_KEY", " "), "hint: export ANTHROPIC_API_KEY=…"),
        ("gemini:x", ("A", "b"), "neither GOOGLE_API_KEY nor GEMINI_API_KEY is set"),
        ("openai:x", ("OPENAI_API_KEY_FILE", "nowhere"), "OPENAI_API_KEY_FILE, nowhere: No such"),
        ("openai:x", ("OPENAI_API_KEY_FILE", "empty"), "the file empty is empty"),
        ("openai:x", ("OPENAI_API_KEY", "sk\nx"), "look at what is in OPENAI_API_KEY"),
        ("http://a b/v1#x", ("A", "b"), "isn't the address of a model server"),
        ("http://me:pw@localhost/v1#x", ("A", "b"), "isn't the address of a model server"),
        (
            "openai:x",
            ("OPENAI_BASE_URL", "http://me:hunter2hunter2@gw/v1"),
            "isn't the address of a model",
        ),
        (
            "openai:x",
            ("OPENAI_BASE_URL", "http://gw/v1?key=hunter2hunter2"),
            "`http://gw/v1` isn't the address",
        ),
    ] {
        let environment = [environment, ("GEMINI_API_KEY_FILE", "")];
        let key = environment[0].0.ends_with("_URL").then_some(("OPENAI_API_KEY", KEY));
        let environment: Vec<_> = environment.into_iter().chain(key).collect();
        let ran = compact(&bench, &["--summarizer", "cmd:true", "--then", name], &environment);
        assert_eq!(ran.code, 2, "{name} {environment:?}: {}", ran.err);
        assert!(!ran.err.contains("hunter2") && !ran.err.contains(":pw@"), "{}", ran.err);
        assert!(ran.err.contains(words), "{name} {environment:?}: {}", ran.err);
        assert!(!bench.path("out").exists());
    }
    assert_eq!(server.requests(), 1);
}

#[test]
fn each_failure_of_a_model_is_named_booked_and_changes_nothing() {
    let plain = plain();
    let refusal = Reply { stop: Some("refusal".to_owned()), ..Reply::text("I can't.") };
    let lie = GOOD.replace("To go on.", "To mend src/never_seen_17.rs.");
    let slow = Reply { wait: Duration::from_secs(30), ..Reply::text(GOOD) };
    for (name, script, flags, words, asked) in [
        ("refusal", vec![refusal.into()], &[][..], "it refused", 1),
        (
            "lie",
            vec![Reply::text(lie.clone()).into(), Reply::text(lie).into()],
            &[][..],
            "it states what the transcript doesn't: src/never_seen_17.rs",
            2,
        ),
        ("slow", vec![slow.into()], &["--timeout", "0.5"][..], "no answer in time", 1),
        ("overflow", vec![Fault::Overflow.into()], &[][..], "the request was refused", 1),
    ] {
        let (bench, server) = (bench(), Served::new(script));
        let ran = ask(&bench, 2, &server.running.url, flags);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let told = receipt(&bench);
        let fallback = told["fallbacks"][0].as_str().expect("a reason");
        assert!(
            fallback.starts_with("claude-haiku-4-5: ") && fallback.contains(words),
            "{fallback}"
        );
        assert!(ran.err.contains("fallback claude-haiku-4-5: "), "{name}: {}", ran.err);
        assert_eq!(server.requests(), asked, "{name}");
        assert_eq!(told["summary"]["spent"]["requests"], asked, "{name}");
        // What was answered is paid for, used or not; and of what was sent and not answered nobody knows.
        let is_paid = told["summary"]["spent"]["cost"].as_f64() > Some(0.0);
        assert_eq!(is_paid, name != "overflow", "{name}: {}", told["summary"]);
        assert_eq!(bench.read("out"), plain, "{name}");
    }
}

#[test]
fn models_commands_and_code_form_one_chain() {
    let bench = bench();
    bench.write("good", format!("printf '%s' '{}'\n", json!({"version": 1, "summary": GOOD})));
    let server = Served::new([Fault::Overflow.into()]);
    let ran =
        ask(&bench, 0, &server.running.url, &["--then", "cmd:sh good", "--then", "extractive"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = receipt(&bench);
    assert_eq!(told["summary"]["by"], "sh good");
    let calls = told["summary"]["calls"].as_array().expect("calls").iter();
    let calls: Vec<_> = calls.map(|call| (call["by"].as_str(), call["result"].as_str())).collect();
    assert_eq!(calls, [(Some("gpt-4o"), Some("failed")), (Some("sh good"), Some("admitted"))]);
    assert_eq!(told["fallbacks"].as_array().map(Vec::len), Some(1));

    let refused =
        ask(&bench, 0, "http://127.0.0.1:9", &["--timeout", "1", "--on-failure", "error"]);
    assert_eq!(refused.code, 69, "{}", refused.err);
    assert!(refused.err.contains("there is no summary: gpt-4o: "), "{}", refused.err);
    // What was paid for is told, though nothing comes of it.
    let server = Served::new([Reply::text("Sure.").into(), Reply::text("Sure.").into()]);
    let paid = ask(&bench, 0, &server.running.url, &["--on-failure", "error"]);
    assert_eq!((paid.code, server.requests()), (69, 2), "{}", paid.err);
    let told = paid.err.split_once("; asking took 2 requests, ").expect(&paid.err).1;
    assert!(told.contains(" tokens read, ") && told.contains(" written, $0."), "{}", paid.err);
}

#[test]
fn settings_name_summarizers_too() {
    let (bench, server) =
        (bench(), Served::new([Fault::Overflow.into(), Reply::text(GOOD).into()]));
    let url = &server.running.url;
    bench.write(
        ".config/epitome/config.toml",
        format!("summarizer = [\"{url}/v1#gpt-4o\", \"{url}/v1#gpt-4o-mini\"]\ntimeout = 20\nspend = 0.5\non-failure = \"error\"\n"),
    );
    compact(&bench, &["--focus", "the workflow"], &[]).ends(0);
    assert_eq!(receipt(&bench)["summary"]["by"], "gpt-4o-mini");
    assert_eq!(compact(&bench, &["--summarizer", "extractive"], &[]).code, 0);
    assert_eq!(receipt(&bench)["summary"], Value::Null);
    let shown = bench.run("config show --json").json();
    let setting = |key: &str| {
        let all = shown["settings"].as_array().expect("a list");
        all.iter().find(|setting| setting["key"] == key).expect("it is listed").clone()
    };
    assert_eq!(setting("summarizer")["value"], format!("{url}/v1#gpt-4o, {url}/v1#gpt-4o-mini"));
    assert_eq!(setting("summarizer")["origin"], "user");
    assert_eq!(
        (&setting("timeout")["value"], &setting("on-failure")["value"]),
        (&json!("20 s"), &json!("error"))
    );
    // What is converted is summed up by the same.
    let ran = compact(&bench, &["--to", "gemini", "--on-failure", "extractive"], &[]);
    assert!(ran.code == 0 && receipt(&bench)["summary"]["calls"].is_array(), "{}", ran.err);
    let ran = compact(&bench, &[], &[("EPITOME_SUMMARIZER", "magic")]);
    assert!(
        ran.code == 2 && ran.err.contains("EPITOME_SUMMARIZER: magic: not `extractive`"),
        "{}",
        ran.err
    );
    let ran =
        compact(&bench, &[], &[("EPITOME_SUMMARIZER", "extractive"), ("EPITOME_API_KEY", KEY)]);
    assert!(ran.code == 0 && !ran.err.contains("isn't a setting"), "{}", ran.err);
}

#[test]
fn a_projects_file_sends_nothing_anywhere() {
    let bench = bench();
    for said in ["summarizer = \"cmd:touch ran\"\n", "spend = 100\n"] {
        bench.write("epitome.toml", said);
        compact(&bench, &[], &[]).ends(2).complains(&["isn't allowed in a project's own file"]);
    }
    bench.write("epitome.toml", "summarizer = \"cmd:touch ran\"\n");
    assert!(!bench.path("ran").exists());
    assert_eq!(compact(&bench, &["--config", "epitome.toml"], &[]).code, 0);
    assert!(bench.path("ran").exists(), "who names the file means it");
}
