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
            Look::Recording(Kind::ClaudeCode | Kind::Codex | Kind::Pi | Kind::SweAgent) => {
                Look::Unknown
            }
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
    /// A change to a session of Gemini CLI's.
    Change,
    /// What opencode knows of a message or a session.
    Info,
    /// What OpenHands' events say of themselves.
    Kind,
    Source,
    Events,
    Content,
    State,
    Auth,
    Id,
    Time,
    Project,
    Contents,
    Parts,
    Input,
    Role,
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
                ("history" | "events" | "items", Some(b'[')) if holds_events(scanner) => {
                    Some(Key::Events)
                }
                ("history", Some(b'[')) => Some(Key::History),
                ("info", Some(b'{')) => Some(Key::Info),
                ("trajectory", Some(b'[')) | ("environment" | "info", _) => Some(Key::Trajectory),
                ("kind", Some(b'"')) => Some(Key::Kind),
                ("source", Some(b'"')) => Some(Key::Source),
                ("uuid" | "leafUuid" | "messageId" | "sessionId" | "session_id", _) => {
                    Some(Key::Row)
                }
                ("payload", Some(b'{')) => Some(Key::Payload),
                ("record_type", Some(b'"')) => Some(Key::State),
                ("id", Some(b'"')) => Some(Key::Id),
                ("timestamp", Some(b'"')) => Some(Key::Time),
                ("$set", Some(b'{')) | ("$rewindTo", Some(b'"')) => Some(Key::Change),
                ("clientHistory", Some(b'[')) => Some(Key::Change),
                ("authType", _) => Some(Key::Auth),
                ("content", _) => Some(Key::Content),
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
            if is_type {
                object.kind = Some(raw);
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
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
                if has(Key::Payload) =>
            {
                Look::Recording(Kind::Codex)
            }
            "session" | "message" if has(Key::Message) || !has(Key::Role) && !has(Key::Row) => {
                Look::Recording(Kind::Pi)
            }
            "model_change" | "thinking_level_change" => Look::Recording(Kind::Pi),
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
            _ if has(Key::Events) => Look::Recording(Kind::Openhands),
            "" if has(Key::Kind) && has(Key::Source) && has(Key::Id) => {
                Look::Recording(Kind::Openhands)
            }
            _ if has(Key::History) && (has(Key::Trajectory) || has(Key::Info)) => {
                Look::Recording(Kind::SweAgent)
            }
            _ if (has(Key::Messages) || has(Key::Traj)) && has(Key::Task) => {
                Look::Recording(Kind::TauBench)
            }
            "" if has(Key::Info) && (has(Key::Parts) || has(Key::Messages)) => {
                Look::Recording(Kind::Opencode)
            }
            _ if has(Key::Messages) && has(Key::Project)
                || has(Key::Change)
                || has(Key::History) && has(Key::Auth) =>
            {
                Look::Recording(Kind::GeminiCli)
            }
            "gemini" if has(Key::Id) && has(Key::Content) => Look::Recording(Kind::GeminiCli),
            // A session's first row.
            "" if has(Key::Project) && has(Key::Row) => Look::Recording(Kind::GeminiCli),
            _ if has(Key::Messages) => Look::Request,
            _ if has(Key::Contents) || has(Key::Parts) => Look::Named("gemini"),
            "reasoning"
            | "item_reference"
            | "compaction"
            | "additional_tools"
            | "configuration_update" => Look::Request,
            kind if kind.ends_with("_call") || kind.ends_with("_output") => Look::Request,
            _ if has(Key::Input) || has(Key::Role) => Look::Request,
            // Bare items follow behind such a row.
            "" if has(Key::State) || has(Key::Id) && has(Key::Time) => Look::Recording(Kind::Codex),
            _ => Look::Unknown,
        }
    }
}

/// Whether the list under the cursor begins with an event of OpenHands'.
fn holds_events(scanner: &Scanner<'_>) -> bool {
    let mut events = scanner.clone();
    let mut is_event = false;
    let _first = events.array(|element| {
        is_event = Object::read(element).look() == Look::Recording(Kind::Openhands);
        Err::<(), _>(element.error("seen enough"))
    });
    is_event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_show_in_their_members() {
        let claude = Look::Recording(Kind::ClaudeCode);
        let codex = Look::Recording(Kind::Codex);
        let gemini = Look::Recording(Kind::GeminiCli);
        let opencode = Look::Recording(Kind::Opencode);
        let openhands = Look::Recording(Kind::Openhands);
        let pi = Look::Recording(Kind::Pi);
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
            (r#"{"type":"session_meta","payload":{}}"#, codex),
            (r#"{"id":"x","timestamp":"t","instructions":null}"#, codex),
            ("{\"record_type\":\"state\"}", codex),
            (r#"{"type":"session","id":"x","provider":"p"}"#, pi),
            (r#"{"type":"message","message":{"role":"user"}}"#, pi),
            (r#"{"parentId":null,"modelId":"m","type":"model_change"}"#, pi),
            (r#"{"sessionId":"x","projectHash":"h","messages":[]}"#, gemini),
            (r#"{"info":{"id":"s"},"messages":[]}"#, opencode),
            (r#"[{"info":{"role":"user"},"parts":[]}]"#, opencode),
            (r#"[{"id":"e","kind":"MessageEvent","source":"user"}]"#, openhands),
            (
                r#"{"instance":"i","history":[{"source":"user","kind":"MessageEvent","id":"e"}]}"#,
                openhands,
            ),
            (r#"{"startTime":"t","sessionId":"x"}"#, gemini),
            (r#"{"$set":{"messages":[]}}"#, gemini),
            (r#"{"id":"m","type":"gemini","content":""}"#, gemini),
            (r#"{"history":[],"authType":"oauth"}"#, gemini),
            (r#"{"history":[],"clientHistory":[],"toolCall":{}}"#, gemini),
            (r#"{"contents":[{"parts":[]}]}"#, Look::Named("gemini")),
            (r#"[{"role":"user","parts":[]}]"#, Look::Named("gemini")),
            (r#"{"model":"m","input":"hi"}"#, Look::Request),
            (r#"[{"type":"message","role":"user","content":"x"}]"#, Look::Request),
            (r#"{"type":"shell_call_output","call_id":"c","output":[]}"#, Look::Request),
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
