//! What an observer is told, when it happens: sizes and names. Of content there is only what reasons quote.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::JobContext;
use crate::plan::PlanStep;
use crate::receipt::Receipt;
use crate::summarize::{FailureKind, Fault};
use crate::trigger::Cause;
use crate::wire::Format;

/// Tells an observer's compactions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompactionId(pub(crate) u64);

impl CompactionId {
    /// Its number in this process.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// So much of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Messages.
    pub entries: usize,
    /// Tokens.
    pub tokens: u64,
}

/// Something that happened in a compaction, reported when it happens. A request under consideration is
/// [`Event::Considered`]; a [`Event::Started`] has exactly one [`Event::Finished`], [`Event::Failed`] or
/// [`Event::Cancelled`]. A compaction that ends before it started ends without an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// A request was looked at.
    Considered {
        /// Its tokens.
        tokens: u64,
        /// Where to land.
        target: u64,
        /// What the caller says.
        #[serde(default, skip_serializing_if = "JobContext::is_empty")]
        about: JobContext,
    },
    /// A hook forbids the compaction; nothing starts.
    Vetoed {
        /// Its name.
        by: String,
        /// Why.
        why: String,
    },
    /// A hook gave no answer that can be used; the compaction goes on without it.
    HookFailed {
        /// Its name.
        by: String,
        /// Why.
        why: String,
    },
    /// A compaction begins.
    Started {
        /// The request's format.
        format: Format,
        /// The model, where the request names one.
        model: Option<String>,
        /// The reason, if one was given.
        cause: Option<Cause>,
        /// The caller's context, with the wishes of hooks.
        #[serde(default, skip_serializing_if = "JobContext::is_empty")]
        about: JobContext,
    },
    /// A strategy's edits were made. Where hooks were shown a plan first, its edits are made once it starts.
    Applied(PlanStep),
    /// A summarizer is asked.
    SummarizerCalled {
        /// Its name.
        by: String,
        /// How many requests go out.
        requests: usize,
    },
    /// A summarizer's answer isn't admitted.
    SummarizerRejected {
        /// Its name.
        by: String,
        /// Why.
        fault: Fault,
    },
    /// A summarizer gave nothing that can be used; the next one is asked, if there is one.
    SummarizerFellBack {
        /// Its name.
        by: String,
        /// Why.
        why: String,
        /// What kind of failure, where it gave no text at all.
        kind: Option<FailureKind>,
    },
    /// Another compactor is asked for the whole compaction.
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
    /// An attempt can't be used, including its reported edits; the next way is tried.
    FellBack {
        /// Why.
        why: String,
    },
    /// The compaction is over, and there is a view.
    Finished {
        /// The receipt.
        receipt: Arc<Receipt>,
        /// Hidden messages, and the saved tokens, including those of edits.
        dropped: Amount,
        /// Messages that are shown in part.
        edited: usize,
        /// The shown originals, without the checkpoint.
        retained: Amount,
    },
    /// The compaction failed; the old view is in force.
    Failed {
        /// Why.
        error: String,
    },
    /// The compaction was cancelled; the old view is in force.
    Cancelled,
}

/// What stands around a stretch of a compaction that is done on another thread: does its work, once.
pub type ThreadScope = Box<dyn FnOnce(&mut dyn FnMut()) + Send>;

/// Gets events. It must neither block nor panic.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Is called once for each event, in the order of its compaction; several may be under way.
    fn observe(&self, compaction: CompactionId, event: &Event);

    /// Is asked by a driver before a stretch that it does on another thread: an observer that tells by its thread what
    /// belongs to what brings that along.
    fn around(&self) -> ThreadScope {
        Box::new(|work| work())
    }
}
