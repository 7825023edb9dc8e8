//! What is known of conversations beyond the process.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use epitome::session::{Experience, KeptPlace, Saved};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::aside::aside;

/// Where known conversations are kept beyond the process: layers that share it, at the same time or one after the
/// other, continue each other's. They need the same [`ChainKey`](epitome::session::ChainKey).
///
/// Calls may block; they are made on threads for that, and nobody waits for one longer than two seconds.
pub trait Conversations: fmt::Debug + Send + Sync {
    /// The newest kept state at one of `places`, if it is newer than the known one.
    ///
    /// # Errors
    /// In words, what went wrong. Nobody is asked again for a while.
    fn find(&self, places: &[KeptPlace]) -> Result<Option<KeptConversation>, String>;

    /// Keeps a conversation, unless its place has one with the same number or a larger one: then that is given.
    ///
    /// # Errors
    /// In words, what went wrong. Nobody is asked again for a while.
    fn keep(&self, kept: &KeptConversation) -> Result<Option<KeptConversation>, String>;
}

/// A conversation as it is kept, or what use taught of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptConversation {
    /// Its place: a keyed digest of the conversation ([`KeptPlace::id`]), or the one of
    /// [`learning_at`](crate::CompactionLayer::learning_at).
    pub place: [u8; 16],
    /// How often it was compacted, and the like: of two at one place the one with the larger number holds.
    pub number: u32,
    /// Its state, as JSON: it has words only where a view edits a message, and in its checkpoint.
    pub text: String,
}

/// The longest that a request waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// After a failure nobody is asked for so long.
const PAUSE: Duration = Duration::from_secs(10);
/// Calls at the same time; beyond, requests go on without.
const MOST_CALLS: usize = 16;

/// Conversations that are kept, asked with bounds.
#[derive(Clone)]
pub(crate) struct Kept {
    store: Arc<dyn Conversations>,
    calls: Arc<AtomicUsize>,
    failed: Arc<Mutex<Option<Instant>>>,
}

/// A call under way.
struct OpenCall(Arc<AtomicUsize>);

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Kept {
    pub(crate) fn new(kept: Arc<dyn Conversations>) -> Self {
        Kept { store: kept, calls: Arc::default(), failed: Arc::default() }
    }

    /// The store's answer, within a time limit; `None` if it isn't asked, an error if it fails.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Conversations) -> Result<T, String> + Send + 'static,
    ) -> Result<Option<T>, String> {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let more = |calls: usize| (calls < MOST_CALLS).then_some(calls + 1);
        let is_resting = failed.is_some_and(|at| at.elapsed() < PAUSE);
        if is_resting
            || self.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err()
        {
            return Ok(None);
        }
        let (kept, call) = (Arc::clone(&self.store), OpenCall(Arc::clone(&self.calls)));
        let asking = aside(move |_| {
            let _call = call;
            ask(&*kept)
        });
        let answer = match Handle::try_current() {
            Ok(_) => timeout(PATIENCE, asking)
                .await
                .unwrap_or_else(|_| Ok(Err(format!("no answer within {} s", PATIENCE.as_secs())))),
            Err(_) => asking.await,
        };
        answer.unwrap_or_else(Err).map(Some).inspect_err(|_| {
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        })
    }
}

impl KeptConversation {
    pub(crate) fn of(saved: &Saved) -> Option<Self> {
        let (place, number) = saved.place()?;
        let text = serde_json::to_string(saved).expect("it is data");
        Some(KeptConversation { place: place.to_bytes(), number, text })
    }

    pub(crate) fn read(&self) -> Result<Saved, String> {
        serde_json::from_str(&self.text)
            .map_err(|error| format!("a conversation that is kept can't be read: {error}"))
    }
}

/// Between two looks for what others learnt.
const ROUND: Duration = Duration::from_mins(1);
/// Where learnt facts about models are kept, and the facts.
pub(crate) struct KeptExperience {
    pub(crate) place: [u8; 16],
    state: Mutex<KeptState>,
}

#[derive(Default)]
pub(crate) struct KeptState {
    /// Of what is kept there, as far as it is known.
    pub(crate) number: Option<u32>,
    looked: Option<Instant>,
    /// What was news when it was kept.
    pub(crate) news: u64,
    /// What is kept there.
    pub(crate) kept: Experience,
    pub(crate) is_keeping: bool,
}

impl KeptExperience {
    pub(crate) fn at(place: [u8; 16]) -> Self {
        KeptExperience { place, state: Mutex::default() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, KeptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_due(&self) -> bool {
        let mut state = self.state();
        let is_due = state.looked.is_none_or(|at| at.elapsed() >= ROUND);
        if is_due {
            state.looked = Some(Instant::now());
        }
        is_due
    }
}
