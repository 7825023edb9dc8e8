//! What is told of requests and conversations, for logs and spans: figures, never content or credentials.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tracing::Span;

/// What happened in a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyEvent {
    /// The head of an answer to a request is there.
    Answered {
        /// What it was for: `messages`, `chat`, `responses`, `gemini`, `interactions`, `count`, `other`.
        api: &'static str,
        /// The status of the answer.
        status: u16,
        /// Until the head was there.
        took: Duration,
    },
    /// A compaction of a conversation is due, and waits until somebody agrees; told once for each.
    Waiting {
        /// Its API: `messages`, `chat`, `responses`, `gemini`, `interactions`.
        api: &'static str,
        /// Its name at `/ui`, where anybody with the management token may agree.
        conversation: String,
        /// Why a compaction is due, in words.
        why: String,
    },
    /// Something that a compaction was to be done with failed, as a summarizer: it was done without.
    FellBack {
        /// The conversation's API.
        api: &'static str,
        /// Its name at `/ui`.
        conversation: String,
        /// What failed, and why, in words.
        why: String,
    },
}

/// An observer, called from inside the call that it observes.
#[derive(Clone)]
pub struct ProxyObserver(Arc<dyn Fn(&ProxyEvent) + Send + Sync>);

impl ProxyObserver {
    /// Calls `observe` for each event.
    pub fn new(observe: impl Fn(&ProxyEvent) + Send + Sync + 'static) -> Self {
        ProxyObserver(Arc::new(observe))
    }

    pub(crate) fn tell(&self, event: &ProxyEvent) {
        (self.0)(event);
    }
}

/// Ties the span of a model call to the one in its headers (`traceparent`), before it is entered. The headers go on unchanged.
#[derive(Clone)]
pub struct SpanParent(Arc<Tie>);

type Tie = dyn Fn(&Span, &HeaderMap) + Send + Sync;

impl SpanParent {
    /// Calls `tie` for each span.
    pub fn new(tie: impl Fn(&Span, &HeaderMap) + Send + Sync + 'static) -> Self {
        SpanParent(Arc::new(tie))
    }

    pub(crate) fn tie(&self, span: &Span, headers: &HeaderMap) {
        (self.0)(span, headers);
    }
}

impl fmt::Debug for SpanParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpanParent")
    }
}

impl fmt::Debug for ProxyObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyObserver")
    }
}
