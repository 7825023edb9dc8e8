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
use crate::notes::Notes;
use crate::{Kind, Options, ReadError, Recording};
use history::History;
use row::Rows;

pub(crate) use apply::applied;

const KIND: Kind = Kind::Codex;

pub(crate) fn read(source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
    let mut rows = Rows::read(source);
    let mut skipped = std::mem::take(&mut rows.skipped);
    let mut notes = std::mem::take(&mut rows.notes);
    let history = History::of(&rows, options.reach, &mut skipped, &mut notes);
    if history.pieces.is_empty() {
        return Err(ReadError::NoMessages { kind: KIND, found: rows.types.into_iter().collect() });
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
    let (request, usage) = body.finish(KIND, Format::OpenaiResponses)?;
    skipped.sort_by_key(|skipped| skipped.row);
    Ok(Recording {
        kind: KIND,
        request,
        usage,
        sidechains: Vec::new(),
        skipped,
        notes: Notes::finish(notes),
        compactions: history.compactions.len(),
        compacted: history.compactions,
    })
}
