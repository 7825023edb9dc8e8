//! Whether anything happens on a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The requests of one connection. Whatever is under way holds it.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    begun: AtomicUsize,
}

impl Activity {
    /// A request begins, and ends when what this gives is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Arc<Self> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Arc::clone(self)
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
