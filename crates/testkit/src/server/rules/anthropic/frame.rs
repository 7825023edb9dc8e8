//! Everything around the messages.

use std::collections::HashSet;

use serde_json::Value;

use super::invalid;
use crate::server::Endpoint;
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::rules::{Call, Judge, list, text};
use epitome::word_list::words;

const KEYS: [&str; 30] = words!(
    "model messages max_tokens system tools tool_choice thinking cache_control context_management \
     compaction diagnostics metadata stop_sequences stream temperature top_k top_p service_tier \
     container mcp_servers output_config output_format inference_geo speed betas thread fallbacks \
     billing_policy fallback_credit_token user_profile_id"
);

/// Keys, and the beta that each needs.
const NEEDS: [(&str, &str); 3] = [
    ("context_management", "context-management-2025-06-27"),
    ("compaction", "compact-2026-09-04"),
    ("thread", "message-threads-2026-08-12"),
];
pub(crate) const THRESHOLD: &str = "compact-2026-01-12";
pub(crate) const ON_DEMAND: &str = "compact-2026-09-04";
pub(crate) const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
pub(crate) const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

pub(super) fn check(judge: &Judge, model: &Model, call: &Call<'_>) -> Result<(), ApiError> {
    let body = call.body;
    let Some(map) = body.as_object() else {
        return Err(invalid("Input should be a valid dictionary or object to extract fields from"));
    };
    if !map.contains_key("messages") {
        return Err(invalid("messages: Field required"));
    }
    let is_strange = |key: &&String| !judge.is_lenient() && !KEYS.contains(&key.as_str());
    if let Some(key) = map.keys().find(is_strange) {
        return Err(extra(key));
    }
    for (key, beta) in NEEDS {
        // Threshold compaction is an edit of context_management and has a beta of its own.
        let is_there =
            call.has_beta(beta) || key == "context_management" && call.has_beta(THRESHOLD);
        if map.contains_key(key) && !is_there {
            return Err(extra(key));
        }
    }
    if call.endpoint != Endpoint::Count {
        max_tokens(model, body)?;
    }
    thinking(model, call)?;
    for (n, block) in list(&body["system"]).iter().enumerate() {
        if text(&block["text"]).trim().is_empty() {
            return Err(invalid(format!("system.{n}: text content blocks must be non-empty")));
        }
    }
    tools(body)?;
    tool_choice(model, body)?;
    markers(body)?;
    context_management(body)?;
    super::compaction::frame(body)
}

fn extra(key: &str) -> ApiError {
    invalid(format!("{key}: Extra inputs are not permitted"))
}

fn max_tokens(model: &Model, body: &Value) -> Result<(), ApiError> {
    let asked = match &body["max_tokens"] {
        Value::Null => return Err(invalid("max_tokens: Field required")),
        value => {
            value.as_u64().ok_or_else(|| invalid("max_tokens: Input should be a valid integer"))?
        }
    };
    let most = model.max_output;
    if asked > most {
        return Err(invalid(format!(
            "max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {}",
            model.name
        )));
    }
    Ok(())
}

fn thinking(model: &Model, call: &Call<'_>) -> Result<(), ApiError> {
    let (body, thinking) = (call.body, &call.body["thinking"]);
    if thinking.is_null() {
        return Ok(());
    }
    let kind = &thinking["type"];
    match kind.as_str() {
        None if model.has(Trait::TypedThinking) || !kind.is_null() => {
            return Err(invalid("thinking: Unable to extract tag using discriminator 'type'"));
        }
        None | Some("adaptive" | "disabled" | "between_tools") => {}
        Some("enabled") => {
            let Some(budget) = thinking["budget_tokens"].as_u64() else {
                return Err(invalid("thinking.enabled.budget_tokens: Field required"));
            };
            if budget < 1_024 {
                return Err(invalid(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
                ));
            }
            // With interleaved thinking, which needs tools, it may be more.
            let interleaves = call.has_beta(INTERLEAVED) && !list(&body["tools"]).is_empty();
            if !interleaves && body["max_tokens"].as_u64().is_some_and(|most| most <= budget) {
                return Err(invalid("`max_tokens` must be greater than `thinking.budget_tokens`."));
            }
        }
        Some(other) => {
            return Err(invalid(format!(
                "thinking: Input tag '{other}' found using 'type' does not match any of the expected tags: 'adaptive', \
                 'between_tools', 'disabled', 'enabled'"
            )));
        }
    }
    let binding = &thinking["block_binding"];
    if binding.is_null() {
        return Ok(());
    }
    if !call.has_beta(BINDING_CONTROLS) {
        return Err(extra("thinking.block_binding"));
    }
    match binding["prefix_mismatch_behavior"].as_str() {
        Some("error" | "drop_block") => Ok(()),
        _ => Err(invalid(
            "thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'",
        )),
    }
}

fn tools(body: &Value) -> Result<(), ApiError> {
    let mut names = HashSet::new();
    for (n, tool) in list(&body["tools"]).iter().enumerate() {
        let kind = tool["type"].as_str().unwrap_or("custom");
        if kind == "mcp_toolset" {
            continue;
        }
        let Some(name) = tool["name"].as_str() else {
            return Err(invalid(format!("tools.{n}.{kind}.name: Field required")));
        };
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 128 || !name.chars().all(is_legal) {
            return Err(invalid(format!(
                "tools.{n}.{kind}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        if !names.insert(name) {
            return Err(invalid("tools: Tool names must be unique."));
        }
        if kind == "custom" {
            match &tool["input_schema"] {
                Value::Object(schema)
                    if text(schema.get("type").unwrap_or(&Value::Null)) == "object" => {}
                Value::Object(_) => {
                    return Err(invalid(format!(
                        "tools.{n}.custom.input_schema.type: Input should be 'object'"
                    )));
                }
                _ => return Err(invalid(format!("tools.{n}.custom.input_schema: Field required"))),
            }
        }
    }
    Ok(())
}

fn tool_choice(model: &Model, body: &Value) -> Result<(), ApiError> {
    let choice = &body["tool_choice"];
    match choice["type"].as_str() {
        None if choice.is_null() => Ok(()),
        Some("auto" | "none") => Ok(()),
        Some(kind @ ("any" | "tool")) => {
            if model.has(Trait::Unforced) {
                return Err(invalid(format!(
                    "tool_choice: type '{kind}' is not supported on this model"
                )));
            }
            if text(&body["thinking"]["type"]) == "enabled" {
                return Err(invalid(
                    "Thinking may not be enabled when tool_choice forces tool use.",
                ));
            }
            let name = text(&choice["name"]);
            if kind == "tool"
                && !list(&body["tools"]).iter().any(|tool| text(&tool["name"]) == name)
            {
                return Err(invalid(format!("Tool '{name}' not found in provided tools")));
            }
            Ok(())
        }
        _ => Err(invalid("tool_choice: Input should be a valid dictionary with a known `type`")),
    }
}

/// B.1.6: at most four markers, the automatic one among them; the longer time to live comes first.
fn markers(body: &Value) -> Result<(), ApiError> {
    let mut found: Vec<&Value> = Vec::new();
    let messages = list(&body["messages"]).iter().flat_map(|message| list(&message["content"]));
    for block in list(&body["tools"]).iter().chain(list(&body["system"])).chain(messages) {
        let nested =
            list(&block["content"]).iter().filter(|_| text(&block["type"]) == "tool_result");
        for holder in nested.chain([block]) {
            let marker = &holder["cache_control"];
            if marker.is_null() {
                continue;
            }
            if text(&holder["type"]) == "text" && text(&holder["text"]).is_empty() {
                return Err(invalid("cache_control cannot be set for empty text blocks"));
            }
            if holder["type"].as_str().is_some_and(|kind| kind.ends_with("thinking")) {
                return Err(invalid("cache_control: Extra inputs are not permitted"));
            }
            found.push(marker);
        }
    }
    let automatic = &body["cache_control"];
    if !automatic.is_null() {
        found.push(automatic);
    }
    if found.len() > 4 {
        return Err(invalid(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            found.len()
        )));
    }
    let mut short = false;
    for marker in found {
        if text(&marker["type"]) != "ephemeral" {
            return Err(invalid("cache_control.type: Input should be 'ephemeral'"));
        }
        match marker["ttl"].as_str() {
            Some("1h") if short => {
                return Err(invalid(
                    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks \
                     are processed in the following order: `tools`, `system`, `messages`.",
                ));
            }
            Some("1h") => {}
            None | Some("5m") => short = true,
            Some(_) => {
                return Err(invalid("cache_control.ephemeral.ttl: Input should be '5m' or '1h'"));
            }
        }
    }
    Ok(())
}

/// B.1.5.
fn context_management(body: &Value) -> Result<(), ApiError> {
    let edits = list(&body["context_management"]["edits"]);
    if !body["context_management"].is_null() && !body["compaction"].is_null() {
        return Err(invalid("context_management and compaction are mutually exclusive"));
    }
    for (n, edit) in edits.iter().enumerate() {
        match text(&edit["type"]) {
            "clear_thinking_20251015" if n > 0 => {
                return Err(invalid(
                    "context_management.edits: clear_thinking_20251015 must be the first edit when combined with others",
                ));
            }
            "clear_thinking_20251015" | "clear_tool_uses_20250919" => {}
            "compact_20260112" => {
                if edit["trigger"]["value"].as_u64().is_some_and(|value| value < 50_000) {
                    return Err(invalid(format!(
                        "context_management.edits.{n}.compact_20260112.trigger.value: Input should be greater than or equal \
                         to 50000"
                    )));
                }
            }
            other => {
                return Err(invalid(format!(
                    "context_management.edits.{n}: Input tag '{other}' found using 'type' does not match any of the \
                     expected tags: 'clear_thinking_20251015', 'clear_tool_uses_20250919', 'compact_20260112'"
                )));
            }
        }
    }
    Ok(())
}
