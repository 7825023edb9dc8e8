//! Why an entry must stay, and how strictly.

use serde::{Deserialize, Serialize};

/// Why an entry must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Held {
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
    /// A pin.
    Pin,
    /// The tail that was asked for.
    Tail,
    /// A call of a tool that is to be preserved.
    Tool,
    /// Of an origin or a role that is to be preserved.
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

impl Held {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Held::SystemPrompt => "system prompt",
            Held::ToolDefinitions => "tool definitions",
            Held::Instructions => "system messages",
            Held::State => "stateful messages",
            Held::Task => "the task (first human message)",
            Held::Newest => "the newest human message",
            Held::Pin => "pins",
            Held::Tail => "the tail to keep",
            Held::Tool => "preserved tools",
            Held::Kind => "preserved kinds",
            Held::Chosen => "what the caller preserves",
            Held::Elsewhere => "what goes on from history elsewhere",
            Held::Companion => "results and calls that belong to those",
            Held::Provider => "the provider's rules",
        }
    }
}

/// How much of an entry that stays may be edited: the least is nothing.
pub(super) fn leniency(held: Held) -> u8 {
    match held {
        Held::State | Held::Instructions => 0,
        Held::Companion | Held::Elsewhere => 3,
        Held::Task | Held::Newest => 2,
        _ => 1,
    }
}
