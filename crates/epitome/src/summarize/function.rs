//! Any function as a summarizer: the host's own agent loop, for one.

use std::future::Future;
use std::sync::Arc;

use super::{Answering, SummarizeError, Summarizer, Summary, SummaryRequest};
use crate::function::Function;

/// A summarizer that asks `function`.
///
/// ```
/// use epitome::summarize::{Summary, from_fn};
///
/// let mine = from_fn("mine", |request| async move { Ok(Summary::new(request.prompt())) });
/// assert_eq!(mine.name(), "mine");
/// ```
pub fn from_fn<F, A>(name: impl Into<String>, function: F) -> Arc<dyn Summarizer>
where
    F: Fn(Arc<SummaryRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Summary, SummarizeError>> + Send + 'static,
{
    Arc::new(Function { name: name.into(), call: function })
}

impl<F, A> Summarizer for Function<F>
where
    F: Fn(Arc<SummaryRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Summary, SummarizeError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        Box::pin((self.call)(request))
    }
}
