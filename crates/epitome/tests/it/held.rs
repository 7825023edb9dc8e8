//! What must stay, and how much of it: drawn from random transcripts that broke a law once.

use epitome::count::counter;
use epitome::receipt::Receipt;
use epitome::{Compactor, Format, Options, Pin, Request, Target, wire};
use serde_json::{Value, json};
use testkit::laws::check_all;

fn compactor(target: u64, pins: Vec<Pin>) -> Compactor {
    let options = Options { target: Target::Tokens(target), pins, ..Options::default() };
    Compactor::new(options, counter("o200k").expect("a known name")).expect("in range")
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
    for target in (575..900).step_by(25) {
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

/// A loop that is bound as a whole leaves with what people said in it; what fits of that is shown, or quoted in a
/// checkpoint under its cap, and what is shown isn't called overridden.
#[test]
fn what_leaves_with_a_bound_loop_is_shown_or_quoted() {
    let mut shown_after_all = 0;
    for (short, long) in [(30, 7), (30, 14), (40, 10), (60, 4)] {
        let say = |words: &str, times: usize| {
            (0..times).map(|n| format!("{words} {n}")).collect::<Vec<_>>().join(" ")
        };
        let request = anthropic(&json!([
            {"role": "user", "content": "<system-reminder>Begin.</system-reminder>"},
            {"role": "assistant", "content": [thought(), reads("toolu_1")]},
            code("toolu_1", 4),
            {"role": "user", "content": say("omega", short)},
            {"role": "user", "content": say("alpha beta gamma look at the log and say what is red in part", long)},
            {"role": "user", "content": "see?"},
            {"role": "assistant", "content": [thought(), {"type": "text", "text": "Looking. ".repeat(20)}, reads("toolu_2")]},
            code("toolu_2", 100),
        ]));
        for target in (60..640).step_by(12) {
            let receipt = receipt(&request, target, &[]);
            shown_after_all += usize::from(receipt.overridden.len() == 1);
        }
    }
    assert!(shown_after_all > 0);
}
