//! What must stay, and how much of it: drawn from random transcripts that broke a law once.

use epitome::engine::plan::Reached;
use epitome::engine::receipt::Receipt;
use epitome::strategy::guard::KeepReason;
use epitome::view::Fate;
use epitome::{Compactor, Format, Options, Pin, Request, wire};
use serde_json::{Value, json};
use testkit::laws::check_all;
use testkit::to;

fn compactor(target: u64, pins: Vec<Pin>) -> Compactor {
    testkit::compactor(Options { pins, ..to(target) }, "o200k")
}

fn request(format: Format, body: &Value) -> Request {
    wire::parse(format, body.to_string()).expect("a request")
}

/// Checks every law at the target, and says what was done.
fn receipt(request: &Request, target: u64, pins: &[Pin]) -> Receipt {
    let compactor = compactor(target, pins.to_vec());
    if let Err(why) = check_all(request, &compactor) {
        panic!("at {target}: {why}");
    }
    compactor.compact(request).expect("a view").receipt
}

fn anthropic(messages: &Value) -> Request {
    let body = json!({
        "model": "claude-opus-5-5", "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": messages,
    });
    request(Format::Anthropic, &body)
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmVk"})
}

fn reads(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "src/x.rs"}})
}

fn code(id: &str, lines: usize) -> Value {
    let content = "fn f() { todo!() }\n".repeat(lines);
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]})
}

/// The JSON of a list of results has backslashes and quotes that nobody said.
#[test]
fn a_pin_is_where_its_words_are_said() {
    let lines = json!([{"type": "text", "text": "fn f() {\n  todo!()\n}\n".repeat(60)}]);
    let request = anthropic(&json!([
        {"role": "user", "content": "Fix the build."},
        {"role": "assistant", "content": [{"type": "text", "text": r"\ is a backslash."}, reads("toolu_1")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": lines}]},
    ]));
    for target in (60..600).step_by(20) {
        let receipt = receipt(&request, target, &[Pin::Text("\\".into())]);
        assert!(receipt.excerpted.is_empty(), "at {target}: {:?}", receipt.excerpted);
    }
}

/// A mend that takes a message out moves those behind it, not the pin.
#[test]
fn a_pin_is_of_the_message_as_it_came() {
    let said = |role: &str, words: &str| json!({"role": role, "content": words});
    let request = anthropic(&json!([
        said("user", "Begin."),
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}]},
        said("assistant", &"The first file is fine. ".repeat(90)),
        said("assistant", "The port is 8123."),
        said("assistant", &"The second file is fine. ".repeat(90)),
        said("user", "Go on."),
    ]));
    let outcome = compactor(200, vec![Pin::Entry(3)]).compact(&request).expect("a view");
    assert_eq!(outcome.came_from[1..4], [Some(2), Some(3), Some(4)]);
    assert_eq!(outcome.view.fates().nth(2), Some(&Fate::Keep));
    receipt(&request, 200, &[Pin::Entry(3)]);
    let gone = compactor(200, vec![Pin::Entry(1)]).compact(&request).expect("a view");
    assert_eq!(gone.receipt.unmatched_pins, ["message 1"]);
}

/// Bound reasoning leaves with the first edit, so that a step isn't held by words that only its reasoning has.
#[test]
fn a_pin_is_not_in_reasoning_that_leaves() {
    let step = |id: &str, said: &str, thinks: &str| {
        let thought = json!({"type": "thinking", "thinking": thinks, "signature": "c2lnbmVk"});
        let text = json!({"type": "text", "text": said});
        json!({"role": "assistant", "content": [thought, text, reads(id)]})
    };
    let request = anthropic(&json!([
        {"role": "user", "content": "Fix the build."},
        step("toolu_1", "The port is 8123.", "Look first."),
        code("toolu_1", 30),
        step("toolu_2", "Looking.", "The port is 8123, again."),
        code("toolu_2", 30),
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        {"role": "user", "content": "And the docs?"},
    ]));
    for target in (80..600).step_by(20) {
        let compactor = compactor(target, vec![Pin::Text("port is 8123".into())]);
        assert_eq!(check_all(&request, &compactor), Ok(()), "at {target}");
        let outcome = compactor.compact(&request).expect("a view");
        assert!(outcome.rendered().contains("The port is 8123."), "at {target}");
    }
}

/// Gemini's text of the model is parted from a later call by a message of the user's, which stays for that only.
#[test]
fn the_newest_message_is_whole_before_one_that_only_parts_others() {
    let text = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let call = json!({"functionCall": {"name": "Read", "args": {}}});
    let output = "fn f() { todo!() }\n".repeat(40);
    let result = json!({"functionResponse": {"name": "Read", "response": {"output": output}}});
    let body = json!({"contents": [
        text("user", "Fix the build."),
        text("model", "Done."),
        text("user", &format!("What I saw: {}", "it is red. ".repeat(80))),
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [result]},
        text("user", &format!("Do this: {}", "look at the log. ".repeat(80))),
    ]});
    let request = request(Format::Gemini, &body);
    // Below that the line that says what isn't shown has no room beside it.
    for target in (650..900).step_by(25) {
        let receipt = receipt(&request, target, &[Pin::Entry(1)]);
        assert!(receipt.excerpted.is_empty(), "at {target}: {:?}", receipt.excerpted);
    }
}

/// Thinking that is bound to what was said before leaves with the first edit: a step that would stay for its sake
/// would leave the next time.
#[test]
fn no_step_stays_for_thinking_that_leaves() {
    let document = json!({"type": "document", "source": {
        "type": "text", "media_type": "text/plain", "data": "A line of the manual. ".repeat(300)}});
    let request = anthropic(&json!([
        {"role": "user", "content": "Fix the build."},
        {"role": "assistant", "content": [
            thought(), {"type": "text", "text": "Looking at it. ".repeat(20)}, reads("toolu_1")]},
        code("toolu_1", 40),
        {"role": "user", "content": [document, {"type": "text", "text": "And this?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It says"}]},
    ]));
    for target in (150..1500).step_by(50) {
        receipt(&request, target, &[]);
    }
}

/// The task stays whole, though the line that says what isn't shown has no room beside it then.
#[test]
fn a_task_is_not_cut_for_a_checkpoint() {
    let request = anthropic(&json!([
        {"role": "user", "content": "Fix the build of the parser, and say what broke it. ".repeat(10)},
        {"role": "assistant", "content": [thought(), {"type": "text", "text": "Looking. ".repeat(100)}, reads("toolu_1")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"},
            {"type": "text", "text": "See?"},
        ]},
        {"role": "user", "content": "Go on."},
    ]));
    for target in 60..240 {
        receipt(&request, target, &[]);
    }
}

/// Words that the system prompt says need no message to hold them; the names of its fields aren't words.
#[test]
fn a_pin_that_the_system_prompt_says_holds_no_message() {
    let escaped = r#""\u0054he port is 8080.""#;
    for (system, words, is_held) in [
        (escaped, "The port", false),
        (r#"[{"type":"text","text":"\u0054he port is 8080."}]"#, "The port", false),
        (r#"[{"type":"text","text":"Be brief."}]"#, "text", true),
    ] {
        let body = format!(
            r#"{{"model":"m","max_tokens":9,"system":{system},"messages":[{{"role":"user","content":"Go on."}},
{{"role":"assistant","content":"The port is in the text. {}"}},{{"role":"user","content":"ok"}}]}}"#,
            "Looking. ".repeat(40)
        );
        let request = wire::parse(Format::Anthropic, body).expect("a request");
        let receipt = receipt(&request, 30, &[Pin::Text(words.into())]);
        let held = matches!(&receipt.reached, Reached::Unreachable { held_by, .. }
            if held_by.iter().any(|(held, _)| *held == KeepReason::Pin));
        assert_eq!(held, is_held, "{system}: {:?}", receipt.reached);
    }
}

/// The newest human message is a person's; what the transcript ends with may be anybody's.
#[test]
fn the_last_message_and_the_newest_human_one_differ() {
    let body = format!(
        r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":"Well."}},{{"role":"user","content":"Again."}},{{"role":"assistant","content":"{}"}}]"#,
        "Done. ".repeat(9)
    );
    let request = wire::parse(Format::OpenaiChat, body).expect("a request");
    let held: Vec<_> = receipt(&request, 5, &[]).held_by().iter().map(|(held, _)| *held).collect();
    assert_eq!(held, [KeepReason::Last, KeepReason::Task, KeepReason::Newest]);
}

/// It was cut as what must stay, and the next compaction found a failed call that is no stub yet.
#[test]
fn a_failed_call_that_must_stay_is_a_stub_at_once() {
    let lines = |n: usize| "1: lorem elit labore veniam amet tempor aliqua ipsum\n".repeat(n);
    for n in 1..8 {
        let body = json!({"model": "gpt-5.4", "store": false, "input": [
            {"type": "function_call", "name": "Read", "arguments": "{}", "call_id": "call_1"},
            {"type": "shell_call", "action": {"commands": ["ok"]}, "call_id": "shell_2"},
            {"role": "user", "content": "<system-reminder>the build is slow today</system-reminder>"},
            {"type": "function_call_output", "output": "ok", "call_id": "call_1"},
            {"type": "shell_call_output", "call_id": "shell_2", "output": [
                {"stdout": "", "stderr": lines(n), "outcome": {"type": "exit", "exit_code": 1}},
                {"stdout": "done", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]},
            {"role": "assistant", "content": "Done."}, {"type": "compaction_trigger"}]});
        let request = request(Format::OpenaiResponses, &body);
        for target in (1..240).step_by(3) {
            receipt(&request, target, &[]);
        }
    }
}

/// The stub of a result repeats its call's arguments, and the next compaction held it in the place of the call.
#[test]
fn words_of_a_call_are_pinned_there_and_not_in_its_stub() {
    let said = "Use 2 retries, never 3.";
    let call = |id: &str, path: &str| {
        let input = json!({"path": path, "why": "lorem ipsum dolor sit amet ".repeat(12)});
        json!({"type": "tool_use", "id": id, "name": "Read", "input": input})
    };
    let request = anthropic(&json!([
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": [thought(), {"type": "text", "text": said}, call("toolu_1", said), call("toolu_2", "src/x.rs")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "fn f() { todo!() }\n".repeat(90)},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "x"}]},
        {"role": "assistant", "content": [thought(), {"type": "text", "text": "Done."}]},
        {"role": "user", "content": "Go on."},
    ]));
    for target in (20..900).step_by(10) {
        receipt(&request, target, &[Pin::Text("Use 2 retrie".to_owned())]);
    }
}

/// Whatever else left, a step that had to stay was the turn in progress, and its thinking had left: the view fell back to
/// one that the next compaction went on with.
#[test]
fn what_ends_the_turn_of_a_step_that_stays_without_its_thinking_stays() {
    let calls = |id: &str, path: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}});
    let says = |content: Value| json!({"role": "assistant", "content": content});
    let done = |said: &str| says(json!([thought(), {"type": "text", "text": said}]));
    let path = "lorem ipsum dolor sit amet ".repeat(12);
    let kept = [says(json!([thought(), calls("toolu_1", &path)])), code("toolu_1", 1)];
    let step = |id: &str| [says(json!([thought(), calls(id, "src/x.rs")])), code(id, 9)];
    let open = says(json!([thought(), calls("toolu_4", "src/x.rs")]));
    let ask = |text: &str| json!({"role": "user", "content": text});
    let compacted = says(json!([{"type": "compaction", "content": null}]));
    let (two, three) = (step("toolu_2"), step("toolu_3"));
    let session = |first: &Value, last: &[Value]| {
        let mut messages = vec![first.clone()];
        messages.extend(kept.iter().chain(&two).cloned());
        messages.push(ask("ok"));
        messages.extend(three.iter().cloned());
        messages.extend([done("Done."), ask(&"Go on. ".repeat(40))]);
        messages.extend_from_slice(last);
        anthropic(&Value::Array(messages))
    };
    for last in [&[][..], &[open]] {
        for target in (20..700).step_by(10) {
            let stateful = receipt(&session(&compacted, last), target, &[]);
            let pinned = receipt(&session(&ask("Begin."), last), target, &[Pin::Entry(1)]);
            for receipt in [stateful, pinned] {
                assert!(receipt.fallbacks.is_empty(), "at {target}: {:?}", receipt.fallbacks);
            }
        }
    }
}

/// A result in one message with the newest words was cut as late as these: one search hid what had been done.
#[test]
fn a_result_beside_the_newest_words_leaves_room_for_what_was_done() {
    let call = |id: &str, tool: &str, input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]});
    let answer =
        |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let mut messages = vec![json!({"role": "user", "content": "Pay what is due."})];
    for nth in 0..20 {
        let id = format!("toolu_{nth}");
        messages.push(call(&id, "pay", json!({"invoice": format!("INV-{nth:04}")})));
        messages.push(json!({"role": "user", "content": [answer(&id, "booked")]}));
    }
    messages.push(call("toolu_s", "search_mail", json!({"query": "invoices"})));
    let found: String =
        (0..150).fold(String::new(), |all, nth| format!("{all}mail {nth} of May\n"));
    let words = json!({"type": "text", "text": "Draft the report."});
    messages.push(json!({"role": "user", "content": [answer("toolu_s", &found), words]}));
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 2000, "messages": messages});
    let request = request(Format::Anthropic, &body);
    receipt(&request, 800, &[]);
    let view = compactor(800, Vec::new()).compact(&request).expect("a view").request;
    let last = view.transcript.entries().last().expect("it isn't empty");
    assert_eq!(last.human_text(), "Draft the report.");
    let log = view.source();
    let named = (0..20).filter(|nth| log.contains(&format!("INV-{nth:04}"))).count();
    assert_eq!(named, 20, "{log}");
}

/// A call that a larger model made may fill the window of the next one: its arguments stay as far as they fit.
#[test]
fn arguments_that_alone_fill_the_target_are_cut() {
    let content = "let x = 1; // and what else there is to say\n".repeat(900);
    let input = json!({"path": "src/generated.rs", "content": content});
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 2000, "messages": [
        {"role": "user", "content": "Generate the table."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": input}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "written"}]},
    ]});
    let request = request(Format::Anthropic, &body);
    for target in [1_000, 4_000] {
        let receipt = receipt(&request, target, &[]);
        assert_eq!(receipt.reached, Reached::Target, "{target}");
        let view = compactor(target, Vec::new()).compact(&request).expect("a view").request;
        assert!(view.source().contains("src/generated.rs"), "{}", view.source());
    }
}
