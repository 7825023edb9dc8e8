//! pi sessions: `~/.pi/agent/sessions/*/*.jsonl`.
//!
//! A row is an entry of a tree, and the conversation is the way from the newest entry to the root.
//! (The first version of the format had no tree: there the order of the rows is all.) The agent
//! keeps messages in a form of its own and writes them for the provider of the moment, so they are
//! read as that of the newest reply. As the agent does, replies
//! that were broken off are left out, calls that were never answered get a result that says so,
//! and reasoning of another model is dropped.

mod apply;
mod model;
mod path;
mod prompt;
mod row;
mod say;

use std::sync::Arc;

use crate::append::MARK;
use crate::body::moment;
use crate::error::ReadError;
use crate::neutral::{self, Frame};
use crate::object::Object;
use crate::reader::{Reader, Writer};
use crate::recording::{Options, Reach, Recording};
use model::Model;
use path::follow;
use row::{Row, Rows};
use say::Speech;

const NAME: &str = "pi";

/// Members of rows and items of others whose `type` is the same.
const NOT_PI: [&str; 6] = ["role", "uuid", "leafUuid", "messageId", "sessionId", "session_id"];

#[derive(Debug)]
pub(crate) struct Pi;

impl Reader for Pi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no row of `type` `session` or `message` as pi writes them"
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        match first.text("type").as_deref() {
            Some("session" | "message") => first.opens("message", '{') || !first.has_any(&NOT_PI),
            Some(kind) => matches!(kind, "model_change" | "thinking_level_change"),
            None => false,
        }
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let mut rows = Rows::read(source);
        let mut notes = std::mem::take(&mut rows.notes);
        let path = follow(&rows, options.reach, &mut notes);
        let model = Model::of(&rows, &path.way);
        // In a whole session, applied rows only repeat earlier messages.
        let is_again =
            |row: &Row<'_>| options.reach == Reach::Whole && row.fields.get(MARK).is_some();
        let mut speech = Speech::new(&rows, &model, &mut notes);
        speech.edits(&path.context);
        for place in path.context.iter().filter(|place| !is_again(&rows.all[**place])) {
            speech.row(*place);
            speech.timed(moment(rows.all[*place].fields.get("timestamp")));
        }
        let (frame, messages) = speech.finish();
        if messages.is_empty() {
            return Err(ReadError::no_messages(NAME, notes));
        }
        let frame = Frame { model: model.name.map(Into::into), ..frame };
        let request = neutral::write(model.format(), NAME, &frame, &messages)?;
        let recording = Recording::new(NAME, request, notes);
        Ok(Recording {
            compactions: path.compactions.len(),
            compacted: path.compactions,
            ..recording
        })
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}
