//! opencode sessions, as `opencode export` writes them (or as its server lists their messages).
//!
//! A message has parts; the model's hold its calls with their results, and of older versions several
//! steps. The provider isn't told by its format, but by its name and the model's, and so the format
//! is chosen. As the agent does: a compaction's summary (and the tail that it kept) stands for all
//! before it, results that were cleared say so, and a call that was broken off has an error as result.

mod history;
mod model;
mod say;

use std::sync::Arc;

use crate::error::ReadError;
use crate::neutral::{self, Frame};
use crate::notes::Notes;
use crate::object::{Object, elements};
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording};
use epitome::wire::json::Scanner;
use history::History;
use model::Model;
use say::Speech;

const NAME: &str = "opencode";

#[derive(Debug)]
pub(crate) struct Opencode;

impl Reader for Opencode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no list of `messages` with `info` and `parts`"
    }

    fn layout(&self) -> Layout {
        Layout::Value
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let is_message = |object: &Object<'_>| object.opens("info", '{');
        let holds_messages = || first.start_of_list("messages", 1).iter().all(is_message);
        is_message(first)
            && (first.opens("parts", '[') || first.opens("messages", '[') && holds_messages())
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        let mut scanner = Scanner::new(text);
        let whole = scanner.value().and_then(|value| scanner.end().map(|()| value));
        let whole = whole.map_err(|error| ReadError::json(NAME, text, error))?.of(text);
        let session = Object::of(whole);
        let messages = match elements(whole) {
            Some(list) => Some(list),
            None => session.list("messages"),
        };
        let messages =
            messages.ok_or(ReadError::Shape { reader: NAME, what: "no list called `messages`" })?;
        let mut notes = Notes::default();
        let revert = session.object("info").object("revert");
        let history = History::of(&messages, &revert, options.reach, &mut notes);
        let model = Model::of(&history);
        let mut speech = Speech::new(&model, &mut notes);
        for message in &history.shown {
            speech.message(message);
        }
        let (said, times) = speech.finish();
        if said.is_empty() {
            return Err(ReadError::NoMessages {
                reader: NAME,
                found: vec![("messages".to_owned(), messages.len())],
            });
        }
        let frame = Frame {
            model: model.name.map(Into::into),
            times,
            attached: Some("Attached media from tool result:"),
            ..Frame::default()
        };
        let request = neutral::write(model.format(), NAME, &frame, &said)?;
        let recording = Recording::new(NAME, request, notes);
        Ok(Recording { compactions: history.compactions, ..recording })
    }
}
