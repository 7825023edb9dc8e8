//! Shape of one item.

use serde_json::Value;

use super::{invalid, missing};
use crate::server::Api;
use crate::server::error::ApiError;
use crate::server::rules::{Judge, list, text};

/// Types of items, and the fields without which each is refused.
const ITEMS: [(&str, &[&str]); 32] = [
    ("message", &["role", "content"]),
    ("reasoning", &["summary"]),
    ("function_call", &["call_id", "name", "arguments"]),
    ("function_call_output", &["output"]),
    ("custom_tool_call", &["call_id", "name", "input"]),
    ("custom_tool_call_output", &["output"]),
    ("computer_call", &["call_id"]),
    ("computer_call_output", &["call_id", "output"]),
    ("shell_call", &["call_id", "action"]),
    ("shell_call_output", &["call_id", "output"]),
    ("local_shell_call", &["call_id", "action"]),
    ("local_shell_call_output", &["output"]),
    ("apply_patch_call", &["call_id", "operation"]),
    ("apply_patch_call_output", &["call_id", "status"]),
    ("mcp_list_tools", &["server_label", "tools"]),
    ("mcp_call", &["name", "arguments", "server_label"]),
    ("mcp_approval_request", &["id", "name", "arguments", "server_label"]),
    ("mcp_approval_response", &["approval_request_id", "approve"]),
    ("tool_search_call", &[]),
    ("tool_search_output", &["tools"]),
    ("tool_search_call_output", &[]),
    ("web_search_call", &[]),
    ("file_search_call", &[]),
    ("code_interpreter_call", &[]),
    ("image_generation_call", &[]),
    ("additional_tools", &[]),
    ("configuration_update", &[]),
    ("program", &[]),
    ("program_output", &[]),
    ("item_reference", &["id"]),
    ("compaction", &["encrypted_content"]),
    ("compaction_trigger", &[]),
];
/// Kinds of words, each at home somewhere.
const WORDS: [&str; 6] =
    ["text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text"];
const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 128;

/// An item without a type but with a role is a message.
pub(super) fn kind(item: &Value) -> &str {
    match item["type"].as_str() {
        Some(kind) => kind,
        None if item["role"].is_string() => "message",
        None if item["id"].is_string() => "item_reference",
        None => "",
    }
}

pub(super) fn is_known(item: &Value) -> bool {
    ITEMS.iter().any(|(name, _)| *name == kind(item))
}

pub(super) fn check(judge: &Judge, n: usize, item: &Value) -> Result<(), ApiError> {
    let at = |key: &str| format!("input[{n}].{key}");
    let kind = kind(item);
    if kind.is_empty() {
        return Err(missing(&at("type")));
    }
    let known = ITEMS.iter().find(|(name, _)| *name == kind);
    let known = known.or(judge.is_lenient().then_some(&("", &[])));
    let Some((_, required)) = known else {
        let names: Vec<String> = ITEMS.iter().map(|(name, _)| format!("'{name}'")).collect();
        return Err(invalid(format!(
            "Invalid value: '{kind}'. Supported values are: {}.",
            names.join(", ")
        ))
        .code("invalid_value")
        .param(at("type")));
    };
    if let Some(key) = required.iter().find(|key| item[**key].is_null()) {
        return Err(missing(&at(key)));
    }
    for key in ["call_id", "id"] {
        let length = text(&item[key]).chars().count();
        if length > LONGEST_ID {
            return Err(invalid(format!(
                "Invalid 'input[{n}].{key}': string too long. Expected a string with maximum length {LONGEST_ID}, but got a \
                 string with length {length} instead."
            ))
            .code("string_above_max_length")
            .param(at(key)));
        }
        if item[key].as_str() == Some("") {
            return Err(invalid(format!(
                "Invalid 'input[{n}].{key}': empty string. Expected a string with minimum length 1, but got an empty string \
                 instead."
            ))
            .code("empty_string")
            .param(at(key)));
        }
    }
    if kind.ends_with("_call_output")
        && item["call_id"].is_null()
        && item["id"].is_null()
        && item["name"].is_null()
    {
        return Err(missing(&at("call_id")));
    }
    for key in ["arguments", "input", "name", "call_id"] {
        let value = &item[key];
        if !value.is_string() && !value.is_null() && required.contains(&key) {
            return Err(invalid(format!(
                "Invalid type for 'input[{n}].{key}': expected a string, but got {} instead.",
                a_kind(value)
            ))
            .code("invalid_type")
            .param(at(key)));
        }
    }
    own_id(n, item)?;
    match kind {
        "message" => message(judge, n, item),
        "function_call" | "custom_tool_call" => name(n, item),
        _ if kind.ends_with("_call_output") => output(judge, n, item),
        _ => Ok(()),
    }
}

/// Ids are the provider's own (B.2.2, rule 5).
fn own_id(n: usize, item: &Value) -> Result<(), ApiError> {
    let Some(id) = item["id"].as_str() else { return Ok(()) };
    let begins = match kind(item) {
        "message" => "msg",
        "function_call" => "fc",
        "reasoning" => "rs",
        _ => "",
    };
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.starts_with(begins) {
        return Err(invalid(format!(
            "Invalid 'input[{n}].id': '{id}'. Expected an ID that begins with '{begins}'."
        ))
        .code("invalid_value")
        .param(format!("input[{n}].id")));
    }
    if !id.chars().all(is_legal) {
        return Err(invalid(format!(
            "Invalid 'input[{n}].id': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but \
             this value contained additional characters."
        ))
        .code("invalid_value")
        .param(format!("input[{n}].id")));
    }
    Ok(())
}

fn name(n: usize, item: &Value) -> Result<(), ApiError> {
    let name = text(&item["name"]);
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_legal) {
        return Ok(());
    }
    Err(invalid(format!(
        "Invalid 'input[{n}].name': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'."
    ))
    .code("invalid_value")
    .param(format!("input[{n}].name")))
}

/// What a tool gave back, as its kind gives it (B.2.1).
fn output(judge: &Judge, n: usize, item: &Value) -> Result<(), ApiError> {
    let output = &item["output"];
    let is_its_own = match kind(item) {
        "function_call_output" | "custom_tool_call_output" => {
            output.is_string() || output.is_array()
        }
        "local_shell_call_output" => output.is_string(),
        "shell_call_output" => output.is_array(),
        "apply_patch_call_output" => output.is_string() || output.is_null(),
        _ => true,
    };
    if !is_its_own {
        return Err(invalid(format!(
            "Invalid type for 'input[{n}].output': {} isn't what this tool gives back.",
            a_kind(output)
        ))
        .code("invalid_type")
        .param(format!("input[{n}].output")));
    }
    if !matches!(kind(item), "function_call_output" | "custom_tool_call_output") {
        return Ok(());
    }
    for (m, part) in list(&item["output"]).iter().enumerate() {
        let kind = text(&part["type"]);
        let is_stranger = judge.is_lenient() && is_stranger(part);
        if !["input_text", "input_image", "input_file"].contains(&kind) && !is_stranger {
            return Err(invalid(format!(
                "Invalid value: '{kind}'. Supported values are: 'input_text', 'input_image', and 'input_file'."
            ))
            .code("invalid_value")
            .param(format!("input[{n}].output[{m}]")));
        }
    }
    Ok(())
}

/// What isn't kept can't be sent by its id alone (B.2.2, rule 6).
pub(super) fn persisted(body: &Value, item: &Value) -> Result<(), ApiError> {
    let is_blank =
        |value: &Value| value.as_str().is_none_or(str::is_empty) && list(value).is_empty();
    let is_bare = match kind(item) {
        "item_reference" => true,
        "reasoning" => {
            item["id"].is_string()
                && is_blank(&item["encrypted_content"])
                && is_blank(&item["content"])
        }
        _ => false,
    };
    if !is_bare || body["store"] != false {
        return Ok(());
    }
    Err(ApiError::new(
        Api::Responses,
        404,
        format!(
            "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to \
             true, or remove this item from your input.",
            text(&item["id"])
        ),
    )
    .param("input"))
}

/// Whether this is a part of a kind that nobody here knows.
fn is_stranger(part: &Value) -> bool {
    part["type"].as_str().is_some_and(|kind| !WORDS.contains(&kind))
}

fn message(judge: &Judge, n: usize, item: &Value) -> Result<(), ApiError> {
    let role = text(&item["role"]);
    if !["user", "assistant", "system", "developer"].contains(&role) {
        return Err(invalid(format!(
            "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
        ))
        .code("invalid_value")
        .param(format!("input[{n}].role")));
    }
    let content = &item["content"];
    if !(content.is_string() || content.is_array()) {
        return Err(invalid(format!(
            "Invalid type for 'input[{n}].content': expected one of an array of objects or string, but got {} instead.",
            a_kind(content)
        ))
        .code("invalid_type")
        .param(format!("input[{n}].content")));
    }
    for (m, part) in list(content).iter().enumerate() {
        let kind = text(&part["type"]);
        let legal: &[&str] = if role == "assistant" {
            &["output_text", "refusal"]
        } else {
            &["input_text", "input_image", "input_file", "input_audio"]
        };
        let is_stranger = judge.is_lenient() && is_stranger(part);
        if !legal.contains(&kind) && !is_stranger {
            let names: Vec<String> = legal.iter().map(|name| format!("'{name}'")).collect();
            return Err(invalid(format!(
                "Invalid value: '{kind}'. Supported values are: {}.",
                names.join(", ")
            ))
            .code("invalid_value")
            .param(format!("input[{n}].content[{m}]")));
        }
        let field = match kind {
            "input_text" | "output_text" => "text",
            "refusal" => "refusal",
            _ => continue,
        };
        if !part[field].is_string() {
            return Err(missing(&format!("input[{n}].content[{m}].{field}")));
        }
    }
    Ok(())
}

pub(crate) fn a_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
