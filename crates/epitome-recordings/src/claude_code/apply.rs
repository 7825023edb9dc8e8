//! A view as rows of a session: a boundary, and behind it the messages, each in one row.
//!
//! The boundary has no parent, so that the way from the newest row ends there; its logical parent is the
//! row that was the newest before. The checkpoint is the summary. Kept messages are written again, because
//! a boundary's list of kept rows can't say what of them was cut.

use std::sync::Arc;

use epitome::transcript::{Origin, Role};
use epitome::wire::json::quote;

use super::path::follow;
use super::row::Rows;
use super::sides;
use super::{ClaudeCode, NAME};
use crate::append::{MARK, Shown, Stamp};
use crate::error::ApplyError;
use crate::error::ReadError;
use crate::object::{Object, elements, object};
use crate::reader::Writer;
use crate::recording::Reach;
use crate::rows::{RawRow, rows};
use epitome::word_list::words;

/// What every row of a session says again.
const ENVELOPE: [&str; 9] =
    words!("isSidechain userType entrypoint cwd sessionId version gitBranch slug agentId");

/// Who writes what stands in the assistant's role and isn't the model's.
const SYNTHETIC: &str = "<synthetic>";

const NOTHING_USED: &str = "{\"input_tokens\":0,\"cache_creation_input_tokens\":0,\
                            \"cache_read_input_tokens\":0,\"output_tokens\":0}";

impl Writer for ClaudeCode {
    fn rows(
        &self,
        source: &Arc<String>,
        shown: &Shown,
        stamp: &Stamp,
    ) -> Result<String, ApplyError> {
        let mut read = Rows::read(source, Reach::SinceLastCompaction);
        let mut notes = std::mem::take(&mut read.notes);
        let main = sides::split(&read).into_iter().next().unwrap_or_default();
        let path = follow(&read, &main.members, Reach::SinceLastCompaction, &mut notes);
        let Some(&newest) = path.order.last() else {
            return Err(ReadError::no_messages(NAME, notes).into());
        };
        let newest = &read.all[newest];
        let named = path.order.iter().rev().find_map(|row| read.all[*row].uuid);
        let line = rows(source).find(|row| row.line == newest.line);
        // A damaged line may hold several rows.
        let pieces = line.and_then(RawRow::pieces).unwrap_or_default();
        let is_newest =
            |piece: &&RawRow<'_>| newest.uuid.is_some_and(|uuid| piece.text.contains(uuid));
        let raw = pieces.iter().rev().find(is_newest).copied().or(line);
        let fields = Object::of(raw.map_or("", |raw| raw.text));
        let envelope = Envelope { stamp, fields, rows: 0 };
        Ok(envelope.write(shown, named, &read))
    }
}

struct Envelope<'a> {
    stamp: &'a Stamp,
    /// The newest row.
    fields: Object<'a>,
    rows: usize,
}

impl Envelope<'_> {
    fn write(mut self, shown: &Shown, newest: Option<&str>, read: &Rows<'_>) -> String {
        let view = &shown.view.transcript;
        let metadata =
            object([("trigger", quote("manual")), ("preTokens", shown.before.to_string())]);
        let mut out = String::new();
        let boundary = [
            ("logicalParentUuid", newest.unwrap_or("null").to_owned()),
            ("type", quote("system")),
            ("subtype", quote("compact_boundary")),
            ("content", quote("Conversation compacted")),
            ("isMeta", "false".to_owned()),
            ("level", quote("info")),
            ("compactMetadata", metadata),
        ];
        let mark = self.stamp.mark.clone();
        let mut parent = self.row(&mut out, None, &mark, boundary);
        let model = shown.view.model().unwrap_or_else(|| SYNTHETIC.to_owned());
        let mut results = Vec::new();
        for entry in view.entries() {
            let message = Object::of(entry.raw());
            let content = message.get("content").unwrap_or("[]").to_owned();
            results.extend(shortened(&content, read));
            let origin = entry.origin();
            let members = if entry.role() == Role::Assistant {
                let model = if origin == Origin::Injected { SYNTHETIC } else { &model };
                let stop = if entry.has_calls() { "tool_use" } else { "end_turn" };
                let message = object([
                    ("id", quote(&format!("msg_{}", self.stamp.hex(self.rows, 24)))),
                    ("type", quote("message")),
                    ("role", quote("assistant")),
                    ("model", quote(model)),
                    ("content", content),
                    ("stop_reason", quote(stop)),
                    ("stop_sequence", "null".to_owned()),
                    ("usage", NOTHING_USED.to_owned()),
                ]);
                vec![("type", quote("assistant")), ("message", message)]
            } else {
                let message = object([("role", quote("user")), ("content", content)]);
                let mut members = vec![("type", quote("user")), ("message", message)];
                match origin {
                    Origin::Checkpoint => members.push(("isCompactSummary", "true".to_owned())),
                    Origin::Injected => members.push(("isMeta", "true".to_owned())),
                    _ => {}
                }
                members
            };
            parent = self.row(&mut out, Some(&parent), "\"shown\"", members);
        }
        if !results.is_empty() {
            // As long as the session says how results were shortened once, that is what would be sent.
            let row = object([
                ("type", quote("content-replacement")),
                ("sessionId", self.fields.get("sessionId").unwrap_or("null").to_owned()),
                ("replacements", format!("[{}]", results.join(","))),
                (MARK, "\"shown\"".to_owned()),
            ]);
            out.push_str(&row);
            out.push('\n');
        }
        out
    }

    /// Writes a row; its name.
    fn row(
        &mut self,
        out: &mut String,
        parent: Option<&str>,
        mark: &str,
        members: impl IntoIterator<Item = (&'static str, String)>,
    ) -> String {
        let uuid = self.stamp.uuid(self.rows);
        self.rows += 1;
        let known = ENVELOPE.iter().filter_map(|name| Some((*name, self.fields.get(name)?)));
        let mut all = vec![("parentUuid", parent.map_or_else(|| "null".to_owned(), quote))];
        all.extend(known.map(|(name, value)| (name, value.to_owned())));
        all.extend(members);
        all.push(("uuid", quote(&uuid)));
        all.push(("timestamp", quote(&self.stamp.time)));
        all.push((MARK, mark.to_owned()));
        out.push_str(&object(all));
        out.push('\n');
        uuid
    }
}

/// Results of which the session says how they were shortened, as they are shown now.
fn shortened(content: &str, read: &Rows<'_>) -> Vec<String> {
    let blocks = elements(content).unwrap_or_default();
    let shown = blocks.into_iter().filter_map(|block| {
        let block = Object::of(block);
        let id = block.literal("tool_use_id")?;
        read.replacements.get(id)?;
        let text = block.literal("content")?;
        Some(object([
            ("kind", quote("tool-result")),
            ("toolUseId", id.to_owned()),
            ("replacement", text.to_owned()),
        ]))
    });
    shown.collect()
}
