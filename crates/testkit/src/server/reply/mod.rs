//! Answers in each provider's words: whole, and as the events of a stream in their real order.

mod anthropic;
mod chat;
mod converse;
mod frames;
mod gemini;
mod interactions;
pub mod order;
mod responses;

use std::time::Duration;

use serde_json::Value;

use super::Api;
use super::cache::Usage;
use super::digest::{self, Digest};
use super::error::ApiError;
use super::prompt::Understood;
use super::rules::Call;
use super::script::Say;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// With a name.
    Named(String, Value),
    /// Data only.
    Data(Value),
    /// The end, where it is `[DONE]`.
    Done,
}

impl Event {
    /// An event whose name is its `type`.
    pub(crate) fn typed(data: Value) -> Self {
        Event::Named(data["type"].as_str().unwrap_or_default().to_owned(), data)
    }

    /// As server-sent events are written.
    pub fn written(&self, api: Api) -> String {
        let end = if api == Api::Gemini { "\r\n\r\n" } else { "\n\n" };
        match self {
            Event::Named(name, data) => {
                format!("event: {name}\ndata: {}{end}", order::written(api, data))
            }
            Event::Data(data) => format!("data: {}{end}", order::written(api, data)),
            Event::Done => format!("data: [DONE]{end}"),
        }
    }

    /// As Amazon's event streams are written.
    pub fn framed(&self) -> Vec<u8> {
        match self {
            Event::Named(name, data) => frames::frame(name, data),
            Event::Data(data) => frames::frame("chunk", data),
            Event::Done => Vec::new(),
        }
    }
}

/// An answer, both ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    /// As one body.
    pub whole: Value,
    /// As a stream.
    pub events: Vec<Event>,
    /// Items that the server keeps (Responses).
    pub items: Vec<Value>,
}

/// What an answer is made from.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub call: &'a Call<'a>,
    pub understood: &'a mut Understood,
    pub say: &'a [Say],
    pub stop: Option<&'a str>,
    pub usage: Usage,
    pub ids: Ids,
    pub now: Duration,
}

impl Draft<'_> {
    /// The model's name as the client wrote it.
    pub(crate) fn model(&self) -> &str {
        self.call.model.or_else(|| self.call.body["model"].as_str()).unwrap_or_default()
    }

    pub(crate) fn calls(&self) -> bool {
        self.say.iter().any(|say| matches!(say, Say::Call { .. }))
    }
}

pub(crate) fn speak(draft: Draft<'_>) -> Spoken {
    match draft.call.api {
        Api::Anthropic => anthropic::speak(draft),
        Api::Responses => responses::speak(draft),
        Api::Chat => chat::speak(&draft),
        Api::Gemini => gemini::speak(draft),
        Api::Converse => converse::speak(draft),
        Api::Interactions => interactions::speak(draft),
    }
}

/// An error inside a stream that began well.
pub(crate) fn broken(api: Api, error: &ApiError, begun: &[Event]) -> Event {
    match api {
        Api::Anthropic => Event::Named("error".to_owned(), error.body(api)),
        Api::Responses => responses::failed(error, begun),
        Api::Converse => converse::failed(error),
        Api::Interactions => interactions::failed(error),
        _ => Event::Data(error.body(api)),
    }
}

/// Ids that no other request gives out: made from its bytes and a number.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    seed: Digest,
    given: u64,
}

impl Ids {
    pub(crate) fn new(body: &[u8], number: u64) -> Self {
        let seed = digest::after_text(
            digest::of_text(&number.to_string()),
            &String::from_utf8_lossy(body),
        );
        Self { seed, given: 0 }
    }

    /// This many hexadecimal digits.
    pub(crate) fn hex(&mut self, len: usize) -> String {
        let mut out = String::new();
        while out.len() < len {
            self.given += 1;
            out += &digest::hex(&digest::after_text(self.seed, &self.given.to_string()), 16);
        }
        out.truncate(len);
        out
    }

    /// The same with something before it.
    pub(crate) fn next(&mut self, before: &str, len: usize) -> String {
        format!("{before}{}", self.hex(len))
    }
}

/// A text in pieces of a few words, as it streams.
pub(crate) fn pieces(text: &str, len: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.char_indices().nth(len).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(at);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}
