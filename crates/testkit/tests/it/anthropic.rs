//! PROVIDERS.md B.1.1, B.1.2, B.1.6 and B.5 for Anthropic Messages.

use serde_json::{Value, json};
use testkit::server::{Api, Call, Endpoint, Judge};

use crate::{judged, schema, with, without};
use epitome::word_list::words;

const MODEL: &str = "claude-opus-5-5";

fn body(messages: Value) -> Value {
    json!({"model": MODEL, "max_tokens": 1000, "messages": messages})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}})
}

fn accepts(body: &Value) {
    accepts_with(&[], body);
}

fn accepts_with(betas: &[&str], body: &Value) {
    if let Err(refusal) = judged(Api::Anthropic, None, betas, body) {
        panic!("{}\n{body:#}", refusal.message);
    }
}

fn refuses(body: &Value, message: &str) {
    refuses_with(&[], body, message);
}

fn refuses_with(betas: &[&str], body: &Value, message: &str) {
    let refusal = judged(Api::Anthropic, None, betas, body).expect_err(message);
    assert!(refusal.message.starts_with(message), "{}\nnot {message}", refusal.message);
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "invalid_request_error"));
}

#[test]
fn a_request_has_model_messages_and_an_end() {
    let whole = body(json!([user("Go.")]));
    refuses(&without(whole.clone(), "model"), "model: Field required");
    refuses(&without(whole.clone(), "messages"), "messages: Field required");
    refuses(&without(whole.clone(), "max_tokens"), "max_tokens: Field required");
    refuses(
        &with(whole.clone(), &[("max_tokens", json!("many"))]),
        "max_tokens: Input should be a valid integer",
    );
    refuses(
        &with(whole.clone(), &[("max_tokens", json!(200_000))]),
        "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5",
    );
    refuses(
        &with(whole.clone(), &[("prompt", json!("Go."))]),
        "prompt: Extra inputs are not permitted",
    );
    let unknown = with(whole, &[("model", json!("gpt-next"))]);
    accepts(&with(unknown.clone(), &[("model", json!("claude-next"))]));
    let refusal = judged(Api::Anthropic, None, &[], &with(unknown, &[("model", json!("nobody"))]));
    let refusal = refusal.expect_err("there is no such model");
    assert_eq!((refusal.status, refusal.kind.as_str()), (404, "not_found_error"));
}

#[test]
fn counting_needs_no_end() {
    let body = without(body(json!([user("Go.")])), "max_tokens");
    let count = Call { endpoint: Endpoint::Count, ..Call::new(Api::Anthropic, &body) };
    let counted = Judge::default().validate(&count).expect("counting takes it");
    assert_eq!(counted.prompt.tokens(), 4 + testkit::server::count::text("Go."));
}

#[test]
fn the_end_is_not_the_assistants_where_it_may_not_be_put_into_its_mouth() {
    let prefilled = body(json!([user("Go."), assistant("I will")]));
    let refusal = "This model does not support assistant message prefill. The conversation must end with a user message.";
    refuses(&prefilled, refusal);
    accepts(&with(prefilled.clone(), &[("model", json!("claude-haiku-4-5"))]));
    let spaced = body(json!([user("Go."), assistant("I will ")]));
    refuses(
        &with(spaced, &[("model", json!("claude-haiku-4-5"))]),
        "messages: final assistant content cannot end with trailing whitespace",
    );
}

#[test]
fn system_text_between_messages_has_its_places() {
    let system = |text: &str| json!({"role": "system", "content": text});
    let at = |messages: Value| body(messages);
    accepts(&at(json!([user("Go."), system("Be brief.")])));
    accepts(&at(json!([user("Go."), system("Be brief."), assistant("Done."), user("More.")])));
    let misplaced = "role 'system' must follow a user message";
    let refuses_place = |body: &Value| {
        let refusal = judged(Api::Anthropic, None, &[], body).expect_err(misplaced);
        assert!(refusal.message.contains(misplaced), "{}", refusal.message);
    };
    refuses_place(&at(json!([user("Go."), system("Be brief."), user("More.")])));
    refuses_place(&at(json!([user("Go."), assistant("Done."), system("Be brief.")])));
    refuses(
        &at(json!([system("Be brief."), user("Go.")])),
        "messages: first message must use the \"user\" role",
    );
    refuses(
        &with(
            at(json!([user("Go."), system("Be brief.")])),
            &[("model", json!("claude-sonnet-5"))],
        ),
        "role 'system' is not supported on this model",
    );
}

#[test]
fn tools_have_names_and_schemas() {
    let tool = json!({"name": "read", "input_schema": schema()});
    let offered = |tools: Value| with(body(json!([user("Go.")])), &[("tools", tools)]);
    accepts(&offered(json!([tool, {"type": "web_search_20250305", "name": "web_search"}])));
    refuses(&offered(json!([tool, tool])), "tools: Tool names must be unique.");
    refuses(&offered(json!([{"input_schema": schema()}])), "tools.0.custom.name: Field required");
    refuses(
        &offered(json!([{"name": "a b", "input_schema": schema()}])),
        "tools.0.custom.name: String should match pattern",
    );
    refuses(&offered(json!([{"name": "read"}])), "tools.0.custom.input_schema: Field required");
    refuses(
        &offered(json!([{"name": "read", "input_schema": {"type": "string"}}])),
        "tools.0.custom.input_schema.type: Input should be 'object'",
    );
}

#[test]
fn newer_models_cannot_be_forced_to_call() {
    let tool = json!([{"name": "read", "input_schema": schema()}]);
    let forced = |model: &str, choice: Value| {
        with(
            body(json!([user("Go.")])),
            &[("model", json!(model)), ("tools", tool.clone()), ("tool_choice", choice)],
        )
    };
    accepts(&forced("claude-opus-5", json!({"type": "any"})));
    accepts(&forced("claude-haiku-5-5", json!({"type": "tool", "name": "read"})));
    for model in words!(
        "claude-fable-5-1 claude-fable-5-2 claude-mythos-5-1 claude-mythos-5-2 claude-opus-5-5 \
         claude-sonnet-5-5"
    ) {
        refuses(
            &forced(model, json!({"type": "any"})),
            "tool_choice: type 'any' is not supported on this model",
        );
    }
    refuses(
        &forced("claude-opus-5", json!({"type": "tool", "name": "write"})),
        "Tool 'write' not found in provided tools",
    );
}

#[test]
fn cache_markers_are_few_and_ordered() {
    let marked = |ttl: &str| json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}});
    let five = ["5m"; 5].map(marked).to_vec();
    accepts(&body(json!([user(five[..4].to_vec())])));
    refuses(
        &body(json!([user(five.clone())])),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    // The automatic one takes a place too.
    let automatic = [("cache_control", json!({"type": "ephemeral"}))];
    refuses(
        &with(body(json!([user(five[..4].to_vec())])), &automatic),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    accepts(&body(json!([user(json!([marked("1h"), marked("5m")]))])));
    refuses(
        &body(json!([user(json!([marked("5m"), marked("1h")]))])),
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
    );
    refuses(
        &body(json!([user(json!([marked("2h")]))])),
        "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    );
    let empty = json!({"type": "text", "text": "", "cache_control": {"type": "ephemeral"}});
    refuses(
        &body(json!([user(json!([text("x"), empty]))])),
        "cache_control cannot be set for empty text blocks",
    );
}

#[test]
fn a_request_for_a_compaction_holds_nothing_that_contradicts_it() {
    const ON_DEMAND: &str = "compact-2026-09-04";
    let asked = |messages: Value, key: &str, value: Value| {
        with(body(messages), &[("compaction", json!({"type": "summarize"})), (key, value)])
    };
    let refused =
        |body: &Value| judged(Api::Anthropic, None, &[ON_DEMAND], body).expect_err("it is refused");
    for (key, value) in [
        ("stop_sequences", json!(["x"])),
        ("output_config", json!({"format": {"type": "json_schema"}})),
        ("output_config", json!({"task_budget": {"remaining": 5}})),
    ] {
        let refused = refused(&asked(json!([user("Go.")]), key, value)).message;
        assert!(refused.ends_with("not supported together with `compaction`"), "{key}: {refused}");
    }
    let block = json!([{"type": "compaction", "content": "so far"}]);
    for (messages, code) in [
        (json!([user("Go."), assistant(json!([call("toolu_1")]))]), "compaction_incomplete_turn"),
        (json!([assistant(block)]), "compaction_nothing_to_summarize"),
    ] {
        let refused = refused(&asked(messages, "stream", json!(false)));
        assert_eq!(refused.code.as_deref(), Some(code));
    }
}
