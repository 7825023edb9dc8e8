//! Any function as a summarizer: the host's own agent loop, for one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Answering, SummarizeError, Summarizer, Summary, SummaryRequest};
use crate::function::Function;

/// A summarizer that asks `function`, which returns the text, or a [`Summary`] with the cost. It is given any number of
/// tokens at once; [`from_fn_within`] sets a limit.
///
/// ```
/// use epitome::summarize::from_fn;
///
/// let mine = from_fn("mine", |request| async move { Ok(request.prompt()) });
/// assert_eq!(mine.name(), "mine");
/// ```
pub fn from_fn<F, A, T>(name: impl Into<String>, function: F) -> Arc<dyn Summarizer>
where
    F: Fn(Arc<SummaryRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<T, SummarizeError>> + Send + 'static,
    T: Into<Summary> + Send + 'static,
{
    Arc::new(Function { name: name.into(), call: Windowed { window: None, function } })
}

/// The same for a model with a window of this many tokens, prompt and answer together: a longer history is split into
/// parts.
///
/// ```
/// use epitome::summarize::from_fn_within;
///
/// let small = from_fn_within("small", 8_000, |request| async move { Ok(request.prompt()) });
/// assert_eq!(small.window(), Some(8_000));
/// ```
pub fn from_fn_within<F, A, T>(
    name: impl Into<String>,
    window: u64,
    function: F,
) -> Arc<dyn Summarizer>
where
    F: Fn(Arc<SummaryRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<T, SummarizeError>> + Send + 'static,
    T: Into<Summary> + Send + 'static,
{
    Arc::new(Function { name: name.into(), call: Windowed { window: Some(window), function } })
}

/// A function and the window of its model.
struct Windowed<F> {
    window: Option<u64>,
    function: F,
}

impl<F, A, T> Summarizer for Function<Windowed<F>>
where
    F: Fn(Arc<SummaryRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<T, SummarizeError>> + Send + 'static,
    T: Into<Summary> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<u64> {
        self.call.window
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        Box::pin(Text(Box::pin((self.call.function)(request))))
    }
}

/// An answer whose text is still to become a summary.
struct Text<A>(Pin<Box<A>>);

impl<A, T> Future for Text<A>
where
    A: Future<Output = Result<T, SummarizeError>>,
    T: Into<Summary>,
{
    type Output = Result<Summary, SummarizeError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context).map(|answer| answer.map(Into::into))
    }
}
