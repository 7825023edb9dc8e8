//! Codex rollouts: `~/.codex/sessions/*/*/*/rollout-*.jsonl`.
//!
//! A row is an item of OpenAI's Responses in an envelope, an event, or about the turn. (The first
//! versions wrote bare items behind a header.) The items are the history; a compaction replaces it,
//! a rollback takes turns off its end. Tools aren't recorded. Which of the messages in the user's
//! role a person wrote, the events tell; where the rows have the event alone, its words are put in.

mod apply;
mod history;
mod row;

use std::sync::Arc;

use epitome::wire::Format;

use crate::body::Body;
use crate::error::ReadError;
use crate::object::Object;
use crate::reader::{Reader, Writer};
use crate::recording::{Options, Recording};
use history::History;
use row::Rows;

const NAME: &str = "codex";

/// Types of rows around a `payload`.
const ENVELOPES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

#[derive(Debug)]
pub(crate) struct Codex;

impl Reader for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no row with a `payload` of `type` `session_meta` or `response_item`"
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        match first.text("type") {
            Some(kind) => ENVELOPES.contains(&kind.as_ref()) && first.opens("payload", '{'),
            // Bare items follow such a row.
            None => {
                first.opens("record_type", '"')
                    || first.has_any(&["instructions"])
                        && first.opens("id", '"')
                        && first.opens("timestamp", '"')
            }
        }
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let mut rows = Rows::read(source);
        let mut notes = std::mem::take(&mut rows.notes);
        let history = History::of(&rows, options.reach, &mut notes);
        if history.pieces.is_empty() {
            return Err(ReadError::no_messages(NAME, notes));
        }
        let frame = [("model", history.model), ("instructions", history.instructions)];
        let mut body = Body::framed(&frame, "input");
        let mut replied = 0;
        for piece in &history.pieces {
            body.now(rows.times.get(&piece.line).copied());
            body.begin().push_str(&piece.item);
            if let Some(origin) = piece.origin {
                body.spoken_by(origin);
            }
            replied = if piece.is_reply() { replied + 1 } else { 0 };
            if piece.usage.is_some() {
                body.reported(replied, piece.usage);
                replied = 0;
            }
        }
        let request = body.finish(NAME, Format::OpenaiResponses)?;
        let recording = Recording::new(NAME, request, notes);
        Ok(Recording {
            compactions: history.compactions.len(),
            compacted: history.compactions,
            ..recording
        })
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}
