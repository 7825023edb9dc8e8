//! What the generator chooses: small values. How likely each is stands in [`tape`](crate::tape).

use epitome::wire::{Envelope, Format};

use crate::draft::{Block, Model, Shape, Thinking};
use crate::prose;

/// A transcript before its format has had its say.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) format: Format,
    pub(crate) envelope: Envelope,
    pub(crate) system: Option<Prose>,
    pub(crate) thinking: Thinking,
    pub(crate) model: Model,
    pub(crate) beats: Vec<Beat>,
    pub(crate) open: u8,
    pub(crate) ink: u64,
    pub(crate) pin: Option<Spot>,
    pub(crate) target: u8,
    /// Below 10: something rare that a format has and others don't.
    pub(crate) twist: u8,
}

/// A place in something whose length isn't known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot(pub(crate) u64);

impl Spot {
    /// The place in `len` of them (which isn't 0).
    pub(crate) fn index(self, len: usize) -> usize {
        ((u128::from(self.0) * len as u128) >> 64) as usize
    }

    /// The one of these (which are some) at that place.
    pub(crate) fn get<T>(self, of: &[T]) -> &T {
        &of[self.index(of.len())]
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Prose {
    Short(usize),
    Random(String),
    Odd(usize),
    Unicode(u64, usize),
    Lorem(usize),
    Lines(usize),
    Code(u64, usize),
    Log(u64, usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Beat {
    Human { text: Prose, media: Media, dress: Dress },
    Injected { text: Prose, human: Option<Prose> },
    Step(Step),
    Instructions(Prose),
    Compaction(Option<Prose>),
    Function { tool: usize, text: Prose },
    Unknown(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Media {
    None,
    Image(u32, u32),
    Document,
}

/// How a message is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dress {
    String,
    List,
    Cached,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) say: Option<Prose>,
    pub(crate) serves: Option<Prose>,
    pub(crate) calls: Vec<Call>,
    pub(crate) unknown: Option<usize>,
    /// Words of the user in the entry of the results (Anthropic).
    pub(crate) aside: Option<Prose>,
    /// The assistant's parts are spread over entries; so are the results.
    pub(crate) splits: Splits,
    pub(crate) order: Order,
    pub(crate) absent: Shape,
}

#[derive(Clone, Debug)]
pub(crate) enum Thought {
    Plain(Prose),
    Signed(Prose),
    Redacted,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: usize,
    pub(crate) argument: Prose,
    pub(crate) result: Prose,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Words,
    Failed,
    List,
    Image(u32, u32),
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Splits {
    Nothing,
    Assistant,
    Results,
    Both,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    AsCalled,
    Reversed,
    /// Chat: the ids are the same in every batch.
    SameIds,
}

impl Media {
    pub(crate) fn block(self) -> Option<Block> {
        match self {
            Media::None => None,
            Media::Image(width, height) => Some(Block::Image(width, height)),
            Media::Document => Some(Block::Document),
        }
    }
}

impl Dress {
    pub(crate) fn shape(self) -> Shape {
        if matches!(self, Dress::String) { Shape::String } else { Shape::List }
    }
}

impl Thought {
    pub(crate) fn block(&self) -> Block {
        match self {
            Thought::Plain(text) => Block::Think(text.words()),
            Thought::Signed(text) => Block::Signed(text.words()),
            Thought::Redacted => Block::Redacted,
        }
    }
}

impl Prose {
    /// The words; never none, since providers refuse empty texts.
    pub(crate) fn words(&self) -> String {
        match self {
            Prose::Short(n) => SHORT[*n].to_owned(),
            Prose::Random(text) => text.clone(),
            Prose::Odd(n) => prose::ODD[*n].to_owned(),
            Prose::Unicode(seed, n) => prose::unicode(*seed, *n),
            Prose::Lorem(n) => prose::lorem(*n),
            Prose::Lines(n) => prose::lines(*n),
            Prose::Code(seed, n) => prose::code(*seed, *n),
            Prose::Log(seed, n) => prose::log(*seed, *n),
        }
    }
}

pub(crate) const SHORT: [&str; 8] = [
    "ok",
    "Fix the build.",
    "Why does test_upload fail?",
    "Use 2 retries, never 3.",
    "go on",
    "The id is 7f3a-99, see https://example.org/a?b=1",
    "Let me look at it.",
    "Ça marche, naïve Größe 😀",
];

pub(crate) const TOOLS: [&str; 5] = ["Read", "Bash", "Edit", "mcp__files__search", "Grep"];

pub(crate) const UNKNOWN: [&str; 4] = [
    r#"{"type":"video","frames":[1.0e5,{"a":null}]}"#,
    r#"{"type":"container_upload","file_id":"file_01"}"#,
    r#"{"type":"search_result","source":"https://example.org","title":"t","content":[{"type":"text","text":"x"}]}"#,
    r#"{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}"#,
];
