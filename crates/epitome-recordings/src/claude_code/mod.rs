//! Claude Code sessions: `~/.claude/projects/*/*.jsonl`, and its sub-agents' `agent-*.jsonl`.
//!
//! A row carries a piece of an API message: usually one block. Rows with one `message.id` make one
//! assistant message, and the results of its calls make one message of the user's, whatever stands
//! between them in the file. The model's name is that of the newest message; system prompt and tools
//! aren't recorded. What the agent adds to a request on the fly (`attachment` rows: reminders, files,
//! hook output) is recorded without its wording, so it is left out; only a person's words that were
//! taken up in mid-turn are put in, in their own entry.

mod apply;
mod fields;
mod join;
mod local;
mod path;
mod row;
mod sides;

use std::sync::Arc;

use epitome::wire::{Format, Request};

use crate::body::Body;
use crate::error::ReadError;
use crate::object::Object;
use crate::reader::{Reader, Writer};
use crate::recording::{Options, Recording, Sidechain};
use crate::usage::Reported;
use path::follow;
use row::{Rows, UNSEEN};

const NAME: &str = "claude-code";

/// Members of which each row has one.
const IDS: [&str; 5] = ["uuid", "leafUuid", "messageId", "sessionId", "session_id"];

#[derive(Debug)]
pub(crate) struct ClaudeCode;

impl Reader for ClaudeCode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no row with a `type` of `user` or `assistant` and a `message`"
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let kind = first.text("type").unwrap_or_default();
        match kind.as_ref() {
            // Qwen Code's rows look like these, around Gemini's contents.
            "user" | "assistant" => {
                first.opens("message", '{') && !first.object("message").has_any(&["parts"])
            }
            "attachment" | "queue-operation" => first.has_any(&IDS),
            kind => UNSEEN.contains(&kind) && first.has_any(&IDS) && !first.has_any(&["role"]),
        }
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let mut rows = Rows::read(source, options.reach);
        let mut notes = std::mem::take(&mut rows.notes);
        let mut lines = sides::split(&rows).into_iter();
        let main = lines.next().unwrap_or_default();
        let path = follow(&rows, &main.members, options.reach, &mut notes);
        let body = join::join(&rows, &path.order, &mut notes);
        if body.is_empty() {
            return Err(ReadError::no_messages(NAME, notes));
        }
        let request = finish(body)?;
        let mut sidechains = Vec::new();
        for line in lines {
            let path = follow(&rows, &line.members, options.reach, &mut notes);
            let body = join::join(&rows, &path.order, &mut notes);
            if !body.is_empty() {
                let (request, usage) = finish(body)?;
                sidechains.push(Sidechain { id: line.id, request, usage });
            }
        }
        let recording = Recording::new(NAME, request, notes);
        let compacted = path.compactions;
        Ok(Recording { sidechains, compactions: compacted.len(), compacted, ..recording })
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

fn finish(body: Body) -> Result<(Request, Vec<Reported>), ReadError> {
    body.finish(NAME, Format::Anthropic)
}
