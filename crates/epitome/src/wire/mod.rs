//! Wire formats: bytes to requests and back, what providers accept, and how to mend what they don't.
//!
//! Parsing never fails on well-formed JSON of a known format: what is unknown is opaque and comes
//! out as it went in. Rendering splices, so that whatever isn't edited keeps its bytes.

mod anthropic;
mod arguments;
mod bedrock;
mod breach;
mod clean;
mod convert;
mod detect;
mod envelope;
mod gemini;
mod keys;
mod layout;
mod letters;
mod message;
mod openai_chat;
mod openai_responses;
mod origin;
mod pairing;
mod repair;
mod rules;
mod splice;
mod turns;
mod wrapped;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::{JsonError, Scanner, Splices, quote};
use crate::request::{Keeper, Request};
use crate::transcript::unit::Instructions;
use crate::transcript::{Entry, Part, PartRow, Role, Transcript};
use crate::view::{PartEdit, View};
use clean::{Past, begins_reply};

pub use breach::{Finding, Mend, check, check_except};
pub use clean::{Clean, check_on};
pub use convert::{Converted, Extent, Goal, Loss, Lost, convert};
pub use detect::{detect, shown_format};
pub(crate) use layout::shared;
pub use layout::{Laid, Piece, layout};
pub(crate) use repair::repair_found;
pub use repair::{Mended, Repaired, repair, repair_except};
pub use rules::{RULES, Rule, RuleId};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions and its compatibles.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// AWS Bedrock Converse.
    Bedrock,
    /// OpenAI Responses.
    OpenaiResponses,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::OpenaiChat,
        Format::Anthropic,
        Format::Gemini,
        Format::OpenaiResponses,
        Format::Bedrock,
    ];

    /// The name used on the command line and in receipts.
    pub fn name(self) -> &'static str {
        match self {
            Format::OpenaiChat => "openai-chat",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::Bedrock => "bedrock",
            Format::OpenaiResponses => "openai-responses",
        }
    }

    /// Where it lets system text stand in mid-conversation.
    pub fn instructions(self) -> Instructions {
        match self {
            // Gemini and Bedrock have none: what stands there is a breach.
            Format::OpenaiChat | Format::OpenaiResponses | Format::Gemini | Format::Bedrock => {
                Instructions::Anywhere
            }
            Format::Anthropic => Instructions::BetweenUserAndReply,
        }
    }

    /// Who must speak first.
    pub fn opening(self) -> Opening {
        match self {
            Format::OpenaiChat | Format::OpenaiResponses => Opening::Anyone,
            Format::Anthropic | Format::Gemini | Format::Bedrock => Opening::User,
        }
    }

    fn dialect(self) -> &'static dyn Dialect {
        match self {
            Format::OpenaiChat => &openai_chat::OpenaiChat,
            Format::Anthropic => &anthropic::Anthropic,
            Format::Gemini => &gemini::Gemini,
            Format::Bedrock => &bedrock::Bedrock,
            Format::OpenaiResponses => &openai_responses::OpenaiResponses,
        }
    }

    /// A user-role message that says `text`, as this format writes it.
    pub fn user_message(self, text: &str) -> String {
        self.dialect().user_message(text)
    }
}

/// Who must speak first in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Whoever.
    Anyone,
    /// The user.
    User,
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
    // What stands behind the entries may say that they are none.
    let is_shared = request.transcript.begins_with(&before.transcript, shared);
    Ok((if is_shared { shared } else { 0 }, request))
}

/// Puts one more message at the end of a request, which is then the one that [`parse`] would read of these bytes. For who
/// holds a conversation that takes as long as the message does and what stands behind the list of messages, however much
/// was said before; where others hold the request, too, it is copied.
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
    envelope::parse_on(request.format, Arc::new(text), Some(known))
}

/// A member of the body that says something about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The model's name.
    Model,
    /// The system prompt beside the transcript.
    System,
    /// The tool definitions.
    Tools,
    /// The reasoning mode.
    Thinking,
    /// Earlier history that the provider keeps.
    Elsewhere(Keeper),
}

/// What differs between formats whose entries are messages in a list.
pub(crate) trait Dialect: Sync {
    /// The body member that holds the entries.
    fn list_key(&self) -> &'static str;
    /// Members of which every entry has one; a line without them isn't one.
    fn entry_keys(&self) -> &'static [&'static str] {
        &["role"]
    }
    /// Whether only an entry has this member, although it may also have the list's.
    fn is_of_entry(&self, _key: &str, _value: &str) -> bool {
        false
    }
    /// What the body member `key` says, if it says something.
    fn field(&self, key: &str) -> Option<Field> {
        match key {
            "model" => Some(Field::Model),
            "system" => Some(Field::System),
            "tools" => Some(Field::Tools),
            "thinking" => Some(Field::Thinking),
            _ => None,
        }
    }
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
    /// The entry's member that holds its parts.
    fn content_key(&self) -> &'static str {
        "content"
    }
    /// A user-role message of these elements, separated by commas.
    fn user_blocks(&self, blocks: &str) -> String {
        format!(r#"{{"role":"user","{}":[{blocks}]}}"#, self.content_key())
    }
    /// What a result's payload is replaced by where it isn't a string, to say `text`.
    fn result_words(&self, _result: &Part<'_>, text: &str) -> String {
        quote(text)
    }
    /// Whether user and assistant must take turns, so that messages of one role can't stand side by side.
    fn alternates(&self) -> bool {
        false
    }
    /// The replacements that make `edits`, relative to the entry's own bytes.
    fn splices(&self, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
        splice::splices(self.as_dialect(), entry, edits)
    }
    /// Itself, for what works on any dialect.
    fn as_dialect(&self) -> &dyn Dialect;
    /// A result that says that its call was never answered: a message of its own, or an element.
    fn missing_result(&self, id: &str, name: &str) -> MissingResult;
    /// The same for the call in `entry`.
    fn missing_answer(&self, _entry: Entry<'_>, call: &Part<'_>) -> MissingResult {
        self.missing_result(&call.id(), &call.name())
    }
    /// The member that holds a part's payload, where it has none yet.
    fn payload_key(&self, _entry: Entry<'_>, _part: &Part<'_>) -> &'static str {
        "content"
    }
    /// All breaches of the format's rules by the frame and the entries behind `past`.
    fn check(&self, request: &Request, past: &Past) -> Vec<Finding>;
    /// What the rules of entries ask the frame, as a text.
    fn asked_of_frame(&self, request: &Request) -> String;
    /// Notes what the rules must know of the entries behind `past`, in which nothing was found.
    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        for at in past.entries..transcript.len() {
            if begins_reply(transcript, at) {
                past.seam(at);
            }
        }
    }
}

/// The documented signature of a call that the model didn't make (PROVIDERS.md B.4).
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

/// Where a format puts a result that has to be made up.
pub(crate) enum MissingResult {
    /// A message of its own.
    Message(String),
    /// An element of the next user message's content.
    Block(String),
}
