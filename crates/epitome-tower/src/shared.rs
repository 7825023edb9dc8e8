//! What all clients of a layer share.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use epitome::Request;
use epitome::engine::delegate::JobContext;
use epitome::model::Registry;
use epitome::session::{
    Arrived, CacheUse, Reader, Recipient, SessionId, Sessions, SharedExperience,
};
use tokio::sync::Notify;

use crate::aside::{aside, elsewhere};
use crate::caught::caught;
use crate::event::Event;
use crate::kept::{Kept, KeptExperience};

pub(crate) type Windows = Box<dyn Fn(&str) -> Option<u64> + Send + Sync>;
type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// Bytes of a request that is looked at where it comes: to hand it to a thread would cost more.
const SMALL: usize = 1 << 16;

/// Parts of the machine, each with conversations of its own, so that these can be asked about at the same time. Two
/// conversations share one by chance, and those that begin alike.
const PARTS: usize = 64;

/// What all clients of a layer share.
pub(crate) struct Shared {
    /// Reads requests, which needs none of the parts.
    pub(crate) reader: Reader,
    /// What use teaches all parts.
    pub(crate) experience: SharedExperience,
    parts: Vec<Mutex<Sessions>>,
    /// A compaction ended, one way or another.
    pub(crate) settled: Notify,
    pub(crate) to: Option<Recipient>,
    /// Windows that the caller knows, by the model's name.
    pub(crate) windows: Option<Windows>,
    begun: Instant,
    pub(crate) observer: Option<Observer>,
    /// Where conversations are kept beyond the process.
    pub(crate) kept: Option<Kept>,
    /// Where what use teaches is kept, there.
    pub(crate) learnt: Option<KeptExperience>,
}

/// What is known of a request before its conversation is asked about: the part that this is in, and the question.
pub(crate) type Question<A> = Option<(usize, A)>;

impl Shared {
    pub(crate) fn new(sessions: Sessions) -> Self {
        Shared {
            reader: sessions.reader(),
            experience: sessions.shared_experience(),
            parts: sessions.parts(PARTS).into_iter().map(Mutex::new).collect(),
            settled: Notify::new(),
            to: None,
            windows: None,
            begun: Instant::now(),
            observer: None,
            kept: None,
            learnt: None,
        }
    }

    /// The part that a request's conversation is in.
    pub(crate) fn part(arrived: &Arrived) -> usize {
        arrived.part(PARTS)
    }

    /// The part that knows a conversation.
    pub(crate) fn part_of(session: SessionId) -> usize {
        session.part(PARTS)
    }

    /// A part. What a panicking caller left behind is whole: each of its calls is.
    fn sessions(&self, part: usize) -> MutexGuard<'_, Sessions> {
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Asks a part about a request of so many bytes, aside if that may take long or the part is busy; `None` if the
    /// caller's code panicked.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        part: usize,
        bytes: usize,
        ask: impl FnOnce(&mut Sessions, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        self.ask_read(bytes, move || Some((part, ask))).await.flatten()
    }

    /// The same, where the question has to be read first, which keeps nobody else from asking.
    pub(crate) async fn ask_read<T, A>(
        self: &Arc<Self>,
        bytes: usize,
        read: impl FnOnce() -> Question<A> + Send + 'static,
    ) -> Option<Option<T>>
    where
        T: Send + 'static,
        A: FnOnce(&mut Sessions, Duration) -> T + Send + 'static,
    {
        let asked = if bytes > SMALL {
            let shared = Arc::clone(self);
            aside(move |_| read().map(|(part, ask)| shared.put(part, ask))).await
        } else {
            match caught(read) {
                Err(what) => Err(what),
                Ok(None) => Ok(None),
                Ok(Some((part, ask))) => match self.at_once(part, ask) {
                    Ok(asked) => asked.map(Some),
                    Err(ask) => {
                        let shared = Arc::clone(self);
                        aside(move |_| Some(shared.put(part, ask))).await
                    }
                },
            }
        };
        // Told without the lock: an observer may look at another layer's, or take its time.
        asked.map_err(|what| self.tell(&Event::Panicked { what })).ok()
    }

    /// Does something with a request of so many bytes, aside where that may take long; `None` if code that the caller gave
    /// panicked.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        bytes: usize,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let done = if bytes > SMALL { aside(move |_| look()).await } else { caught(look) };
        done.map_err(|what| self.tell(&Event::Panicked { what })).ok()
    }

    /// Puts a question to a part, once nobody else asks it.
    fn put<T>(&self, part: usize, ask: impl FnOnce(&mut Sessions, Duration) -> T) -> T {
        ask(&mut self.sessions(part), self.now())
    }

    /// The part's answer if it is free; else the question.
    fn at_once<T, A>(&self, part: usize, ask: A) -> Result<Result<T, String>, A>
    where
        A: FnOnce(&mut Sessions, Duration) -> T,
    {
        let mut sessions = match self.parts[part].try_lock() {
            Ok(sessions) => sessions,
            Err(TryLockError::Poisoned(left)) => left.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(ask),
        };
        let now = self.now();
        Ok(caught(|| ask(&mut sessions, now)))
    }

    /// Tells a part something short, now or as soon as nobody else asks it; `then` comes without the lock.
    pub(crate) fn ask_later<T>(
        self: &Arc<Self>,
        part: usize,
        ask: impl FnOnce(&mut Sessions, Duration) -> T + Send + 'static,
        then: impl FnOnce(Option<T>) + Send + 'static,
    ) {
        let ask = match self.at_once(part, ask) {
            Ok(told) => return then(told.ok()),
            Err(ask) => ask,
        };
        let shared = Arc::clone(self);
        elsewhere(move || then(Some(shared.put(part, ask))));
    }

    /// A compaction ended, one way or another.
    pub(crate) fn landed(&self, event: &Event) {
        self.settled.notify_waiters();
        self.tell(event);
    }

    /// Tells what was read from a provider's cache, where that is known.
    pub(crate) fn read(&self, session: SessionId, used: Option<CacheUse>) {
        if let Some(used) = used {
            self.tell(&Event::CacheRead { session, used });
        }
    }

    /// An observer that panics is its own affair.
    pub(crate) fn tell(&self, event: &Event) {
        if let Some(observer) = &self.observer {
            let _ = caught(|| observer(event));
        }
    }

    /// Who is sent a request, of which the caller says this.
    pub(crate) fn recipient(
        &self,
        model: Option<String>,
        about: JobContext,
        request: &Request,
        window: impl FnOnce(&str) -> Option<u64>,
    ) -> Recipient {
        let to = if let Some(to) = &self.to {
            // What is learnt of a model is learnt under its name.
            Recipient { model: to.model.clone().or(model), ..to.clone() }
        } else {
            let name = model.or_else(|| request.model());
            let known = name.as_ref().and_then(|name| Registry::built_in().get(name));
            let called = name.as_deref().unwrap_or_default();
            let said = self.windows.as_ref().and_then(|said| said(called));
            let said = said.or_else(|| window(called));
            let to =
                Recipient { model: name.clone(), ..known.map(Recipient::from).unwrap_or_default() };
            Recipient { window: said.or(to.window), ..to }
        };
        if about.is_empty() { to } else { Recipient { about, ..to } }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("to", &self.to).finish_non_exhaustive()
    }
}
