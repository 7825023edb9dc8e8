//! Messages of agents that support many providers and record in a form of their own (pi, opencode, OpenHands), and
//! their form in each provider's format.
//!
//! Texts, ids and names are JSON literals and arguments are JSON values, as they stand in the
//! recording; a format takes them as they are wherever it can.

mod anthropic;
mod gemini;
mod message;
mod openai_chat;
mod openai_responses;

use epitome::transcript::Origin;
use epitome::wire::{Format, Request};

use crate::error::ReadError;
use crate::object::Object;
use crate::usage::Reported;

pub(crate) use gemini::{UNSIGNED, wants_signatures};
pub(crate) use message::{
    Answer, Call, Frame, Heard, Media, Message, Piece, Raw, Reasoning, Spoken, Tool,
};

/// Writes a conversation in a format; Bedrock's is Anthropic's here.
///
/// # Errors
/// It is too large.
pub(crate) fn write<'a>(
    format: Format,
    reader: &'static str,
    frame: &Frame<'a>,
    messages: &[Message<'a>],
) -> Result<(Request, Vec<Reported>), ReadError> {
    let (format, body) = match format {
        Format::OpenaiChat => (format, openai_chat::body(frame, messages)),
        Format::OpenaiResponses => (format, openai_responses::body(frame, messages)),
        Format::Gemini => (format, gemini::body(frame, messages)),
        _ => (Format::Anthropic, anthropic::body(frame, messages)),
    };
    body.finish(reader, format)
}

/// What the entries of a request say: what [`write`] would write as these.
pub(crate) fn heard(request: &Request) -> Vec<Heard<'_>> {
    let entries = request.transcript.entries();
    let objects = entries.map(|entry| (entry.origin(), Object::of(entry.raw())));
    let objects: Vec<(Origin, Object<'_>)> = objects.collect();
    match request.format {
        Format::OpenaiChat => openai_chat::heard(&objects),
        Format::OpenaiResponses => openai_responses::heard(&objects),
        Format::Gemini => gemini::heard(&objects),
        _ => anthropic::heard(&objects),
    }
}
