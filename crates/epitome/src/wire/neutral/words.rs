//! Blocks of one format alone that hold plain words: search results, cited answers, documents made of blocks.

use serde_json::Value;

use crate::transcript::Part;

/// The words of a block that other formats don't have; `None` if it has no readable words.
pub(crate) fn words_of(part: &Part<'_>) -> Option<String> {
    let value: Value = serde_json::from_str(part.raw()).ok()?;
    if value["type"] == "search_result" {
        return said(&value);
    }
    if value["type"] == "document" {
        // Cohere's.
        return match &value["document"]["data"] {
            Value::Null => None,
            Value::String(words) => Some(words.clone()),
            members => Some(members.to_string()),
        };
    }
    let keys = ["searchResult", "citationsContent", "guardContent"];
    keys.iter().find_map(|key| said(value.get(key)?))
}

/// The words of a document that is made of blocks.
pub(crate) fn of_blocks(content: &Value) -> Option<String> {
    let texts = texts(content);
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A head of title and source, then the texts.
fn said(block: &Value) -> Option<String> {
    let title = block["title"].as_str().filter(|title| !title.is_empty());
    let source = block["source"].as_str().filter(|source| !source.is_empty());
    let head = match (title, source) {
        (Some(title), Some(source)) => Some(format!("{title} ({source})")),
        (title, source) => title.or(source).map(str::to_owned),
    };
    let texts = texts(&block["content"]).into_iter();
    let said: Vec<String> = head.into_iter().chain(texts).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// The texts of a list of blocks; a block that isn't one leaves its kind.
fn texts(content: &Value) -> Vec<String> {
    if let Some(text) = content.as_str() {
        return vec![text.to_owned()];
    }
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |block: &Value| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[not carried over: {}]", block["type"].as_str().unwrap_or("a block")),
    };
    blocks.iter().map(text).filter(|text| !text.is_empty()).collect()
}
