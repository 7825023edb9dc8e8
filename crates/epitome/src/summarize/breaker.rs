//! Who fails too often isn't asked for a while.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{
    AgentPrompt, Answering, End, FailureKind, SummarizeError, Summarizer, Summary, SummaryRequest,
};
use crate::model::Model;

/// Tells how long something has been running: the caller's own clock.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A summarizer that rests after failures in a row. After the rest it is tried once; if that fails it
/// rests for twice as long, up to an hour.
#[derive(Debug)]
pub struct RestingSummarizer {
    inner: Arc<dyn Summarizer>,
    rests: Rests,
}

/// The settings of a rest.
pub(crate) struct Rests {
    after: u32,
    rest: Duration,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    failures: u32,
    until: Option<Duration>,
}

/// No rest is longer.
const LONGEST: Duration = Duration::from_hours(1);

impl RestingSummarizer {
    /// Failures in a row after which a summarizer rests.
    pub const FAILURES: u32 = 3;
    /// How long, the first time.
    pub const REST: Duration = Duration::from_secs(30);

    /// `inner`, resting for `rest` after this many failures in a row.
    pub fn around(inner: Arc<dyn Summarizer>, after: u32, rest: Duration, clock: Clock) -> Self {
        RestingSummarizer { inner, rests: Rests::new(after, rest, clock) }
    }
}

impl Rests {
    pub(crate) fn new(after: u32, rest: Duration, clock: Clock) -> Self {
        Rests { after: after.max(1), rest, clock, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it can't be asked now, if so.
    pub(crate) fn refused(&self) -> Option<SummarizeError> {
        let now = (self.clock)();
        let until = self.state().until.filter(|until| *until > now)?;
        let left = until.saturating_sub(now).as_secs().max(1);
        Some(SummarizeError::new(FailureKind::Resting, format!("{left} s more")))
    }

    pub(crate) fn settled(&self, end: End) {
        let now = (self.clock)();
        let mut state = self.state();
        match end {
            End::Admitted => *state = State::default(),
            // It wasn't asked.
            End::GaveUp if state.until.is_some_and(|until| until > now) => {}
            End::GaveUp => {
                state.failures = state.failures.saturating_add(1);
                if let Some(more) = state.failures.checked_sub(self.after) {
                    let rest = self.rest.saturating_mul(1 << more.min(12)).min(LONGEST);
                    state.until = Some(now.saturating_add(rest));
                }
            }
        }
    }
}

impl fmt::Debug for Rests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rests").field("state", &*self.state()).finish_non_exhaustive()
    }
}

impl Summarizer for RestingSummarizer {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn window(&self) -> Option<u64> {
        self.inner.window()
    }

    fn shares_cache(&self, prompt: &AgentPrompt) -> Option<&Model> {
        self.inner.shares_cache(prompt)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        match self.rests.refused() {
            Some(resting) => Box::pin(std::future::ready(Err::<Summary, _>(resting))),
            None => Arc::clone(&self.inner).summarize(request),
        }
    }

    fn settled(&self, end: End) {
        self.rests.settled(end);
        self.inner.settled(end);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::from_fn;
    use super::*;

    #[test]
    fn three_failures_are_followed_by_rests_that_get_longer() {
        let now = Arc::new(AtomicU64::new(0));
        let clock: Clock = {
            let now = Arc::clone(&now);
            Arc::new(move || Duration::from_secs(now.load(Ordering::Relaxed)))
        };
        let inner = from_fn("m", |_| async { Ok(Summary::new("")) });
        let breaker = RestingSummarizer::around(
            inner,
            RestingSummarizer::FAILURES,
            RestingSummarizer::REST,
            clock,
        );
        let rests = |at: u64| {
            now.store(at, Ordering::Relaxed);
            breaker.rests.state().until.is_some_and(|until| until > Duration::from_secs(at))
        };
        breaker.settled(End::GaveUp);
        breaker.settled(End::GaveUp);
        assert!(!rests(0));
        breaker.settled(End::GaveUp);
        assert!(rests(29));
        // What is said while it rests is about nothing.
        breaker.settled(End::GaveUp);
        assert!(!rests(30));
        breaker.settled(End::GaveUp);
        assert!(rests(30 + 59) && !rests(30 + 60));
        breaker.settled(End::Admitted);
        breaker.settled(End::GaveUp);
        assert!(!rests(90));
    }
}
