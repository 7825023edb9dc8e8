//! Everything around the items.

use serde_json::Value;

use super::invalid;
use crate::server::error::ApiError;
use crate::server::models::{Binding, Model};
use crate::server::rules::{Judge, list, text};
use epitome::word_list::words;

const KEYS: [&str; 38] = words!(
    "background context_management conversation include input instructions max_output_tokens \
     max_tool_calls metadata model parallel_tool_calls previous_response_id prompt \
     prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier \
     service_tier store stream stream_options temperature text tool_choice tools top_logprobs \
     top_p truncation user client_metadata moderation verbosity modalities personality \
     access_programs background_options image"
);

pub(super) fn check(judge: &Judge, model: &Model, body: &Value) -> Result<(), ApiError> {
    let Some(map) = body.as_object() else {
        return Err(invalid(
            "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.",
        ));
    };
    let is_strange = |key: &&String| !judge.is_lenient() && !KEYS.contains(&key.as_str());
    if let Some(key) = map.keys().find(is_strange) {
        return Err(invalid(format!("Unknown parameter: '{key}'."))
            .code("unknown_parameter")
            .param(key));
    }
    if body["previous_response_id"].is_string() && !body["conversation"].is_null() {
        return Err(invalid(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of \
             the two.",
        )
        .code("mutually_exclusive_parameters"));
    }
    for (n, edit) in list(&body["context_management"]).iter().enumerate() {
        at_least(
            &edit["compact_threshold"],
            1_000,
            &format!("context_management[{n}].compact_threshold"),
        )?;
    }
    at_least(&body["max_output_tokens"], 16, "max_output_tokens")?;
    match body["truncation"].as_str() {
        None | Some("auto" | "disabled") => {}
        Some(other) => {
            return Err(invalid(format!(
                "Invalid value: '{other}'. Supported values are: 'auto' and 'disabled'."
            ))
            .code("invalid_value")
            .param("truncation"));
        }
    }
    if model.binding == Binding::DropsSilently {
        sampling(body)?;
    }
    tools(body)?;
    breakpoints(body)
}

/// GPT-6.2 and later: always reasons, and samples as it likes (B.2.5).
fn sampling(body: &Value) -> Result<(), ApiError> {
    if text(&body["reasoning"]["effort"]) == "none" {
        return Err(invalid(
            "Unsupported value: 'none' is not supported with this model. Supported values are: 'low', 'medium', 'high', and \
             'xhigh'.",
        )
        .code("unsupported_value")
        .param("reasoning.effort"));
    }
    let given =
        ["temperature", "top_p", "top_logprobs"].into_iter().find(|key| !body[*key].is_null());
    match given {
        Some(key) => Err(invalid(format!(
            "Unsupported parameter: '{key}' is not supported with this model."
        ))
        .code("unsupported_parameter")
        .param(key)),
        None => Ok(()),
    }
}

fn at_least(value: &Value, least: u64, path: &str) -> Result<(), ApiError> {
    match value.as_u64() {
        Some(value) if value < least => Err(invalid(format!(
            "Invalid '{path}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
        ))
        .code("integer_below_min_value")
        .param(path)),
        _ => Ok(()),
    }
}

fn tools(body: &Value) -> Result<(), ApiError> {
    for (n, tool) in list(&body["tools"]).iter().enumerate() {
        let Some(kind) = tool["type"].as_str() else {
            return Err(super::missing(&format!("tools[{n}].type")));
        };
        if !matches!(kind, "function" | "custom") {
            continue;
        }
        let Some(name) = tool["name"].as_str() else {
            return Err(super::missing(&format!("tools[{n}].name")));
        };
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_legal) {
            return Err(invalid(format!(
                "Invalid 'tools[{n}].name': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]+$'."
            ))
            .code("invalid_value")
            .param(format!("tools[{n}].name")));
        }
    }
    let choice = &body["tool_choice"];
    if text(&choice["type"]) == "function" {
        let name = text(&choice["name"]);
        if !list(&body["tools"]).iter().any(|tool| text(&tool["name"]) == name) {
            return Err(invalid(format!("Tool choice '{name}' not found in 'tools' parameter."))
                .code("invalid_value")
                .param("tool_choice"));
        }
    }
    Ok(())
}

/// B.2.4: a request writes at most four breakpoints.
fn breakpoints(body: &Value) -> Result<(), ApiError> {
    let contents = list(&body["input"]).iter().flat_map(|item| list(&item["content"]));
    let explicit = contents.filter(|part| !part["prompt_cache_breakpoint"].is_null()).count();
    let implicit = usize::from(text(&body["prompt_cache_options"]["mode"]) != "explicit");
    if explicit > 0 && explicit + implicit > 4 {
        return Err(invalid(format!(
            "At most 4 prompt cache breakpoints can be written per request, but {} were given.",
            explicit + implicit
        ))
        .code("invalid_value")
        .param("input"));
    }
    Ok(())
}
