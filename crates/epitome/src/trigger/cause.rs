//! Why a compaction begins.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::Target;
use crate::guard::Pin;
use crate::text::figure::grouped;

/// Why a compaction begins: what was measured against what. Carried to strategies, summarizers and
/// the receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// More entries than allowed.
    Items {
        /// Entries.
        items: usize,
        /// The most that may be.
        most: usize,
    },
    /// More model calls than allowed.
    Steps {
        /// Model calls.
        steps: usize,
        /// The most that may be.
        most: usize,
    },
    /// More human turns than allowed.
    Turns {
        /// Human turns.
        turns: usize,
        /// The most that may be.
        most: usize,
    },
    /// So many tokens.
    Tokens {
        /// Tokens, as the trigger compared them.
        tokens: u64,
        /// Where it fires.
        limit: u64,
    },
    /// So many characters.
    Characters {
        /// Characters.
        characters: u64,
        /// Where it fires.
        limit: u64,
    },
    /// So many bytes on the wire.
    Bytes {
        /// Bytes.
        bytes: u64,
        /// Where it fires.
        limit: u64,
    },
    /// The window is filled to a share of it.
    Window {
        /// Tokens, as the trigger compared them.
        tokens: u64,
        /// Where it fires, in tokens.
        limit: u64,
        /// The model's window, in tokens.
        window: u64,
    },
    /// The next model has a smaller window, and this is too much for it.
    Switch {
        /// Tokens, as the trigger compared them.
        tokens: u64,
        /// The window so far.
        from: u64,
        /// The window to come.
        to: u64,
    },
    /// The provider refused the request as too large.
    Overflow {
        /// The window, as far as the provider's error tells.
        window: Option<u64>,
    },
    /// The provider's cache will soon forget the prompt: what is compacted now is read from it.
    Idle {
        /// Seconds since the last request.
        idle: u64,
        /// Seconds until the cache forgets.
        left: u64,
    },
    /// Somebody asked for it.
    Asked(Vec<Demand>),
    /// A whole compactor decides, and is asked on every call.
    Remote,
    /// Anything else, in the caller's words.
    Custom(String),
    /// All of these.
    All(Vec<Cause>),
}

impl Cause {
    /// The causes as one; `None` if there are none.
    pub fn all(mut causes: Vec<Cause>) -> Option<Self> {
        match causes.len() {
            0 => None,
            1 => causes.pop(),
            _ => Some(Cause::All(causes)),
        }
    }

    /// Its kind in one word, as files and reports spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Cause::Items { .. } => "items",
            Cause::Steps { .. } => "steps",
            Cause::Turns { .. } => "turns",
            Cause::Tokens { .. } => "tokens",
            Cause::Characters { .. } => "characters",
            Cause::Bytes { .. } => "bytes",
            Cause::Window { .. } => "window",
            Cause::Switch { .. } => "switch",
            Cause::Overflow { .. } => "overflow",
            Cause::Idle { .. } => "idle",
            Cause::Asked(_) => "asked",
            Cause::Remote => "remote",
            Cause::Custom(_) => "custom",
            Cause::All(_) => "all",
        }
    }

    /// Whether whole compactors are asked whatever the size is.
    pub fn is_remote(&self) -> bool {
        match self {
            Cause::Remote => true,
            Cause::All(causes) => causes.iter().any(Cause::is_remote),
            _ => false,
        }
    }

    /// What was asked for, by whomever.
    pub fn demands(&self) -> Vec<&Demand> {
        match self {
            Cause::Asked(demands) => demands.iter().collect(),
            Cause::All(causes) => causes.iter().flat_map(Cause::demands).collect(),
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = |count: &u64| grouped(usize::try_from(*count).unwrap_or(usize::MAX));
        let over = |f: &mut fmt::Formatter<'_>, count: &usize, noun, most: &usize| {
            write!(f, "{} {noun}, more than {}", grouped(*count), grouped(*most))
        };
        let limited = |f: &mut fmt::Formatter<'_>, count, noun, limit| {
            write!(f, "{} {noun}, limit {}", figure(count), figure(limit))
        };
        match self {
            Cause::Items { items, most } => over(f, items, "items", most),
            Cause::Steps { steps, most } => over(f, steps, "steps", most),
            Cause::Turns { turns, most } => over(f, turns, "human turns", most),
            Cause::Tokens { tokens, limit } => limited(f, tokens, "tokens", limit),
            Cause::Characters { characters, limit } => limited(f, characters, "characters", limit),
            Cause::Bytes { bytes, limit } => limited(f, bytes, "bytes", limit),
            Cause::Window { tokens, limit, window } => {
                limited(f, tokens, "tokens", limit)?;
                write!(f, " of a window of {}", figure(window))
            }
            Cause::Switch { tokens, from, to } => {
                let [tokens, from, to] = [tokens, from, to].map(figure);
                write!(f, "{tokens} tokens before a window of {to} instead of {from}")
            }
            Cause::Overflow { window: Some(window) } => {
                write!(f, "the provider refused it: its window is {}", figure(window))
            }
            Cause::Overflow { window: None } => f.write_str("the provider refused it as too large"),
            Cause::Idle { idle, left } => {
                let [idle, left] = [idle, left].map(figure);
                write!(f, "idle for {idle} s, {left} s before the cache forgets")
            }
            Cause::Asked(demands) => {
                let asked = |demand: &Demand| match demand.reason.trim() {
                    "" => format!("the {} asked for it", demand.by.word()),
                    reason => format!("the {} asked for it: {reason}", demand.by.word()),
                };
                f.write_str(&demands.iter().map(asked).collect::<Vec<_>>().join("; "))
            }
            Cause::Remote => f.write_str("the compactor is asked on every call"),
            Cause::Custom(words) => f.write_str(words),
            Cause::All(causes) => {
                let words: Vec<String> = causes.iter().map(Cause::to_string).collect();
                f.write_str(&words.join(" and "))
            }
        }
    }
}

/// Who asks for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asker {
    /// The program around the model, or the person who uses it.
    Host,
    /// The model itself.
    Model,
}

impl Asker {
    fn word(self) -> &'static str {
        match self {
            Asker::Host => "host",
            Asker::Model => "model",
        }
    }
}

/// A compaction that was asked for. It waits for the next safe point: one where every call has its
/// result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Demand {
    /// Who asks.
    pub by: Asker,
    /// Why, in the asker's words; may be empty.
    #[serde(default)]
    pub reason: String,
    /// What the summary should dwell on.
    #[serde(default)]
    pub focus: Option<String>,
    /// What must stay verbatim this time.
    #[serde(default)]
    pub pins: Vec<Pin>,
    /// Where to land this time.
    #[serde(default)]
    pub target: Option<Target>,
}

impl Demand {
    /// A demand without wishes.
    pub fn new(by: Asker, reason: impl Into<String>) -> Self {
        Demand { by, reason: reason.into(), focus: None, pins: Vec::new(), target: None }
    }
}
