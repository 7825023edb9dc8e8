//! What one block is made of, whatever stands around it: the SDK's types (PROVIDERS.md B.1.2, 8).

use serde_json::Value;

use super::invalid;
use crate::server::error::ApiError;
use crate::server::rules::text;
use epitome::word_list::words;

/// Members of each type, besides `type`.
const TYPES: &[(&str, &[&str])] = &[
    ("text", &["text", "citations", "cache_control"]),
    ("thinking", &["thinking", "signature"]),
    ("redacted_thinking", &["data"]),
    ("image", &["source", "transformations", "cache_control"]),
    ("document", &["source", "title", "context", "citations", "cache_control"]),
    ("search_result", &["source", "title", "content", "citations", "cache_control"]),
    ("tool_use", &["id", "name", "input", "caller", "toolset_name", "cache_control"]),
    ("tool_result", &["tool_use_id", "content", "is_error", "toolset_name", "cache_control"]),
    ("server_tool_use", &["id", "name", "input", "caller", "cache_control"]),
    ("mcp_tool_use", &["id", "name", "input", "server_name", "cache_control"]),
    ("mcp_tool_result", &["tool_use_id", "content", "is_error", "cache_control"]),
    ("tool_reference", &["tool_name", "cache_control"]),
    ("container_upload", &["file_id", "cache_control"]),
    ("compaction", &["content", "encrypted_content", "signature", "tool_changes", "cache_control"]),
];

/// Of results of the provider's own tools.
const SERVED: &[&str] = &["tool_use_id", "content", "caller", "cache_control"];

/// Blocks of other formats, which no version of this one has.
const STRANGE: [&str; 8] = words!(
    "image_url input_text input_image output_text function_call resource resource_link audio"
);

/// How files of images begin in base64.
const BEGINNINGS: [(&str, &str); 4] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
];

pub(super) fn check(block: &Value, path: &str) -> Result<(), ApiError> {
    let kind = text(&block["type"]);
    if STRANGE.contains(&kind) {
        return Err(invalid(format!(
            "{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )));
    }
    let known = TYPES.iter().find(|(name, _)| *name == kind).map(|(_, members)| *members);
    let known = known.or(kind.ends_with("_tool_result").then_some(SERVED));
    if let (Some(known), Some(block)) = (known, block.as_object()) {
        let is_strange = |key: &&String| *key != "type" && !known.contains(&key.as_str());
        if let Some(key) = block.keys().find(is_strange) {
            return Err(invalid(format!("{path}.{kind}.{key}: Extra inputs are not permitted")));
        }
    }
    let source = &block["source"];
    if text(&source["type"]) != "base64" {
        return Ok(());
    }
    let types: &[&str] = match kind {
        "image" => &["image/jpeg", "image/png", "image/gif", "image/webp"],
        _ => &["application/pdf"],
    };
    if !types.contains(&text(&source["media_type"])) {
        return Err(invalid(format!(
            "{path}.{kind}.source.base64.media_type: Input should be one of {types:?}"
        )));
    }
    if text(&source["data"]).starts_with("data:") {
        return Err(invalid(format!("{path}.{kind}.source.base64.data: Invalid base64 data")));
    }
    let (said, data) = (text(&source["media_type"]), text(&source["data"]));
    let drawn = BEGINNINGS.iter().find(|(begins, _)| data.starts_with(begins));
    if drawn.is_some_and(|(_, is)| *is != said) && kind == "image" {
        return Err(invalid(format!(
            "{path}.image.source.base64.data: Image does not match the provided media type {said}"
        )));
    }
    Ok(())
}
