//! The messages of a session, as its log leaves them.

use std::collections::HashSet;

use crate::notes::Notes;
use crate::object::Object;
use crate::recording::{Reach, Why};
use crate::rows::{RawRow, rows};

/// A file read to its end.
pub(super) struct Log<'a> {
    pub(super) messages: Vec<Message<'a>>,
    /// Contents that were saved as they are.
    pub(super) saved: Option<Vec<&'a str>>,
    pub(super) notes: Notes,
    /// The lines of compactions.
    pub(super) compactions: Vec<usize>,
    /// Whether the first row is broken, which may be the whole file.
    pub(super) is_broken: bool,
    reach: Reach,
}

/// A message's record.
#[derive(Clone, Debug)]
pub(super) struct Message<'a> {
    /// Its line, or its place in the list.
    pub(super) row: usize,
    id: Option<&'a str>,
    pub(super) fields: Object<'a>,
}

impl Message<'_> {
    /// Whether the model says it.
    pub(super) fn is_reply(&self) -> bool {
        self.fields.says("type", "gemini")
    }
}

impl<'a> Log<'a> {
    pub(super) fn read(source: &'a str, reach: Reach) -> Self {
        let mut log = Log {
            messages: Vec::new(),
            saved: None,
            notes: Notes::default(),
            compactions: Vec::new(),
            is_broken: false,
            reach,
        };
        for raw in rows(source) {
            log.row(raw);
        }
        log
    }

    fn row(&mut self, raw: RawRow<'a>) {
        let record = match Object::read(raw.text) {
            Ok(record) => record,
            Err(error) => {
                if let Some(pieces) = raw.pieces() {
                    return pieces.into_iter().for_each(|piece| self.row(piece));
                }
                self.is_broken |= self.notes.types.is_empty();
                return self.notes.broken(raw, error);
            }
        };
        let Some(record) = record else {
            return self.notes.foreign(raw.line);
        };
        let saved = record.list("clientHistory").or_else(|| record.list("history"));
        let update = record.object("$set");
        if let Some(id) = record.literal("$rewindTo") {
            self.notes.count("rewinding");
            self.rewind(id);
        } else if !update.is_empty() {
            self.notes.count("change");
            if let Some(messages) = update.list("messages") {
                self.put_anew(raw.line, &messages);
            }
        } else if record.get("id").is_some() && record.get("type").is_some() {
            self.message(raw.line, record);
        } else if let Some(messages) = record.list("messages") {
            self.notes.count("session");
            for (index, message) in messages.into_iter().enumerate() {
                self.element(index + 1, message);
            }
        } else if record.get("sessionId").is_some() || record.get("projectHash").is_some() {
            self.notes.count("session");
        } else if saved.is_some() {
            self.saved = saved;
        } else if let Some((name, _)) = record.members().find(|(name, _)| name.starts_with('$')) {
            self.notes.count(name);
            self.notes.unknown(raw.line, name);
        } else {
            self.notes.foreign(raw.line);
        }
    }

    fn element(&mut self, row: usize, raw: &'a str) {
        let fields = Object::of(raw);
        if fields.get("type").is_some() {
            self.message(row, fields);
        } else {
            self.notes.skip(row, Why::NotARow);
        }
    }

    /// Takes in a message; one that is there already is written again with what has been added.
    fn message(&mut self, row: usize, fields: Object<'a>) {
        match fields.text("type").unwrap_or_default().as_ref() {
            "user" | "gemini" => self.notes.count("message"),
            // Said to the person only.
            kind @ ("info" | "error" | "warning") => return self.notes.count(kind),
            kind => {
                self.notes.count(kind);
                return self.notes.unknown(row, kind);
            }
        }
        let id = fields.literal("id");
        let known = id.and_then(|id| self.messages.iter().rposition(|m| m.id == Some(id)));
        match known {
            Some(at) => self.messages[at].fields = fields,
            None => self.messages.push(Message { row, id, fields }),
        }
    }

    /// Takes off a message and all behind it.
    fn rewind(&mut self, id: &str) {
        let at = self.messages.iter().position(|message| message.id == Some(id)).unwrap_or(0);
        for message in self.messages.drain(at..) {
            self.notes.skip(message.row, Why::OtherBranch);
        }
    }

    /// Puts a list in the place of all messages. Where it lacks some, they were compressed away.
    fn put_anew(&mut self, row: usize, list: &[&'a str]) {
        let before = std::mem::take(&mut self.messages);
        for message in list {
            self.element(row, message);
        }
        let left: HashSet<&str> = self.messages.iter().filter_map(|message| message.id).collect();
        let is_gone = |message: &Message<'a>| message.id.is_some_and(|id| !left.contains(id));
        let gone: Vec<Message<'a>> = before.into_iter().filter(is_gone).collect();
        if gone.is_empty() {
            return;
        }
        self.compactions.push(row);
        if self.reach == Reach::Whole {
            self.messages.splice(0..0, gone);
        }
    }
}
