//! Compacting again what was compacted before: a checkpoint that is unchanged is continued.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::bench::{Bench, SESSION};

/// The texts of messages that begin as checkpoints do.
fn checkpoints(request: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(request).expect("JSON");
    let messages = request["messages"].as_array().expect("messages").clone();
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    messages.iter().map(text).filter(|text| text.starts_with("<checkpoint ")).collect()
}

/// A lane of a checkpoint, by its title; empty if it isn't there.
fn lane<'a>(checkpoint: &'a str, title: &str) -> &'a str {
    let (_, lane) = checkpoint.split_once(&format!("\n\n{title}\n")).unwrap_or_default();
    let titles = ["What was done", "Where it stands", "Summary", "Notes", "Names not said above"];
    let ends = titles.map(|title| lane.find(&format!("\n\n{title}\n")).unwrap_or(lane.len()));
    &lane[..ends.into_iter().min().unwrap_or(lane.len())]
}

/// The user's words.
fn words(checkpoint: &str) -> &str {
    lane(checkpoint, "User's words")
}

/// The calls that a checkpoint names with the file that they changed.
fn changed(checkpoint: &str) -> BTreeSet<String> {
    let deeds = lane(checkpoint, "What was done").lines();
    let calls = deeds.filter_map(|line| line.split_once("] ")?.1.split_once(')'));
    calls.map(|(call, _)| call.to_owned()).filter(|call| call.contains('/')).collect()
}

/// Compacts a session and lets more be said after that; the checkpoint of this first round.
fn first_round(bench: &Bench) -> String {
    bench.copy(SESSION, "session.jsonl");
    bench.run("compact session.jsonl --target 6% -o once.json --receipt once.receipt").ends(0);
    let mut request = bench.json("once.json");
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
fn a_checkpoint_is_continued() {
    let bench = Bench::new();
    let first = first_round(&bench);
    let ran = bench.run("compact longer.json --target 6000 -o twice.json").ends(0);
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
    let (before, after) = (changed(&first), changed(&second));
    assert!(before.len() > 1 && before.is_subset(&after), "{before:#?} {after:#?}");
}

#[test]
fn a_changed_checkpoint_is_plain_text_and_reported() {
    let bench = Bench::new();
    first_round(&bench);
    let longer = bench.read("longer.json");
    let changed = longer.replacen("for reference; not a new request", "and a new request", 1);
    assert_ne!(changed, longer);
    bench.write("changed.json", changed);
    bench
        .run("compact changed.json --target 4000 -o twice.json")
        .complains(&["but was changed since it was written"]);
    for checkpoint in checkpoints(&bench.read("twice.json")) {
        assert!(!words(&checkpoint).contains("and a new request"), "no person wrote it");
        for said in SAID {
            assert!(!words(&checkpoint).contains(said), "nobody vouches for it: {checkpoint}");
        }
    }
}

#[test]
fn a_checkpoint_that_stands_is_named_again() {
    let bench = Bench::new();
    first_round(&bench);
    let first = bench.json("once.receipt");
    bench.run("compact longer.json --target 100% --receipt again.receipt -o same.json").ends(0);
    let again = bench.json("again.receipt");
    assert_eq!(again["checkpoint"], Value::Null);
    assert_eq!(again["standing_checkpoints"], json!([first["checkpoint"]["id"]]));
}

#[test]
fn a_receipt_makes_sure_that_its_checkpoint_is_there() {
    let bench = Bench::new();
    first_round(&bench);
    let ran = bench.run("plan longer.json --target 6000 --continue once.receipt").ends(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    let changed = bench.read("longer.json").replacen("not a new request", "a new request", 1);
    bench.write("changed.json", changed);
    let missing = "no message is the unchanged checkpoint that --continue names";
    bench.run("plan changed.json --target 6000 --continue once.receipt").complains(&[missing]);
    bench.run("plan longer.json --continue nowhere").ends(1);
    bench.run("plan longer.json --continue longer.json").ends(65);
}

#[test]
fn quotes_leave_room_for_files_that_were_changed() {
    let bench = Bench::new();
    bench.copy("pi/large-session.jsonl", "long.jsonl");
    bench.run("compact long.jsonl --target 10% -o out.json").ends(0);
    let [checkpoint] = checkpoints(&bench.read("out.json")).try_into().expect("one");
    let tools = ["edit(", "write("];
    let calls = changed(&checkpoint);
    let files = calls.iter().filter_map(|call| tools.iter().find_map(|is| call.strip_prefix(is)));
    let files: BTreeSet<&str> = files.flat_map(|files| files.split(" · ")).collect();
    assert_eq!(files.len(), 23, "all that were changed: {files:#?}");
    assert!(words(&checkpoint).lines().count() > 80, "beside people's words");
}
