//! The result of a reader: a request, and the other facts in the file.

use epitome::wire::Request;

use crate::notes::{Note, Notes};
pub use crate::skipped::{Skipped, Why};
use crate::usage::Reported;

/// How much of a recording to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to look behind earlier compactions.
    pub reach: Reach,
    /// Which run, where a file holds several.
    pub run: Run,
}

/// How far back to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// What the model saw last: from the newest compaction on, its summary included.
    #[default]
    SinceLastCompaction,
    /// Everything that was said, across compactions.
    Whole,
}

/// Which run to read, where a file may hold several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// The only one; it is an error if there are more.
    #[default]
    Only,
    /// The one at this position, from 1.
    Nth(usize),
}

/// What an agent wrote down, as the model saw it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The name of its [`Reader`](crate::Reader).
    pub reader: &'static str,
    /// The main line.
    pub request: Request,
    /// What the provider reported of its requests, in entry order.
    pub usage: Vec<Reported>,
    /// Sub-agents whose rows stand in the same file.
    pub sidechains: Vec<Sidechain>,
    /// What was left out that one might look for, in file order.
    pub skipped: Vec<Skipped>,
    /// What the reader met and has no place for, in file order.
    pub notes: Vec<Note>,
    /// How many compactions the main line went through, whatever the [`Reach`].
    pub compactions: usize,
    /// The lines, from 1, on which they stand; nothing in formats that are one value.
    pub compacted: Vec<usize>,
}

impl Recording {
    /// A recording without sub-agents and compactions.
    pub(crate) fn new(
        reader: &'static str,
        (request, usage): (Request, Vec<Reported>),
        notes: Notes,
    ) -> Self {
        let (skipped, notes) = notes.finish();
        Recording {
            reader,
            request,
            usage,
            sidechains: Vec::new(),
            skipped,
            notes,
            compactions: 0,
            compacted: Vec::new(),
        }
    }
}

/// A sub-agent's conversation.
#[derive(Clone, Debug)]
pub struct Sidechain {
    /// The agent's id, or the id of its first row.
    pub id: String,
    /// What that agent saw. Its task comes from the main agent, in the human's place.
    pub request: Request,
    /// What the provider reported of that agent's requests, in entry order.
    pub usage: Vec<Reported>,
}
