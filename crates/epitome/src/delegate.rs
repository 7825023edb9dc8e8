//! Whole compactions by others: a remote process, or a caller's own code.
//!
//! A compactor returns the elements of a view, never messages: a fate for every entry, edits of slots, and one
//! summary. So every law is checked on its answer as on the engine's own plans. If an answer fails, the next
//! compactor in the chain is asked, and in the end the engine does it. Nothing in this module waits: the engine
//! returns the question ([`Delegation`]), and its driver brings the answer ([`crate::engine::Drive`] does).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::function::Function;
use crate::request::Request;
use crate::summarize::{
    Clock, End, OnFailure, RestingSummarizer, Rests, Spent, SummarizeError, Summary,
};
use crate::view::Fate;

pub use crate::context::{JobContext, Metadata};

/// A promised answer.
pub type Compacting = Pin<Box<dyn Future<Output = Result<Decision, SummarizeError>> + Send>>;

/// Decides what becomes of every entry of a request.
///
/// It keeps its own time: an answer that doesn't come is its failure, not its caller's.
pub trait Compact: fmt::Debug + Send + Sync {
    /// Its name, as receipts spell it.
    fn name(&self) -> &str;

    /// Begins to answer.
    fn compact(self: Arc<Self>, job: Arc<Job>) -> Compacting;

    /// Gets the fate of its answer. A compactor that skips has done its job.
    fn settled(&self, end: End) {
        let _ = end;
    }
}

/// Who is asked for whole compactions, with which instructions, and what happens if no answer can be used.
#[derive(Clone, Debug, Default)]
pub struct Compactors {
    /// The compactors, in order.
    pub chain: Vec<Arc<dyn Compact>>,
    /// Wishes in words that they alone are told.
    pub instructions: Vec<String>,
    /// What happens in the end. `Extractive` is the compactor's own strategies, with its summarizers.
    pub on_failure: OnFailure,
}

impl From<Arc<dyn Compact>> for Compactors {
    /// This one alone is asked; if it fails the compactor's own strategies do it.
    fn from(compactor: Arc<dyn Compact>) -> Self {
        Compactors { chain: vec![compactor], ..Compactors::default() }
    }
}

impl Compactors {
    /// The same, each of the chain resting by `clock` when it fails again and again, as
    /// [`Summaries::resting`](crate::summarize::Summaries::resting) has summarizers do.
    #[must_use]
    pub fn resting(self, clock: &Clock) -> Self {
        let rested = |by| -> Arc<dyn Compact> {
            let rests =
                Rests::new(RestingSummarizer::FAILURES, RestingSummarizer::REST, Arc::clone(clock));
            Arc::new(Resting { by, rests })
        };
        Compactors { chain: self.chain.into_iter().map(rested).collect(), ..self }
    }
}

/// A compactor that rests after failures in a row.
#[derive(Debug)]
struct Resting {
    by: Arc<dyn Compact>,
    rests: Rests,
}

impl Compact for Resting {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn compact(self: Arc<Self>, job: Arc<Job>) -> Compacting {
        match self.rests.refused() {
            Some(resting) => Box::pin(std::future::ready(Err::<Decision, _>(resting))),
            None => Arc::clone(&self.by).compact(job),
        }
    }

    fn settled(&self, end: End) {
        self.rests.settled(end);
        self.by.settled(end);
    }
}

/// The question: what to compact.
#[derive(Clone, Debug)]
pub struct Job {
    /// The request, repaired if it was broken: answers use its entries and slots.
    pub request: Request,
    /// Tokens of all of it.
    pub tokens: u64,
    /// Where to land, in tokens of the whole prompt, checkpoint included.
    pub target: u64,
    /// Facts about each entry beside its content.
    pub entries: Vec<EntryFacts>,
    /// Why the compaction is made, in words, where that is known.
    pub reason: Option<String>,
    /// The caller's context, with the wishes of hooks.
    pub about: JobContext,
}

/// The facts about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFacts {
    /// Its unit, which stays or leaves as a whole.
    pub unit: usize,
    /// Its tokens.
    pub tokens: u64,
    /// Whether it may leave, with its unit.
    pub may_leave: bool,
    /// For each of its slots, whether it may be edited.
    pub may_edit: Vec<bool>,
}

/// A compactor's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Everything stays as it is this time.
    Skip(Skip),
    /// The proposed view.
    Compacted(ProposedView),
}

/// Why everything stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skip {
    /// In words; it may be empty.
    pub why: String,
    /// Calls and their cost.
    pub spent: Spent,
    /// Metadata of the answer.
    pub metadata: Metadata,
}

impl Skip {
    /// For this reason, which cost nothing.
    pub fn new(why: impl Into<String>) -> Self {
        Skip { why: why.into(), ..Skip::default() }
    }
}

/// What becomes of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProposedView {
    /// For every entry in order. Reasons are ours: those of the answer are ignored.
    pub fates: Vec<Fate>,
    /// The summary of the folded entries. It is checked as any other summary, except for its
    /// sections; without one the checkpoint has no summary.
    pub summary: Option<Summary>,
    /// Calls and their cost, beside those of the summary.
    pub spent: Spent,
    /// Metadata of the answer.
    pub metadata: Metadata,
}

/// A question for a compactor.
#[derive(Clone, Debug)]
pub struct Delegation {
    /// The compactor.
    pub by: Arc<dyn Compact>,
    /// For what.
    pub job: Arc<Job>,
}

/// A compactor that asks `function`.
///
/// ```
/// use epitome::engine::delegate::{Skip, Decision, from_fn};
///
/// let idle = from_fn("idle", |_job| async { Ok(Decision::Skip(Skip::new("not today"))) });
/// assert_eq!(idle.name(), "idle");
/// ```
pub fn from_fn<F, A>(name: impl Into<String>, function: F) -> Arc<dyn Compact>
where
    F: Fn(Arc<Job>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Decision, SummarizeError>> + Send + 'static,
{
    Arc::new(Function { name: name.into(), call: function })
}

impl<F, A> Compact for Function<F>
where
    F: Fn(Arc<Job>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Decision, SummarizeError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn compact(self: Arc<Self>, job: Arc<Job>) -> Compacting {
        Box::pin((self.call)(job))
    }
}
