//! Shape of messages and blocks; runs of one role become one turn.

use serde_json::{Map, Value, json};

use super::frame::{ON_DEMAND, THRESHOLD};
use super::members;
use super::{Block, Role, Turn, invalid};
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::rules::{Call, Judge, list, text};
use epitome::word_list::words;

const MOST_MESSAGES: usize = 100_000;
/// Longest name of a tool in a call.
const LONGEST_NAME: usize = 200;
/// What a message is made of.
const MESSAGE: [&str; 4] = ["content", "role", "clear_at", "output_config"];

pub(super) fn turns(judge: &Judge, model: &Model, call: &Call<'_>) -> Result<Vec<Turn>, ApiError> {
    let Some(messages) = call.body["messages"].as_array() else {
        return Err(invalid("messages: Input should be a valid list"));
    };
    if messages.is_empty() {
        return Err(invalid("messages: at least one message is required"));
    }
    if messages.len() > MOST_MESSAGES {
        return Err(invalid(format!(
            "messages: List should have at most {MOST_MESSAGES} items after validation"
        )));
    }
    let mut turns: Vec<Turn> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = role(model, n, message)?;
        let strange = message.as_object().into_iter().flat_map(Map::keys);
        if let Some(key) = strange.into_iter().find(|key| !MESSAGE.contains(&key.as_str())) {
            return Err(invalid(format!("messages.{n}.{key}: Extra inputs are not permitted")));
        }
        let is_last = n + 1 == messages.len();
        // Claude Code 2.1.330 sets the effort by a system message that says nothing.
        let is_setting = role == Role::System && message["output_config"].is_object();
        let may_be_empty = is_setting || role == Role::Assistant && is_last;
        let blocks = blocks(judge, call, n, message, may_be_empty)?;
        match turns.last_mut() {
            Some(turn) if turn.role == role => {
                turn.blocks.extend(blocks);
                turn.at = n;
            }
            _ => turns.push(Turn { role, blocks, at: n }),
        }
    }
    first(&turns)?;
    last(model, call, &turns)?;
    for n in 0..turns.len() {
        system_place(&turns, n)?;
    }
    Ok(turns)
}

fn role(model: &Model, n: usize, message: &Value) -> Result<Role, ApiError> {
    match message["role"].as_str() {
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("system") if model.has(Trait::MidSystem) => Ok(Role::System),
        Some("system") => Err(invalid("role 'system' is not supported on this model")),
        Some(_) => Err(invalid(format!(
            "messages.{n}.role: Input should be 'user', 'assistant' or 'system'"
        ))),
        None => Err(invalid(format!("messages.{n}.role: Field required"))),
    }
}

fn blocks(
    judge: &Judge,
    call: &Call<'_>,
    n: usize,
    message: &Value,
    may_be_empty: bool,
) -> Result<Vec<Block>, ApiError> {
    let empty = || {
        invalid(format!(
            "messages.{n}: all messages must have non-empty content except for the optional final assistant message"
        ))
    };
    match &message["content"] {
        Value::String(text) if text.is_empty() && may_be_empty => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Err(empty()),
        Value::String(text) => {
            words(text)?;
            Ok(vec![Block { message: n, index: 0, value: json!({"type": "text", "text": text}) }])
        }
        Value::Array(list) if list.is_empty() && may_be_empty => Ok(Vec::new()),
        Value::Array(list) if list.is_empty() => Err(empty()),
        Value::Array(list) => {
            let mut blocks = Vec::with_capacity(list.len());
            for (index, value) in list.iter().enumerate() {
                let block = Block { message: n, index, value: value.clone() };
                shape(judge, call, &block)?;
                blocks.push(block);
            }
            Ok(blocks)
        }
        Value::Null => Err(invalid(format!("messages.{n}.content: Field required"))),
        _ => Err(invalid(format!("messages.{n}.content: Input should be a valid string or list"))),
    }
}

fn words(text: &str) -> Result<(), ApiError> {
    if text.is_empty() {
        return Err(invalid("messages: text content blocks must be non-empty"));
    }
    if text.trim().is_empty() {
        return Err(invalid("messages: text content blocks must contain non-whitespace text"));
    }
    Ok(())
}

fn shape(judge: &Judge, call: &Call<'_>, block: &Block) -> Result<(), ApiError> {
    let (value, path) = (&block.value, block.path());
    members::check(value, &path)?;
    let required = |key: &str| invalid(format!("{path}.{}.{key}: Field required", block.kind()));
    match value["type"].as_str() {
        None => Err(invalid(format!("{path}.type: Field required"))),
        Some("text") => match &value["text"] {
            Value::String(text) => words(text),
            _ => Err(required("text")),
        },
        Some("thinking") => match (&value["thinking"], &value["signature"]) {
            (Value::String(_), Value::String(_)) => Ok(()),
            (Value::String(_), _) => Err(required("signature")),
            _ => Err(required("thinking")),
        },
        Some("redacted_thinking") if !value["data"].is_string() => Err(required("data")),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => call_shape(block),
        Some("tool_result") => {
            if !value["tool_use_id"].is_string() {
                return Err(required("tool_use_id"));
            }
            if !matches!(value["content"], Value::Null | Value::String(_) | Value::Array(_)) {
                return Err(invalid(format!(
                    "{path}.tool_result.content: Input should be a valid string or list"
                )));
            }
            let is_empty = list(&value["content"]).is_empty() && text(&value["content"]).is_empty();
            if is_empty && value["is_error"] == true {
                return Err(invalid(format!(
                    "{path}.tool_result: content cannot be empty if `is_error` is true"
                )));
            }
            for (n, part) in list(&value["content"]).iter().enumerate() {
                members::check(part, &format!("{path}.tool_result.content.{n}"))?;
                if text(&part["type"]) == "text" {
                    words(text(&part["text"]))?;
                } else if value["is_error"] == true {
                    return Err(invalid(format!(
                        "{path}.tool_result: all content must be type `text` if `is_error` is true"
                    )));
                }
            }
            Ok(())
        }
        Some("image" | "document") if !value["source"].is_object() => Err(required("source")),
        Some("compaction") => {
            if !(call.has_beta(THRESHOLD) || call.has_beta(ON_DEMAND)) {
                return Err(invalid(format!(
                    "{path}: Input tag 'compaction' found using 'type' does not match any of the expected tags"
                )));
            }
            if text(&value["content"]).is_empty() && value["content"].is_string() {
                return Err(invalid(format!(
                    "{path}.compaction.content: String should have at least 1 character"
                )));
            }
            Ok(())
        }
        Some(kind) => {
            let known = words!(
                "redacted_thinking image document search_result container_upload tool_addition \
                 tool_removal tool_reference fallback"
            );
            if known.contains(&kind) || kind.ends_with("_tool_result") || judge.is_lenient() {
                return Ok(());
            }
            Err(invalid(format!(
                "{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )))
        }
    }
}

fn call_shape(block: &Block) -> Result<(), ApiError> {
    let (value, path, kind) = (&block.value, block.path(), block.kind());
    let id = text(&value["id"]);
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.is_empty() || !id.chars().all(is_legal) {
        return Err(invalid(format!(
            "{path}.{kind}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        )));
    }
    let name = text(&value["name"]);
    if name.is_empty() {
        return Err(invalid(format!(
            "{path}.{kind}.name: String should have at least 1 character"
        )));
    }
    if name.len() > LONGEST_NAME {
        return Err(invalid(format!(
            "{path}.{kind}.name: String should have at most {LONGEST_NAME} characters"
        )));
    }
    match &value["input"] {
        Value::Object(_) => Ok(()),
        Value::Null => Err(invalid(format!("{path}.{kind}.input: Field required"))),
        _ => Err(invalid(format!("{path}.{kind}.input: Input should be a valid dictionary"))),
    }
}

/// B.1.2, rule 5.
fn first(turns: &[Turn]) -> Result<(), ApiError> {
    let first = &turns[0];
    let compacted = first.blocks.first().is_some_and(|block| block.is("compaction"));
    match first.role {
        Role::User => Ok(()),
        Role::Assistant if compacted => Ok(()),
        _ => Err(invalid("messages: first message must use the \"user\" role")),
    }
}

/// B.1.1: ending with the assistant's words is asking to go on from them.
fn last(model: &Model, call: &Call<'_>, turns: &[Turn]) -> Result<(), ApiError> {
    let last = turns.last().expect("there is at least one message");
    if last.role != Role::Assistant || !call.body["compaction"].is_null() {
        return Ok(());
    }
    let Some(block) = last.blocks.last() else { return Ok(()) };
    // What the provider's own tools or a compaction left off goes on by itself.
    if block.kind().ends_with("_tool_result")
        || block.is("server_tool_use")
        || block.is("compaction")
    {
        return Ok(());
    }
    if block.is("tool_use") {
        return Ok(());
    }
    if !model.has(Trait::Prefill)
        || matches!(text(&call.body["thinking"]["type"]), "enabled" | "adaptive")
    {
        return Err(invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    if block.is("text") && text(&block.value["text"]).ends_with(char::is_whitespace) {
        return Err(invalid(
            "messages: final assistant content cannot end with trailing whitespace",
        ));
    }
    Ok(())
}

/// B.1.1: behind a person's message or the provider's own tools, and before the assistant's or nothing.
fn system_place(turns: &[Turn], n: usize) -> Result<(), ApiError> {
    if turns[n].role != Role::System {
        return Ok(());
    }
    let follows = n.checked_sub(1).map(|before| &turns[before]).is_some_and(|before| {
        let last = before.blocks.last().map_or("", Block::kind);
        match before.role {
            Role::User => true,
            Role::Assistant => last == "server_tool_use" || last.ends_with("_tool_result"),
            Role::System => false,
        }
    });
    let precedes = turns.get(n + 1).is_none_or(|next| next.role == Role::Assistant);
    if follows && precedes {
        return Ok(());
    }
    Err(invalid(format!(
        "messages.{}: role 'system' must follow a user message and be last or followed by an assistant message",
        turns[n].at
    )))
}
