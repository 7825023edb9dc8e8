//! Compacting again what was compacted before: only receipts vouch for checkpoints.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::bench::{Bench, SESSION};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The texts of messages that begin as checkpoints do.
fn checkpoints(request: &str) -> Vec<String> {
    let request = parsed(request);
    let messages = request["messages"].as_array().expect("messages").clone();
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    messages.iter().map(text).filter(|text| text.starts_with("<checkpoint ")).collect()
}

/// The files that a checkpoint's anchors name.
fn files(checkpoint: &str) -> BTreeSet<String> {
    let (_, anchors) = checkpoint.split_once("## Files, commands, errors").expect("anchors");
    let root = anchors.split_once("Paths are below: ").and_then(|(_, rest)| rest.lines().next());
    let whole = |path: &str| match path.strip_prefix("./") {
        Some(path) if root.is_some() => path.to_owned(),
        _ if path.starts_with(['/', '~']) => path.to_owned(),
        _ => format!("{}{path}", root.unwrap_or_default()),
    };
    let paths = anchors.split([' ', ',', '\n']).filter(|word| word.contains('/'));
    paths.map(whole).collect()
}

/// The lane of the user's words; without one, no words.
fn words(checkpoint: &str) -> &str {
    let lane =
        checkpoint.split_once("## The user's words (verbatim)\n").map_or("", |(_, lane)| lane);
    lane.split("\n## ").next().unwrap_or(lane)
}

/// Compacts a session and lets more be said after that; the checkpoint of this first round.
fn first_round(bench: &Bench) -> String {
    bench.copy(SESSION, "session.jsonl");
    let ran = bench.run("compact session.jsonl --target 6% -o once.json --receipt once.receipt");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut request = parsed(&bench.read("once.json"));
    let messages = request["messages"].as_array_mut().expect("messages");
    for turn in 0..12 {
        let id = format!("later_{turn}");
        let output = format!("line of output {turn} in src/later_{turn}.rs\n").repeat(200);
        messages.extend([
            json!({"role": "user", "content": format!("Then look at part {turn} of the later work.")}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Read",
                "input": {"file_path": format!("/later/src/later_{turn}.rs")}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": format!("Part {turn} is done.")}]}),
        ]);
    }
    bench.write("longer.json", request.to_string());
    checkpoints(&bench.read("once.json")).pop().expect("a checkpoint was written")
}

/// What the first checkpoint of the session quotes.
const SAID: [&str; 2] =
    ["doublecheck 019b7f04-0b04-7cd3-b739-bfa632f7459e", "a - run codex exec command to check"];

#[test]
fn a_known_checkpoint_is_continued() {
    let bench = Bench::new();
    let first = first_round(&bench);
    let id =
        parsed(&bench.read("once.receipt"))["checkpoint"]["id"].as_str().expect("an id").to_owned();
    for known in ["--continue once.receipt".to_owned(), format!("--known {id}")] {
        let ran = bench.run(&format!("compact longer.json --target 6000 {known} -o twice.json"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.err.contains("warning"), "{}", ran.err);
        let twice = bench.read("twice.json");
        let [second] = checkpoints(&twice).try_into().expect("one stands for both");
        assert_ne!(first, second);
        for said in SAID {
            assert!(words(&first).contains(said), "{first}");
            assert!(words(&second).contains(said), "{second}");
        }
        for said in ["TODO is not acceptable", "look at part 3 of the later work"] {
            assert!(twice.contains(said), "of the later rounds: {said}");
        }
        let (before, after) = (files(&first), files(&second));
        let kept = before.intersection(&after).count();
        assert!(before.len() > 4 && kept * 2 >= before.len(), "{before:#?} {after:#?}");
    }
}

#[test]
fn an_unknown_one_is_plain_text_and_said_to_be() {
    let bench = Bench::new();
    first_round(&bench);
    let ran = bench.run("compact longer.json --target 4000 -o twice.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("looks like the checkpoint of an earlier compaction"), "{}", ran.err);
    for checkpoint in checkpoints(&bench.read("twice.json")) {
        for said in SAID {
            assert!(!words(&checkpoint).contains(said), "nobody vouched for it: {checkpoint}");
        }
    }
    // One that was changed is no more than that, whoever vouches for it.
    let longer = bench.read("longer.json");
    let changed = longer.replacen(
        "Reference about earlier work, not",
        "Reference about earlier work, and",
        1,
    );
    assert_ne!(changed, longer);
    bench.write("changed.json", changed);
    let ran = bench.run("compact changed.json --target 4000 --continue once.receipt -o twice.json");
    assert!(ran.err.contains("but was changed since it was written"), "{}", ran.err);
    for checkpoint in checkpoints(&bench.read("twice.json")) {
        assert!(
            !words(&checkpoint).contains("Reference about"),
            "no person wrote it: {checkpoint}"
        );
    }
    // A receipt of something else vouches for nothing here.
    bench.copy(crate::bench::RUN, "run.json");
    bench.run("compact run.json -o other.json --receipt other.receipt");
    let ran = bench.run("plan longer.json --continue other.receipt");
    assert!(ran.err.contains("looks like the checkpoint of an earlier compaction"), "{}", ran.err);
}

#[test]
fn a_checkpoint_that_stands_is_named_again() {
    let bench = Bench::new();
    first_round(&bench);
    let first = parsed(&bench.read("once.receipt"));
    let ran = bench.run("compact longer.json --target 100% --continue once.receipt --receipt again.receipt -o same.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let again = parsed(&bench.read("again.receipt"));
    assert_eq!(again["checkpoint"], Value::Null);
    assert_eq!(again["standing_checkpoints"], json!([first["checkpoint"]["id"]]));
    let plan = |receipt: &str| {
        bench.run(&format!("plan longer.json --target 6000 --json --continue {receipt}")).out
    };
    assert_eq!(plan("again.receipt"), plan("once.receipt"), "either vouches for it");
}

#[test]
fn what_is_no_receipt_is_refused() {
    let bench = Bench::new();
    bench.copy(crate::bench::RUN, "run.json");
    bench.write("stats.json", bench.run("stats run.json --json").out);
    bench.run("compact run.json -o out.json --receipt good");
    bench.write("future", bench.read("good").replace("\"version\": 1", "\"version\": 99"));
    bench.write("cut", &bench.read("good")[..200]);
    for (flag, code) in [
        ("--continue nowhere", 1),
        ("--continue run.json", 65),
        ("--continue stats.json", 65),
        ("--continue future", 65),
        ("--continue cut", 65),
        ("--known abc", 2),
        ("--known bf2d35f2ccc7", 2),
    ] {
        let ran = bench.run(&format!("compact run.json {flag}"));
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{flag}: {}", ran.err);
        assert!(code == 2 || ran.err.contains("\nhint: "), "{flag}: {}", ran.err);
        assert!(code != 2 || ran.err.contains("`checkpoint.id`"), "{flag}: {}", ran.err);
    }
    let ran = bench.run("compact run.json --continue good --receipt good");
    assert_eq!(ran.code, 0, "a receipt may take the place of the one before: {}", ran.err);
}

#[test]
fn quotes_leave_room_for_files_that_were_changed() {
    let bench = Bench::new();
    bench.copy("pi/large-session.jsonl", "long.jsonl");
    let ran = bench.run("compact long.jsonl --target 10% -o out.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [checkpoint] = checkpoints(&bench.read("out.json")).try_into().expect("one");
    let changed = checkpoint.lines().find(|line| line.starts_with("Files changed: "));
    let changed = changed.expect("files were changed");
    assert!(checkpoint.contains("\n## What holds"), "beside a ledger that would take it all");
    assert!(changed.matches("edited").count() > 20, "of 29: {changed}");
}
