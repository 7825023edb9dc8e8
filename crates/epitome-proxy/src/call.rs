//! A call of a model while it is answered: what the engine says of it, and whom it waits for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use epitome::engine::receipt::Stats;
use epitome::session::SessionId;
use epitome_tower::Event;
use tokio::task::futures::TaskLocalFuture;
use tokio::time::{Instant, sleep_until};

tokio::task_local! {
    static CALL: Arc<Call>;
}

/// The least between two looks at whether the upstream has answered.
const LEAST: Duration = Duration::from_millis(10);

/// A call of a model while it is answered.
#[derive(Debug)]
pub(crate) struct Call {
    state: Mutex<CallState>,
}

#[derive(Debug)]
struct CallState {
    /// The conversation, and the request as it goes out; of a retry the second.
    sent: Option<(SessionId, Stats)>,
    /// Whether that is as it came.
    is_untouched: bool,
    /// What went to the upstream last.
    body: Option<Bytes>,
    /// Why it goes out as it came, where an error is why.
    failed: Option<String>,
    /// Since when the proxy itself has been at work; `None` while the upstream is.
    at_work: Option<Instant>,
}

impl Call {
    pub(crate) fn begun() -> Arc<Self> {
        Arc::new(Call {
            state: Mutex::new(CallState {
                sent: None,
                is_untouched: true,
                body: None,
                failed: None,
                at_work: Some(Instant::now()),
            }),
        })
    }

    /// Answers it.
    pub(crate) fn answered_by<F: Future>(
        self: &Arc<Self>,
        answer: F,
    ) -> TaskLocalFuture<Arc<Self>, F> {
        CALL.scope(Arc::clone(self), answer)
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation, and the request as it went out last.
    pub(crate) fn sent(&self) -> Option<(SessionId, Stats)> {
        self.state().sent.clone()
    }

    /// Whether that is as it came.
    pub(crate) fn is_untouched(&self) -> bool {
        self.state().is_untouched
    }

    /// What went to the upstream last.
    pub(crate) fn body(&self) -> Option<Bytes> {
        self.state().body.clone()
    }

    /// Comes once the proxy itself has been at work for so long.
    pub(crate) async fn held_up(&self, most: Duration) {
        loop {
            let now = Instant::now();
            let until = match self.state().at_work {
                Some(since) if since + most <= now => return,
                Some(since) => since + most,
                // The upstream's answer is looked for again.
                None => now + (most / 4).max(LEAST),
            };
            sleep_until(until).await;
        }
    }
}

/// Takes what the engine tells of the call that this task answers.
pub(crate) fn hear(event: &Event) {
    // Calls that nobody answers here have no place for it.
    let _elsewhere = CALL.try_with(|call| {
        let mut state = call.state();
        match event {
            Event::Sent { session, stats, is_untouched, .. } => {
                state.sent = Some((*session, stats.clone()));
                state.is_untouched = *is_untouched;
                state.failed.take_if(|_| !is_untouched);
            }
            Event::Uncompacted { why, .. } => state.failed = Some(why.clone()),
            Event::Panicked { what } => state.failed = Some(what.clone()),
            _ => {}
        }
    });
}

/// Why the call that this task answers goes out as it came, where an error is why; told once.
pub(crate) fn failed() -> Option<String> {
    CALL.try_with(|call| call.state().failed.take()).ok().flatten()
}

/// The conversation of the call that this task answers.
pub(crate) fn session() -> Option<SessionId> {
    CALL.try_with(|call| Some(call.state().sent.as_ref()?.0)).ok().flatten()
}

/// What the upstream does with `body`, for the call that this task answers.
pub(crate) async fn upstream<F: Future>(body: Option<Bytes>, asking: F) -> F::Output {
    let _elsewhere = CALL.try_with(|call| call.state().body = body);
    let turn = |at_work| {
        let _elsewhere = CALL.try_with(|call| call.state().at_work = at_work);
    };
    turn(None);
    let answered = asking.await;
    turn(Some(Instant::now()));
    answered
}
