//! A compaction under way, run beside the other work of its task.

use std::pin::Pin;
use std::sync::Arc;

use epitome::CompactError;
use epitome::engine::events::ThreadScope;
use epitome::engine::{Compaction, Outcome};
use epitome::session::{Begun, Committed, SessionId, Sessions, Ticket};
use epitome::trigger::Cause;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::aside::drive;
use crate::carrier::Surroundings;
use crate::caught::caught_in;
use crate::event::Event;
use crate::shared::Shared;

/// A compaction that was begun. When it is dropped before its end, run or not, the machine is told, so that nobody
/// waits for it.
pub(crate) struct Flight {
    shared: Arc<Shared>,
    session: SessionId,
    ticket: Ticket,
    cause: Cause,
    compaction: Option<Compaction>,
    surroundings: Option<Surroundings>,
    is_over: bool,
}

impl Flight {
    pub(crate) fn new(
        shared: Arc<Shared>,
        session: SessionId,
        begun: Begun,
        surroundings: Option<Surroundings>,
    ) -> Self {
        let Begun { ticket, cause, compaction } = begun;
        let compaction = Some(compaction);
        Flight { shared, session, ticket, cause, compaction, surroundings, is_over: false }
    }

    /// Runs the compaction to its end and brings it back; `bytes` is the length of what it compacts.
    pub(crate) fn run(mut self, bytes: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        // Its observer is asked here, where the request is: what runs may do so in a task of its own.
        let scope = self.compaction.as_ref().map(Compaction::around);
        match self.surroundings.take() {
            Some(surroundings) => surroundings.around(self.run_within(scope, bytes)),
            None => Box::pin(self.run_within(scope, bytes)),
        }
    }

    async fn run_within(mut self, scope: Option<ThreadScope>, bytes: usize) {
        let (session, ticket) = (self.session, self.ticket);
        let Some((compaction, scope)) = self.compaction.take().zip(scope) else { return };
        self.shared.tell(&Event::Begun { session, cause: self.cause.clone() });
        // The client has its history, and so the originals.
        let outcome = caught_in(drive(compaction, scope)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(CompactError::Panicked(panic)));
        let land = move |sessions: &mut Sessions, now| {
            let committed = sessions.commit(session, ticket, outcome.as_ref(), now);
            (outcome, committed)
        };
        let landed = self.shared.ask(Shared::part_of(session), bytes, land).await;
        self.is_over = true;
        let (outcome, committed) =
            landed.unwrap_or((Err(CompactError::Cancelled), Committed::Failed));
        self.shared.landed(&self.event(outcome, committed));
    }

    /// The same, where there is a runtime that goes on with it while the caller isn't polled: others may wait for it. When the
    /// caller goes away it ends.
    pub(crate) async fn through(self, bytes: usize) {
        let run = self.run(bytes);
        match Handle::try_current() {
            Ok(runtime) => {
                let mut task = JoinSet::new();
                task.spawn_on(run, &runtime);
                task.join_next().await;
            }
            Err(_) => run.await,
        }
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
        if self.compaction.is_some() {
            // What ends has begun.
            shared.tell(&Event::Begun { session, cause: self.cause.clone() });
        }
        self.shared.ask_later(
            Shared::part_of(session),
            move |sessions, now| {
                sessions.commit(session, ticket, Err(&CompactError::Cancelled), now);
            },
            move |_| shared.landed(&event),
        );
    }
}
