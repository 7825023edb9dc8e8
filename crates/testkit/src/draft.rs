//! A transcript before it is JSON: what the notation reads into and what the generator builds.

use epitome::wire::{Envelope, Format};

/// A request before it is JSON.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The wire format.
    pub format: Format,
    /// How the entries are wrapped.
    pub envelope: Envelope,
    /// The system prompt beside the messages (Anthropic, Gemini).
    pub system: Option<String>,
    /// The reasoning mode.
    pub thinking: Thinking,
    /// The model.
    pub model: Model,
    /// What was said.
    pub messages: Vec<Message>,
}

/// Anthropic's reasoning mode; for Gemini, which model; for Responses, unless unset, items have ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Not spoken of.
    Unset,
    /// The model decides when.
    Adaptive,
    /// A budget is set: an open tool loop has to begin with reasoning. Gemini: calls have to be signed.
    Manual,
}

/// Which kind of model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Its reasoning may follow an edited prefix.
    Free,
    /// Its reasoning is bound to the prefix that it was made under.
    Bound,
}

/// One entry.
#[derive(Clone, Debug)]
pub struct Message {
    /// The wire role.
    pub role: &'static str,
    /// Its parts. A chat `tool` message has one result.
    pub blocks: Vec<Block>,
    /// How its content is written.
    pub shape: Shape,
}

/// How content is written, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string if it can be one.
    String,
    /// A list.
    List,
    /// Left out or null, if there is nothing to write.
    Absent,
}

/// One part.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Words.
    Text(String),
    /// Words with a cache marker.
    Cached(String),
    /// Reasoning in the clear.
    Think(String),
    /// Reasoning with a signature.
    Signed(String),
    /// Encrypted reasoning.
    Redacted,
    /// A tool call.
    Call {
        /// Its id; left out if empty.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
    },
    /// A tool result.
    Result {
        /// The call's id.
        id: String,
        /// Whether the call failed.
        failed: bool,
        /// How the content is written.
        shape: Shape,
        /// Texts and media.
        content: Vec<Block>,
    },
    /// A call without an id, by the tool's name (chat).
    Function {
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
    },
    /// The result of a call without id.
    FunctionResult {
        /// The tool.
        name: String,
        /// What it said.
        text: String,
    },
    /// An image of so many pixels.
    Image(u32, u32),
    /// A document.
    Document,
    /// A call of a tool that the provider runs.
    ServerCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
    },
    /// Its result.
    ServerResult {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The title of the one thing found.
        text: String,
    },
    /// The signature of the block before it (Gemini).
    Signature(String),
    /// The id of the item itself (Responses).
    Own(String),
    /// A provider's own compaction; `None` is one that failed.
    Compaction(Option<String>),
    /// JSON that nobody knows. Alone in a message of role `""` it is the whole entry.
    Opaque(String),
}

impl Block {
    /// A result with words as its content.
    pub fn result(id: &str, text: &str) -> Self {
        Block::Result {
            id: id.to_owned(),
            failed: false,
            shape: Shape::String,
            content: vec![Block::Text(text.to_owned())],
        }
    }
}

impl Message {
    /// A message; a string if it can be one.
    pub fn new(role: &'static str, blocks: Vec<Block>) -> Self {
        Message { role, blocks, shape: Shape::String }
    }

    /// Whether it has client tool calls.
    pub fn calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Call { .. } | Block::Function { .. }))
    }

    /// Whether it has client tool results.
    pub fn results(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, Block::Result { .. } | Block::FunctionResult { .. }))
    }
}

impl Draft {
    /// An empty body.
    pub fn new(format: Format) -> Self {
        Draft {
            format,
            envelope: Envelope::Body,
            system: None,
            thinking: Thinking::Unset,
            model: Model::Free,
            messages: Vec::new(),
        }
    }
}

/// Whether results are entries of their own.
pub(crate) fn is_flat(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::OpenaiResponses)
}
