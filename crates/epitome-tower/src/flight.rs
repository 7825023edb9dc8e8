//! A compaction under way, run between the other work of its task.

use std::sync::Arc;

use epitome::CompactError;
use epitome::engine::{Drive, Outcome};
use epitome::session::{Begun, Committed, SessionId, Ticket};
use epitome::trigger::Cause;

use crate::caught::caught_in;
use crate::event::Event;
use crate::layer::Shared;

/// A compaction under way. When it is dropped before its end, the machine is told, so that nobody
/// waits for it.
pub(crate) struct Flight {
    shared: Arc<Shared>,
    session: SessionId,
    ticket: Ticket,
    cause: Cause,
    is_over: bool,
}

impl Flight {
    /// Runs the compaction to its end and brings it back.
    pub(crate) async fn run(shared: Arc<Shared>, session: SessionId, begun: Begun) -> Committed {
        let Begun { ticket, cause, compaction } = begun;
        let mut flight = Flight { shared, session, ticket, cause, is_over: false };
        // The client has its history, and so the originals.
        let outcome = caught_in(Drive::new(compaction)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(CompactError::Panicked(panic)));
        flight.end(outcome.map(Box::new))
    }

    fn end(&mut self, outcome: Result<Box<Outcome>, CompactError>) -> Committed {
        self.is_over = true;
        let brought = outcome.as_ref().map(|outcome| &**outcome);
        let commit = self
            .shared
            .ask(|sessions, now| sessions.commit(self.session, self.ticket, brought, now));
        let committed = commit.unwrap_or(Committed::Failed);
        self.shared.settled.notify_waiters();
        self.shared.tell(&Event::Compacted {
            session: self.session,
            cause: self.cause.clone(),
            receipt: outcome.map(|outcome| Box::new(outcome.receipt)),
            committed: committed.clone(),
        });
        committed
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(Err(CompactError::Cancelled));
        }
    }
}
