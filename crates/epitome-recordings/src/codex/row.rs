//! One row of a rollout.

use std::collections::HashMap;

use epitome::wire::json::unquote;

use crate::body::moment;
use crate::notes::Notes;
use crate::object::{Object, elements};
use crate::rows::{RawRow, rows};

/// All rows of a file, in order.
pub(super) struct Rows<'a> {
    pub(super) all: Vec<Row<'a>>,
    pub(super) notes: Notes,
    /// Of a line, when it was written, in milliseconds since 1970.
    pub(super) times: HashMap<usize, u64>,
}

/// A row of a known type.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) what: What,
    /// The content of the envelope, raw and by its members.
    pub(super) raw: &'a str,
    pub(super) payload: Object<'a>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// About the session.
    Meta,
    /// About a turn.
    Turn,
    /// An item of the history.
    Item,
    /// Something that happened, most of it told by items too.
    Event,
    /// A compaction.
    Compacted,
    /// What the provider reported of a reply.
    Usage,
    /// Put in from elsewhere, in words that aren't recorded.
    Unworded,
    /// Of no account for the history.
    Nothing,
}

impl What {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "session_meta" => What::Meta,
            "turn_context" => What::Turn,
            "response_item" => What::Item,
            "event_msg" => What::Event,
            "compacted" => What::Compacted,
            "token_usage_record" => What::Usage,
            "inter_agent_communication" | "rollout_reference" => What::Unworded,
            "inter_agent_communication_metadata" | "world_state" => What::Nothing,
            _ => return None,
        })
    }
}

impl<'a> Rows<'a> {
    pub(super) fn read(source: &'a str) -> Self {
        let mut found = Rows { all: Vec::new(), notes: Notes::default(), times: HashMap::new() };
        for raw in rows(source) {
            found.row(raw);
        }
        found
    }

    fn row(&mut self, raw: RawRow<'a>) {
        let row = match Object::read(raw.text) {
            Ok(row) => row,
            Err(error) => {
                if let Some(pieces) = raw.pieces() {
                    return pieces.into_iter().for_each(|piece| self.row(piece));
                }
                return self.notes.broken(raw, error);
            }
        };
        let Some(row) = row else {
            return self.notes.foreign(raw.line);
        };
        let time = moment(row.get("timestamp"));
        self.times.extend(time.map(|time| (raw.line, time)));
        let kind = row.literal("type").map(unquote);
        let (what, raw_payload) = match (kind.as_deref(), row.get("payload")) {
            (Some(kind), Some(payload)) if payload.starts_with('{') => {
                self.notes.count(kind);
                match What::of(kind) {
                    Some(what) => (what, payload),
                    None => return self.notes.unknown(raw.line, kind),
                }
            }
            // The first versions: the header, marks of state, and bare items.
            (None, _) if row.get("id").is_some() && row.get("timestamp").is_some() => {
                self.notes.count("header");
                return;
            }
            (None, _) if row.get("record_type").is_some() => return self.notes.count("state"),
            (Some(kind), None) if is_item(kind, &row) => {
                self.notes.count(kind);
                (What::Item, raw.text.trim())
            }
            _ => {
                return self.notes.foreign(raw.line);
            }
        };
        let payload = if raw_payload == raw.text.trim() { row } else { Object::of(raw_payload) };
        self.all.push(Row { line: raw.line, what, raw: raw_payload, payload });
    }
}

/// Whether a bare row is an item.
fn is_item(kind: &str, row: &Object<'_>) -> bool {
    match kind {
        "message" => row.get("role").is_some(),
        "reasoning" => true,
        kind => kind.ends_with("_call") || kind.ends_with("_output"),
    }
}

/// The text of a message's content.
pub(super) fn text_of(item: &Object<'_>) -> String {
    let Some(content) = item.get("content") else { return String::new() };
    match elements(content) {
        Some(blocks) => {
            blocks.into_iter().filter_map(|block| Object::of(block).text("text")).collect()
        }
        None => unquote(content).into_owned(),
    }
}
