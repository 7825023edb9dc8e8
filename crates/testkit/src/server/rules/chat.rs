//! OpenAI Chat Completions and compatible servers (PROVIDERS.md B.3).

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Call, Judge, list, text, without};
use crate::server::Api;
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::prompt::{
    Choice, Compacts, Prompt, Section, Takes, Talk, Tool, Ttl, Understood,
};

const LONGEST_ID: usize = 40;
/// Parts as the Responses API calls them.
const RESPONSES: [&str; 4] = ["input_text", "output_text", "input_image", "input_file"];

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Chat, message)
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let body = call.body;
    let model = judge.model(call)?;
    let Some(messages) = body["messages"].as_array() else {
        return Err(invalid("Missing required parameter: 'messages'.")
            .code("missing_required_parameter")
            .param("messages"));
    };
    if messages.is_empty() {
        return Err(invalid(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        )
        .code("empty_array")
        .param("messages"));
    }
    frame(&model, body)?;
    for (n, message) in messages.iter().enumerate() {
        shape(&model, body, n, message)?;
    }
    pairs(messages)?;
    let understood = read(judge, model, body, messages);
    window(&understood)?;
    Ok(understood)
}

fn frame(model: &Model, body: &Value) -> Result<(), ApiError> {
    let effort = body["reasoning_effort"].as_str();
    let reasons = model.has(Trait::WriteFee) && effort != Some("none")
        || model.has(Trait::Reasons)
            && model.rank >= 0x54
            && effort.is_some_and(|effort| effort != "none");
    // B.2.5, last line; the text: litellm#34569, onyx#15008.
    if reasons && !list(&body["tools"]).is_empty() {
        return Err(invalid(format!(
            "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use function tools, \
             use /v1/responses or set reasoning_effort to 'none'.",
            model.name
        ))
        .param("reasoning_effort"));
    }
    for (n, tool) in list(&body["tools"]).iter().enumerate() {
        let kind = text(&tool["type"]);
        if !matches!(kind, "function" | "custom") {
            return Err(invalid(format!(
                "Invalid value: '{kind}'. Supported values are: 'function' and 'custom'."
            ))
            .code("invalid_value")
            .param(format!("tools[{n}].type")));
        }
        let name = text(&tool[kind]["name"]);
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_legal) {
            return Err(invalid(format!(
                "Invalid 'tools[{n}].{kind}.name': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]+$'."
            ))
            .code("invalid_value")
            .param(format!("tools[{n}].{kind}.name")));
        }
    }
    Ok(())
}

fn shape(model: &Model, body: &Value, n: usize, message: &Value) -> Result<(), ApiError> {
    let at = |key: &str| format!("messages.[{n}].{key}");
    let content = &message["content"];
    let role = text(&message["role"]);
    let no_content = || {
        invalid("Invalid value for 'content': expected a string, got null.").param(at("content"))
    };
    let is_odd = match content {
        Value::Array(parts) => parts.iter().any(|part| !part["type"].is_string()),
        content => !(content.is_string() || content.is_null()),
    };
    if is_odd && role != "function" {
        return Err(invalid(format!(
            "Invalid type for 'messages[{n}].content': expected one of a string or array of objects, but got {} instead.",
            super::responses::a_kind(content)
        ))
        .code("invalid_type")
        .param(format!("messages[{n}].content")));
    }
    let mut kinds = list(content).iter().map(|part| text(&part["type"]));
    if let Some(kind) = kinds.find(|kind| RESPONSES.contains(kind)) {
        return Err(invalid(format!(
            "Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'."
        ))
        .code("invalid_value")
        .param(format!("messages[{n}].content")));
    }
    match role {
        "system" | "developer" | "user" if is_nothing(content) => Err(no_content()),
        // What older tools gave back may be null (SDK).
        "system" | "developer" | "user" | "function" => Ok(()),
        "tool" => {
            if !message["tool_call_id"].is_string() {
                return Err(invalid("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
                    .param(at("tool_call_id")));
            }
            if list(content).iter().any(|part| text(&part["type"]) == "image_url") {
                return Err(invalid(format!(
                    "Invalid 'messages[{n}]'. Image URLs are only allowed for messages with role 'user', but this message with \
                     role 'tool' contains an image URL."
                ))
                .code("invalid_value")
                .param(format!("messages[{n}]")));
            }
            if is_nothing(content) { Err(no_content()) } else { Ok(()) }
        }
        "assistant" => assistant(model, body, n, message),
        _ => Err(invalid(format!(
            "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and \
             'developer'."
        ))
        .code("invalid_value")
        .param(format!("messages[{n}].role"))),
    }
}

fn assistant(model: &Model, body: &Value, n: usize, message: &Value) -> Result<(), ApiError> {
    let calls = &message["tool_calls"];
    if !(calls.is_null() || calls.is_array()) {
        return Err(invalid(format!(
            "Invalid type for 'messages[{n}].tool_calls': expected an array of objects, but got {} instead.",
            super::responses::a_kind(calls)
        ))
        .code("invalid_type")
        .param(format!("messages[{n}].tool_calls")));
    }
    if calls.as_array().is_some_and(Vec::is_empty) {
        return Err(invalid(format!(
            "Invalid 'messages[{n}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array \
             instead."
        ))
        .code("empty_array")
        .param(format!("messages[{n}].tool_calls")));
    }
    for (m, call) in list(calls).iter().enumerate() {
        let at = |key: &str| format!("messages[{n}].tool_calls[{m}].{key}");
        let Some(id) = call["id"].as_str() else {
            return Err(invalid(format!("Missing required parameter: '{}'.", at("id")))
                .code("missing_required_parameter")
                .param(at("id")));
        };
        if id.len() > LONGEST_ID {
            return Err(invalid(format!(
                "Invalid '{}': string too long. Expected a string with maximum length {LONGEST_ID}, but got a string with \
                 length {} instead.",
                at("id"),
                id.len()
            ))
            .code("string_above_max_length")
            .param(at("id")));
        }
        let (key, input) = match text(&call["type"]) {
            "function" => ("function.arguments", &call["function"]["arguments"]),
            "custom" => ("custom.input", &call["custom"]["input"]),
            kind => {
                return Err(invalid(format!(
                    "Invalid value: '{kind}'. Supported values are: 'function' and 'custom'."
                ))
                .code("invalid_value")
                .param(at("type")));
            }
        };
        let name = at("function.name");
        if text(&call["type"]) == "function" && text(&call["function"]["name"]).is_empty() {
            return Err(invalid(format!(
                "Invalid '{name}': empty string. Expected a string with minimum length 1, but got an empty string instead."
            ))
            .code("empty_string")
            .param(name));
        }
        let called = text(&call["function"]["name"]);
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !called.chars().all(is_legal) {
            return Err(invalid(format!(
                "Invalid '{name}': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]+$'."
            ))
            .code("invalid_value")
            .param(name));
        }
        if !input.is_string() {
            return Err(invalid(format!(
                "Invalid type for '{}': expected a string, but got {} instead.",
                at(key),
                super::responses::a_kind(input)
            ))
            .code("invalid_type")
            .param(at(key)));
        }
    }
    let is_thinking =
        model.has(Trait::WantsReasoning) && text(&body["thinking"]["type"]) != "disabled";
    if is_thinking && !list(calls).is_empty() && !message["reasoning_content"].is_string() {
        return Err(invalid(
            "The reasoning_content in the thinking mode must be passed back to the API.",
        ));
    }
    let says = ["content", "function_call", "refusal", "audio"];
    if list(calls).is_empty() && says.iter().all(|key| is_nothing(&message[*key])) {
        return Err(invalid("Invalid value for 'content': expected a string, got null.")
            .param(format!("messages.[{n}].content")));
    }
    Ok(())
}

/// "Content required unless tool_calls": null, left out or a list of nothing. An empty string is something.
fn is_nothing(content: &Value) -> bool {
    content.is_null() || content.as_array().is_some_and(Vec::is_empty)
}

fn pairs(messages: &[Value]) -> Result<(), ApiError> {
    let mut waiting: Vec<&str> = Vec::new();
    let mut answered: HashSet<&str> = HashSet::new();
    let unanswered = |waiting: &[&str], answered: &HashSet<&str>, n: usize| {
        let missing: Vec<&str> =
            waiting.iter().copied().filter(|id| !answered.contains(id)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(invalid(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
             following tool_call_ids did not have response messages: {}",
            missing.join(", ")
        ))
        .param(format!("messages.[{n}].role")))
    };
    for (n, message) in messages.iter().enumerate() {
        if text(&message["role"]) == "tool" {
            let id = text(&message["tool_call_id"]);
            if !waiting.contains(&id) || !answered.insert(id) {
                return Err(invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls'.",
                )
                .param(format!("messages.[{n}].role")));
            }
            continue;
        }
        unanswered(&waiting, &answered, n)?;
        // Only the model calls.
        let calls = &message["tool_calls"];
        let calls = if text(&message["role"]) == "assistant" { list(calls) } else { &[] };
        waiting = calls.iter().map(|call| text(&call["id"])).collect();
        answered.clear();
        let mut unique = HashSet::new();
        if let Some(id) = waiting.iter().find(|id| !unique.insert(**id)) {
            return Err(invalid(format!(
                "Duplicate value for 'tool_call_id' of '{id}' in message[{n}]"
            )));
        }
    }
    unanswered(&waiting, &answered, messages.len())
}

fn read(judge: &Judge, model: Model, body: &Value, messages: &[Value]) -> Understood {
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!([model.name, body["prompt_cache_key"], body["response_format"]]));
    for tool in list(&body["tools"]) {
        prompt.push(Section::Tools, "tools", tool, None);
    }
    let mut talk = Talk::default();
    for message in messages {
        match text(&message["role"]) {
            "user" => talk.human(),
            "assistant" => talk.model(),
            "tool" => talk.result(),
            _ => {}
        }
        let ids = list(&message["tool_calls"]).iter().map(|call| text(&call["id"]).to_owned());
        talk.calls.extend(ids);
        prompt.push(Section::Messages, "", &without(message, &["cache_control"]), None);
    }
    prompt.mark_last(Ttl::Short);
    let forced = text(&body["tool_choice"]["function"]["name"]);
    Understood {
        choice: match body["tool_choice"].as_str() {
            Some("required") => Choice::Any,
            Some("none") => Choice::None,
            _ if !forced.is_empty() => Choice::Named(forced.to_owned()),
            _ => Choice::Auto,
        },
        tools: list(&body["tools"]).iter().filter_map(tool).collect(),
        thinks: !body["reasoning_effort"].is_null() && text(&body["reasoning_effort"]) != "none"
            || model.has(Trait::WantsReasoning),
        max_output: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|key| body[*key].as_u64()),
        stream: body["stream"] == true,
        chain: judge.chain(Api::Chat, &model, &[]),
        misplaced: Vec::new(),
        compacts: Compacts::No,
        items: Vec::new(),
        model,
        prompt,
        talk,
    }
}

fn tool(tool: &Value) -> Option<Tool> {
    if text(&tool["type"]) == "custom" {
        return Some(Tool {
            name: tool["custom"]["name"].as_str()?.to_owned(),
            takes: Takes::Text,
        });
    }
    let function = &tool["function"];
    let name = function["name"].as_str()?.to_owned();
    Some(Tool { name, takes: Takes::Json(function["parameters"].clone()) })
}

/// B.5, second row.
fn window(understood: &Understood) -> Result<(), ApiError> {
    let (tokens, window) = (understood.prompt.tokens(), understood.model.window);
    let most = understood.max_output.unwrap_or_default();
    let message = if tokens > window {
        format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. \
             Please reduce the length of the messages."
        )
    } else if tokens + most > window {
        format!(
            "This model's maximum context length is {window} tokens. However, you requested {} tokens ({tokens} in the \
             messages, {most} in the completion). Please reduce the length of the messages or completion.",
            tokens + most
        )
    } else {
        return Ok(());
    };
    Err(invalid(message).code("context_length_exceeded").param("messages"))
}
