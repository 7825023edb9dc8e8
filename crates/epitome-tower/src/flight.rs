//! A compaction under way, run between the other work of its task.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use epitome::CompactError;
use epitome::engine::{Outcome, Step};
use epitome::session::{Begun, Committed, SessionId, Ticket};
use epitome::trigger::Cause;

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
        let Begun { ticket, cause, mut compaction } = begun;
        let mut flight = Flight { shared, session, ticket, cause, is_over: false };
        let outcome = loop {
            match compaction.step() {
                Step::Done(outcome) => break outcome,
                // The client has its history, and so the originals.
                _ => others_first().await,
            }
        };
        flight.end(outcome)
    }

    fn end(&mut self, outcome: Result<Box<Outcome>, CompactError>) -> Committed {
        self.is_over = true;
        let now = self.shared.now();
        let brought = outcome.as_ref().map(|outcome| &**outcome);
        let committed = self.shared.sessions().commit(self.session, self.ticket, brought, now);
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

/// Lets other tasks of the runtime do something.
async fn others_first() {
    let mut waited = false;
    poll_fn(|context| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
