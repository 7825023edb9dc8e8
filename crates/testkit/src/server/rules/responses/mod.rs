//! OpenAI Responses (PROVIDERS.md B.2).

mod frame;
mod items;
mod pairs;
mod shown;

use serde_json::{Value, json};

use self::pairs::IsWhole;
use super::{Call, Judge};
use crate::server::Api;
use crate::server::error::ApiError;
use crate::server::prompt::Understood;

pub(crate) use items::a_kind;
pub(crate) use shown::{bare, seal};

pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Responses, message)
}

pub(crate) fn missing(path: &str) -> ApiError {
    invalid(format!("Missing required parameter: '{path}'."))
        .code("missing_required_parameter")
        .param(path)
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let model = judge.model(call)?;
    frame::check(judge, &model, call.body)?;
    let mut items = call.history.to_vec();
    items.extend(given(call.body)?);
    for (n, item) in items.iter().enumerate() {
        items::check(judge, n, item)?;
        items::persisted(call.body, item)?;
    }
    let body = call.body;
    let continues = body["previous_response_id"].is_string() || !body["conversation"].is_null();
    let is_whole = if continues && call.history.is_empty() { IsWhole::No } else { IsWhole::Yes };
    pairs::check(judge, &items, is_whole)?;
    shown::read(judge, model, call, items)
}

/// The new items of a request.
pub(crate) fn given(body: &Value) -> Result<Vec<Value>, ApiError> {
    match &body["input"] {
        Value::String(text) => {
            Ok(vec![json!({"type": "message", "role": "user", "content": text})])
        }
        Value::Array(items) => Ok(items.clone()),
        Value::Null if body["prompt"].is_object() || body["previous_response_id"].is_string() => {
            Ok(Vec::new())
        }
        Value::Null => Err(missing("input")),
        _ => Err(invalid(
            "Invalid type for 'input': expected one of a string or array of input items.",
        )
        .code("invalid_type")
        .param("input")),
    }
}
