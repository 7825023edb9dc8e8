//! What all formats can say, without any format's words for it.

use super::lost::{Loss, Lost};
use super::parameters::Parameters;

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Neutral {
    /// Instructions before anything is said.
    pub(super) system: Vec<Instruction>,
    pub(super) tools: Vec<Tool>,
    pub(super) parameters: Parameters,
    /// Messages of the user; all that the model says in a row.
    pub(super) turns: Vec<Turn>,
    pub(super) lost: Vec<Lost>,
}

/// System text.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) rank: Rank,
    pub(super) text: String,
}

/// Whose instructions they are, where a format tells the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    System,
    Developer,
}

/// Something that the model may call.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) strict: Strictness,
    pub(super) form: ToolInput,
}

/// Whether arguments must follow the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    Strict,
    Loose,
}

impl Strictness {
    /// Of a member's value.
    pub(super) fn of(value: Option<&str>) -> Self {
        if value == Some("true") { Strictness::Strict } else { Strictness::Loose }
    }
}

/// What a tool takes.
#[derive(Debug)]
pub(super) enum ToolInput {
    /// An object: its JSON schema, as JSON text.
    Schema(String),
    /// Words (OpenAI's custom tools), in a format that may be described, as JSON text.
    Words(Option<String>),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Model,
    /// Instructions in mid-conversation.
    Instructions,
}

/// What one side says.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) side: Side,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// Words by which the model refuses.
    Refusal(String),
    Instruction(Instruction),
    Media(Medium),
    Call(Call),
    Result(Answer),
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Input,
}

/// What a tool is called with.
#[derive(Debug)]
pub(super) enum Input {
    /// A JSON object, as it was written.
    Object(String),
    /// Words.
    Words(String),
}

/// A call's result.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: String,
    pub(super) name: String,
    /// Whether its call has words for input.
    pub(super) to_words: bool,
    pub(super) outcome: CallOutcome,
    /// Texts and media.
    pub(super) content: Vec<Piece>,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOutcome {
    Fine,
    Failed,
}

/// An image, a document, a sound.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    /// Its type; `image` or empty if nobody said.
    pub(super) kind: String,
    pub(super) data: Data,
    /// What the file is called.
    pub(super) name: Option<String>,
    /// How closely it is to be looked at (OpenAI).
    pub(super) detail: Option<String>,
    /// Index of its entry.
    pub(super) entry: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Base64(String),
    Url(String),
    /// Words (a plain text document).
    Text(String),
    /// Only its provider has it; what it is called there.
    Elsewhere(String),
}

impl Neutral {
    pub(super) fn lose(&mut self, entry: Option<usize>, what: Loss, name: impl Into<String>) {
        self.lost.push(Lost::new(entry, what, name));
    }
}

impl Medium {
    /// What stands in its place where it can't be shown: its words, or a note of what was there.
    pub(super) fn instead(&self) -> String {
        let kind = if self.kind.is_empty() { "a file" } else { &self.kind };
        match &self.data {
            Data::Text(words) => {
                let quoted = |name: &String| format!(" title={:?}", name.replace('"', "'"));
                let title = self.name.as_ref().map(quoted).unwrap_or_default();
                format!("<document{title}>\n{words}\n</document>")
            }
            Data::Base64(data) => format!("[not carried over: {kind}, {} bytes]", data.len()),
            Data::Url(name) | Data::Elsewhere(name) => {
                format!("[not carried over: {kind}, {name}]")
            }
        }
    }

    pub(super) fn is_image(&self) -> bool {
        self.kind.starts_with("image")
    }
}
