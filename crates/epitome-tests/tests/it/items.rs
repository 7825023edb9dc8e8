//! OpenAI Responses: what becomes of each kind of item, and what is done where history is elsewhere.

use std::ops::RangeInclusive;

use epitome::transcript::Entry;
use epitome::view::Fate;
use epitome::wire::{self, Format, Keeper};
use epitome::{Compactor, Options, Outcome, Request, Target};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};
use testkit::laws::check_all;
use testkit::server::{Api, validate};
use testkit::{page, prose};

fn body(items: &[Value]) -> Value {
    json!({"model": "gpt-5.4", "store": false, "input": items})
}

/// Something old of this kind, between a task and a newer question.
fn session(old: &[Value]) -> Value {
    let mut items = vec![message("user", "Fix the build of the parser crate.")];
    items.extend_from_slice(old);
    items.extend([
        message("assistant", "The parser builds again."),
        message("user", "And the docs?"),
        json!({"type": "function_call", "call_id": "late", "name": "Read", "arguments": "{\"path\":\"docs/a.md\"}"}),
        json!({"type": "function_call_output", "call_id": "late", "output": "# Docs\nAll is said."}),
    ]);
    body(&items)
}

fn message(role: &str, words: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": words}]})
}

const ALL: RangeInclusive<usize> = 0..=usize::MAX;

fn long() -> String {
    prose::log(7, 60)
}

fn parsed(body: &Value) -> Request {
    wire::parse(Format::OpenaiResponses, body.to_string()).expect("a body")
}

fn compactor(target: Target) -> Compactor {
    testkit::compactor(Options { target, ..Options::default() }, "o200k")
}

/// Holds every law, and what an independent server says, at each of these targets.
fn hold(body: &Value) {
    // The server can open no seal but its own.
    let is_sealed = |item: &Value| item["encrypted_content"].is_string();
    let is_judged = !body["input"].as_array().is_some_and(|items| items.iter().any(is_sealed));
    let judge = |body: &Value, when: &str| {
        if let Err(refusal) = validate(Api::Responses, body).map(drop)
            && is_judged
        {
            panic!("{when}: {}\n{body}", refusal.message);
        }
    };
    judge(body, "as it came");
    for percent in [90, 50, 20, 10, 2] {
        let compactor = compactor(Target::Percent(percent));
        check_all(&parsed(body), &compactor).unwrap_or_else(|why| panic!("{percent} %: {why}"));
        let outcome = compactor.compact(&parsed(body)).expect("a sound view");
        let out = serde_json::from_str(outcome.rendered()).expect("JSON");
        judge(&out, &format!("{percent} %"));
    }
}

/// Runs of these entries with their fate, edited ones as they are shown, and where the checkpoint stands among them.
fn shown(outcome: &Outcome, which: RangeInclusive<usize>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |word: &str, what: String| match lines.last_mut() {
        Some(line) if line.starts_with(word) => line.extend([", ", &what]),
        _ => lines.push(format!("{word} {what}")),
    };
    let mut rendered = outcome.request.transcript.entries();
    let placed = outcome.view.checkpoint();
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        let is_asked = which.contains(&entry.index);
        if placed.is_some_and(|placed| placed.before == entry.index) {
            rendered.next();
            if is_asked || which.contains(&(entry.index - 1)) {
                add("here", "checkpoint".to_owned());
            }
        }
        let after = fate.is_shown().then(|| rendered.next().expect("it is shown"));
        if !is_asked {
            continue;
        }
        let word = match fate {
            Fate::Keep => "keep",
            Fate::Edit(_) => "edit",
            Fate::Fold(..) => "fold",
            Fate::Drop(_) => "drop",
        };
        add(word, kind(entry));
        if let (Fate::Edit(_), Some(after)) = (fate, after) {
            add("   >", after.raw().chars().take(230).collect());
        }
    }
    lines.join("\n") + "\n"
}

fn kind(entry: Entry<'_>) -> String {
    let item: Value = serde_json::from_str(entry.raw()).expect("an entry is JSON");
    let kind = item["type"].as_str().unwrap_or("message").to_owned();
    match item["role"].as_str() {
        Some(role) => format!("{role} {kind}"),
        None => kind,
    }
}

/// What becomes of these items first, and where hardly anything may be left, if that is something else.
#[test]
fn what_becomes_of_items_is_as_the_page_says() {
    let long = json!(long()).to_string();
    page::check(&expect_file!["items.txt"], |case| {
        let given = case.given.replace("{LONG}", long.trim_matches('"'));
        let old = given.lines().map(serde_json::from_str).collect::<Result<Vec<_>, _>>();
        let old = old.expect("items");
        let body = session(&old);
        hold(&body);
        let shown_at = |tokens| {
            let outcome = compactor(Target::Tokens(tokens)).compact(&parsed(&body));
            let outcome = outcome.expect("a sound view");
            assert!(outcome.view.fates().next().is_some_and(Fate::is_shown), "the task");
            shown(&outcome, 1..=old.len())
        };
        let (early, late) = (shown_at(500), shown_at(60));
        if early == late { early } else { format!("{early}at 60 tokens:\n{late}") }
    });
}

/// Items that go on from a history which the provider keeps: new to the model, all of them.
fn going_on(keeper: &str, name: Value) -> Value {
    let mut body = body(&[
        json!({"type": "function_call_output", "call_id": "earlier", "output": long()}),
        message("user", "And now?"),
        json!({"type": "function_call", "call_id": "a", "name": "Bash", "arguments": "{\"command\":\"cargo build\"}"}),
        json!({"type": "function_call_output", "call_id": "a", "output": long()}),
    ]);
    body["store"] = json!(true);
    body[keeper] = name;
    body
}

#[test]
fn what_goes_on_from_elsewhere_stays() {
    for (key, name, keeper) in [
        ("previous_response_id", json!("resp_1"), Keeper::PreviousResponse),
        ("conversation", json!("conv_1"), Keeper::Conversation),
        ("conversation", json!({"id": "conv_1"}), Keeper::Conversation),
    ] {
        let request = parsed(&going_on(key, name));
        let elsewhere = request.elsewhere().expect("it is named");
        assert_eq!(elsewhere.keeper, keeper);
        // Its call is where the history is, so the first output is no orphan.
        assert_eq!(wire::check(&request), []);
        for percent in [50, 10] {
            let compactor = compactor(Target::Percent(percent));
            check_all(&request, &compactor).unwrap_or_else(|why| panic!("{key}: {why}"));
            let outcome = compactor.compact(&request).expect("a sound view");
            // No entry leaves, and the receipt names who has the rest.
            assert!(outcome.view.fates().all(Fate::is_shown), "{}", shown(&outcome, ALL));
            assert_eq!(outcome.receipt.elsewhere, Some(elsewhere.clone()));
            assert!(outcome.view.checkpoint().is_none());
        }
    }
    let mut neither = going_on("previous_response_id", json!(null));
    neither["conversation"] = json!(null);
    assert!(parsed(&neither).elsewhere().is_none());
    assert_eq!(wire::check(&parsed(&neither))[0].rule.0, "responses/orphan", "now it is an orphan");
}

#[test]
fn what_goes_on_from_an_interaction_stays() {
    let said = |kind: &str, words: &str| json!({"type": kind, "content": [{"type": "text", "text": words}]});
    let going_on = |key: &str, value: Value| {
        let steps = json!([
            {"type": "function_result", "call_id": "earlier", "result": long()},
            said("model_output", &long()),
            said("user_input", "And now?"),
        ]);
        let body = json!({"model": "gemini-3.8-flash", key: value, "input": steps}).to_string();
        wire::parse(Format::GeminiInteractions, body).expect("a request")
    };
    let request = going_on("previous_interaction_id", json!("v1_1"));
    let elsewhere = request.elsewhere().expect("it is named");
    assert_eq!(elsewhere.keeper, Keeper::PreviousInteraction);
    assert_eq!(wire::check(&request), [], "its call is where the history is");
    let compactor = compactor(Target::Percent(10));
    check_all(&request, &compactor).expect("all laws");
    let outcome = compactor.compact(&request).expect("a sound view");
    assert!(outcome.view.fates().all(Fate::is_shown), "{}", shown(&outcome, ALL));
    assert_eq!(outcome.receipt.elsewhere, Some(elsewhere));
    // Where all of it is here, whoever stores it, the rest may leave.
    let whole = going_on("store", json!(true));
    assert_eq!(wire::check(&whole)[0].rule.0, "interactions/orphan");
    check_all(&whole, &compactor).expect("all laws");
    let outcome = compactor.compact(&whole).expect("a sound view");
    assert!(outcome.view.checkpoint().is_some(), "{}", shown(&outcome, ALL));
}

#[test]
fn an_output_whose_call_is_only_referred_to_stays() {
    let items = [
        message("user", "Fix the build."),
        json!({"type": "item_reference", "id": "fc_1"}),
        json!({"type": "function_call_output", "call_id": "earlier", "output": long()}),
        message("assistant", &long()),
        message("user", "And the docs?"),
    ];
    let mut body = body(&items);
    body["store"] = json!(true);
    let request = parsed(&body);
    assert_eq!(wire::check(&request), []);
    let compactor = compactor(Target::Tokens(60));
    check_all(&request, &compactor).expect("all laws");
    expect![[r#"
        keep user message, item_reference
        edit function_call_output
           > {"call_id":"earlier","output":"73d33b666a1e21da3fdabe86cbbeaa11 [… 3.2 kB elided …] (src/parser/token.rs)\n","type":"function_call_output"}
        fold assistant message
        here checkpoint
        keep user message
    "#]].assert_eq(&shown(&compactor.compact(&request).expect("a sound view"), ALL));
}

#[test]
fn a_trigger_stays_last() {
    let mut body = session(&[message("assistant", &long())]);
    let items = body["input"].as_array_mut().expect("a list");
    items.push(json!({"type": "compaction_trigger"}));
    let request = parsed(&body);
    let compactor = compactor(Target::Tokens(80));
    check_all(&request, &compactor).expect("all laws");
    let outcome = compactor.compact(&request).expect("a sound view");
    let out: Value = serde_json::from_str(outcome.rendered()).expect("JSON");
    let last = out["input"].as_array().and_then(|items| items.last());
    assert_eq!(last, Some(&json!({"type": "compaction_trigger"})));
    validate(Api::Responses, &out).expect("the server takes it");
    expect![[r#"
        keep user message
        fold assistant message, assistant message
        here checkpoint
        keep user message, function_call, function_call_output, compaction_trigger
    "#]]
    .assert_eq(&shown(&outcome, ALL));
}
