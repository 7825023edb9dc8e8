//! What all formats can say, without any format's words for it.

mod lost;
mod media;
mod parameters;
mod tools;
mod words;

use std::borrow::Cow;

use crate::json::quote;

pub use lost::{Extent, Loss, Lost};
pub(crate) use media::{ShownMedium, TYPES, by_name, mime, text};
pub(crate) use parameters::{ParameterKey, Parameters, ToolChoice};
pub(crate) use tools::{Object, ToolReader, flat, list};
pub(crate) use words::{of_blocks, words_of};

/// A conversation.
#[derive(Debug, Default)]
pub(crate) struct Neutral {
    /// Instructions before anything is said.
    pub(crate) system: Vec<Instruction>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) parameters: Parameters,
    /// Messages of the user; all that the model says in a row.
    pub(crate) turns: Vec<Turn>,
    pub(crate) lost: Vec<Lost>,
}

/// System text.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) rank: Rank,
    pub(crate) text: String,
}

/// Whose instructions they are, where a format tells the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    System,
    Developer,
}

/// Something that the model may call.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) strict: Strictness,
    pub(crate) form: ToolInput,
}

/// Whether arguments must follow the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    Strict,
    Loose,
}

impl Strictness {
    /// Of a member's value.
    pub(crate) fn of(value: Option<&str>) -> Self {
        if value == Some("true") { Strictness::Strict } else { Strictness::Loose }
    }
}

/// What a tool takes.
#[derive(Debug)]
pub(crate) enum ToolInput {
    /// An object: its JSON schema, as JSON text.
    Schema(String),
    /// Words (OpenAI's custom tools), in a format that may be described, as JSON text.
    Words(Option<String>),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    User,
    Model,
    /// Instructions in mid-conversation.
    Instructions,
}

/// What one side says.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) side: Side,
    pub(crate) pieces: Vec<ContentPiece>,
}

#[derive(Debug)]
pub(crate) enum ContentPiece {
    Text(String),
    /// Words by which the model refuses.
    Refusal(String),
    Instruction(Instruction),
    Media(Medium),
    Call(ToolCall),
    Result(ToolAnswer),
}

#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Input,
}

/// What a tool is called with.
#[derive(Debug)]
pub(crate) enum Input {
    /// A JSON object, as it was written.
    Object(String),
    /// Words.
    Words(String),
}

/// A call's result.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Whether its call has words for input.
    pub(crate) to_words: bool,
    pub(crate) outcome: CallOutcome,
    /// Texts and media.
    pub(crate) content: Vec<ContentPiece>,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Fine,
    Failed,
}

/// An image, a document, a sound.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    /// Its type; `image` or empty if nobody said.
    pub(crate) kind: String,
    pub(crate) data: Data,
    /// What the file is called.
    pub(crate) name: Option<String>,
    /// How closely it is to be looked at (OpenAI).
    pub(crate) detail: Option<String>,
    /// Index of its entry.
    pub(crate) entry: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Base64(String),
    Url(String),
    /// Words (a plain text document).
    Text(String),
    /// Only its provider has it; what it is called there.
    Elsewhere(String),
}

impl Instruction {
    /// A message of its own, where there are such.
    pub(crate) fn message(&self) -> String {
        let role = match self.rank {
            Rank::System => "system",
            Rank::Developer => "developer",
        };
        format!(r#"{{"role":"{role}","content":{}}}"#, quote(&self.text))
    }
}

impl ToolCall {
    /// What a function is called with.
    pub(crate) fn arguments(&self) -> Cow<'_, str> {
        match &self.input {
            Input::Object(arguments) => arguments.into(),
            Input::Words(words) => format!(r#"{{"input":{}}}"#, quote(words)).into(),
        }
    }
}

impl ToolAnswer {
    /// `word` if the call failed.
    pub(crate) fn if_failed(&self, word: &'static str) -> &'static str {
        if self.outcome == CallOutcome::Failed { word } else { "" }
    }
}

impl Neutral {
    pub(crate) fn lose(&mut self, entry: Option<usize>, what: Loss, name: impl Into<String>) {
        self.lost.push(Lost::new(entry, what, name));
    }
}
