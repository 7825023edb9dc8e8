//! Streams for which the proxy itself lets a client wait: they begin before it knows what to answer.

use epitome::Format;
use epitome_tower::plain_path;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::exchange::Inbound;
use crate::flow::{Collected, Flow};
use crate::refusal::{Refusal, event};

/// The longest refusal that is told.
const LONGEST: usize = 1 << 16;

/// Whether a reply to this request comes as events.
pub(crate) fn is_streamed(format: Format, path: &str, query: Option<&str>, body: &str) -> bool {
    #[derive(Deserialize)]
    struct Asked {
        #[serde(default)]
        stream: Option<bool>,
    }
    if format == Format::Gemini {
        let has_events =
            query.into_iter().flat_map(|query| query.split('&')).any(|it| it == "alt=sse");
        return is_generated_stream(path) && has_events;
    }
    serde_json::from_str::<Asked>(body).is_ok_and(|asked| asked.stream == Some(true))
}

/// Whether a path is one of Gemini's streams, which are a JSON list unless events are asked for.
pub(crate) fn is_generated_stream(path: &str) -> bool {
    plain_path(path).trim_end_matches('/').ends_with(":streamGenerateContent")
}

/// A stream that begins with comments, and goes on with `flow`.
pub(crate) fn begun(flow: Flow) -> Inbound {
    let mut reply = Response::new(flow);
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    Inbound::from(reply)
}

/// What the events go on with once the answer is there. Its status is lost: an error is an event.
pub(crate) async fn events(format: Format, answer: Result<Inbound, Refusal>) -> Flow {
    let reply = match answer {
        Ok(inbound) => inbound.reply,
        Err(refusal) => return Flow::from(refusal.event(format)),
    };
    let (head, flow) = reply.into_parts();
    let kind = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if head.status.is_success() && kind.starts_with(b"text/event-stream") {
        return flow;
    }
    let mut left = LONGEST;
    let room = |bytes: usize| {
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    };
    let told: Option<Value> = match flow.collect(room).await {
        Collected::Whole(bytes) => serde_json::from_slice(&bytes).ok(),
        Collected::Long(_) | Collected::Broken(_) => None,
    };
    let told = told.filter(|told| told["error"].is_object() && !head.status.is_success());
    let Some(told) = told else {
        let what = format!("the upstream answered {} instead of a stream", head.status);
        let refusal = Refusal::new(StatusCode::BAD_GATEWAY, "upstream", what);
        return Flow::from(refusal.event(format));
    };
    Flow::from(event(format, &told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_a_stream_get_events() {
        for (format, path, query, body, streamed) in [
            (Format::Anthropic, "/v1/messages", None, r#"{"stream":true,"messages":[]}"#, true),
            (Format::OpenaiChat, "/v1/chat/completions", None, r#"{"stream":false}"#, false),
            (Format::OpenaiResponses, "/v1/responses", None, "{}", false),
            (Format::OpenaiResponses, "/v1/responses", None, "[", false),
            (
                Format::Gemini,
                "/v1beta/models/m:streamGenerateContent",
                Some("key=k&alt=sse"),
                "{}",
                true,
            ),
            (Format::Gemini, "/v1beta/models/m:streamGenerateContent", None, "{}", false),
            (Format::Gemini, "/v1beta/models/m:generateContent", Some("alt=sse"), "{}", false),
        ] {
            assert_eq!(is_streamed(format, path, query, body), streamed, "{path} {body}");
        }
    }
}
