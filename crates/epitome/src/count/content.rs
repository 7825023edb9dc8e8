//! What the tokens and bytes of a request are: its content by kind, and by tool.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::request::Request;
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind};

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// System and developer text.
    System,
    /// The definitions of tools.
    ToolDefinitions,
    /// Human words.
    Human,
    /// Reminders, hook output, notes: in the user's role, but not a person's.
    Injected,
    /// What stands for earlier, compacted content.
    Checkpoint,
    /// What the model said.
    ModelText,
    /// What the model thought.
    Reasoning,
    /// Tool calls: names and arguments.
    CallArguments,
    /// What tools answered.
    ToolResults,
    /// Images and documents.
    Media,
    /// Content of types that aren't known.
    Other,
    /// Roles, ids, separators: what wraps the rest.
    Wrapping,
}

/// Their names in JSON, and for people.
const NAMES: [(&str, &str); 12] = [
    ("system", "system"),
    ("tool_definitions", "tool definitions"),
    ("human", "human"),
    ("injected", "injected"),
    ("checkpoint", "checkpoint"),
    ("model_text", "model text"),
    ("reasoning", "reasoning"),
    ("call_arguments", "call arguments"),
    ("tool_results", "tool results"),
    ("media", "media"),
    ("other", "other"),
    ("wrapping", "wrapping"),
];

impl ContentKind {
    /// All kinds, in the order of pictures.
    pub const ALL: [ContentKind; 12] = [
        ContentKind::System,
        ContentKind::ToolDefinitions,
        ContentKind::Human,
        ContentKind::Injected,
        ContentKind::Checkpoint,
        ContentKind::ModelText,
        ContentKind::Reasoning,
        ContentKind::CallArguments,
        ContentKind::ToolResults,
        ContentKind::Media,
        ContentKind::Other,
        ContentKind::Wrapping,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The kind of a part of `entry`.
    fn of(entry: &Entry<'_>, part: &Part<'_>) -> Self {
        match part.kind() {
            PartKind::Media => ContentKind::Media,
            PartKind::Reasoning => ContentKind::Reasoning,
            PartKind::Call => ContentKind::CallArguments,
            PartKind::Result => ContentKind::ToolResults,
            _ if part.is(Marks::NESTED) => ContentKind::ToolResults,
            PartKind::Opaque => ContentKind::Other,
            PartKind::Link => ContentKind::Wrapping,
            PartKind::Text if entry.role().instructs() => ContentKind::System,
            PartKind::Text => match part.origin() {
                Origin::Human => ContentKind::Human,
                Origin::Injected => ContentKind::Injected,
                Origin::Model => ContentKind::ModelText,
                Origin::Tool => ContentKind::ToolResults,
                Origin::Checkpoint => ContentKind::Checkpoint,
            },
        }
    }
}

/// Tokens and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Weight {
    /// Tokens.
    pub tokens: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Tokens and bytes by kind; together they are the whole request.
#[derive(Clone, Debug, Default)]
pub struct Weights([Weight; ContentKind::ALL.len()]);

impl Weights {
    /// The weights of a request.
    pub fn of(request: &Request, tally: &Tally) -> Self {
        let mut weights = Weights::of_frame(request, tally);
        for entry in request.transcript.entries() {
            weights.add_entry(&entry, tally);
        }
        let total = Weight { tokens: tally.total().tokens, bytes: request.source().len() as u64 };
        let sum = weights.total();
        let wrapping = Weight {
            tokens: total.tokens.saturating_sub(sum.tokens),
            bytes: total.bytes.saturating_sub(sum.bytes),
        };
        weights.add(ContentKind::Wrapping, wrapping.tokens, wrapping.bytes);
        weights
    }

    /// The weights of what stands around the transcript.
    pub fn of_frame(request: &Request, tally: &Tally) -> Self {
        let mut weights = Weights::default();
        let frame = &tally.frame;
        let bytes = |raw: Option<&str>| raw.map_or(0, str::len) as u64;
        weights.add(ContentKind::System, frame.system.tokens, bytes(request.system()));
        weights.add(ContentKind::ToolDefinitions, frame.tools.tokens, bytes(request.tools()));
        weights
    }

    /// Adds the parts of an entry, without what wraps them.
    pub fn add_entry(&mut self, entry: &Entry<'_>, tally: &Tally) {
        for part in entry.parts() {
            // Elements of a list are parts of their own.
            let is_list = part.kind() == PartKind::Result
                && part.raw_body().starts_with('[')
                && !part.is(Marks::SERVER);
            let bytes = if is_list { 0 } else { part.raw_body().len() as u64 };
            self.add(ContentKind::of(entry, &part), tally.part(part.slot), bytes);
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Weights) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.tokens += theirs.tokens;
            mine.bytes += theirs.bytes;
        }
    }

    /// Counts the tokens missing to `tokens` as wrapping.
    pub fn wrap(&mut self, tokens: u64) {
        let sum = self.total().tokens;
        self.add(ContentKind::Wrapping, tokens.saturating_sub(sum), 0);
    }

    fn add(&mut self, kind: ContentKind, tokens: u64, bytes: u64) {
        let weight = &mut self.0[kind as usize];
        weight.tokens += tokens;
        weight.bytes += bytes;
    }

    /// The weight of one kind.
    pub fn get(&self, kind: ContentKind) -> Weight {
        self.0[kind as usize]
    }

    /// All kinds that weigh something, in the order of pictures.
    pub fn kinds(&self) -> impl Iterator<Item = (ContentKind, Weight)> {
        let weights = ContentKind::ALL.into_iter().map(|kind| (kind, self.get(kind)));
        weights.filter(|(_, weight)| *weight != Weight::default())
    }

    /// All of it.
    pub fn total(&self) -> Weight {
        self.0.iter().fold(Weight::default(), |sum, weight| Weight {
            tokens: sum.tokens + weight.tokens,
            bytes: sum.bytes + weight.bytes,
        })
    }
}

/// What the calls of a tool weigh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolWeight {
    /// How often it was called.
    pub calls: usize,
    /// Results that report an error.
    pub errors: usize,
    /// Tokens of the calls.
    pub argument_tokens: u64,
    /// Tokens of the results.
    pub result_tokens: u64,
}

/// All tools that are called, by name.
pub fn tool_weights(
    request: &Request,
    units: &Units,
    tally: &Tally,
) -> BTreeMap<String, ToolWeight> {
    let mut tools: BTreeMap<String, ToolWeight> = BTreeMap::new();
    let transcript = &request.transcript;
    for entry in transcript.entries() {
        let mut answered = None;
        for part in entry.parts() {
            match part.kind() {
                PartKind::Call => {
                    let tool = tools.entry(part.name().into_owned()).or_default();
                    tool.calls += 1;
                    tool.argument_tokens += tally.part(part.slot);
                    continue;
                }
                PartKind::Result => {
                    let call = units.call_of(part.slot).map(|slot| transcript.part(slot));
                    let name = call.map_or_else(|| part.name(), |call| call.name()).into_owned();
                    let tool = tools.entry(name.clone()).or_default();
                    tool.errors += usize::from(part.is(Marks::ERROR));
                    answered = Some(name);
                }
                _ if part.is(Marks::NESTED) => {}
                _ => continue,
            }
            if let Some(tool) = answered.as_ref().and_then(|name| tools.get_mut(name)) {
                tool.result_tokens += tally.part(part.slot);
            }
        }
    }
    tools
}
