//! PROVIDERS.md B.1.5: context editing, compaction at a threshold and on demand.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::{
    Api, ApiError, Call, Endpoint, Incoming, Judge, Loop, Payload, Queue, Reply, Server,
};

use crate::{judged, schema, with, words};

const EDITING: &str = "context-management-2025-06-27";
const THRESHOLD: &str = "compact-2026-01-12";
const ON_DEMAND: &str = "compact-2026-09-04";
const MODEL: &str = "claude-opus-5-5";

fn body(messages: &[Value]) -> Value {
    json!({
        "model": MODEL,
        "max_tokens": 4000,
        "thinking": {"type": "adaptive"},
        "tools": [{"name": "read", "input_schema": schema()}],
        "messages": messages,
    })
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn send(server: &mut Server, betas: &str, body: &Value) -> (u16, Value) {
    let text = body.to_string();
    let headers = [("anthropic-beta".to_owned(), betas.to_owned())];
    let incoming =
        Incoming { method: "POST", path: "/v1/messages", headers: &headers, body: text.as_bytes() };
    let (answer, _) = server.answer(&incoming, Duration::ZERO);
    let Payload::Whole(whole) = answer.payload else { panic!("asked for a whole answer") };
    (answer.status, serde_json::from_str(&whole).expect("JSON"))
}

fn refused(betas: &[&str], body: &Value) -> ApiError {
    judged(Api::Anthropic, None, betas, body).expect_err("it is refused")
}

fn code(betas: &[&str], body: &Value) -> String {
    refused(betas, body).code.expect("it has a code")
}

/// A conversation that was compacted on demand: the messages before, and the block.
fn compacted() -> (Vec<Value>, Value) {
    let messages = vec![user("Go."), assistant("Gone."), user("And now?")];
    let mut server = Server::new(Queue::new([]));
    let asked = with(body(&messages), &[("compaction", json!({"type": "summarize"}))]);
    let (status, answer) = send(&mut server, ON_DEMAND, &asked);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["stop_reason"], "compaction");
    assert_eq!(answer["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&answer["usage"]["input_tokens"], &answer["usage"]["output_tokens"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(answer["usage"]["iterations"][0]["type"], "compaction");
    (messages, answer["content"][0].clone())
}

fn block_first(block: &Value, then: &[Value]) -> Value {
    let mut messages = vec![json!({"role": "assistant", "content": [block]})];
    messages.extend_from_slice(then);
    body(&messages)
}

#[test]
fn on_demand_it_is_a_signed_block_that_comes_first() {
    let (_, block) = compacted();
    let understood =
        judged(Api::Anthropic, None, &[ON_DEMAND], &block_first(&block, &[user("Go on.")]));
    assert_eq!(understood.expect("accepted").talk.humans, 1);
    let needs_beta = refused(&[], &block_first(&block, &[user("Go on.")]));
    assert!(needs_beta.message.contains("Input tag 'compaction'"), "{}", needs_beta.message);
    let asked = with(body(&[user("Go.")]), &[("compaction", json!({"type": "summarize"}))]);
    assert_eq!(refused(&[], &asked).message, "compaction: Extra inputs are not permitted");
}

#[test]
fn a_block_elsewhere_edited_or_invented_is_refused_with_its_code() {
    let (before, block) = compacted();
    let betas = [ON_DEMAND];
    let mut behind = before;
    behind.push(json!({"role": "assistant", "content": [block]}));
    behind.push(user("Go on."));
    assert_eq!(code(&betas, &body(&behind)), "compaction_block_misplaced");
    let twice = json!([{"role": "assistant", "content": [block, block]}, user("Go on.")]);
    assert_eq!(
        code(&betas, &body(twice.as_array().expect("a list"))),
        "compaction_block_ambiguous"
    );
    let edited = with(block.clone(), &[("content", json!("Another summary."))]);
    assert_eq!(
        code(&betas, &block_first(&edited, &[user("Go on.")])),
        "compaction_content_mismatch"
    );
    let invented = with(block.clone(), &[("signature", json!("mine"))]);
    assert_eq!(
        code(&betas, &block_first(&invented, &[user("Go on.")])),
        "compaction_signature_invalid"
    );
    let empty = with(block, &[("content", json!(""))]);
    let refused = refused(&betas, &block_first(&empty, &[user("Go on.")]));
    assert!(
        refused.message.ends_with("compaction.content: String should have at least 1 character")
    );
}

#[test]
fn a_request_for_one_holds_nothing_that_contradicts_it() {
    let asked = |key: &str, value: Value| {
        with(body(&[user("Go.")]), &[("compaction", json!({"type": "summarize"})), (key, value)])
    };
    for (key, value) in [
        ("stop_sequences", json!(["x"])),
        ("output_config", json!({"format": {"type": "json_schema"}})),
        ("output_config", json!({"task_budget": {"remaining": 5}})),
    ] {
        let refused = refused(&[ON_DEMAND], &asked(key, value));
        assert!(
            refused.message.ends_with("not supported together with `compaction`"),
            "{key}: {}",
            refused.message
        );
    }
    let forced =
        with(asked("tool_choice", json!({"type": "any"})), &[("model", json!("claude-opus-5"))]);
    assert!(
        refused(&[ON_DEMAND], &forced).message.starts_with("tool_choice: not supported together")
    );
    let both = asked("context_management", json!({"edits": []}));
    assert_eq!(
        refused(&[ON_DEMAND, EDITING], &both).message,
        "context_management and compaction are mutually exclusive"
    );
    let long = json!({"type": "summarize", "instructions": "x".repeat(16_385)});
    assert_eq!(
        refused(&[ON_DEMAND], &with(body(&[user("Go.")]), &[("compaction", long)])).message,
        "compaction.instructions: String should have at most 16384 characters"
    );
    let open = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]});
    let open = with(body(&[user("Go."), open]), &[("compaction", json!({"type": "summarize"}))]);
    assert_eq!(code(&[ON_DEMAND], &open), "compaction_incomplete_turn");
    let (_, block) = compacted();
    let nothing = with(block_first(&block, &[]), &[("compaction", json!({"type": "summarize"}))]);
    assert_eq!(code(&[ON_DEMAND], &nothing), "compaction_nothing_to_summarize");
    let again = with(
        block_first(&block, &[user("Go on.")]),
        &[("compaction", json!({"type": "summarize"}))],
    );
    assert!(judged(Api::Anthropic, None, &[ON_DEMAND], &again).is_ok(), "a second compaction");
}

/// Three steps, of which the last is kept behind a block that stands for the others.
#[test]
fn reasoning_kept_behind_a_block_still_fits_what_the_block_stands_for() {
    let mut server = Server::new(Loop { steps: 0, ..Loop::default() });
    let mut messages = vec![user("Go.")];
    let mut requests = Vec::new();
    for turn in 0..2 {
        requests.push(messages.clone());
        let (_, answer) = send(&mut server, "", &body(&messages));
        messages.push(json!({"role": "assistant", "content": answer["content"]}));
        messages.push(user(&format!("And {turn}?")));
    }
    // Exactly the messages of a request that was already sent are compacted.
    let sent = requests.pop().expect("two were sent");
    let asked = with(body(&sent), &[("compaction", json!({"type": "summarize"}))]);
    let (_, answer) = send(&mut server, ON_DEMAND, &asked);
    let kept = &messages[sent.len()..];
    let good = block_first(&answer["content"][0], kept);
    assert!(judged(Api::Anthropic, None, &[ON_DEMAND], &good).is_ok());
    // One message fewer was compacted than is left out.
    let asked = with(body(&sent[..1]), &[("compaction", json!({"type": "summarize"}))]);
    let (_, answer) = send(&mut server, ON_DEMAND, &asked);
    let refused = refused(&[ON_DEMAND], &block_first(&answer["content"][0], kept));
    assert!(refused.message.contains("bound to a different conversation"), "{}", refused.message);
}

#[test]
fn at_a_threshold_the_answer_begins_with_a_block() {
    let edit = |more: Value| {
        let mut edit = json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}});
        for (key, value) in more.as_object().expect("an object") {
            edit[key] = value.clone();
        }
        with(body(&[user(&words(60_000))]), &[("context_management", json!({"edits": [edit]}))])
    };
    let mut server = Server::new(Queue::new([Reply::text("Done.").into()]));
    let (_, answer) = send(&mut server, THRESHOLD, &edit(json!({})));
    let kinds: Vec<&Value> =
        answer["content"].as_array().expect("blocks").iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["compaction", "text"]);
    assert_eq!(answer["stop_reason"], "end_turn");
    let (_, paused) = send(&mut server, THRESHOLD, &edit(json!({"pause_after_compaction": true})));
    assert_eq!(
        (paused["content"].as_array().map(Vec::len), &paused["stop_reason"]),
        (Some(1), &json!("compaction"))
    );

    // The response is appended as usual; what stands before the block isn't read any more.
    let after = body(&[
        user(&words(60_000)),
        json!({"role": "assistant", "content": answer["content"]}),
        user("And now?"),
    ]);
    let understood = judged(Api::Anthropic, None, &[THRESHOLD], &after).expect("accepted");
    assert!(understood.prompt.tokens() < 1_000, "{}", understood.prompt.tokens());

    let low = json!({"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1_000}}]});
    assert_eq!(
        refused(&[THRESHOLD], &with(body(&[user("Go.")]), &[("context_management", low)])).message,
        "context_management.edits.0.compact_20260112.trigger.value: Input should be greater than or equal to 50000"
    );
}

#[test]
fn context_editing_clears_the_oldest_results_and_counts_what_is_left() {
    let mut messages = vec![user("Go.")];
    for n in 0..5 {
        let id = format!("toolu_{n}");
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": words(100)}]}));
    }
    let whole = body(&messages);
    let edit = json!({"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 4}, "keep": {"type": "tool_uses", "value": 2}});
    let edited = with(whole.clone(), &[("context_management", json!({"edits": [edit]}))]);
    let tokens = |body: &Value| {
        let betas = [EDITING.to_owned()];
        let call =
            Call { betas: &betas, endpoint: Endpoint::Count, ..Call::new(Api::Anthropic, body) };
        let understood = Judge::default().validate(&call).expect("accepted");
        (understood.prompt.tokens(), understood.edits)
    };
    let (before, _) = tokens(&whole);
    let (after, (applied, original)) = tokens(&edited);
    let saved = applied[0]["cleared_input_tokens"].as_u64().expect("a number");
    assert_eq!(applied[0]["cleared_tool_uses"], 3);
    assert_eq!((after, original), (before - saved, before));
    assert!(saved > 280, "{saved}");
    assert_eq!(refused(&[], &edited).message, "context_management: Extra inputs are not permitted");
    let second = json!({"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}]});
    assert_eq!(
        refused(&[EDITING], &with(whole.clone(), &[("context_management", second)])).message,
        "context_management.edits: clear_thinking_20251015 must be the first edit when combined with others"
    );
    let unknown = json!({"edits": [{"type": "forget"}]});
    assert!(
        refused(&[EDITING], &with(whole, &[("context_management", unknown)]))
            .message
            .starts_with("context_management.edits.0: Input tag 'forget' found using 'type'")
    );
}
