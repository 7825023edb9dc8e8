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

use epitome::json::JsonError;
use epitome::wire::Format;

use crate::body::moment;
use crate::neutral;
use crate::object::Object;
use crate::{Kind, Options, ReadError, Recording};
use event::{Event, Events};
use say::Speech;
use view::{Seen, View};

const KIND: Kind = Kind::Openhands;

pub(crate) fn read(source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
    let mut events = Events::read(source);
    let mut skipped = std::mem::take(&mut events.skipped);
    let mut notes = std::mem::take(&mut events.notes);
    let view = View::of(&events, options.reach, &mut skipped);
    let mut speech = Speech::new(format(&events), &mut skipped, &mut notes);
    for seen in &view.seen {
        speech.seen(&events, *seen);
        let (Seen::Event(place) | Seen::Summary(place)) = seen;
        speech.timed(moment(events.all[*place].fields.get("timestamp")));
    }
    let (format, frame, messages) = speech.finish();
    if messages.is_empty() {
        let text = source.trim_start_matches('\u{feff}');
        if let (true, Some(error)) = (events.is_broken, broken(text)) {
            return Err(ReadError::json(KIND, text, error));
        }
        return Err(ReadError::NoMessages {
            kind: KIND,
            found: events.types.into_iter().collect(),
        });
    }
    let (request, usage) = neutral::write(format, KIND, &frame, &messages)?;
    skipped.sort_by_key(|skipped| skipped.row);
    Ok(Recording {
        kind: KIND,
        request,
        usage,
        sidechains: Vec::new(),
        skipped,
        notes: notes.finish(),
        compactions: view.condensations,
        compacted: Vec::new(),
    })
}

/// What is wrong with a text that should be one value.
fn broken(text: &str) -> Option<JsonError> {
    let mut scanner = epitome::json::Scanner::new(text);
    scanner.value().and_then(|_| scanner.end()).err()
}

/// The format in which most of what the events hold can be said.
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
