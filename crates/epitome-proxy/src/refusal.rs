//! Errors of the proxy itself, as the client's provider would write them.

use bytes::Bytes;
use epitome::Format;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::flow::Flow;
use crate::upstream::Provider;
use crate::wanted::provider_of;

/// Why a request isn't answered by its upstream.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// In one word, for programs.
    cause: &'static str,
    what: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// An answer of the proxy itself that is an error, and why, in one word.
#[derive(Clone, Copy)]
pub(crate) struct Denied(pub(crate) &'static str);

impl Refusal {
    pub(crate) fn new(status: StatusCode, cause: &'static str, what: impl Into<String>) -> Self {
        Refusal { status, cause, what: what.into(), headers: Vec::new() }
    }

    /// Why, in one word.
    pub(crate) fn cause(&self) -> &'static str {
        self.cause
    }

    /// What the request comes to, as the meters say it.
    pub(crate) fn outcome(&self) -> &'static str {
        if matches!(self.cause, "upstream" | "timeout") { "unreachable" } else { "denied" }
    }

    fn json(&self, provider: Option<Provider>) -> Value {
        let message = format!("epitome: {} ({})", self.what, self.cause);
        let is_ours = self.status.is_server_error();
        match provider {
            Some(Provider::Anthropic) => {
                let kind = if is_ours { "api_error" } else { "invalid_request_error" };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Some(Provider::Gemini) => {
                let status = if is_ours { "UNAVAILABLE" } else { "INVALID_ARGUMENT" };
                let code = self.status.as_u16();
                json!({"error": {"code": code, "message": message, "status": status}})
            }
            _ => {
                let kind = if is_ours { "server_error" } else { "invalid_request_error" };
                json!({"error": {"message": message, "type": kind, "param": null, "code": self.cause}})
            }
        }
    }

    /// The same in a stream of this API that has begun.
    pub(crate) fn event(&self, format: Format) -> Bytes {
        event(format, &self.json(provider_of(format)))
    }

    /// The answer to a client of this provider's.
    pub(crate) fn answer(self, provider: Option<Provider>) -> Response<Flow> {
        let body = self.json(provider).to_string();
        let mut answer = Response::new(Flow::from(Bytes::from(body)));
        *answer.status_mut() = self.status;
        answer.extensions_mut().insert(Denied(self.cause));
        answer.headers_mut().extend(self.headers);
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }
}

/// An error, as this API's streams tell it.
pub(crate) fn event(format: Format, error: &Value) -> Bytes {
    let (name, data) = match format {
        Format::Anthropic => ("event: error\n", error.clone()),
        Format::OpenaiResponses => {
            let told = &error["error"];
            let code = if told["code"].is_null() { &told["type"] } else { &told["code"] };
            let data = json!({"type": "error", "code": code, "message": told["message"], "param": told["param"], "sequence_number": 0});
            ("event: error\n", data)
        }
        Format::GeminiInteractions => {
            let mut data = error.clone();
            data["event_type"] = json!("error");
            ("event: error\n", data)
        }
        _ => ("", error.clone()),
    };
    format!("{name}data: {data}\n\n").into()
}
