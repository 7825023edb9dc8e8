//! A compaction under way, run beside the other work of its task.

use std::sync::Arc;

use epitome::CompactError;
use epitome::engine::Outcome;
use epitome::session::{Begun, Committed, SessionId, Sessions, Ticket};
use epitome::trigger::Cause;

use crate::aside::drive;
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
    /// Runs the compaction to its end and brings it back; `bytes` is the length of what it compacts.
    pub(crate) async fn run(shared: Arc<Shared>, session: SessionId, begun: Begun, bytes: usize) {
        let Begun { ticket, cause, compaction } = begun;
        let mut flight = Flight { shared, session, ticket, cause, is_over: false };
        // The client has its history, and so the originals.
        let outcome = caught_in(drive(compaction)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(CompactError::Panicked(panic)));
        let land = move |sessions: &mut Sessions, now| {
            let committed = sessions.commit(session, ticket, outcome.as_ref(), now);
            (outcome, committed)
        };
        let landed = flight.shared.ask(bytes, land).await;
        flight.is_over = true;
        let (outcome, committed) =
            landed.unwrap_or((Err(CompactError::Cancelled), Committed::Failed));
        flight.shared.landed(&flight.event(outcome, committed));
    }

    fn event(&self, outcome: Result<Outcome, CompactError>, committed: Committed) -> Event {
        Event::Compacted {
            session: self.session,
            cause: self.cause.clone(),
            receipt: outcome.map(|outcome| Box::new(outcome.receipt)),
            committed,
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (shared, session, ticket) = (Arc::clone(&self.shared), self.session, self.ticket);
        let event = self.event(Err(CompactError::Cancelled), Committed::Failed);
        self.shared.ask_later(
            move |sessions, now| {
                sessions.commit(session, ticket, Err(&CompactError::Cancelled), now);
            },
            move || shared.landed(&event),
        );
    }
}
