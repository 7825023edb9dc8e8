//! Counts, and Claude at other clouds, whose paths say less than the body.

use http::Response;
use serde_json::{Value, json};

use crate::noting::{Book, upstream, whole};
use crate::stage::{Stage, before};

/// A conversation of Claude's with so many steps, as Amazon and Google take it.
pub(crate) fn claude(version: &str, steps: usize) -> Value {
    let output = "word ".repeat(300);
    let step = |at: usize| {
        let id = format!("t{at}");
        [
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {"n": at}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
        ]
    };
    let task = json!({"role": "user", "content": "Build it."});
    let messages: Vec<Value> = [task].into_iter().chain((0..steps).flat_map(step)).collect();
    let tools = json!([{"name": "run", "input_schema": {"type": "object"}}]);
    json!({"anthropic_version": version, "max_tokens": 9, "tools": tools, "messages": messages})
}

fn gemini(steps: usize) -> Value {
    let output = "word ".repeat(300);
    let step = |at: usize| {
        [
            json!({"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"n": at}}, "thoughtSignature": "c2ln"}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": output}}}]}),
        ]
    };
    let task = json!({"role": "user", "parts": [{"text": "Build it."}]});
    let contents: Vec<Value> = [task].into_iter().chain((0..steps).flat_map(step)).collect();
    json!({"contents": contents})
}

/// What arrives of a body that is sent to a path, in bytes, and its length.
async fn arrived((stage, book): &(Stage, Book), path: &str, body: &Value) -> (usize, usize) {
    let body = body.to_string();
    let request = stage.post(path).header("authorization", "Bearer k").body(body.clone().into());
    let reply = stage.call(request.expect("a request")).await;
    assert_eq!(reply.status(), 200, "{path}");
    let there = book.lock().expect("nobody panicked").last().map_or(0, |(_, there)| there.len());
    (there, body.len())
}

async fn stage() -> (Stage, Book) {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    (Stage::new(&before(&url, Some(6_000))).await, book)
}

#[tokio::test]
async fn a_body_of_claudes_at_amazon_is_known_whatever_its_profile_is_called() {
    let stage = stage().await;
    let profile =
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc";
    for path in [format!("{profile}/invoke"), format!("{profile}/invoke-with-response-stream")] {
        let (there, here) = arrived(&stage, &path, &claude("bedrock-2023-05-31", 30)).await;
        assert!(there < here / 2, "{path}: {there} of {here}");
    }
    let other = json!({"prompt": "x".repeat(90_000)});
    let (there, here) = arrived(&stage, &format!("{profile}/invoke"), &other).await;
    assert_eq!((there, stage.0.meter("passed", &["unread"]).await), (here, 1));
}

#[tokio::test]
async fn escapes_in_a_path_hide_no_call_and_are_forwarded() {
    let stage = stage().await;
    let last =
        || stage.1.lock().expect("nobody panicked").last().map(|(head, _)| head.uri.to_string());
    for (path, body) in [
        ("/v1beta/models/gemini-3.1-pro%3AgenerateContent", gemini(30)),
        ("/v1beta/models/gemini-3.1-pro%3astreamGenerateContent?alt=s%73e", gemini(30)),
        ("/v1/m%65ssages", claude("2023-06-01", 30)),
    ] {
        let (there, here) = arrived(&stage, path, &body).await;
        assert!(there < here / 2, "{path}: {there} of {here}");
        assert_eq!(last().as_deref(), Some(path));
    }
    let (there, here) = arrived(&stage, "/v1/m%65ssages", &json!({"messages": 7})).await;
    assert_eq!((there, stage.0.meter("passed", &["unread"]).await), (here, 1));
    // A slash that is escaped parts no names.
    let (there, here) = arrived(&stage, "/v1%2Fmessages", &claude("2023-06-01", 30)).await;
    assert_eq!(there, here);
}

#[tokio::test]
async fn prompts_are_counted_as_they_would_be_sent_at_google_too() {
    let stage = stage().await;
    let models = "/v1/projects/p/locations/l/publishers/anthropic/models";
    let mut body = claude("vertex-2023-10-16", 30);
    arrived(&stage, &format!("{models}/claude-opus-5-5@1:rawPredict"), &body).await;
    body["model"] = json!("claude-opus-5-5");
    let (there, here) = arrived(&stage, &format!("{models}/count-tokens:rawPredict"), &body).await;
    assert!(there < here / 2, "{there} of {here}");

    let model = "/v1beta/models/gemini-3.1-pro";
    arrived(&stage, &format!("{model}:generateContent"), &gemini(30)).await;
    let mut whole = gemini(30);
    whole["model"] = json!("models/gemini-3.1-pro");
    for body in [gemini(30), json!({"generateContentRequest": whole})] {
        let (there, here) = arrived(&stage, &format!("{model}:countTokens"), &body).await;
        assert!(there < here / 2, "{there} of {here}");
    }
}
