//! Why an entry must stay, and how strictly.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Why an entry must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KeepReason {
    /// The system prompt beside the transcript.
    SystemPrompt,
    /// The tool definitions.
    ToolDefinitions,
    /// System or developer text in the transcript.
    Instructions,
    /// Sets state for what follows.
    State,
    /// The first human message.
    Task,
    /// The newest human message.
    Newest,
    /// What the transcript ends with: the newest step, or message.
    Last,
    /// A pin.
    Pin,
    /// The tail that was asked for.
    Tail,
    /// A call of a preserved tool.
    Tool,
    /// Of a preserved origin or role.
    Kind,
    /// The caller's predicate says so.
    Chosen,
    /// Goes on from history that is elsewhere.
    Elsewhere,
    /// Belongs to an entry that must stay.
    Companion,
    /// No smaller view was found that the provider accepts.
    Provider,
}

impl KeepReason {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            KeepReason::SystemPrompt => "system prompt",
            KeepReason::ToolDefinitions => "tool definitions",
            KeepReason::Instructions => "system messages",
            KeepReason::State => "stateful messages",
            KeepReason::Task => "the task (first human message)",
            KeepReason::Newest => "the newest human message",
            KeepReason::Last => "the newest messages",
            KeepReason::Pin => "pins",
            KeepReason::Tail => "the tail to keep",
            KeepReason::Tool => "preserved tools",
            KeepReason::Kind => "preserved kinds",
            KeepReason::Chosen => "what the caller preserves",
            KeepReason::Elsewhere => "what goes on from history elsewhere",
            KeepReason::Companion => "results and calls that belong to those",
            KeepReason::Provider => "the provider's rules",
        }
    }
}

/// How much of an entry that stays may be edited: the least is nothing.
fn leniency(held: KeepReason) -> u8 {
    match held {
        KeepReason::State | KeepReason::Instructions => 0,
        // Its results are cut only where they don't fit, wherever the tail begins.
        KeepReason::Tool => 1,
        KeepReason::Companion | KeepReason::Elsewhere => 4,
        KeepReason::Task | KeepReason::Newest | KeepReason::Last => 3,
        _ => 2,
    }
}

/// The entries that must stay, each found in one step: plans ask of each part again and again.
#[derive(Clone, Debug)]
pub(super) struct Holds(Vec<Option<KeepReason>>);

impl Holds {
    /// None for this many entries.
    pub(super) fn none_of(entries: usize) -> Self {
        Holds(vec![None; entries])
    }

    pub(super) fn get(&self, entry: usize) -> Option<KeepReason> {
        self.0.get(entry).copied().flatten()
    }

    pub(super) fn has(&self, entry: usize) -> bool {
        self.get(entry).is_some()
    }

    /// Holds an entry. The stricter reason wins: it decides what may be edited.
    pub(super) fn hold(&mut self, entry: usize, why: KeepReason) {
        let held = self.0[entry].get_or_insert(why);
        if leniency(why) < leniency(*held) {
            *held = why;
        }
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, KeepReason)> {
        self.among(0..self.0.len())
    }

    /// Those among these.
    pub(super) fn among(&self, entries: Range<usize>) -> impl Iterator<Item = (usize, KeepReason)> {
        entries.filter_map(|at| Some((at, self.get(at)?)))
    }

    pub(super) fn retain(&mut self, stays: impl Fn(usize, KeepReason) -> bool) {
        for (at, held) in self.0.iter_mut().enumerate() {
            *held = held.filter(|held| stays(at, *held));
        }
    }
}
