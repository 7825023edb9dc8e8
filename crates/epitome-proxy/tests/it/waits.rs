//! Streams for which the proxy itself lets a client wait.

use std::time::Duration;

use bytes::Bytes;
use epitome_proxy::{ProxyLimits, ProxyOptions};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use crate::works::{provider, request};

/// A proxy that tells at once that it is at work, in front of a server.
async fn hasty(url: &str, window: u64) -> Stage {
    let limits = ProxyLimits { keep_alive: Duration::ZERO, ..ProxyLimits::default() };
    Stage::new(&ProxyOptions { limits, ..before(url, Some(window)) }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_waits_begins_with_comments_and_is_whole() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini, Api::Interactions] {
        let running = provider(12_000).await;
        let stage = hasty(&running.url, 12_000).await;
        let mut agent = Agent::new(api, true);
        let mut waited = 0;
        for _ in 0..20 {
            let reply = stage.call(request(&stage, &agent)).await;
            let text = String::from_utf8_lossy(reply.body()).into_owned();
            assert_eq!(reply.status(), 200, "{text}");
            waited += usize::from(text.starts_with(": "));
            assert_eq!(agent.take(&text, 25), 2, "{text}");
        }
        // Short ones are looked at where they come, and of long ones some before anybody waits.
        assert!(waited > 0, "{api}: {waited}");
        assert!(stage.meter("compactions", &["adopted"]).await > 0, "{api}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_behind_a_comment_is_an_event() {
    let refusal = r#"{"type":"error","error":{"type":"overloaded_error","code":"busy","message":"Overloaded"}}"#;
    let answer = move |_: &http::request::Parts| {
        let mut reply = Response::new(whole(refusal));
        *reply.status_mut() = StatusCode::from_u16(529).expect("a status");
        reply.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        std::future::ready(reply)
    };
    let (url, _) = upstream(answer).await;
    let long = "It is long. ".repeat(100_000);
    for (url, code) in [(url.as_str(), "busy"), ("http://127.0.0.1:1", "upstream")] {
        let stage = hasty(url, 1_000_000).await;
        for (path, body, message) in [
            (
                "/v1/messages",
                json!({"messages": [{"role": "user", "content": long}]}),
                "/error/message",
            ),
            (
                "/v1/chat/completions",
                json!({"messages": [{"role": "user", "content": long}]}),
                "/error/message",
            ),
            ("/v1/responses", json!({"input": long}), "/message"),
            (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                json!({"contents": [{"role": "user", "parts": [{"text": long}]}]}),
                "/error/message",
            ),
            ("/v1beta/interactions", json!({"input": long}), "/error/message"),
        ] {
            let mut body = body;
            body["stream"] = json!(true);
            // Where it is looked at before anybody waits, nothing has begun.
            let mut text = String::new();
            while !text.starts_with(": ") {
                let body = body.to_string().replacen("It is", &format!("It {} is", text.len()), 1);
                let request = stage.post(path).body(Bytes::from(body)).expect("a request");
                let reply = stage.call(request).await;
                text.push_str(&String::from_utf8_lossy(reply.body()));
                if reply.status() == 200 {
                    text = String::from_utf8_lossy(reply.body()).into_owned();
                }
            }
            let data = text.lines().find_map(|line| line.strip_prefix("data: "));
            let data = data.unwrap_or_else(|| panic!("{path}: {text}"));
            let data: Value = serde_json::from_str(data).expect("JSON");
            assert!(text.ends_with("\n\n"), "{text}");
            assert!(data.pointer(message).is_some_and(Value::is_string), "{text}");
            assert!(!path.contains("responses") || data["code"] == code, "{text}");
        }
        // What is no stream keeps its status.
        let body = json!({"messages": [{"role": "user", "content": long}]}).to_string();
        let request = stage.post("/v1/messages").body(Bytes::from(body));
        let status = stage.call(request.expect("a request")).await.status();
        assert_eq!(status.as_u16(), if code == "busy" { 529 } else { 502 });
    }
}
