//! What a provider says when it refuses, in its own envelope.

use serde_json::{Value, json};

use super::Api;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// `type` (Anthropic, OpenAI), `status` (Gemini) or exception (Bedrock).
    pub kind: String,
    /// OpenAI's `code`, Anthropic's `details.error_code`.
    pub code: Option<String>,
    /// OpenAI's `param`.
    pub param: Option<String>,
    /// The text.
    pub message: String,
    /// Seconds for a `retry-after` header.
    pub retry_after: Option<u64>,
}

impl ApiError {
    /// A refusal with the kind that `api` gives to this status.
    pub fn new(api: Api, status: u16, message: impl Into<String>) -> Self {
        let kind = match api {
            Api::Anthropic => match status {
                401 => "authentication_error",
                402 => "billing_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                504 => "timeout_error",
                529 => "overloaded_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            },
            Api::Responses | Api::Chat => match status {
                429 => "rate_limit_error",
                500.. => "server_error",
                _ => "invalid_request_error",
            },
            Api::Gemini | Api::Interactions => match status {
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                500 => "INTERNAL",
                503 | 529 => "UNAVAILABLE",
                504 => "DEADLINE_EXCEEDED",
                _ => "INVALID_ARGUMENT",
            },
            Api::Converse => match status {
                403 => "AccessDeniedException",
                404 => "ResourceNotFoundException",
                408 => "ModelTimeoutException",
                424 => "ModelErrorException",
                429 => "ThrottlingException",
                503 | 529 => "ServiceUnavailableException",
                500.. => "InternalServerException",
                _ => "ValidationException",
            },
        };
        Self {
            status,
            kind: kind.to_owned(),
            code: None,
            param: None,
            message: message.into(),
            retry_after: None,
        }
    }

    /// A request that is wrong in itself: status 400.
    pub fn invalid(api: Api, message: impl Into<String>) -> Self {
        Self::new(api, 400, message)
    }

    /// With a `code`.
    #[must_use]
    pub fn code(mut self, code: &str) -> Self {
        self.code = Some(code.to_owned());
        self
    }

    /// With OpenAI's `param`.
    #[must_use]
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// The body of the refusal.
    pub fn body(&self, api: Api) -> Value {
        match api {
            Api::Anthropic => {
                let mut body = json!({
                    "type": "error",
                    "error": {"type": self.kind, "message": self.message},
                    "request_id": "req_scripted",
                });
                if let Some(code) = &self.code {
                    body["error"]["details"] = json!({"error_code": code});
                }
                body
            }
            Api::Responses | Api::Chat => json!({
                "error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code},
            }),
            Api::Interactions => {
                json!({"error": {"code": self.kind.to_lowercase(), "message": self.message}})
            }
            Api::Gemini => json!({
                "error": {"code": self.status, "message": self.message, "status": self.kind},
            }),
            Api::Converse => json!({"message": self.message}),
        }
    }
}
