//! Whether anything happens on a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The requests of one connection. Whatever is under way holds it.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    begun: AtomicUsize,
    /// Somebody else needs its place.
    closing: Notify,
}

impl Activity {
    /// A request begins, and ends when what this gives is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Arc<Self> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Arc::clone(self)
    }

    /// Asks for its end.
    pub(crate) fn close(&self) {
        self.closing.notify_one();
    }

    /// Waits until somebody has asked for that.
    pub(crate) async fn closed(&self) {
        self.closing.notified().await;
    }

    /// Requests that have begun so far.
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Whether nothing is under way; asked by the one who made it.
    pub(crate) fn is_idle(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 2
    }
}
