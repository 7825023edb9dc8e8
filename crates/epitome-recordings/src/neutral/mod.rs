//! Messages of agents that support many providers and record in a form of their own (pi, opencode, OpenHands), and
//! their form in each provider's format.
//!
//! Texts, ids and names are JSON literals and arguments are JSON values, as they stand in the
//! recording; a format takes them as they are wherever it can. The neutral form of conversion can't stand in:
//! it holds decoded text, each call under a new id, and no reasoning.

mod anthropic;
mod gemini;
mod heard;
mod message;
mod openai_chat;
mod openai_responses;
mod wording;

use epitome::wire::{Format, Request};

use crate::error::ReadError;
use crate::usage::Reported;
use wording::Wording;

pub(crate) use gemini::{UNSIGNED, wants_signatures};
pub(crate) use heard::heard;
pub(crate) use message::{
    Answer, Call, Frame, Media, Message, Piece, Raw, Reasoning, Spoken, Tool, answer,
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
    let (format, wording): (_, &dyn Wording) = match format {
        Format::OpenaiChat => (format, &openai_chat::OpenaiChat),
        Format::OpenaiResponses => (format, &openai_responses::OpenaiResponses),
        Format::Gemini => (format, &gemini::Gemini),
        _ => (Format::Anthropic, &anthropic::Anthropic),
    };
    wording::body(wording, frame, messages).finish(reader, format)
}
