//! Wire formats: bytes to requests and back, what providers accept, and how to mend what they don't.
//!
//! Parsing never fails on well-formed JSON of a known format: what is unknown is opaque and comes
//! out as it went in. Rendering splices, so that whatever isn't edited keeps its bytes.

mod anthropic;
mod detect;
mod envelope;
mod openai_chat;
mod origin;
mod pairing;
mod repair;
mod rules;
mod splice;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::{JsonError, Scanner};
use crate::request::Request;
use crate::transcript::unit::Instructions;
use crate::transcript::{PartRow, Role};
use crate::view::View;

pub use detect::detect;
pub use repair::{Mended, Repaired, repair};
pub use rules::{Finding, Mend, RULES, Rule, RuleId, check};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions and its compatibles.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 2] = [Format::OpenaiChat, Format::Anthropic];

    /// The name used on the command line and in receipts.
    pub fn name(self) -> &'static str {
        match self {
            Format::OpenaiChat => "openai-chat",
            Format::Anthropic => "anthropic",
        }
    }

    /// Where it lets system text stand in mid-conversation.
    pub fn instructions(self) -> Instructions {
        match self {
            Format::OpenaiChat => Instructions::Anywhere,
            Format::Anthropic => Instructions::BetweenUserAndReply,
        }
    }

    fn dialect(self) -> &'static dyn Dialect {
        match self {
            Format::OpenaiChat => &openai_chat::OpenaiChat,
            Format::Anthropic => &anthropic::Anthropic,
        }
    }

    /// A user-role message that says `text`, as this format writes it.
    pub fn user_message(self, text: &str) -> String {
        self.dialect().user_message(text)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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

/// Writes what the model is shown: the request's own bytes, minus what isn't shown, with edited
/// slots and the checkpoint put in.
///
/// # Panics
/// If the view is of a transcript of another length.
pub fn render(request: &Request, view: &View) -> String {
    splice::render(request, view)
}

/// What differs between formats whose entries are messages in a list.
pub(crate) trait Dialect: Sync {
    /// The body member that holds the entries.
    fn list_key(&self) -> &'static str;
    /// Reads one entry; appends its parts, in order.
    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError>;
    /// A text element for a content list.
    fn text_block(&self, text: &str) -> String;
    /// A user-role message.
    fn user_message(&self, text: &str) -> String;
    /// A result that says that its call was never answered: a message of its own, or an element.
    fn missing_result(&self, id: &str, name: &str) -> MissingResult;
    /// All breaches of the format's rules, in entry order.
    fn check(&self, request: &Request) -> Vec<Finding>;
}

/// Where a format puts a result that has to be made up.
pub(crate) enum MissingResult {
    /// A message of its own.
    Message(String),
    /// An element of the next user message's content.
    Block(String),
}
