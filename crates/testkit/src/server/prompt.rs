//! What the model is shown of a request, in order, and what else the server learned from it.

use std::collections::HashSet;

use serde_json::Value;

use super::chain::Chain;
use super::count;
use super::digest::{self, Digest};
use super::models::Model;

/// What belongs together for the prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Tool definitions.
    Tools,
    /// System text before the messages.
    System,
    /// Everything that was said.
    Messages,
}

/// How long a cached prefix lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// The provider's usual time: five minutes (Anthropic), 30 minutes (GPT-5.6 and later).
    Short,
    /// The longer one: an hour, twelve hours.
    Long,
}

/// The least thing that the cache knows of: a tool, a block, an item, a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Where it belongs.
    pub section: Section,
    /// Digest of the whole prompt up to and with this element, within its section's settings.
    pub prefix: Digest,
    /// Its own tokens.
    pub tokens: u64,
    /// A cache marker stands on it.
    pub mark: Option<Ttl>,
}

/// The elements of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// In order.
    pub elements: Vec<Element>,
    end: Digest,
}

impl Prompt {
    /// Adds what is shown next.
    pub fn push(&mut self, section: Section, who: &str, shown: &Value, mark: Option<Ttl>) {
        self.end = digest::after(digest::after_text(self.end, who), shown);
        let tokens = count::element(shown);
        self.elements.push(Element { section, prefix: self.end, tokens, mark });
    }

    /// A setting that everything behind depends on: cached prefixes are apart where it differs.
    pub fn depends_on(&mut self, setting: &Value) {
        self.end = digest::after(self.end, setting);
    }

    /// Tokens of all elements.
    pub fn tokens(&self) -> u64 {
        self.elements.iter().map(|element| element.tokens).sum()
    }

    /// The last element gets a marker, unless it has one.
    pub fn mark_last(&mut self, ttl: Ttl) {
        if let Some(last) = self.elements.last_mut() {
            last.mark = last.mark.or(Some(ttl));
        }
    }

    /// What came before is hidden by a compaction block: only frame and what follows are shown.
    pub fn forget_messages(&mut self) {
        self.elements.retain(|element| element.section != Section::Messages);
        self.end = self.elements.last().map_or([0; 16], |element| element.prefix);
    }
}

/// What kind of input a tool takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// JSON of this schema.
    Json(Value),
    /// Text as it comes (OpenAI's custom tools).
    Text,
    /// Nothing that a client would see: the provider runs it.
    Nothing,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
}

/// Whether the model may, must or must not call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// As it likes.
    #[default]
    Auto,
    /// Some tool.
    Any,
    /// This one.
    Named(String),
    /// None.
    None,
}

/// Which check reasoning didn't pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mismatch {
    /// Another organisation's.
    Organization,
    /// Of a model that this one doesn't read.
    Model,
    /// What stands before it isn't what stood there.
    Prefix,
}

/// Reasoning that doesn't belong where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Misplaced {
    /// Where it stands: `messages.3.content.0`, `input[7]`.
    pub path: String,
    /// Its id, if it has one (Responses).
    pub id: String,
    /// What is wrong with it.
    pub why: Mismatch,
    /// The model is shown it all the same.
    pub is_shown: bool,
}

/// Whether the provider compacts before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compacts {
    /// No.
    #[default]
    No,
    /// A compaction is all that was asked for.
    Alone,
    /// The threshold is crossed: a compaction, then the answer.
    First,
}

/// How far the conversation is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// Messages of people.
    pub humans: usize,
    /// Model messages since the last of them.
    pub steps: usize,
    /// Tool results since the last of them.
    pub results: usize,
    /// Ids of all calls.
    pub calls: HashSet<String>,
    is_speaking: bool,
}

impl Talk {
    /// A person speaks.
    pub fn human(&mut self) {
        self.humans += 1;
        self.steps = 0;
        self.results = 0;
        self.is_speaking = false;
    }

    /// The model speaks, or goes on.
    pub fn model(&mut self) {
        self.steps += usize::from(!self.is_speaking);
        self.is_speaking = true;
    }

    /// A tool gave its result.
    pub fn result(&mut self) {
        self.results += 1;
        self.is_speaking = false;
    }
}

/// A request that was found good.
#[derive(Clone, Debug)]
pub struct Understood {
    /// The model that answers.
    pub model: Model,
    /// What it is shown.
    pub prompt: Prompt,
    /// Tools it has.
    pub tools: Vec<Tool>,
    /// Whether it may call them.
    pub choice: Choice,
    /// Whether it reasons first.
    pub thinks: bool,
    /// Most tokens of the answer.
    pub max_output: Option<u64>,
    /// Whether the answer is asked for piece by piece.
    pub stream: bool,
    /// Where reasoning that is said next is bound.
    pub chain: Chain,
    /// Reasoning that doesn't belong where it stands.
    pub misplaced: Vec<Misplaced>,
    /// Whether the provider compacts before it answers.
    pub compacts: Compacts,
    /// How far the conversation is.
    pub talk: Talk,
    /// All items of the conversation, where they aren't all in the body (Responses).
    pub items: Vec<Value>,
}
