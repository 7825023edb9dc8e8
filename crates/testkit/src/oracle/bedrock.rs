//! PROVIDERS.md B.4b.

use std::collections::HashSet;

use serde_json::Value;

const KNOWN: [&str; 14] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
];

pub(super) fn accepts(body: &Value, messages: &[Value]) -> Result<(), String> {
    let mut waiting: Vec<&str> = Vec::new();
    let mut previous = "";
    let mut has_tools = false;
    let mixes = body["modelId"].as_str().is_none_or(|model| model.contains("claude"));
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !["user", "assistant", "system"].contains(&role) {
            return Err(format!("messages.{n}.role: enum value set: [user, assistant]"));
        }
        if n == 0 && role == "assistant" {
            return Err("A conversation must start with a user message.".to_owned());
        }
        if role == previous && role != "system" {
            return Err(
                "A conversation must alternate between user and assistant roles.".to_owned()
            );
        }
        previous = role;
        let content = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        if content.is_empty() {
            return Err(format!(
                "The content field in the Message object at messages.{n} is empty."
            ));
        }
        for block in content {
            well_formed(block, false)?;
        }
        let is_server = |block: &&Value| !block["type"].is_null();
        let uses: Vec<&Value> = content
            .iter()
            .map(|b| &b["toolUse"])
            .filter(|b| b.is_object() && !is_server(b))
            .collect();
        let results: Vec<&Value> = content
            .iter()
            .map(|b| &b["toolResult"])
            .filter(|b| b.is_object() && !is_server(b))
            .collect();
        has_tools |= !(uses.is_empty() && results.is_empty());
        if role == "assistant" {
            if !results.is_empty() {
                return Err("a toolResult block in an assistant message".to_owned());
            }
            let mut ids = HashSet::new();
            for call in uses {
                waiting.push(used(call)?);
                if !ids.insert(*waiting.last().expect("it was just pushed")) {
                    return Err("The toolUse blocks contain duplicate Ids".to_owned());
                }
            }
        } else {
            if !uses.is_empty() {
                return Err("a toolUse block in a user message".to_owned());
            }
            if role == "system" && !results.is_empty() {
                return Err("a toolResult block in a system message".to_owned());
            }
            answers(&waiting, &results, content)?;
            waiting.clear();
        }
        let speaks = content.iter().any(|b| b["text"].is_string() || b["image"].is_object());
        if !mixes && speaks && !results.is_empty() {
            return Err(
                "Conversation blocks and tool result blocks cannot be provided in the same turn."
                    .to_owned(),
            );
        }
    }
    if body.is_object() && has_tools && body["toolConfig"].is_null() {
        return Err("The toolConfig field must be defined".to_owned());
    }
    thinking(body, messages)
}

fn well_formed(block: &Value, is_nested: bool) -> Result<(), String> {
    let members = block.as_object().ok_or("a block that is no object")?;
    let known = members.keys().filter(|key| KNOWN.contains(&key.as_str())).count();
    if members.is_empty() || known > 1 {
        return Err("Can only set one of the following keys".to_owned());
    }
    if block["text"].as_str().is_some_and(|text| text.trim().is_empty()) {
        return Err("The text field in the ContentBlock object is blank.".to_owned());
    }
    if !is_nested && block["toolResult"]["type"].is_null() {
        for inner in block["toolResult"]["content"].as_array().into_iter().flatten() {
            well_formed(inner, true)?;
        }
    }
    Ok(())
}

fn used(call: &Value) -> Result<&str, String> {
    let id = call["toolUseId"].as_str().unwrap_or_default();
    let fits = |text: &str, others: &str| {
        (1..=64).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    if !fits(id, "_.:-") {
        return Err("toolUseId failed to satisfy constraint".to_owned());
    }
    if !fits(call["name"].as_str().unwrap_or_default(), "_-") {
        return Err("toolUse.name failed to satisfy constraint".to_owned());
    }
    if !call["input"].is_object() {
        return Err("The format of the value at toolUse.input is invalid.".to_owned());
    }
    Ok(id)
}

/// All of the calls are answered, once each and first of all.
fn answers(waiting: &[&str], results: &[&Value], content: &[Value]) -> Result<(), String> {
    let ids: Vec<&str> =
        results.iter().map(|result| result["toolUseId"].as_str().unwrap_or_default()).collect();
    let unique: HashSet<&&str> = ids.iter().collect();
    if unique.len() < ids.len() {
        return Err("The toolResult blocks contain duplicate Ids".to_owned());
    }
    if ids.iter().any(|id| !waiting.contains(id)) {
        return Err(
            "The number of toolResult blocks exceeds the number of toolUse blocks".to_owned()
        );
    }
    let leading = content
        .iter()
        .take_while(|block| {
            block["toolResult"].is_object() && block["toolResult"]["type"].is_null()
        })
        .count();
    if ids.len() < waiting.len() || leading < ids.len() {
        return Err("Expected toolResult blocks for the following Ids".to_owned());
    }
    Ok(())
}

/// Manual mode: the turn that is still in its tool loop starts with reasoning.
fn thinking(body: &Value, messages: &[Value]) -> Result<(), String> {
    if body["additionalModelRequestFields"]["thinking"]["type"] != "enabled" {
        return Ok(());
    }
    let has = |message: &Value, key: &str| {
        message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|block| block[key].is_object() && block[key]["type"].is_null())
    };
    let is_open =
        messages.last().is_some_and(|last| has(last, "toolResult") || has(last, "toolUse"));
    let asks = |message: &Value| message["role"] == "user" && !has(message, "toolResult");
    let start = messages.iter().rposition(asks).map_or(0, |at| at + 1);
    let first = messages[start..].iter().find(|message| message["role"] == "assistant");
    match first.filter(|_| is_open) {
        Some(first) if !first["content"][0]["reasoningContent"].is_object() => {
            Err("Expected `thinking` or `redacted_thinking`".to_owned())
        }
        _ => Ok(()),
    }
}
