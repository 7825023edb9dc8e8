//! OpenHands conversations: the events that its SDK keeps, `conversations/*/events/event-*.json`.
//!
//! An event is a file there; here they are a list (as its server gives them), a list in an object
//! called `history`, `events` or `items`, or rows, as `cat event-*.json` makes them. Events form a
//! chain, and a condensation takes some out of what the model is shown and puts a summary in. A reply
//! with several calls is several events. Older conversations, from before the SDK, aren't read.

mod event;
mod say;
mod view;

use std::sync::Arc;

use epitome::wire::Format;
use epitome::wire::json::JsonError;

use crate::body::moment;
use crate::error::ReadError;
use crate::neutral;
use crate::object::Object;
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording};
use event::{Event, Events};
use say::Speech;
use view::{Seen, View};

const NAME: &str = "openhands";

/// What a list of events is called.
const LISTS: [&str; 3] = ["history", "events", "items"];

#[derive(Debug)]
pub(crate) struct Openhands;

impl Reader for Openhands {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no events with a `kind` and a `source`"
    }

    fn layout(&self) -> Layout {
        Layout::Either
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let is_event = |object: &Object<'_>| {
            ["kind", "source", "id"].iter().all(|name| object.opens(name, '"'))
                && object.text("type").is_none()
        };
        is_event(first)
            || LISTS.iter().any(|list| first.start_of_list(list, 1).iter().any(is_event))
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let mut events = Events::read(source);
        let mut notes = std::mem::take(&mut events.notes);
        let view = View::of(&events, options.reach, &mut notes);
        let mut speech = Speech::new(format(&events), &mut notes);
        for seen in &view.seen {
            speech.seen(&events, *seen);
            let (Seen::Event(place) | Seen::Summary(place)) = seen;
            speech.timed(moment(events.all[*place].fields.get("timestamp")));
        }
        let (format, frame, messages) = speech.finish();
        if messages.is_empty() {
            let text = source.trim_start_matches('\u{feff}');
            if let (true, Some(error)) = (events.is_broken, broken(text)) {
                return Err(ReadError::json(NAME, text, error));
            }
            return Err(ReadError::no_messages(NAME, notes));
        }
        let request = neutral::write(format, NAME, &frame, &messages)?;
        let recording = Recording::new(NAME, request, notes);
        Ok(Recording { compactions: view.condensations, ..recording })
    }
}

/// What is wrong with a text that should be one value.
fn broken(text: &str) -> Option<JsonError> {
    let mut scanner = epitome::wire::json::Scanner::new(text);
    scanner.value().and_then(|_| scanner.end()).err()
}

/// The format that can express most of the events' content.
fn format(events: &Events<'_>) -> Format {
    let holds = |test: fn(&Object<'_>) -> bool| {
        events.all.iter().any(|event: &Event<'_>| {
            test(&event.fields) || test(&event.fields.object("llm_message"))
        })
    };
    let is_signed = |fields: &Object<'_>| {
        fields.list("thinking_blocks").is_some_and(|blocks| !blocks.is_empty())
    };
    if holds(is_signed) {
        Format::Anthropic
    } else if holds(|fields| fields.get("responses_reasoning_item").is_some()) {
        Format::OpenaiResponses
    } else {
        Format::OpenaiChat
    }
}
