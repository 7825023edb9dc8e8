//! Secrets in everything that commands show or write anew: none of it gets out. What a view keeps of a message, what
//! is restored and what is converted are the user's own bytes.

use serde_json::{Value, json};
use testkit::canaries::{Canary, canaries};

use crate::bench::{Bench, Ran};

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
    canaries.iter().filter(is_shown).map(|canary| canary.kind.name.to_owned()).collect()
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
        ("recall rule key use --archive store --limit 500 --tokens 500000", &[]),
        ("recall deploy --archive store --limit 500 --tokens 500000 --json", &[]),
        ("recall refused --archive store --limit 500 --tokens 500000", &[]),
        ("pin list --archive store", &[]),
        ("doctor", &[]),
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
