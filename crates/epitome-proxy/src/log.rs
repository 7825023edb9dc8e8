//! What is told of requests and conversations, for logs: figures, never content or credentials.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// What it was for: `messages`, `chat`, `responses`, `gemini`, `interactions`, `count`, `other`.
    pub api: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// Until the head of the answer was there.
    pub took: Duration,
}

/// Somebody who is told of each request, from inside the call.
#[derive(Clone)]
pub struct RequestObserver(Arc<dyn Fn(&Answered) + Send + Sync>);

impl RequestObserver {
    /// Calls `observe` once for each request, when the head of its answer is there.
    pub fn new(observe: impl Fn(&Answered) + Send + Sync + 'static) -> Self {
        RequestObserver(Arc::new(observe))
    }

    pub(crate) fn tell(&self, answered: &Answered) {
        (self.0)(answered);
    }
}

impl fmt::Debug for RequestObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestObserver")
    }
}

/// A conversation of which a compaction is due, and waits until somebody agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// Its API: `messages`, `chat`, `responses`, `gemini`, `interactions`.
    pub api: &'static str,
    /// Its name at `/ui`, where anybody with the management token may agree.
    pub conversation: String,
    /// Why a compaction is due, in words.
    pub why: String,
}

/// Somebody who is told of each conversation that begins to wait, from inside a call.
#[derive(Clone)]
pub struct WaitObserver(Arc<dyn Fn(&Waiting) + Send + Sync>);

impl WaitObserver {
    /// Calls `observe` once for each compaction that waits.
    pub fn new(observe: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        WaitObserver(Arc::new(observe))
    }

    pub(crate) fn tell(&self, waiting: &Waiting) {
        (self.0)(waiting);
    }
}

impl fmt::Debug for WaitObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WaitObserver")
    }
}
