//! One row of a session.

use epitome::wire::json::unquote;

use crate::notes::Notes;
use crate::object::Object;
use crate::recording::Why;
use crate::rows::{RawRow, rows};

/// All rows of a file, in order.
pub(super) struct Rows<'a> {
    pub(super) all: Vec<Row<'a>>,
    pub(super) notes: Notes,
}

/// A row that is an object with a type.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) what: What,
    /// Literals, as `parent`.
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) fields: Object<'a>,
}

/// What a row is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The first row: about the session.
    Header,
    Message,
    /// Put in by an extension.
    CustomMessage,
    Compaction,
    /// What was done on a branch that was left.
    BranchSummary,
    /// Replaces or removes what an earlier row says.
    ContextEdit,
    ModelChange,
    /// Nothing that the model sees, but other rows may hang on it.
    Link,
}

impl What {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "session" => What::Header,
            "message" => What::Message,
            "custom_message" => What::CustomMessage,
            "compaction" => What::Compaction,
            "branch_summary" => What::BranchSummary,
            "context_edit" => What::ContextEdit,
            "model_change" => What::ModelChange,
            "thinking_level_change" | "usage" | "custom" | "label" | "session_info" => What::Link,
            _ => return None,
        })
    }

    /// Whether the model may see something of it.
    pub(super) fn is_shown(self) -> bool {
        matches!(self, What::Message | What::CustomMessage | What::Compaction | What::BranchSummary)
    }
}

impl<'a> Rows<'a> {
    pub(super) fn read(source: &'a str) -> Self {
        let mut found = Rows { all: Vec::new(), notes: Notes::default() };
        for raw in rows(source) {
            found.row(raw);
        }
        found
    }

    fn row(&mut self, raw: RawRow<'a>) {
        let fields = match Object::read(raw.text) {
            Ok(fields) => fields,
            Err(error) => {
                if let Some(pieces) = raw.pieces() {
                    return pieces.into_iter().for_each(|piece| self.row(piece));
                }
                return self.notes.broken(raw, error);
            }
        };
        let Some((fields, kind)) = fields.and_then(|fields| {
            let kind = fields.literal("type")?;
            Some((fields, unquote(kind)))
        }) else {
            return self.notes.foreign(raw.line);
        };
        self.notes.count(&kind);
        let what = What::of(&kind).unwrap_or_else(|| {
            self.notes.unknown(raw.line, &kind);
            What::Link
        });
        if what == What::Message && fields.object("message").is_empty() {
            self.notes.skip(raw.line, Why::NoMessage);
        }
        let (id, parent) = match what {
            // It is no part of the tree.
            What::Header => (None, None),
            _ => (fields.literal("id"), fields.literal("parentId")),
        };
        self.all.push(Row { line: raw.line, what, id, parent, fields });
    }
}
