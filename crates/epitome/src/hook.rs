//! Hooks. Before a compaction, a caller's code may forbid it, write its summary, add instructions and add pins.
//! Its answer changes the request for a view, never the checks. After it, an
//! [`Observer`](crate::events::Observer) gets the outcome.
//!
//! Nothing in this module waits: the engine returns the question ([`Question`]), and its driver brings the
//! answer ([`crate::engine::Drive`] does; a driver that can't wait takes only answers that are ready).

use std::fmt;
use std::future::Future;
use std::pin::Pin as Pinned;
use std::sync::Arc;

use crate::context::{JobContext, Metadata};
use crate::function::Function;
use crate::guard::Pin;
use crate::request::Request;
use crate::summarize::{SummarizeError, Summary};
use crate::trigger::Cause;

/// A hook's promised wishes.
pub type Heeding = Pinned<Box<dyn Future<Output = Result<Wish, SummarizeError>> + Send>>;

/// Asked before each compaction, once one is certain.
///
/// It keeps its own time: an answer that doesn't come is its failure, and the compaction goes on without it.
pub trait Hook: fmt::Debug + Send + Sync {
    /// Its name, as receipts spell it.
    fn name(&self) -> &str;

    /// Begins to answer.
    fn before(self: Arc<Self>, proposal: Arc<Proposal>) -> Heeding;
}

/// The hooks before a compaction.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// The hooks, one after the other; each sees the instructions of those before.
    pub chain: Vec<Arc<dyn Hook>>,
}

impl From<Arc<dyn Hook>> for Hooks {
    fn from(hook: Arc<dyn Hook>) -> Self {
        Hooks { chain: vec![hook] }
    }
}

/// A compaction that is about to be made.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The request, repaired if it was broken: answers use its messages.
    pub request: Request,
    /// Tokens of all of it.
    pub tokens: u64,
    /// Where it is to land, in tokens.
    pub target: u64,
    /// The reason, if one was given.
    pub cause: Option<Cause>,
    /// Messages that the checkpoint would stand for, as the built-in strategies plan it so far; in order.
    pub folds: Vec<usize>,
    /// What the caller says, and instructions so far.
    pub about: JobContext,
}

/// A hook's wishes. The default is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// A veto for this time, with the reason; it may be empty.
    pub veto: Option<String>,
    /// The summary, instead of what summarizers would write. It is admitted as any other one, but that its
    /// sections are its own, and that it may name whatever the conversation does.
    pub summary: Option<Summary>,
    /// Further instructions for summarizers and whole compactors.
    pub instructions: Vec<String>,
    /// Further pins.
    pub pins: Vec<Pin>,
    /// What else it wants, and why that can't be read; the receipt's fallbacks tell it.
    pub unread: Vec<String>,
    /// Metadata of its answer.
    pub metadata: Metadata,
}

/// A question for a hook.
#[derive(Clone, Debug)]
pub struct Question {
    /// The hook.
    pub by: Arc<dyn Hook>,
    /// About what.
    pub proposal: Arc<Proposal>,
}

/// A hook that asks `function`.
///
/// ```
/// use epitome::engine::hook::{Wish, from_fn};
///
/// let careful = from_fn("careful", |proposal| async move {
///     let is_small = proposal.tokens < 50_000;
///     Ok(Wish { veto: is_small.then(|| "small enough".to_owned()), ..Wish::default() })
/// });
/// assert_eq!(careful.name(), "careful");
/// ```
pub fn from_fn<F, A>(name: impl Into<String>, function: F) -> Arc<dyn Hook>
where
    F: Fn(Arc<Proposal>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Wish, SummarizeError>> + Send + 'static,
{
    Arc::new(Function { name: name.into(), call: function })
}

impl<F, A> Hook for Function<F>
where
    F: Fn(Arc<Proposal>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Wish, SummarizeError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn before(self: Arc<Self>, proposal: Arc<Proposal>) -> Heeding {
        Box::pin((self.call)(proposal))
    }
}
