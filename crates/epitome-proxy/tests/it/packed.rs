//! Replies that an upstream compresses.

use std::io::Read as _;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use serde_json::{Value, json};

use crate::clouds::claude;
use crate::noting::{Written, upstream, whole};
use crate::passes::gzip;
use crate::stage::{Stage, before};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

fn packed(kind: &str, plain: &str) -> Response<Written> {
    let reply = Response::builder().header("content-type", kind).header("content-encoding", "gzip");
    reply.body(whole(gzip(plain.as_bytes()))).expect("a reply")
}

fn asked(stage: &Stage, steps: usize, more: &Value) -> Request<Bytes> {
    let mut body = claude("", steps);
    let members = body.as_object_mut().expect("an object");
    members.remove("anthropic_version");
    members.insert("model".to_owned(), json!("claude-opus-5-5"));
    members.extend(more.as_object().expect("members").clone());
    let request = stage.post("/v1/messages").header("x-api-key", "k");
    let request = request.header("anthropic-beta", "compact-2026-01-12");
    request.header("accept-encoding", "gzip").body(body.to_string().into()).expect("a request")
}

fn unpacked(reply: &Response<Bytes>) -> String {
    let mut text = String::new();
    if reply.headers().contains_key("content-encoding") {
        let read = flate2::read::GzDecoder::new(&reply.body()[..]).read_to_string(&mut text);
        read.expect("it is packed");
    } else {
        text.push_str(std::str::from_utf8(reply.body()).expect("text"));
    }
    text
}

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[],\
                     \"usage\":{\"input_tokens\":9}}}\n\n";

fn length(head: &Parts) -> usize {
    let length = head.headers.get("content-length").and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn an_overflow_inside_a_packed_stream_is_asked_for_again() {
    let (url, book) = upstream(|head| {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "prompt is too long: 250000 tokens > 200000 maximum"}});
        let end = json!({"type": "message_stop"});
        let last = if length(head) > 20_000 { error } else { end };
        std::future::ready(packed(EVENTS, &format!("{START}data: {last}\n\n")))
    })
    .await;
    let stage = Stage::new(&before(&url, None)).await;
    let reply = stage.call(asked(&stage, 30, &json!({"stream": true}))).await;
    assert!(reply.headers().contains_key("content-encoding"), "as the upstream sent it");
    assert!(unpacked(&reply).contains("message_stop"), "{}", unpacked(&reply));
    let book = book.lock().expect("nobody panicked");
    assert_eq!(book.iter().filter(|(head, _)| head.method == "POST").count(), 2);
}

#[tokio::test]
async fn what_is_put_into_a_packed_reply_is_in_it() {
    let (url, _) = upstream(|head| {
        let block = json!({"type": "text", "text": "Done."});
        let message = json!({"type": "message", "content": [block], "usage": {"input_tokens": 9}});
        let is_streamed = head.uri.query() == Some("stream");
        let stream = format!("{START}data: {{\"type\":\"message_stop\"}}\n\n");
        let whole = message.to_string();
        let (kind, text) = if is_streamed { (EVENTS, &stream) } else { (JSON, &whole) };
        std::future::ready(packed(kind, text))
    })
    .await;
    let stage = Stage::new(&before(&url, Some(1_000_000))).await;
    let trigger = json!({"type": "input_tokens", "value": 50_000});
    let edits = json!([{"type": "compact_20260112", "trigger": trigger}]);
    for is_streamed in [false, true] {
        let more = json!({"context_management": {"edits": edits}, "stream": is_streamed});
        let mut request = asked(&stage, 300, &more);
        if is_streamed {
            *request.uri_mut() = format!("{}?stream", request.uri()).parse().expect("an address");
        }
        let reply = stage.call(request).await;
        assert!(!reply.headers().contains_key("content-encoding"), "{:?}", reply.headers());
        let text = unpacked(&reply);
        assert!(text.contains("\"compaction\"") && text.contains("message"), "{text}");
    }
}

#[tokio::test]
async fn a_packed_reply_tells_what_it_read_from_the_cache() {
    let (url, _) = upstream(|_| {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 100});
        let message = json!({"type": "message", "content": [], "usage": usage});
        std::future::ready(packed(JSON, &message.to_string()))
    })
    .await;
    let stage = Stage::new(&before(&url, Some(1_000_000))).await;
    for steps in 12..16 {
        stage.call(asked(&stage, steps, &json!({}))).await;
    }
    assert_eq!(stage.meter("cache_read_tokens", &[]).await, 3 * 4_000);
}
