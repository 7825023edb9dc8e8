//! What a compactor is asked to do.

use serde::{Deserialize, Serialize};

use crate::budget::{Stop, Tail, Target};
use crate::guard::{Pin, Task};
use crate::strategy::{BadOption, Named, Pipeline};
use crate::transcript::{Origin, Role};

/// What a compactor is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// Where to land.
    pub target: Target,
    /// The newest content that stays verbatim.
    pub tail: Tail,
    /// What becomes of the first human message.
    pub task: Task,
    /// Entries that stay verbatim in addition.
    pub pins: Vec<Pin>,
    /// Tools whose calls and results stay.
    pub preserved_tools: Vec<String>,
    /// Further tools whose calls change nothing, beside those with telling names
    /// ([`only_reads`](crate::checkpoint::only_reads)).
    pub read_only: Vec<String>,
    /// Entries of these origins stay.
    pub preserved_origins: Vec<Origin>,
    /// Entries of these roles stay.
    pub preserved_roles: Vec<Role>,
    /// The strategies, in order.
    pub strategies: Pipeline,
    /// When enough is done.
    pub stop: Stop,
    /// How much of a request is counted to know whether it is due.
    pub counting: Counting,
}

/// How much of a request is counted to know whether it is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// All of it.
    #[default]
    Whole,
    /// Of a request of [`SAMPLED_BYTES`](crate::count::SAMPLED_BYTES) or more a sample ([`Tally::sampled`](crate::count::Tally::sampled)). Where the
    /// upper edge of its error is under the limit nothing is due, and the receipt's numbers are the sample's; where it
    /// isn't, everything is counted. A compactor without a trigger counts everything. The sample is one step of a
    /// [`Compaction`](crate::Compaction), whatever the size: about 1 ms for each megabyte.
    Sampled,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            target: Target::DEFAULT,
            tail: Tail::Fitting,
            task: Task::Keep,
            pins: Vec::new(),
            preserved_tools: Vec::new(),
            read_only: Vec::new(),
            preserved_origins: Vec::new(),
            preserved_roles: Vec::new(),
            strategies: Pipeline::default(),
            stop: Stop::AtTarget,
            counting: Counting::Whole,
        }
    }
}

/// A setting that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A target of nothing, or of more than there is.
    #[error("the target {0} is out of range: tokens from 1, percent from 1 to 100")]
    Target(Target),
    /// A pin that every text says.
    #[error("a pin must not be blank")]
    EmptyPin,
    /// A summary of nothing.
    #[error("a summary needs at least one token")]
    NoSummary,
    /// An option of a strategy.
    #[error(transparent)]
    Strategy(#[from] BadOption),
}

impl Options {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        if matches!(self.target, Target::Tokens(0) | Target::Percent(0 | 101..)) {
            return Err(OptionsError::Target(self.target));
        }
        if self.pins.iter().any(|pin| matches!(pin, Pin::Text(text) if text.trim().is_empty())) {
            return Err(OptionsError::EmptyPin);
        }
        // What `recent` can't be told isn't told beside it.
        let is_recent = |one: &Named| matches!(one, Named::Recent(_));
        let counts = matches!(&self.strategies, Pipeline::List(list) if list.iter().any(is_recent));
        let given = match self.tail {
            Tail::Steps(0) if counts => "0steps",
            Tail::Turns(0) if counts => "0turns",
            _ => return Ok(()),
        };
        let (given, expected) = (given.to_owned(), "1 or more");
        Err(BadOption { option: "keep-recent", given, expected }.into())
    }
}
