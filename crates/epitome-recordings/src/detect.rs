//! Which recording a text is, by its content.

use epitome::json::{JsonError, Scanner, unquote};

use crate::Kind;
use crate::rows::rows;

/// The kind of recording that `source` is, or `None` if it is something else (a request, say).
///
/// Looks at the first rows only; a file that is one object is looked through once, and one that is
/// broken is still recognised by what stands before the break.
pub fn detect(source: &str) -> Option<Kind> {
    match look(source) {
        Look::Recording(kind) => Some(kind),
        _ => None,
    }
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Recording(Kind),
    /// A format that is known by name.
    Named(&'static str),
    /// Messages of a request.
    Request,
    Unknown,
}

/// Rows may be broken, or of types that say nothing; this many are looked at.
const MOST_ROWS: usize = 256;

pub(crate) fn look(source: &str) -> Look {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source).trim_start();
    if text.starts_with('[') {
        return look_at_list(text);
    }
    let looks =
        rows(source).take(MOST_ROWS).map(|row| Object::read(&mut Scanner::new(row.text)).look());
    looks.into_iter().find(|look| *look != Look::Unknown).unwrap_or(Look::Unknown)
}

/// A list is what its first element is.
fn look_at_list(text: &str) -> Look {
    let mut first = None;
    let mut scanner = Scanner::new(text);
    let read = scanner.array(|scanner| {
        first = Some(Object::read(scanner));
        // The rest doesn't matter.
        Err::<(), _>(scanner.error("seen enough"))
    });
    match (first, read) {
        (Some(object), _) => match object.look() {
            // Rows stand on lines, not in a list; nor do trajectories.
            Look::Recording(Kind::ClaudeCode | Kind::SweAgent) => Look::Unknown,
            look => look,
        },
        (None, Ok(_)) => Look::Request,
        (None, Err(_)) => Look::Unknown,
    }
}

/// The names of an object's members, as far as they tell formats apart.
#[derive(Default)]
struct Object<'a> {
    kind: Option<&'a str>,
    has: Vec<Key>,
}

/// A telling member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Message,
    Messages,
    Traj,
    Task,
    History,
    Trajectory,
    Row,
    Payload,
    Project,
    Contents,
    Parts,
    Input,
    Role,
    /// A content as OpenAI's Responses have it: a string, or blocks that say whose text they are.
    Typed,
}

impl<'a> Object<'a> {
    /// Reads as far as the text is good.
    fn read(scanner: &mut Scanner<'a>) -> Self {
        let mut object = Object::default();
        if scanner.peek() != Some(b'{') {
            return object;
        }
        let text = scanner.text();
        let _whole = scanner.object(|scanner, key| {
            let name = unquote(key.of(text));
            let first = scanner.peek();
            let known = match (name.as_ref(), first) {
                ("message", Some(b'{')) => Some(Key::Message),
                ("messages", Some(b'[')) => Some(Key::Messages),
                ("traj", Some(b'[')) => Some(Key::Traj),
                ("task_id" | "reward", _) => Some(Key::Task),
                ("history", Some(b'[')) => Some(Key::History),
                ("trajectory", Some(b'[')) | ("environment" | "info", _) => Some(Key::Trajectory),
                ("uuid" | "leafUuid" | "messageId" | "sessionId" | "session_id", _) => {
                    Some(Key::Row)
                }
                ("payload", Some(b'{')) => Some(Key::Payload),
                ("projectHash" | "startTime", _) => Some(Key::Project),
                ("contents", Some(b'[')) => Some(Key::Contents),
                ("parts", Some(b'[')) => Some(Key::Parts),
                ("input", Some(b'[' | b'"')) => Some(Key::Input),
                ("role", _) => Some(Key::Role),
                _ => None,
            };
            object.has.extend(known);
            let is_type = name == "type";
            let value = scanner.value()?;
            let raw = value.of(text);
            let says_whose = |raw: &str| raw.contains("\"input_") || raw.contains("\"output_");
            if is_type {
                object.kind = Some(raw);
            } else if name == "content" && (raw.starts_with('"') || says_whose(raw)) {
                object.has.push(Key::Typed);
            }
            Ok::<_, JsonError>(())
        });
        object
    }

    fn look(&self) -> Look {
        let has = |key| self.has.contains(&key);
        let kind = self.kind.map(unquote);
        match kind.as_deref().unwrap_or("") {
            "user" | "assistant" if has(Key::Message) => Look::Recording(Kind::ClaudeCode),
            "session_meta" | "response_item" | "event_msg" | "turn_context"
                if has(Key::Payload) =>
            {
                Look::Named("codex")
            }
            "session" | "message" if has(Key::Message) || !has(Key::Role) && !has(Key::Row) => {
                Look::Named("pi")
            }
            "summary"
            | "system"
            | "attachment"
            | "progress"
            | "file-history-snapshot"
            | "queue-operation"
            | "last-prompt"
            | "custom-title"
            | "ai-title"
                if has(Key::Row) && !has(Key::Role) =>
            {
                Look::Recording(Kind::ClaudeCode)
            }
            _ if has(Key::History) && has(Key::Trajectory) => Look::Recording(Kind::SweAgent),
            _ if (has(Key::Messages) || has(Key::Traj)) && has(Key::Task) => {
                Look::Recording(Kind::TauBench)
            }
            _ if has(Key::Messages) && has(Key::Project) => Look::Named("gemini-cli"),
            _ if has(Key::Messages) => Look::Request,
            _ if has(Key::Contents) || has(Key::Parts) => Look::Named("gemini"),
            "function_call" | "function_call_output" | "reasoning" | "item_reference" => {
                Look::Named("openai-responses")
            }
            "message" if has(Key::Role) && has(Key::Typed) => Look::Named("openai-responses"),
            _ if has(Key::Input) && !has(Key::Role) => Look::Named("openai-responses"),
            _ if has(Key::Role) => Look::Request,
            _ => Look::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_show_in_their_members() {
        let claude = Look::Recording(Kind::ClaudeCode);
        for (text, want) in [
            (r#"{"type":"user","message":{"role":"user","content":"x"}}"#, claude),
            ("\u{feff}\n\n  {\"type\" :\t\"summary\", \"leafUuid\": \"u\"}\n", claude),
            (
                "{\"broken\n{\n42\n[]\n{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}",
                claude,
            ),
            ("{\n  \"type\": \"assistant\",\n  \"message\": {\n }\n}\n", claude),
            (r#"{"type":"assistant","message":{"role":"#, claude),
            (r#"{"task_id":1,"reward":0.0,"messages":[]}"#, Look::Recording(Kind::TauBench)),
            ("[\n {\"traj\": [], \"task_id\": 3} ]", Look::Recording(Kind::TauBench)),
            ("{\n\"environment\": \"main\",\n\"history\": []}", Look::Recording(Kind::SweAgent)),
            (r#"{"type":"session_meta","payload":{}}"#, Look::Named("codex")),
            (r#"{"type":"session","id":"x","provider":"p"}"#, Look::Named("pi")),
            (r#"{"sessionId":"x","projectHash":"h","messages":[]}"#, Look::Named("gemini-cli")),
            (r#"{"contents":[{"parts":[]}]}"#, Look::Named("gemini")),
            (r#"[{"role":"user","parts":[]}]"#, Look::Named("gemini")),
            (r#"{"model":"m","input":"hi"}"#, Look::Named("openai-responses")),
            (
                r#"[{"type":"message","role":"user","content":"x"}]"#,
                Look::Named("openai-responses"),
            ),
            (r#"{"type":"message","role":"assistant","content":[{"type":"text"}]}"#, Look::Request),
            (r#"{"messages":[]}"#, Look::Request),
            ("[]", Look::Request),
            (r#"{"role":"user","content":"x"}"#, Look::Request),
            (r#"{"a":1}"#, Look::Unknown),
            ("[1]", Look::Unknown),
            ("", Look::Unknown),
        ] {
            assert_eq!(look(text), want, "{text}");
        }
    }
}
