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
fn contents_have_roles_and_parts() {
    refuses(
        &body(json!([user("")])),
        "Unable to submit request because it has an empty text parameter.",
    );
    let signature = json!([{"text": "", "thoughtSignature": SIGNATURE}]);
    accepts(&body(json!([user("Go."), model(signature), user("And?")])));
    refuses(&body(json!([])), "* GenerateContentRequest.contents: contents is not specified");
    refuses(
        &body(json!([{"role": "assistant", "parts": [{"text": "x"}]}])),
        "Please use a valid role: user, model.",
    );
    refuses(
        &body(json!([{"role": "user", "parts": []}])),
        "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.",
    );
    refuses(
        &body(json!([{"role": "user", "parts": [{"thought": true}]}])),
        "* GenerateContentRequest.contents[0].parts[0].data: required oneof field",
    );
    refuses(
        &body(json!([{"role": "user", "parts": [{"text": "x", "inlineData": {}}]}])),
        "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set.",
    );
    let nameless = json!({"functionCall": {"args": {}}});
    refuses(
        &body(json!([user("Go."), model(json!([nameless]))])),
        "* GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty.",
    );
    let texts = json!({"functionCall": {"name": "read", "args": "{}"}});
    refuses(
        &body(json!([user("Go."), model(json!([texts]))])),
        "Invalid value at 'contents[1].parts[0].function_call.args'",
    );
}

#[test]
fn calls_and_results_are_as_many() {
    let unequal = "Please ensure that the number of function response parts is equal to the number of function call parts of \
                   the function call turn.";
    let calls = model(json!([signed("read", SIGNATURE), call("list")]));
    refuses(&body(json!([user("Go."), calls, results(&["read", "write"])])), unequal);
    refuses(&body(json!([user("Go."), calls, results(&["read"])])), unequal);
    refuses(&body(json!([user("Go."), calls, results(&["read", "list", "read"])])), unequal);
    refuses(&body(json!([user("Go."), calls, user("And?")])), unequal);
    refuses(&body(json!([user("Go."), calls])), unequal);
    let unasked =
        "Please ensure that function response turn comes immediately after a function call turn.";
    refuses(&body(json!([user("Go."), results(&["read"])])), unasked);
    // The model doesn't answer itself.
    let own = with(results(&["read", "list"]), &[("role", json!("model"))]);
    refuses(&body(json!([user("Go."), calls, own])), unasked);
}

#[test]
fn calls_follow_a_person_or_results() {
    let misplaced = "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    let calls = model(json!([signed("read", SIGNATURE)]));
    refuses(&body(json!([calls, results(&["read"])])), misplaced);
    refuses(
        &body(json!([user("Go."), model(json!([{"text": "I look."}])), calls, results(&["read"])])),
        misplaced,
    );
    accepts(&body(json!([user("Go."), calls, results(&["read"]), calls, results(&["read"])])));
}

#[test]
fn each_step_of_the_current_turn_is_signed() {
    let step = |part: Value| {
        json!([user("Go."), model(json!([part, call("list")])), results(&["read", "list"])])
    };
    refuses(
        &body(step(call("read"))),
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and \
         missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:read` , \
         position 2.",
    );
    accepts(&body(step(signed("read", "skip_thought_signature_validator"))));
    refuses(
        &body(step(signed("read", "no base64!"))),
        "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES)",
    );
    // Steps of earlier turns aren't looked at, nor are models before Gemini 3.
    let mut old = step(call("read"));
    let rest = [model(json!([{"text": "Done."}])), user("Thanks.")];
    old.as_array_mut().expect("a list").extend(rest);
    accepts(&body(old));
    assert_eq!(message("gemini-2.5-pro", &body(step(call("read")))), None);
    let second = json!([
        user("Go."),
        model(json!([signed("read", SIGNATURE)])),
        results(&["read"]),
        model(json!([call("list")])),
        results(&["list"])
    ]);
    refuses(&body(second), "Function call is missing a thought_signature in functionCall parts.");
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
