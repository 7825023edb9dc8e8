//! Secrets in everything that commands show or write anew: none of it gets out. What a view keeps of a message, what
//! is restored and what is converted are the user's own bytes.

use serde_json::{Value, json};
use testkit::canaries::{Canary, canaries};

use crate::bench::{Bench, Ran};
use crate::mcp::{Listening, asked, posted, said};
use crate::sidecar::Sidecar;

/// One of each kind, as it stands in words.
fn all() -> Vec<Canary> {
    canaries(7, 1).into_iter().filter(|canary| canary.place == "in a sentence").collect()
}

/// A session in which people, the model, its calls and tools say secrets, long ago; then much else is said.
fn talk(canaries: &[Canary]) -> String {
    let mut messages =
        vec![json!({"role": "user", "content": "Fix the build, and never push to main."})];
    for (at, canary) in canaries.iter().enumerate() {
        let id = format!("call_{at}");
        messages.push(json!({"role": "user", "content": format!("Never forget this rule. {} It is the key that we use.", canary.said)}));
        messages.push(json!({"role": "assistant", "content": format!("I decided to use it because it works. {}", canary.said),
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "Bash",
                "arguments": json!({"command": format!("deploy {}", canary.said)}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id,
            "content": format!("error: refused {}\nError: failed with {}\nexit code 1", canary.said, canary.said)}));
    }
    for at in 0..100 {
        messages.push(json!({"role": "user", "content": format!("Go on with step {at}.")}));
        messages.push(json!({"role": "assistant", "content": format!("Step {at} is done. {}", "It went as planned. ".repeat(12))}));
    }
    json!({"model": "gpt-6-sol", "messages": messages}).to_string()
}

/// The texts and results of a view that nobody said like that.
fn written_anew(view: &str, said: &str) -> String {
    let contents = |body: &str| -> Vec<String> {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let messages = body["messages"].as_array().expect("a list").iter();
        messages.filter_map(|message| message["content"].as_str().map(str::to_owned)).collect()
    };
    let said = contents(said);
    // An excerpt is the message's own bytes, fewer of them.
    let is_excerpt = |text: &str| text.contains(" elided …] ") && !text.starts_with("<checkpoint");
    let is_new = |text: &String| !said.contains(text) && !is_excerpt(text);
    let anew: Vec<String> = contents(view).into_iter().filter(is_new).collect();
    assert!(!anew.is_empty(), "there is a checkpoint");
    anew.concat()
}

/// The canaries that a text shows.
fn shown(canaries: &[Canary], text: &str) -> Vec<String> {
    let is_shown =
        |canary: &&Canary| canary.drawn.iter().any(|drawn| text.contains(drawn.as_str()));
    canaries.iter().filter(is_shown).map(|canary| canary.kind.to_owned()).collect()
}

#[test]
fn nothing_that_is_shown_or_written_anew_has_a_secret() {
    let bench = Bench::new();
    let canaries = all();
    bench.write("in.json", talk(&canaries));
    let holds = |text: &str| shown(&canaries, text);
    assert_eq!(holds(&bench.read("in.json")).len(), canaries.len(), "they are there");
    // Each command, and the files that it writes.
    let commands = [
        ("stats in.json --html page.html --svg picture.svg", &["page.html", "picture.svg"][..]),
        ("stats in.json --json", &[]),
        ("count in.json --json", &[]),
        ("check in.json --json", &[]),
        ("plan in.json --target 10%", &[]),
        ("plan in.json --target 10% --json", &[]),
        ("plan in.json --target 60% --json", &[]),
        ("report in.json --html -o report.html", &["report.html"]),
        ("report in.json", &[]),
        ("report in.json --json -o report.json", &["report.json"]),
        ("simulate in.json --target 20%", &[]),
        (
            "compact in.json --target 10% --archive store -o out.json --receipt receipt.json",
            &["out.json", "receipt.json"],
        ),
        ("compact in.json --target 4% --json -o again.json", &["again.json"]),
        ("compact in.json --target 60% --json -o again.json", &["again.json"]),
        ("diff in.json out.json", &[]),
        ("diff in.json out.json --json", &[]),
        ("stats out.json", &[]),
        ("report out.json --html -o report.html", &["report.html"]),
        ("sessions --archive store --json", &[]),
        ("sessions out.json --archive store --json", &[]),
        ("sessions out.json --archive store", &[]),
        ("recall rule key use --archive store --limit 500 --tokens 500000", &[]),
        ("recall deploy --archive store --limit 500 --tokens 500000 --json", &[]),
        ("recall refused --archive store --limit 500 --tokens 500000", &[]),
        ("pin list --archive store", &[]),
        ("undo out.json --archive store -o undone.json", &[]),
        ("redo out.json --archive store -o again.json", &["again.json"]),
        ("restore out.json --archive store -o restored.json", &[]),
        ("config show", &[]),
        ("doctor", &[]),
        ("compact in.json --target 10% --archive store --json -o again.json", &["again.json"]),
    ];
    for (command, files) in commands {
        let ran = bench.run(command);
        assert!(matches!(ran.code, 0 | 3), "{command}: {}", ran.shown());
        for (what, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
            let found = holds(text);
            assert!(found.is_empty(), "{command}, {what}: {found:?}");
        }
        for file in files {
            let text = bench.read(file);
            let is_view = ["out.json", "again.json"].contains(file);
            let text = if is_view { written_anew(&text, &bench.read("in.json")) } else { text };
            let found = holds(&text);
            assert!(found.is_empty(), "{command}, {file}: {found:?}");
        }
    }
    assert_eq!(bench.run("restore out.json --archive store").out, bench.read("in.json"));
    let ran = bench.run("forget out.json --archive store");
    assert!(ran.code == 0 && holds(&ran.out).is_empty() && holds(&ran.err).is_empty());
}

#[test]
fn what_is_pinned_or_asked_for_tells_nothing() {
    let bench = Bench::new();
    let canaries = all();
    bench.write("in.json", talk(&canaries[..1]));
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let tells = |ran: &Ran| ran.out.contains(secret) || ran.err.contains(secret);
    let pin = ["pin", "add", &format!("the key is {secret}"), "--archive", "store"];
    let output = bench.command(&pin).output().expect("it runs");
    let ran = Ran::of(&output);
    assert!(ran.code == 0 && !tells(&ran), "{}", ran.shown());
    for command in [
        "pin list --archive store",
        "pin list --archive store --json",
        &format!("recall {secret} --archive store"),
        &format!("restore {secret} --archive store"),
        &format!("stats {secret}"),
        &format!("compact in.json --target 10% --frobnicate {secret}"),
        &format!("compact in.json --target 10% --archive {secret}/x"),
    ] {
        let ran = bench.run(command);
        assert!(!tells(&ran), "{command}: {}", ran.shown());
    }
    let mut hook =
        json!({"hook_event_name": "PreCompact", "session_id": "s", "cwd": "/x", "trigger": "auto"});
    hook["transcript_path"] = Value::from(bench.path("in.json").to_string_lossy());
    let ran = bench.pipe("hook PreCompact", hook.to_string().as_bytes());
    assert!(!tells(&ran) && shown(&canaries, &ran.out).is_empty(), "{}", ran.shown());
}

/// Calls that have the whole of a session back, as an agent asks for it.
fn calls(ids: &[String]) -> Vec<(&'static str, Value)> {
    let mut calls = vec![("context_stats", json!({}))];
    for query in ["rule key use", "deploy", "refused failed exit", "decided works"] {
        let search = json!({ "query": query, "limit": 20, "max_tokens": 20_000 });
        calls.push(("recall_search", search));
    }
    // What is asked for is said again where nothing is found.
    calls.push(("recall_search", json!({ "query": "ghp_16C7e42F292c6912E7710c838347Ae178B4a" })));
    calls.push(("recall_get", json!({ "id": "ghp_16C7e42F292c6912E7710c838347Ae178B4a" })));
    calls.extend(ids.iter().map(|id| ("recall_get", json!({ "id": id, "max_tokens": 20_000 }))));
    calls
}

#[test]
fn agents_are_told_no_secret() {
    let bench = Bench::new();
    let canaries = all();
    bench.write("in.json", talk(&canaries));
    assert_eq!(bench.run("compact in.json --target 10% --archive store -o out.json").code, 0);
    let holds = |text: &str| {
        let found = shown(&canaries, text);
        assert!(found.is_empty() && !text.contains("ghp_16C7e42F292c"), "{found:?} in {text}");
    };
    for command in [&["mcp", "--archive", "store"][..], &["mcp", "in.json"]] {
        let found = asked(&bench, &command.join(" "), &calls(&[])[1..5]);
        let ids: Vec<String> = found
            .iter()
            .flat_map(|answer| said(answer).split("[recalled ").skip(1))
            .filter_map(|hit| hit.split(']').next().map(str::to_owned))
            .collect();
        assert!(ids.len() > 30, "there is much to find: {}", ids.len());
        let calls = calls(&ids);
        for answer in asked(&bench, &command.join(" "), &calls) {
            holds(&answer.to_string());
        }
        let server = Listening::new(&bench, command);
        for (tool, arguments) in &calls {
            let params = json!({ "name": tool, "arguments": arguments });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let host = format!("Host: {}", server.address);
            let (status, answer) = posted(&server.address, &host, &call.to_string());
            assert_eq!(status, 200, "{answer}");
            holds(&answer);
        }
        holds(&server.end());
    }
}

#[test]
fn hooks_tell_no_secret() {
    let bench = Bench::new();
    let canaries = all();
    bench.write("in.json", talk(&canaries));
    let at = bench.path("in.json").to_string_lossy().into_owned();
    for (event, more) in [
        ("PreCompact", json!({ "trigger": "auto" })),
        ("SessionStart", json!({ "source": "compact" })),
        ("StatusLine", json!({})),
    ] {
        let mut said = json!({ "hook_event_name": event, "session_id": "s", "cwd": "/x", "transcript_path": at });
        said.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        let name = if event == "StatusLine" { "status-line" } else { event };
        let ran = bench.pipe(&format!("hook {name} --archive store"), said.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{event}: {}", ran.shown());
        assert!(!ran.out.is_empty(), "{event} says something");
        for text in [&ran.out, &ran.err] {
            let found = shown(&canaries, text);
            assert!(found.is_empty(), "{event}: {found:?} in {text}");
        }
    }
}

#[test]
fn a_sidecar_writes_no_secret_anew() {
    let bench = Bench::new();
    let canaries = all();
    bench.write("in.json", talk(&canaries));
    let sidecar = Sidecar::new(&bench, None);
    let line = format!(
        "compact in.json --target 10% --summarizer {} -o out.json --receipt receipt.json",
        sidecar.1
    );
    let ran = bench.run(&line);
    assert!(matches!(ran.code, 0 | 3), "{}", ran.shown());
    let receipt = bench.json("receipt.json");
    assert_eq!(receipt["fallbacks"], json!([]), "its view is shown");
    let view = written_anew(&bench.read("out.json"), &bench.read("in.json"));
    for text in [&ran.out, &ran.err, &bench.read("receipt.json"), &view] {
        let found = shown(&canaries, text);
        assert!(found.is_empty(), "{found:?}");
    }
}
