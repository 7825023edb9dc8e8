//! What an observer is told, when it happens. Sizes and names, never content.

use crate::plan::{PlanStep, Reached};

/// Something that happened in a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A request was looked at.
    Considered {
        /// Its tokens.
        tokens: u64,
        /// Where to land.
        target: u64,
    },
    /// A compaction begins.
    Started,
    /// A strategy's edits were made.
    Applied(PlanStep),
    /// A summarizer is asked.
    SummarizerCalled {
        /// Its name.
        by: String,
        /// How many requests go out.
        requests: usize,
    },
    /// What a summarizer answered isn't admitted.
    SummarizerRejected {
        /// Its name.
        by: String,
        /// Why.
        fault: String,
    },
    /// A summarizer gave nothing that can be used; the next one is asked, if there is one.
    SummarizerFellBack {
        /// Its name.
        by: String,
        /// Why.
        why: String,
    },
    /// Somebody else is asked for the whole compaction.
    CompactorCalled {
        /// Its name.
        by: String,
    },
    /// It gave no view that can be used; the next one is asked, or the compaction is done here.
    CompactorFellBack {
        /// Its name.
        by: String,
        /// Why.
        why: String,
    },
    /// What was tried can't be used; the next way is tried.
    FellBack {
        /// Why.
        why: String,
    },
    /// The compaction is over.
    Finished {
        /// Where it landed.
        reached: Reached,
        /// Tokens after.
        tokens: u64,
    },
    /// The compaction failed; the old view is in force.
    Failed {
        /// Why.
        error: String,
    },
    /// The compaction was cancelled; the old view is in force.
    Cancelled,
}

/// Is told what happens. Must not block.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Is called once for each event, in order.
    fn observe(&self, event: &Event);
}
