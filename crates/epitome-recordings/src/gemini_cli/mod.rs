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

use epitome::wire::Format;
use epitome::wire::json::unquote;

use crate::body::Body;
use crate::error::ReadError;
use crate::neutral::wants_signatures;
use crate::object::Object;
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording};
use contents::Contents;
use log::Log;

const NAME: &str = "gemini-cli";

#[derive(Debug)]
pub(crate) struct GeminiCli;

impl Reader for GeminiCli {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no object with `messages` and `projectHash`, and no rows of such"
    }

    fn layout(&self) -> Layout {
        Layout::Either
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let is_change = first.opens("$set", '{') || first.opens("$rewindTo", '"');
        let is_saved = first.opens("clientHistory", '[')
            || first.opens("history", '[') && first.has_any(&["authType"]);
        let is_session = first.has_any(&["projectHash", "startTime"])
            && (first.opens("messages", '[') || first.has_any(&["sessionId"]));
        match first.text("type").as_deref() {
            None => is_change || is_saved || is_session,
            Some(kind) => kind == "gemini" && first.opens("id", '"') && first.has_any(&["content"]),
        }
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let mut log = Log::read(source, options.reach);
        let mut notes = std::mem::take(&mut log.notes);
        let mut contents = Contents::default();
        match &log.saved {
            Some(saved) => contents.saved(saved),
            None => {
                for (at, message) in log.messages.iter().enumerate() {
                    let is_answered = log.messages.get(at + 1).is_some_and(log::Message::is_reply);
                    contents.message(message, is_answered, &mut notes);
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
                return Err(ReadError::json(NAME, text, error));
            }
            return Err(ReadError::no_messages(NAME, notes));
        }
        let mut body = Body::framed(&[("model", model)], "contents");
        for content in &contents.all {
            body.now(content.time);
            body.begin().push_str(&content.raw());
            body.reported(1, content.usage);
        }
        let request = body.finish(NAME, Format::Gemini)?;
        let recording = Recording::new(NAME, request, notes);
        Ok(Recording {
            compactions: log.compactions.len(),
            compacted: log.compactions,
            ..recording
        })
    }
}
