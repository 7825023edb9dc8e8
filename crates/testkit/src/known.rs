//! Whether a provider's SDK of today has all that a request is made of: a second reading, over `serde_json` values.
//!
//! What [`accepted`](crate::accepted) lets through because a provider may know it by now isn't let through here.

use std::collections::HashSet;

use epitome::Format;
use epitome::wire::Request;
use serde_json::Value;

use crate::server::{list, text};

type Checked = Result<(), String>;

/// # Errors
/// What isn't known, and where.
///
/// # Panics
/// If the request is no JSON.
pub fn known(request: &Request) -> Checked {
    let body: Value = serde_json::from_str(request.source()).map_err(|error| error.to_string())?;
    let entries = ["messages", "contents", "input"].iter().find_map(|key| body.get(key));
    let entries = list(entries.unwrap_or(&body));
    match request.format {
        Format::OpenaiChat => chat(entries),
        Format::Anthropic => anthropic(&body, entries),
        Format::Bedrock => bedrock(entries),
        Format::Gemini => gemini(entries),
        Format::GeminiInteractions => interactions(entries),
        Format::OpenaiResponses => responses(&body, entries),
        _ => Ok(()),
    }
}

fn blocks<'a>(entries: &'a [Value], key: &'a str) -> impl Iterator<Item = (&'a Value, &'a Value)> {
    entries.iter().flat_map(move |entry| list(&entry[key]).iter().map(move |block| (entry, block)))
}

fn is(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn only(value: &Value, members: &[&str]) -> Checked {
    let mut keys = value.as_object().into_iter().flat_map(|members| members.keys());
    keys.try_for_each(|key| is(members.contains(&key.as_str()), key))
}

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

fn chat(entries: &[Value]) -> Checked {
    let kinds = ["text", "image_url", "input_audio", "file", "refusal"];
    let mut blocks = blocks(entries, "content");
    blocks.try_for_each(|(_, block)| {
        is(kinds.contains(&text(&block["type"])), "a type")?;
        is(!block["image_url"].is_string(), "image_url")
    })
}

fn anthropic(body: &Value, entries: &[Value]) -> Checked {
    let tools = list(&body["tools"]);
    let (mut asked, mut open) = (HashSet::new(), HashSet::new());
    for (entry, block) in blocks(entries, "content") {
        let kind = text(&block["type"]);
        is(kind != "hologram", kind)?;
        is(!(kind == "thinking" && entry["role"] == "user"), kind)?;
        let marker = &block["cache_control"];
        is(["", "5m", "1h"].contains(&text(&marker["ttl"])), "ttl")?;
        is(marker.is_null() || marker["type"] == "ephemeral", "type")?;
        for inner in list(&block["content"]).iter().filter(|one| one["type"] == "tool_reference") {
            is(tools.iter().any(|tool| tool["name"] == inner["tool_name"]), "tool_name")?;
        }
        match kind {
            "server_tool_use" => {
                is(asked.insert(text(&block["id"])), "id")?;
                open.insert(text(&block["id"]));
            }
            "web_search_tool_result" => is(open.remove(text(&block["tool_use_id"])), "a result")?,
            _ => {}
        }
    }
    is(open.is_empty(), "a call of the provider's tool")
}

fn bedrock(entries: &[Value]) -> Checked {
    for (_, block) in blocks(entries, "content") {
        only(block, &["text", "image", "toolUse", "toolResult", "cachePoint"])?;
        is(block["cachePoint"].is_null() || block["cachePoint"]["type"] == "default", "type")?;
        let image = &block["image"];
        let formats = ["png", "jpeg", "gif", "webp"];
        is(image.is_null() || formats.contains(&text(&image["format"])), "format")?;
    }
    Ok(())
}

fn gemini(entries: &[Value]) -> Checked {
    let mut ran = false;
    for (_, part) in blocks(entries, "parts") {
        only(part, &["text", "inlineData", "executableCode", "codeExecutionResult"])?;
        let data = &part["inlineData"];
        is(data.is_null() || IMAGES.contains(&text(&data["mimeType"])), "mimeType")?;
        let result = &part["codeExecutionResult"];
        is(result.is_null() || ran && !result["outcome"].is_null(), "a result")?;
        ran = !part["executableCode"].is_null();
    }
    Ok(())
}

fn interactions(entries: &[Value]) -> Checked {
    for step in entries {
        let kind = text(&step["type"]);
        is(["user_input", "model_output"].contains(&kind), kind)?;
        only(step, &["type", "content"])?;
        for content in list(&step["content"]) {
            is(!text(&content["data"]).starts_with("data:"), "data")?;
        }
    }
    Ok(())
}

fn responses(body: &Value, entries: &[Value]) -> Checked {
    let mut names = HashSet::new();
    for tool in list(&body["tools"]) {
        is(names.insert(text(&tool["name"])), "name")?;
    }
    for item in entries {
        match text(&item["type"]) {
            "message" => only(item, &["type", "role", "content"])?,
            "reasoning" => is(item["summary"].is_array(), "summary")?,
            kind => return Err(kind.to_owned()),
        }
        for block in list(&item["content"]) {
            let url = text(&block["image_url"]);
            let kind = url.strip_prefix("data:").and_then(|url| url.split(';').next());
            is(kind.is_none_or(|kind| IMAGES.contains(&kind)), "image_url")?;
        }
    }
    Ok(())
}
