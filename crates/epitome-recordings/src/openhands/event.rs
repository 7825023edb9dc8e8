//! One event of a conversation.

use epitome::wire::json::unquote;

use crate::notes::Notes;
use crate::object::{Object, elements};
use crate::rows::{RawRow, rows};

/// All events of a file, in order.
pub(super) struct Events<'a> {
    pub(super) all: Vec<Event<'a>>,
    pub(super) notes: Notes,
    /// Whether the first row is broken, which may be the whole file.
    pub(super) is_broken: bool,
}

/// An event of a known kind.
pub(super) struct Event<'a> {
    /// Its line, or its place in the list.
    pub(super) row: usize,
    pub(super) what: What,
    /// Literals, as `parent`.
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) fields: Object<'a>,
}

/// What an event is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    System,
    Message,
    /// A call.
    Action,
    /// A call's result.
    Observation,
    /// A call that was turned down.
    Rejection,
    /// A call that the agent couldn't do.
    Error,
    /// Takes events out of view.
    Condensation,
    /// Nothing that the model sees, but other events may hang on it.
    Link,
}

impl What {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "SystemPromptEvent" => What::System,
            "MessageEvent" => What::Message,
            "ActionEvent" => What::Action,
            "ObservationEvent" => What::Observation,
            "UserRejectObservation" => What::Rejection,
            "AgentErrorEvent" => What::Error,
            "Condensation" => What::Condensation,
            "CondensationRequest"
            | "ConversationErrorEvent"
            | "ConversationStateUpdateEvent"
            | "HookExecutionEvent"
            | "LLMCompletionLogEvent"
            | "PauseEvent"
            | "StreamingDeltaEvent"
            | "TokenEvent" => What::Link,
            _ => return None,
        })
    }

    /// Whether the model sees it.
    pub(super) fn is_shown(self) -> bool {
        !matches!(self, What::Condensation | What::Link)
    }
}

impl<'a> Events<'a> {
    pub(super) fn read(source: &'a str) -> Self {
        let mut found = Events { all: Vec::new(), notes: Notes::default(), is_broken: false };
        let text = source.strip_prefix('\u{feff}').unwrap_or(source).trim();
        if text.starts_with('[') {
            if is_whole(text) {
                found.list(&elements(text).unwrap_or_default());
            } else {
                found.is_broken = true;
                found.notes.count("not JSON");
            }
            return found;
        }
        for raw in rows(source) {
            found.row(raw);
        }
        found
    }

    fn row(&mut self, raw: RawRow<'a>) {
        match Object::read(raw.text) {
            Err(error) => {
                if let Some(pieces) = raw.pieces() {
                    return pieces.into_iter().for_each(|piece| self.row(piece));
                }
                self.is_broken |= self.notes.types.is_empty();
                self.notes.broken(raw, error);
            }
            Ok(None) => {
                self.notes.foreign(raw.line);
            }
            Ok(Some(fields)) => {
                let list = ["history", "events", "items"].iter().find_map(|name| fields.list(name));
                match list.filter(|_| fields.get("kind").is_none()) {
                    Some(list) => self.list(&list),
                    None => self.event(raw.line, fields),
                }
            }
        }
    }

    fn list(&mut self, list: &[&'a str]) {
        for (index, raw) in list.iter().enumerate() {
            self.event(index + 1, Object::of(raw));
        }
    }

    fn event(&mut self, row: usize, fields: Object<'a>) {
        let Some(kind) = fields.literal("kind").map(unquote) else {
            return self.notes.foreign(row);
        };
        self.notes.count(&kind);
        let what = What::of(&kind).unwrap_or_else(|| {
            self.notes.unknown(row, &kind);
            What::Link
        });
        let (id, parent) = (fields.literal("id"), fields.literal("parent_id"));
        self.all.push(Event { row, what, id, parent, fields });
    }
}

fn is_whole(text: &str) -> bool {
    let mut scanner = epitome::wire::json::Scanner::new(text);
    scanner.value().and_then(|_| scanner.end()).is_ok()
}
