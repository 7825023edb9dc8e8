//! PROVIDERS.md B.4 and B.5 for Gemini.

use serde_json::{Value, json};
use testkit::server::Api;

use crate::{judged, with};

const MODEL: &str = "gemini-3.1-pro";

fn body(contents: Value) -> Value {
    json!({"contents": contents})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn message(model: &str, body: &Value) -> Option<String> {
    let refusal = judged(Api::Gemini, Some(model), &[], body).err()?;
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "INVALID_ARGUMENT"));
    Some(refusal.message)
}

fn refuses(body: &Value, text: &str) {
    let refused = message(MODEL, body).unwrap_or_default();
    assert!(refused.starts_with(text), "{refused}\nnot {text}");
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
