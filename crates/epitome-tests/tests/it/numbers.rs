//! What a checkpoint calls a message: by its number in the whole conversation, however often that was compacted; and what
//! is read of it in which order.

use std::collections::HashMap;

use epitome::checkpoint::{self, Contents};
use epitome::strategy::guard::Pin;
use epitome::wire::{Format, parse};
use epitome::{Options, Outcome, Request};
use serde_json::{Value, json};
use testkit::prose::lorem;
use testkit::to;

const ALL: [Format; 5] = [
    Format::OpenaiChat,
    Format::Anthropic,
    Format::Gemini,
    Format::OpenaiResponses,
    Format::Bedrock,
];

fn message(format: Format, is_human: bool, text: &str) -> Value {
    let role = if is_human { "user" } else { "assistant" };
    match format {
        Format::Gemini => {
            json!({"role": if is_human { "user" } else { "model" }, "parts": [{"text": text}]})
        }
        Format::Bedrock => json!({"role": role, "content": [{"text": text}]}),
        _ => json!({"role": role, "content": text}),
    }
}

fn request(format: Format, messages: &[Value]) -> Request {
    let mut body = match format {
        Format::Gemini => json!({}),
        Format::Bedrock => json!({"modelId": "m"}),
        Format::Anthropic => json!({"model": "m", "max_tokens": 9}),
        _ => json!({"model": "m"}),
    };
    body[format.list()] = messages.into();
    parse(format, body.to_string()).expect("messages")
}

/// Compacts what is left of `messages`, which is what the next round goes on from.
fn compacted(
    format: Format,
    messages: &mut Vec<Value>,
    (target, pins): (u64, Vec<Pin>),
) -> Outcome {
    let compactor = testkit::compactor(Options { pins, ..to(target) }, "o200k");
    let outcome = compactor.compact(&request(format, messages)).expect("a view");
    let body: Value = serde_json::from_str(outcome.rendered()).expect("a request");
    messages.clone_from(body[format.list()].as_array().expect("messages"));
    outcome
}

fn contents(outcome: &Outcome) -> Option<Contents> {
    let placed = outcome.view.checkpoint()?;
    Some(checkpoint::read(&placed.text).expect("an intact fence"))
}

/// Message `n` of a conversation, in which people and the model take turns.
fn said(n: usize) -> String {
    match n % 2 {
        0 => format!("The width of panel p{n} is {}.5 px.", 1000 + n),
        _ => format!("We settled on colour c{n} for it. {}", lorem(900)),
    }
}

/// The number of the message that says so: `p12`, `c13`.
fn named_in(text: &str) -> Option<usize> {
    let at = text.find("panel p").map(|at| at + 7).or(text.find("colour c").map(|at| at + 8))?;
    let digits = text[at..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[test]
fn messages_keep_their_numbers_through_compactions() {
    for format in ALL {
        for target in [900, 1_500, 3_000] {
            let (mut messages, mut told) = (Vec::new(), 0);
            for round in 0..4 {
                let new =
                    (round * 30..(round + 1) * 30).map(|n| message(format, n % 2 == 0, &said(n)));
                messages.extend(new);
                // What stays in the middle has others behind it that don't.
                let pins = vec![Pin::Text("panel p14 ".to_owned())];
                let outcome = compacted(format, &mut messages, (target, pins));
                let Some(contents) = contents(&outcome) else { continue };
                let text = &outcome.view.checkpoint().expect("there is one").text;
                let quoted = contents.words.iter().map(|word| (word.at, word.text.as_str()));
                let said = quoted.filter_map(|(at, text)| Some((at, named_in(text)?)));
                for (number, named) in said {
                    assert_eq!(number, named, "{format} {target} {round}: {text}");
                    told += 1;
                }
                let shown = outcome.view.fates().filter(|fate| fate.is_shown()).count();
                let all = contents.stands_for.count() + shown;
                // What stands beside an earlier checkpoint in one message is counted once.
                let is_all = all == (round + 1) * 30 || format == Format::Bedrock;
                assert!(is_all, "{format} {target} {round}: {all}: {text}");
            }
            assert!(told > 10, "{format} {target}: {told}");
        }
    }
}

fn step(n: usize, name: &str, arguments: &Value, result: &str, failed: bool) -> [Value; 2] {
    [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{n}"), "name": name, "input": arguments}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": result, "is_error": failed}]}),
    ]
}

/// Calls and the todo list are folded: the checkpoint still says how the commands went and what is to be done.
#[test]
fn what_left_is_remembered_by_the_checkpoint() {
    let todo = |second: &str, third: &str| {
        json!({"todos": [
            {"content": "Read the spec", "status": "completed"},
            {"content": "Write parser", "status": second},
            {"content": "Test parser", "status": third},
        ]})
    };
    let run = |command: &str| json!({"command": command});
    let mut messages = vec![json!({"role": "user", "content": "Port the parser."})];
    let mut counts = HashMap::new();
    let mut add = |name: &str, arguments: &Value, result: &str, failed: bool| {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
        let n = counts.values().sum();
        messages.extend(step(n, name, arguments, result, failed));
    };
    add("TodoWrite", &todo("pending", "pending"), "Todos have been modified successfully", false);
    add("Bash", &run("cargo test"), "error[E0308]: mismatched types\n --> src/x.rs:1:2", true);
    add("Bash", &run("pytest -q"), "FAILED test_a.py::test_a - assert 1 == 2\n1 failed", true);
    for n in 0..6 {
        add("Read", &json!({"file_path": format!("src/f{n}.rs")}), &lorem(1_500), false);
    }
    add("Bash", &run("cargo test"), "test result: ok. 12 passed; 0 failed", false);
    add("TodoWrite", &todo("completed", "in_progress"), "Todos have been modified", false);
    for n in 6..60 {
        add("Read", &json!({"file_path": format!("src/f{n}.rs")}), &lorem(1_500), false);
    }
    messages.push(json!({"role": "user", "content": "Go on."}));
    for round in 0..3 {
        let outcome = compacted(Format::Anthropic, &mut messages, (1_300, Vec::new()));
        let dropped = outcome.view.fates().filter(|fate| !fate.is_shown()).count();
        assert!(dropped > 0, "{round}");
        let text = &outcome.view.checkpoint().expect("it folds").text;
        for anchor in [
            "Bash(cargo test) ×2 (1 failed), last [19] → ok, 12 passed\n",
            "Bash(pytest -q) → failed",
            "The agent's own list\n[~] Test parser\n[x] Read the spec\n[x] Write parser\n",
        ] {
            assert!(text.contains(anchor), "{round}: {anchor}: {text}");
        }
        for n in 0..40 {
            let at = 100 * (round + 1) + n;
            let file = json!({"file_path": format!("src/g{at}.rs")});
            messages.extend(step(at, "Read", &file, &lorem(1_500), false));
        }
        messages.push(json!({"role": "user", "content": "Go on."}));
    }
}
