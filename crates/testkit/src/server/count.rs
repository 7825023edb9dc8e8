//! The server's one rule for counting tokens.
//!
//! The tokens of `o200k_base` in every string that the model reads, plus four for each element of the prompt (a
//! tool, a block, an item, a message). JSON that the model reads as JSON (arguments, results, schemas) counts as
//! its compact text. A picture or document is 1,000 tokens. Ids, roles, types, signatures, encrypted data and
//! cache markers are nothing. The same for every model: what counts is that the numbers are the server's own.

use epitome::count::{Bpe, TokenCounter};
use serde_json::Value;

use epitome::word_list::words;
use std::sync::OnceLock;

/// Tokens around an element's words.
pub const ELEMENT: u64 = 4;
/// Tokens of a picture or document.
pub const MEDIA: u64 = 1_000;

const UNREAD: [&str; 21] = words!(
    "type id role status phase tool_use_id tool_call_id call_id toolUseId signature \
     thoughtSignature thought_signature encrypted_content data redactedContent cache_control \
     cachePoint detail caller prompt_cache_breakpoint media_type"
);
const AS_JSON: [&str; 7] =
    words!("input args response input_schema parameters parametersJsonSchema inputSchema");
const MEDIA_TYPES: [&str; 7] =
    ["image", "document", "input_image", "input_file", "image_url", "file", "input_audio"];
const MEDIA_KEYS: [&str; 5] = ["inlineData", "inline_data", "fileData", "image", "document"];

/// Tokens of a text.
pub fn text(text: &str) -> u64 {
    static COUNTER: OnceLock<Bpe> = OnceLock::new();
    COUNTER.get_or_init(Bpe::o200k).text(text).tokens
}

/// Tokens of an element of the prompt.
pub fn element(value: &Value) -> u64 {
    ELEMENT + within(value)
}

fn within(value: &Value) -> u64 {
    match value {
        Value::String(string) => text(string),
        Value::Array(list) => list.iter().map(within).sum(),
        Value::Object(map) => {
            if map.get("type").and_then(Value::as_str).is_some_and(|t| MEDIA_TYPES.contains(&t)) {
                return MEDIA;
            }
            let read = map.iter().filter(|(key, _)| !UNREAD.contains(&key.as_str()));
            read.map(|(key, value)| match value {
                Value::Object(_) | Value::Array(_) if AS_JSON.contains(&key.as_str()) => {
                    text(&value.to_string())
                }
                Value::Object(_) if MEDIA_KEYS.contains(&key.as_str()) => MEDIA,
                _ => within(value),
            })
            .sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_count_and_wrappings_do_not() {
        let words = text("The quick brown fox");
        assert_eq!(element(&json!("The quick brown fox")), words + ELEMENT);
        let block = json!({"type": "text", "text": "The quick brown fox", "cache_control": {"type": "ephemeral"}});
        assert_eq!(element(&block), words + ELEMENT);
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": "b"}});
        assert_eq!(element(&call), text("f") + text(r#"{"a":"b"}"#) + ELEMENT);
        let image = json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}});
        assert_eq!(element(&image), MEDIA + ELEMENT);
        assert_eq!(element(&json!({"inlineData": {"data": "AAAA"}})), MEDIA + ELEMENT);
    }
}
