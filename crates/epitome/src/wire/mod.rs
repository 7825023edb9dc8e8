//! Wire formats: bytes to requests and back, what providers accept, and how to repair the rest.
//!
//! Parsing never fails on well-formed JSON of a known format: what is unknown is opaque and comes
//! out as it went in. Rendering splices, so that whatever isn't edited keeps its bytes.

mod anthropic;
mod arguments;
mod bedrock;
mod breach;
mod clean;
pub(crate) mod conversion;
mod detect;
mod dialect;
mod envelope;
mod flat;
mod gemini;
mod id_charset;
mod inspect;
mod interactions;
mod keyed_parts;
mod keys;
mod layout;
mod members;
mod message;
pub(crate) mod neutral;
mod openai_chat;
mod openai_responses;
mod origin;
mod pairing;
mod repair;
mod rules;
mod shape;
mod splice;
mod strays;
mod strict;
pub(crate) mod terms;
mod thinking;
mod tool_names;
mod turns;
mod untyped;

use std::str::FromStr;
use std::sync::Arc;

use crate::json::JsonError;
use crate::transcript::unit::Instructions;
use crate::view::View;

pub use crate::request::*;
pub(crate) use arguments::as_object;
pub use breach::{Finding, Mend, check, check_except};
pub use clean::{Clean, check_on};
pub use detect::{detect, shown_format};
pub(crate) use dialect::{Dialect, FOREIGN_CALL, Field, MissingResult, ReasoningKept, Turns};
pub use inspect::inspect;
pub use layout::{Laid, Piece, layout};
pub(crate) use layout::{content, joined_texts, shared};
pub(crate) use neutral::ParameterKey;
pub use repair::{Mended, Repaired, repair, repair_except, repair_inspected};
pub(crate) use repair::{keep_origins, repair_found, without};
pub(crate) use rules::{EMPTY_RESULT, OWN};
pub use rules::{RULES, Rule, RuleId};
pub(crate) use strict::{Unread, unread};
pub(crate) use terms::{Feature, NameLimits, Results, Terms};
pub use thinking::Thinking;

/// The definitions of tools, and the form of the answer: what the model reads beside prompt and transcript, as JSON.
pub fn definitions(request: &Request) -> impl Iterator<Item = &str> {
    let terms = request.format.dialect().terms();
    let older = terms.older_tools.and_then(|key| request.value(&[key]));
    let forms = terms.answer_form.iter().filter_map(|path| request.value(path));
    request.tools().into_iter().chain(older).chain(forms)
}

/// The settings that a provider's cache depends on, each as JSON, where it is there.
pub(crate) fn cache_settings(request: &Request) -> impl Iterator<Item = Option<&str>> {
    let paths = request.format.dialect().terms().cache_settings;
    paths.iter().map(|path| request.value(path))
}

impl Format {
    /// Where it lets system text stand in mid-conversation.
    pub fn instructions(self) -> Instructions {
        self.dialect().terms().instructions
    }

    /// Who must speak first.
    pub fn opening(self) -> Opening {
        self.dialect().terms().opening
    }

    /// The member of a body that holds the entries: `messages`, `input` or `contents`.
    pub fn list(self) -> &'static str {
        self.dialect().terms().list
    }

    pub(crate) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Format::OpenaiChat => &openai_chat::OpenaiChat,
            Format::Anthropic => &anthropic::Anthropic,
            Format::Gemini => &gemini::Gemini,
            Format::Bedrock => &bedrock::Bedrock,
            Format::OpenaiResponses => &openai_responses::OpenaiResponses,
            Format::GeminiInteractions => &interactions::Interactions,
        }
    }

    /// A user-role message that says `text`, as this format writes it.
    pub fn user_message(self, text: &str) -> String {
        self.dialect().user_message(text)
    }
}

/// A validating JSON scanner over one string: it finds byte ranges and builds nothing.
pub mod json {
    pub use crate::json::*;
}

/// Who must speak first in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Whoever.
    Anyone,
    /// The user.
    User,
}

impl FromStr for Format {
    type Err = WireError;

    fn from_str(name: &str) -> Result<Self, WireError> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| WireError::UnknownFormat { name: name.to_owned() })
    }
}

/// Why bytes aren't a request of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The text isn't JSON.
    #[error("not valid JSON: {what} (line {line}, column {column})")]
    Json {
        /// 1-based line.
        line: usize,
        /// 1-based column, in bytes.
        column: usize,
        /// What was wrong there.
        what: &'static str,
    },
    /// The text is JSON, but not a request.
    #[error("not {format} messages: {what}")]
    NotMessages {
        /// The format that was tried.
        format: Format,
        /// What was expected and not found.
        what: &'static str,
    },
    /// Nothing but white space.
    #[error("the input is empty")]
    Empty,
    /// Offsets are 32 bits wide.
    #[error("the input is {bytes} bytes; at most 4 GiB can be read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// No such format.
    #[error("unknown format `{name}`")]
    UnknownFormat {
        /// What was asked for.
        name: String,
    },
}

impl WireError {
    pub(crate) fn json(source: &str, error: JsonError) -> Self {
        let before = &source.as_bytes()[..error.at.min(source.len())];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        WireError::Json { line, column: before.len() - start + 1, what: error.what }
    }
}

/// Reads a request body, a bare array of messages, or lines of messages.
pub fn parse(format: Format, source: impl Into<Arc<String>>) -> Result<Request, WireError> {
    envelope::parse(format, source.into())
}

/// Reads a request that begins with the same bytes as one that was read before: what it shares with that isn't read again.
/// How many entries that are, and the request, which is the one that [`parse`] would read.
///
/// # Errors
/// As [`parse`].
pub fn parse_on(
    before: &Request,
    source: impl Into<Arc<String>>,
) -> Result<(usize, Request), WireError> {
    let source = source.into();
    let shared = before.transcript.shared_with(&source);
    let known = envelope::Known::First(&before.transcript, shared);
    let request = envelope::parse_on(before.format, source, Some(known))?;
    // A member behind the entries may show that they are no entries.
    let is_shared = request.transcript.begins_with(&before.transcript, shared);
    Ok((if is_shared { shared } else { 0 }, request))
}

/// Appends one message to a request, as if [`parse`] had read the longer body. Takes time proportional to the message and
/// to the members behind the list of messages, however long the conversation is. A request with several owners is copied.
///
/// # Errors
/// The message is no JSON, or the request has no list that it could be put in. The request is as it was then.
pub fn append(request: &mut Request, message: &str) -> Result<(), WireError> {
    envelope::append(request, message)
}

/// Writes what the model is shown: the request's own bytes, minus what isn't shown, with edited
/// slots and the checkpoint put in.
///
/// # Panics
/// If the view is of a transcript of another length.
pub fn render(request: &Request, view: &View) -> String {
    splice::render(request, view).0
}

/// What [`render`] writes as the request that [`parse`] would read of it: entries that are shown as they came aren't read
/// again.
///
/// # Errors
/// More than can be read.
pub(crate) fn shown(request: &Request, view: &View) -> Result<Request, WireError> {
    let (text, kept) = splice::render(request, view);
    let known = envelope::Known::Anywhere(&request.transcript, kept.into_iter());
    let shown = envelope::parse_on(request.format, Arc::new(text), Some(known))?;
    Ok(shown.addressed_as(request))
}
