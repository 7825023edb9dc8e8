//! PROVIDERS.md B.3 and B.5 for OpenAI Chat Completions.

use serde_json::{Value, json};
use testkit::server::Api;

use crate::{judged, schema, with, without};

fn body(messages: Value) -> Value {
    json!({"model": "gpt-4o", "messages": messages})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

fn accepts(body: &Value) {
    if let Err(refusal) = judged(Api::Chat, None, &[], body) {
        panic!("{}\n{body:#}", refusal.message);
    }
}

/// Message, code and param.
fn refused(body: &Value) -> (String, Option<String>, Option<String>) {
    let refusal = judged(Api::Chat, None, &[], body).expect_err("it is refused");
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "invalid_request_error"));
    (refusal.message, refusal.code, refusal.param)
}

fn refuses(body: &Value, message: &str) {
    let (text, ..) = refused(body);
    assert!(text.starts_with(message), "{text}\nnot {message}");
}

#[test]
fn there_are_messages_and_a_model() {
    refuses(&without(body(json!([])), "messages"), "Missing required parameter: 'messages'.");
    let (_, code, param) = refused(&body(json!([])));
    assert_eq!((code.as_deref(), param.as_deref()), (Some("empty_array"), Some("messages")));
    refuses(&without(body(json!([user("Go.")])), "model"), "you must provide a model parameter");
    let refusal = judged(
        Api::Chat,
        None,
        &[],
        &with(body(json!([user("Go.")])), &[("model", json!("nobody"))]),
    );
    let refusal = refusal.expect_err("there is no such model");
    assert_eq!((refusal.status, refusal.code.as_deref()), (404, Some("model_not_found")));
}

#[test]
fn tools_return_no_images() {
    let image = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    accepts(&body(json!([{"role": "user", "content": image}])));
    refuses(
        &body(
            json!([user("Go."), calls(&["call_1"]), {"role": "tool", "tool_call_id": "call_1", "content": image}]),
        ),
        "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' \
         contains an image URL.",
    );
}

#[test]
fn newer_models_call_tools_elsewhere() {
    let tools = json!([{"type": "function", "function": {"name": "read", "parameters": schema()}}]);
    let at = |model: &str, effort: Value| {
        with(
            body(json!([user("Go.")])),
            &[("model", json!(model)), ("tools", tools.clone()), ("reasoning_effort", effort)],
        )
    };
    let refusal = |model: &str| {
        format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function tools, \
             use /v1/responses or set reasoning_effort to 'none'."
        )
    };
    for (model, effort) in
        [("gpt-6-sol", Value::Null), ("gpt-6.1-sol", json!("low")), ("gpt-5.4", json!("low"))]
    {
        assert_eq!(
            refused(&at(model, effort)),
            (refusal(model), None, Some("reasoning_effort".to_owned()))
        );
    }
    accepts(&at("gpt-6-sol", json!("none")));
    accepts(&at("gpt-5.4", Value::Null));
    accepts(&at("gpt-5.2", json!("low")));
    let bad = json!([{"type": "function", "function": {"name": "a b"}}]);
    refuses(
        &with(body(json!([user("Go.")])), &[("tools", bad)]),
        "Invalid 'tools[0].function.name': string does not match pattern.",
    );
}

#[test]
fn some_compatible_servers_want_their_reasoning_back() {
    let at = |model: &str, message: Value| {
        with(body(json!([user("Go."), message, result("call_1")])), &[("model", json!(model))])
    };
    let without_it = calls(&["call_1"]);
    let with_it = with(without_it.clone(), &[("reasoning_content", json!("hm"))]);
    for model in ["deepseek-reasoner", "kimi-k2-thinking"] {
        refuses(
            &at(model, without_it.clone()),
            "The reasoning_content in the thinking mode must be passed back to the API.",
        );
        accepts(&at(model, with_it.clone()));
    }
    let disabled =
        with(at("deepseek-chat", without_it), &[("thinking", json!({"type": "disabled"}))]);
    accepts(&disabled);
}
