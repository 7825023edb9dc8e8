//! Storage of originals and views, from which every removed byte can be restored.
//!
//! An [`Archive`] is that of one conversation. It only grows: a view is added, never changed, and which of
//! them is in force is one number that is compared before it is set.

mod memory;
pub mod recall;
mod redacted;
mod searchable;

use serde::{Deserialize, Serialize};

use crate::checkpoint;
use crate::receipt::Receipt;
use crate::request::Request;
use crate::transcript::unit::Units;
use crate::transcript::{ContentId, Entry, Origin, Part, PartKind, Role};
use crate::view::View;

pub use memory::MemoryArchive;
pub use redacted::Redacted;
pub use searchable::{GET, MARK, SEARCH, is_recall, searchable, searchable_in};

/// The original of an entry that a view hides or edits, with help to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// Digest of the bytes.
    pub id: ContentId,
    /// Position in the transcript.
    pub entry: usize,
    /// The bytes.
    pub bytes: String,
    /// Who stands in it.
    pub about: EntryContext,
    /// The searchable text, decoded; without finds of a recall, and without what a checkpoint repeats.
    pub words: String,
}

/// Where an entry belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryContext {
    /// The wire role.
    pub role: Role,
    /// Who speaks.
    pub origin: Origin,
    /// The human message, from 1, to which it belongs; 0 before the first.
    pub turn: usize,
    /// The tool that is called, or whose result it is; the first of several.
    pub tool: Option<String>,
    /// The time of the message, in milliseconds since 1970, if it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The results in it that a recall gave, by their places among its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recalled: Vec<usize>,
}

impl Original {
    /// The entries of a request for which `wanted` holds.
    pub fn of(request: &Request, wanted: impl Fn(usize) -> bool) -> Vec<Original> {
        let transcript = &request.transcript;
        let units = Units::of(transcript, request.format.instructions());
        let mut turn = 0;
        let mut originals = Vec::new();
        for entry in transcript.entries() {
            turn += usize::from(entry.is_human());
            if !wanted(entry.index) {
                continue;
            }
            let called = |part: &Part<'_>| match part.kind() {
                PartKind::Call => Some(part.name().into_owned()),
                PartKind::Result => {
                    let call = units.call_of(part.slot).map(|call| transcript.part(call).name());
                    Some(call.unwrap_or_else(|| part.name()).into_owned())
                }
                _ => None,
            };
            let gives = |part: &Part<'_>| {
                part.kind() == PartKind::Result && called(part).is_some_and(|it| is_recall(&it))
            };
            let tool = entry.parts().find_map(|part| called(&part));
            let (role, origin) = (entry.role(), entry.origin());
            let recalled = entry.parts().enumerate().filter(|(_, part)| gives(part));
            let about = EntryContext {
                role,
                origin,
                turn,
                tool: tool.filter(|tool| !tool.is_empty()),
                at: entry.time(),
                recalled: recalled.map(|(at, _)| at).collect(),
            };
            // A checkpoint repeats other messages, except for its summary.
            let words = match origin {
                Origin::Checkpoint => summaries(entry),
                _ => searchable(entry, &about.recalled),
            };
            originals.push(Original {
                id: ContentId::of_text(entry.raw()),
                entry: entry.index,
                bytes: entry.raw().to_owned(),
                about,
                words,
            });
        }
        originals
    }
}

/// What the checkpoints of an entry sum up.
fn summaries(entry: Entry<'_>) -> String {
    let read = entry.parts().filter_map(|part| checkpoint::read(&part.text()));
    read.map(|contents| contents.summary).collect::<Vec<_>>().join("\n")
}

/// An original that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundOriginal {
    /// By which it can be had.
    pub id: ContentId,
    /// Position in the transcript.
    pub entry: usize,
    /// Where it belongs.
    pub about: EntryContext,
    /// How well it answers; only comparable within one search.
    pub score: f64,
    /// The whole searchable text.
    pub words: String,
}

impl FoundOriginal {
    /// An original that answers so well.
    pub fn new(original: &Original, score: f64) -> Self {
        FoundOriginal {
            id: original.id,
            entry: original.entry,
            about: original.about.clone(),
            score,
            words: original.words.clone(),
        }
    }
}

/// Why an archive couldn't keep or find something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It couldn't be written.
    #[error("the archive could not keep the originals: {why}")]
    Write {
        /// What the store said.
        why: String,
    },
    /// It couldn't be read.
    #[error("the archive could not be read: {why}")]
    Read {
        /// What the store said.
        why: String,
    },
    /// The stored content isn't what was put.
    #[error("the archive is damaged: {what}")]
    Damaged {
        /// The damage that was found.
        what: String,
    },
    /// Another view is in force than the expected one.
    #[error("view {head} is in force, not view {parent}: another compaction came first")]
    Conflict {
        /// The expected view.
        parent: u64,
        /// The view that is in force.
        head: u64,
    },
    /// There is no such view.
    #[error("there is no view {view}")]
    NoSuchView {
        /// The view.
        view: u64,
    },
}

/// What the model is shown from a compaction on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The number of entries of the transcript, as it came.
    pub entries: usize,
    /// The fates of entries.
    pub view: View,
    /// The request that the model is sent.
    pub text: String,
    /// Its checkpoint's id.
    pub checkpoint: Option<ContentId>,
    /// The receipt, as JSON.
    pub receipt: String,
}

impl Shown {
    /// The result of compacting a transcript of `entries` entries.
    pub fn of(outcome: &crate::Outcome, entries: usize) -> Self {
        let receipt: &Receipt = &outcome.receipt;
        Shown {
            entries,
            view: outcome.view.clone(),
            text: outcome.rendered().to_owned(),
            checkpoint: receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id),
            receipt: serde_json::to_string(receipt).expect("receipts have string keys"),
        }
    }
}

/// A view that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptView {
    /// Its number, from 1, in the order of commits.
    pub number: u64,
    /// The view that it followed; 0 for the whole transcript.
    pub parent: u64,
    /// The receipt, with the view.
    pub shown: Shown,
}

/// Keeps the originals and the views of one conversation.
pub trait Archive: std::fmt::Debug + Send + Sync {
    /// Keeps originals. When it returns they are durable, or none of them counts.
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError>;

    /// The bytes under an id; `None` if it keeps none.
    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError>;

    /// Originals that share a word with `words`, best first, at most `limit`.
    fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundOriginal>, ArchiveError>;

    /// The view in force; 0 for the original.
    fn head(&self) -> Result<u64, ArchiveError>;

    /// Keeps a view and puts it in force, if `parent` still is; its number. Otherwise nothing is kept.
    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError>;

    /// Puts view `to` (0: none) in force, if `from` still is.
    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError>;

    /// A view.
    fn view(&self, number: u64) -> Result<Option<KeptView>, ArchiveError>;

    /// The views, oldest first, each with its parent.
    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError>;
}

/// The view to go to from `head` so that the last compaction isn't; `None` if none is in force.
pub fn undone(history: &[(u64, u64)], head: u64) -> Option<u64> {
    history.iter().find(|(number, _)| *number == head).map(|(_, parent)| *parent)
}

/// The views that `view` goes back to, the nearest first, and 0 last; nothing behind 0.
pub fn before(history: &[(u64, u64)], view: u64) -> Vec<u64> {
    let parent = |view: &u64| undone(history, *view);
    // A parent is older than its view: whatever else a history says, that ends.
    std::iter::successors(parent(&view), parent).take(history.len()).collect()
}

/// The view to go to from `head` to redo the last undone compaction.
pub fn redone(history: &[(u64, u64)], head: u64) -> Option<u64> {
    let newest = history.iter().rev().find(|(_, parent)| *parent == head);
    newest.map(|(number, _)| *number)
}
