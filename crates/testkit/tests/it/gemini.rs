//! PROVIDERS.md B.4 and B.5 for Gemini.

use serde_json::{Value, json};
use testkit::server::{Api, Call, Endpoint, Judge, Model};

use crate::{judged, with, words};

const MODEL: &str = "gemini-3.1-pro";
const SIGNATURE: &str = "c2lnbmF0dXJl";

fn body(contents: Value) -> Value {
    json!({"contents": contents})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {"path": "a"}}})
}

fn signed(name: &str, signature: &str) -> Value {
    with(call(name), &[("thoughtSignature", json!(signature))])
}

fn results(names: &[&str]) -> Value {
    let part = |name: &&str| json!({"functionResponse": {"name": name, "response": {"ok": true}}});
    json!({"role": "user", "parts": names.iter().map(part).collect::<Vec<_>>()})
}

fn message(model: &str, body: &Value) -> Option<String> {
    let refusal = judged(Api::Gemini, Some(model), &[], body).err()?;
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "INVALID_ARGUMENT"));
    Some(refusal.message)
}

fn accepts(body: &Value) {
    assert_eq!(message(MODEL, body), None, "{body:#}");
}

fn refuses(body: &Value, text: &str) {
    let refused = message(MODEL, body).unwrap_or_default();
    assert!(refused.starts_with(text), "{refused}\nnot {text}");
}

#[test]
fn what_agents_send_is_accepted() {
    accepts(&body(json!([user("Go.")])));
    accepts(&body(json!([
        user("Go."),
        model(json!([{"text": "I look."}, signed("read", SIGNATURE), call("list")])),
        results(&["list", "read"]),
        model(json!([{"text": "Done."}])),
        user("Thanks."),
    ])));
    // Both spellings.
    accepts(&body(json!([
        user("Go."),
        {"role": "model", "parts": [{"function_call": {"name": "read"}, "thought_signature": SIGNATURE}]},
        {"role": "user", "parts": [{"function_response": {"name": "read", "response": {}}}]},
    ])));
}

#[test]
fn models_are_in_the_path_and_cached_contents_exist() {
    let refusal = judged(Api::Gemini, Some("nobody"), &[], &body(json!([user("Go.")])))
        .expect_err("no such model");
    assert_eq!((refusal.status, refusal.kind.as_str()), (404, "NOT_FOUND"));
    let cached =
        with(body(json!([user("Go.")])), &[("cachedContent", json!("cachedContents/gone"))]);
    let refusal = judged(Api::Gemini, Some(MODEL), &[], &cached).expect_err("there are none");
    assert_eq!(
        (refusal.status, refusal.message.as_str()),
        (403, "CachedContent not found (or permission denied)")
    );
    refuses(
        &with(cached, &[("tools", json!([]))]),
        "CachedContent can not be used with GenerateContent request setting system_instruction",
    );
    refuses(&body(json!([{"role": 7, "parts": [{"text": "Go."}]}])), "Please use a valid role");
}

#[test]
fn the_window_is_a_wall() {
    let mut judge = Judge::default();
    judge.models.put(Model { window: 5_000, ..Model::named(MODEL).expect("known") });
    let long = body(json!([user(&words(6_000))]));
    let call = Call { model: Some(MODEL), ..Call::new(Api::Gemini, &long) };
    assert_eq!(
        judge.validate(&call).expect_err("too long").message,
        "The input token count (6005) exceeds the maximum number of tokens allowed (5000)."
    );
    let counted = judge
        .validate(&Call { endpoint: Endpoint::Count, ..call })
        .expect("counting takes anything");
    assert_eq!(counted.prompt.tokens(), 6_005);
    let wrapped = json!({"generateContentRequest": long});
    let wrapped = Call { endpoint: Endpoint::Count, body: &wrapped, ..call };
    assert_eq!(judge.validate(&wrapped).expect("both ways").prompt.tokens(), 6_005);
}
