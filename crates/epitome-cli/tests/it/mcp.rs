//! `mcp`: a client's lines on stdin, the server's on stdout. The official client asks in `./test services`.

use serde_json::{Value, json};

use crate::bench::{Bench, SESSION};

/// What the server answers to a client that asks all of `calls`, by the number of the call.
fn asked(bench: &Bench, command: &str, calls: &[(&str, Value)]) -> Vec<Value> {
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
    let ran = bench.pipe(command, input.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), calls.len() + 1, "{}", ran.out);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "epitome");
    answers.split_off(1)
}

fn said(answer: &Value) -> &str {
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
fn it_says_what_it_needs() {
    let bench = Bench::new();
    assert_eq!(bench.run("mcp").code, 2);
    assert_eq!(bench.run("mcp --archive none").code, 1);
    assert_eq!(bench.run("mcp missing.jsonl").code, 1);
    bench.copy(SESSION, "in.jsonl");
    let ran = bench.pipe("mcp in.jsonl", b"hello\n");
    assert!(ran.code != 101 && ran.out.lines().all(|line| line.starts_with('{')), "{}", ran.out);
}
