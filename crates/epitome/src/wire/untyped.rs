//! Words that lack their block, and blocks that lack their type or their list, as they were meant.

use crate::json::{self, Span, quote, unquote};
use crate::transcript::Part;

/// The block for an element without a type, or for a text without words: a text, or an object's JSON as text. `None` if it is
/// empty.
///
/// `kind` is the type of the format's texts; empty where these have none.
pub(super) fn block(raw: &str, kind: &str) -> Option<String> {
    let text = |words: &str| match kind {
        "" => format!(r#"{{"text":{words}}}"#),
        kind => format!(r#"{{"type":"{kind}","text":{words}}}"#),
    };
    match raw.as_bytes().first()? {
        b'"' => has_words(raw).then(|| text(raw)),
        b'{' => only_text(raw)
            .map_or_else(|| json_of(raw).as_deref().map(text), |words| Some(text(words))),
        _ => None,
    }
}

/// The content for a value that is neither words nor a list: a single block as a list, else an object's JSON as words.
/// `None` if it is empty.
pub(super) fn content(raw: &str, kind: &str, is_block: impl Fn(&str) -> bool) -> Option<String> {
    let typed = if raw.starts_with('{') { json::text_member(raw, "type") } else { None };
    if typed.is_some_and(|typed| is_block(&typed)) {
        return Some(format!("[{raw}]"));
    }
    match only_text(raw) {
        Some(_) => block(raw, kind).map(|block| format!("[{block}]")),
        None => json_of(raw),
    }
}

/// The block, or the list of one, for a part in a format whose blocks have no type. `None` if it is empty.
pub(super) fn keyed(part: &Part<'_>) -> Option<String> {
    let raw = part.raw();
    let text = if raw.starts_with('"') { block(raw, "") } else { None };
    if part.is_element() {
        return text;
    }
    text.or_else(|| json_of(raw).map(|_| raw.to_owned())).map(|block| format!("[{block}]"))
}

/// The words of an object that has nothing else.
fn only_text(raw: &str) -> Option<&str> {
    let members = json::members(raw, Span::new(0..raw.len())).ok()?;
    let [(key, value)] = members[..] else { return None };
    let words = Some(value.of(raw)).filter(|words| words.starts_with('"') && has_words(words));
    words.filter(|_| json::key_is(raw, key, "text"))
}

/// An object that says more than its type, as a string.
fn json_of(raw: &str) -> Option<String> {
    let members = json::members(raw, Span::new(0..raw.len())).ok()?;
    let says = |(key, value): &(Span, Span)| {
        let value = value.of(raw);
        let is_empty = matches!(value, "null" | "[]" | "{}");
        let is_blank = value.starts_with('"') && !has_words(value);
        !json::key_is(raw, *key, "type") && !is_empty && !is_blank
    };
    members.iter().any(says).then(|| quote(raw))
}

fn has_words(literal: &str) -> bool {
    !unquote(literal).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_says_what_it_says() {
        for (raw, meant) in [
            (r#""hi""#, Some(r#"{"type":"text","text":"hi"}"#)),
            (r#"{"text":"hi"}"#, Some(r#"{"type":"text","text":"hi"}"#)),
            (r#"{"a":1}"#, Some(r#"{"type":"text","text":"{\"a\":1}"}"#)),
            (
                r#"{"text":"hi","a":1}"#,
                Some(r#"{"type":"text","text":"{\"text\":\"hi\",\"a\":1}"}"#),
            ),
            (r#"" ""#, None),
            (
                r#"{"type":"text","content":"hi"}"#,
                Some(r#"{"type":"text","text":"{\"type\":\"text\",\"content\":\"hi\"}"}"#),
            ),
            (r#"{"type":"text","text":null}"#, None),
            (r#"{"text":""}"#, None),
            (r#"{"text":" "}"#, None),
            ("{}", None),
            ("7", None),
            ("null", None),
        ] {
            assert_eq!(block(raw, "text").as_deref(), meant, "{raw}");
        }
        assert_eq!(block(r#""hi""#, "").as_deref(), Some(r#"{"text":"hi"}"#));
    }

    #[test]
    fn a_block_by_itself_is_put_in_a_list() {
        let content = |raw| content(raw, "text", |kind| kind == "text");
        for (raw, meant) in [
            (r#"{"type":"text","text":"hi"}"#, Some(r#"[{"type":"text","text":"hi"}]"#)),
            (r#"{"text":"hi"}"#, Some(r#"[{"type":"text","text":"hi"}]"#)),
            (r#"{"type":"odd","a":1}"#, Some(r#""{\"type\":\"odd\",\"a\":1}""#)),
            ("{}", None),
            ("7", None),
        ] {
            assert_eq!(content(raw).as_deref(), meant, "{raw}");
        }
    }
}
