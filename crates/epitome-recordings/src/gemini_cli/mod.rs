//! Gemini CLI sessions: `session-*.json` and `.jsonl` in a folder `chats`, and what `/chat save`
//! and checkpoints of tools leave.
//!
//! A session was one object with a list of messages; newer ones are a log of messages, of changes to
//! them, and of the list as it was put anew (after a compression, say). A message of the model holds
//! its calls with their results; signatures aren't recorded, and thoughts, which are, aren't sent
//! again. A saved history is contents already.

mod contents;
mod log;

use std::sync::Arc;

use epitome::json::unquote;
use epitome::wire::Format;

use crate::body::Body;
use crate::neutral::wants_signatures;
use crate::object::Object;
use crate::{Kind, Options, ReadError, Recording};
use contents::Contents;
use log::Log;

const KIND: Kind = Kind::GeminiCli;

pub(crate) fn read(source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
    let mut log = Log::read(source, options.reach);
    let mut skipped = std::mem::take(&mut log.skipped);
    let mut notes = std::mem::take(&mut log.notes);
    let mut contents = Contents::default();
    match &log.saved {
        Some(saved) => contents.saved(saved),
        None => {
            for (at, message) in log.messages.iter().enumerate() {
                let is_answered = log.messages.get(at + 1).is_some_and(log::Message::is_reply);
                contents.message(message, is_answered, &mut skipped, &mut notes);
            }
        }
    }
    let model = log.messages.iter().rev().find_map(|message| message.fields.literal("model"));
    let name = model.map(unquote).unwrap_or_default();
    if wants_signatures(&name) {
        contents.sign_open_loop();
    }
    if contents.all.is_empty() {
        let text = source.trim_start_matches('\u{feff}');
        if let (true, Err(error)) = (log.is_broken, Object::read(text)) {
            return Err(ReadError::json(KIND, text, error));
        }
        return Err(ReadError::NoMessages { kind: KIND, found: log.types.into_iter().collect() });
    }
    let mut body = Body::framed(&[("model", model)], "contents");
    for content in &contents.all {
        body.now(content.time);
        body.begin().push_str(&content.raw());
        body.reported(1, content.usage);
    }
    let (request, usage) = body.finish(KIND, Format::Gemini)?;
    skipped.sort_by_key(|skipped| skipped.row);
    Ok(Recording {
        kind: KIND,
        request,
        usage,
        sidechains: Vec::new(),
        skipped,
        notes: notes.finish(),
        compactions: log.compactions.len(),
        compacted: log.compactions,
    })
}
