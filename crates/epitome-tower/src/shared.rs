//! What all clients of a layer share.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use epitome::Request;
use epitome::model::Registry;
use epitome::session::{Recipient, Sessions};
use tokio::sync::Notify;

use crate::aside::{aside, elsewhere};
use crate::caught::caught;
use crate::event::Event;

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// Bytes of a request that is looked at where it comes: a thread would cost more.
const SMALL: usize = 1 << 14;

/// What all clients of a layer share.
pub(crate) struct Shared {
    sessions: Mutex<Sessions>,
    /// A compaction ended, one way or another.
    pub(crate) settled: Notify,
    pub(crate) to: Option<Recipient>,
    begun: Instant,
    pub(crate) observer: Option<Observer>,
}

impl Shared {
    pub(crate) fn new(sessions: Sessions) -> Self {
        Shared {
            sessions: Mutex::new(sessions),
            settled: Notify::new(),
            to: None,
            begun: Instant::now(),
            observer: None,
        }
    }

    /// The machine. What a panicking caller left behind is whole: each of its calls is.
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Asks the machine something about a request of so many bytes, on a thread where that may take long or
    /// somebody else asks it; `None` if code that the caller gave panicked.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        bytes: usize,
        ask: impl FnOnce(&mut Sessions, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        self.ask_read(bytes, || ask).await
    }

    /// The same, where the question has to be read first, which keeps nobody else from asking.
    pub(crate) async fn ask_read<T, A>(
        self: &Arc<Self>,
        bytes: usize,
        read: impl FnOnce() -> A + Send + 'static,
    ) -> Option<T>
    where
        T: Send + 'static,
        A: FnOnce(&mut Sessions, Duration) -> T,
    {
        let asked = match self.at_once(bytes, read) {
            Ok(asked) => asked,
            Err(read) => {
                let shared = Arc::clone(self);
                let ask = move || {
                    let ask = read();
                    ask(&mut shared.sessions(), shared.now())
                };
                aside(move |_| ask()).await
            }
        };
        // Told without the lock: an observer may look at another layer's, or take its time.
        asked.map_err(|what| self.tell(&Event::Panicked { what })).ok()
    }

    /// What the machine says, if that takes no longer than a task may hold its runtime; else the question.
    fn at_once<T, F, A>(&self, bytes: usize, read: F) -> Result<Result<T, String>, F>
    where
        F: FnOnce() -> A,
        A: FnOnce(&mut Sessions, Duration) -> T,
    {
        if bytes > SMALL {
            return Err(read);
        }
        let mut sessions = match self.sessions.try_lock() {
            Ok(sessions) => sessions,
            Err(TryLockError::Poisoned(left)) => left.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(read),
        };
        let now = self.now();
        Ok(caught(|| read()(&mut sessions, now)))
    }

    /// Tells the machine something short, now or as soon as nobody else asks it; `then` comes without the lock.
    pub(crate) fn ask_later(
        self: &Arc<Self>,
        ask: impl FnOnce(&mut Sessions, Duration) + Send + 'static,
        then: impl FnOnce() + Send + 'static,
    ) {
        let Err(ask) = self.at_once(0, || ask) else { return then() };
        let shared = Arc::clone(self);
        elsewhere(move || {
            ask()(&mut shared.sessions(), shared.now());
            then();
        });
    }

    /// A compaction ended, one way or another.
    pub(crate) fn landed(&self, event: &Event) {
        self.settled.notify_waiters();
        self.tell(event);
    }

    /// An observer that panics is its own affair.
    pub(crate) fn tell(&self, event: &Event) {
        if let Some(observer) = &self.observer {
            let _ = caught(|| observer(event));
        }
    }

    /// Who is sent a request.
    pub(crate) fn recipient(&self, model: Option<String>, request: &Request) -> Recipient {
        self.to.clone().unwrap_or_else(|| {
            let name = model.or_else(|| request.model());
            let known = name.as_ref().and_then(|name| Registry::built_in().get(name));
            Recipient { model: name, ..known.map(Recipient::from).unwrap_or_default() }
        })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("to", &self.to).finish_non_exhaustive()
    }
}
