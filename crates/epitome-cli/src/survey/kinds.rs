//! Kinds of content, and what each weighs.

use epitome::Request;
use epitome::count::Tally;
use epitome::transcript::{Entry, Marks, Origin, Part, PartKind};
use serde::Serialize;

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ContentKind {
    /// System and developer text.
    System,
    /// The definitions of tools.
    ToolDefinitions,
    /// What a person said.
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

/// How a kind is called and drawn: in JSON, for people, among the 256 colours of terminals, on white and on black.
struct Look(&'static str, &'static str, u8, &'static str, &'static str);

/// In the order of the kinds.
const LOOKS: [Look; 12] = [
    Look("system", "system", 103, "#64748b", "#94a3b8"),
    Look("tool_definitions", "tool definitions", 136, "#a16207", "#ca8a04"),
    Look("human", "human", 208, "#ea580c", "#fb923c"),
    Look("injected", "injected", 222, "#eab308", "#fde047"),
    Look("checkpoint", "checkpoint", 205, "#be185d", "#f472b6"),
    Look("model_text", "model text", 71, "#16a34a", "#4ade80"),
    Look("reasoning", "reasoning", 141, "#7c3aed", "#a78bfa"),
    Look("call_arguments", "call arguments", 44, "#0e9fb8", "#22d3ee"),
    Look("tool_results", "tool results", 69, "#2563eb", "#5b93f5"),
    Look("media", "media", 203, "#dc2626", "#f87171"),
    Look("other", "other", 245, "#9ca3af", "#6b7280"),
    Look("wrapping", "wrapping", 240, "#cbd5e1", "#475569"),
];

impl ContentKind {
    /// All kinds, in the order of pictures.
    pub(crate) const ALL: [ContentKind; 12] = [
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

    fn look(self) -> &'static Look {
        &LOOKS[self as usize]
    }

    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        self.look().0
    }

    /// The name for people.
    pub(crate) fn words(self) -> &'static str {
        self.look().1
    }

    /// Its colour among the 256 of terminals.
    pub(crate) fn shade(self) -> u8 {
        self.look().2
    }

    /// Its colours on white and on black.
    pub(crate) fn hues(self) -> (&'static str, &'static str) {
        (self.look().3, self.look().4)
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
pub(crate) struct Weight {
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
}

/// Tokens and bytes by kind; together they are the whole request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights([Weight; ContentKind::ALL.len()]);

impl Weights {
    /// The weights of a request.
    pub(crate) fn of(request: &Request, tally: &Tally) -> Self {
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
    pub(crate) fn of_frame(request: &Request, tally: &Tally) -> Self {
        let mut weights = Weights::default();
        let frame = &tally.frame;
        let bytes = |raw: Option<&str>| raw.map_or(0, str::len) as u64;
        weights.add(ContentKind::System, frame.system.tokens, bytes(request.system()));
        weights.add(ContentKind::ToolDefinitions, frame.tools.tokens, bytes(request.tools()));
        weights
    }

    /// Adds the parts of an entry, without what wraps them.
    pub(super) fn add_entry(&mut self, entry: &Entry<'_>, tally: &Tally) {
        for part in entry.parts() {
            // What a list holds are parts of their own.
            let is_list = part.kind() == PartKind::Result
                && part.raw_body().starts_with('[')
                && !part.is(Marks::SERVER);
            let bytes = if is_list { 0 } else { part.raw_body().len() as u64 };
            self.add(ContentKind::of(entry, &part), tally.part(part.slot), bytes);
        }
    }

    /// Adds all of `other`.
    pub(crate) fn add_all(&mut self, other: &Weights) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.tokens += theirs.tokens;
            mine.bytes += theirs.bytes;
        }
    }

    /// Counts what is missing to `tokens` as wrapping.
    pub(super) fn wrap(&mut self, tokens: u64) {
        let sum = self.total().tokens;
        self.add(ContentKind::Wrapping, tokens.saturating_sub(sum), 0);
    }

    fn add(&mut self, kind: ContentKind, tokens: u64, bytes: u64) {
        let weight = &mut self.0[kind as usize];
        weight.tokens += tokens;
        weight.bytes += bytes;
    }

    /// The weight of one kind.
    pub(crate) fn get(&self, kind: ContentKind) -> Weight {
        self.0[kind as usize]
    }

    /// All kinds that weigh something, in the order of pictures.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (ContentKind, Weight)> {
        let weights = ContentKind::ALL.into_iter().map(|kind| (kind, self.get(kind)));
        weights.filter(|(_, weight)| *weight != Weight::default())
    }

    /// All of it.
    pub(crate) fn total(&self) -> Weight {
        self.0.iter().fold(Weight::default(), |sum, weight| Weight {
            tokens: sum.tokens + weight.tokens,
            bytes: sum.bytes + weight.bytes,
        })
    }
}
