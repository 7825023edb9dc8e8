//! Which recording a text is, by its content.

use epitome::wire::Format;

use crate::object::{Object, start_of_list};
use crate::reader::{Layout, Reader};
use crate::readers::READERS;
use crate::rows::rows;
use epitome::word_list::words;

/// The reader of a recording, or `None` if `source` is something else (a request, say).
///
/// Looks at the first rows only; a file that is one object is looked through once, and one that is
/// broken is still recognised by what stands before the break.
pub fn detect(source: &str) -> Option<&'static dyn Reader> {
    match look(source) {
        Look::Recording(reader) => Some(reader),
        _ => None,
    }
}

/// What a text looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    Recording(&'static dyn Reader),
    /// Messages of a request, and their format where that shows already.
    Request(Option<Format>),
    Unknown,
}

/// Rows may be broken, or of types that say nothing; this many are looked at.
const MOST_ROWS: usize = 256;

pub(crate) fn look(source: &str) -> Look {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source).trim_start();
    if text.starts_with('[') {
        return look_at_list(text);
    }
    let looks = rows(source).take(MOST_ROWS).map(|row| look_at(&Object::start(row.text)));
    let known = looks.into_iter().find(|look| !matches!(look, Look::Unknown));
    // One value over many lines that ends in the middle.
    known.unwrap_or_else(|| look_at(&Object::start(text)))
}

/// A list is what its first element is.
fn look_at_list(text: &str) -> Look {
    match start_of_list(text, 1).first() {
        Some(first) => match look_at(first) {
            // Rows stand on lines, not in a list.
            Look::Recording(reader) if reader.layout() == Layout::Rows => Look::Unknown,
            look => look,
        },
        None if text[1..].trim_start().starts_with(']') => Look::Request(None),
        None => Look::Unknown,
    }
}

pub(crate) fn look_at(object: &Object<'_>) -> Look {
    if let Some(reader) = READERS.into_iter().find(|reader| reader.detects(object)) {
        return Look::Recording(reader);
    }
    let kind = object.text("type").unwrap_or_default();
    let is_item = ["_call", "_output"].iter().any(|end| kind.ends_with(end))
        || words!(
            "reasoning item_reference compaction additional_tools configuration_update user_input \
             model_output thought function_result"
        )
        .contains(&kind.as_ref());
    if object.opens("messages", '[') {
        Look::Request(None)
    } else if object.opens("contents", '[') || object.opens("parts", '[') {
        Look::Request(Some(Format::Gemini))
    } else if is_item || asks_with_input(object) || object.has_any(&["role"]) {
        Look::Request(None)
    } else {
        Look::Unknown
    }
}

/// Whether an object with an `input` is a request: words ask a model or an agent, and what has its output, too, is a record of a call.
fn asks_with_input(object: &Object<'_>) -> bool {
    let asks = object.opens("input", '[')
        || object.opens("input", '"') && object.has_any(&["model", "agent"]);
    asks && !object.has_any(&["output"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_show_in_their_members() {
        for (text, want) in [
            (r#"{"type":"user","message":{"role":"user","content":"x"}}"#, "claude-code"),
            ("\u{feff}\n\n  {\"type\" :\t\"summary\", \"leafUuid\": \"u\"}\n", "claude-code"),
            (
                "{\"broken\n{\n42\n[]\n{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}",
                "claude-code",
            ),
            ("{\n  \"type\": \"assistant\",\n  \"message\": {\n }\n}\n", "claude-code"),
            (r#"{"type":"assistant","message":{"role":"#, "claude-code"),
            (r#"{"task_id":1,"reward":0.0,"messages":[]}"#, "tau-bench"),
            ("[\n {\"traj\": [], \"task_id\": 3} ]", "tau-bench"),
            ("{\n\"environment\": \"main\",\n\"history\": []}", "swe-agent"),
            (r#"{"type":"session_meta","payload":{}}"#, "codex"),
            (r#"{"id":"x","timestamp":"t","instructions":null}"#, "codex"),
            ("{\"record_type\":\"state\"}", "codex"),
            (r#"{"type":"session","id":"x","provider":"p"}"#, "pi"),
            (r#"{"type":"message","message":{"role":"user"}}"#, "pi"),
            (r#"{"parentId":null,"modelId":"m","type":"model_change"}"#, "pi"),
            (r#"{"sessionId":"x","projectHash":"h","messages":[]}"#, "gemini-cli"),
            (r#"{"info":{"id":"s"},"messages":[]}"#, "opencode"),
            (r#"[{"info":{"role":"user"},"parts":[]}]"#, "opencode"),
            (r#"[{"id":"e","kind":"MessageEvent","source":"user"}]"#, "openhands"),
            (
                r#"{"instance":"i","history":[{"source":"user","kind":"MessageEvent","id":"e"}]}"#,
                "openhands",
            ),
            (r#"{"startTime":"t","sessionId":"x"}"#, "gemini-cli"),
            (r#"{"$set":{"messages":[]}}"#, "gemini-cli"),
            (r#"{"id":"m","type":"gemini","content":""}"#, "gemini-cli"),
            (r#"{"history":[],"authType":"oauth"}"#, "gemini-cli"),
            (r#"{"history":[],"clientHistory":[],"toolCall":{}}"#, "gemini-cli"),
            (r#"{"contents":[{"parts":[]}]}"#, "gemini"),
            (r#"[{"role":"user","parts":[]}]"#, "gemini"),
            (r#"{"model":"m","input":"hi"}"#, "request"),
            (r#"[{"type":"message","role":"user","content":"x"}]"#, "request"),
            (r#"{"type":"shell_call_output","call_id":"c","output":[]}"#, "request"),
            (r#"{"type":"message","role":"assistant","content":[{"type":"text"}]}"#, "request"),
            (r#"{"messages":[]}"#, "request"),
            ("[]", "request"),
            (r#"{"role":"user","content":"x"}"#, "request"),
            (r#"{"input":"src/index.js","output":"dist"}"#, "unknown"),
            (r#"{"model":"m","input":[{"role":"user"}],"output":"x"}"#, "unknown"),
            (r#"{"a":1}"#, "unknown"),
            ("[1]", "unknown"),
            ("", "unknown"),
        ] {
            let found = match look(text) {
                Look::Recording(reader) => reader.name(),
                Look::Request(None) => "request",
                Look::Request(Some(format)) => format.name(),
                Look::Unknown => "unknown",
            };
            assert_eq!(found, want, "{text}");
        }
    }
}
