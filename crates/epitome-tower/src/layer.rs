//! How a client's conversations are compacted.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use epitome::count::counter;
use epitome::model::{Registry, UnknownModel};
use epitome::session::{ChainKey, Recipient, SessionOptions, SessionOptionsError, Sessions};
use epitome::trigger::When;
use epitome::{Compactor, Options, Request};
use tokio::sync::Notify;
use tower_layer::Layer;

use crate::aside::{aside, elsewhere};
use crate::caught::caught;
use crate::event::Event;
use crate::service::Compacting;

/// Wraps clients so that their conversations stay inside the window. Clones share what they know of
/// the conversations.
#[derive(Clone, Debug)]
pub struct CompactionLayer {
    pub(crate) shared: Arc<Shared>,
}

/// What a layer can't be made of.
#[derive(Debug)]
#[non_exhaustive]
pub enum LayerError {
    /// A model that isn't in the registry.
    Model(UnknownModel),
    /// A setting that is out of range.
    Options(SessionOptionsError),
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayerError::Model(unknown) => unknown.fmt(f),
            LayerError::Options(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LayerError {}

impl From<UnknownModel> for LayerError {
    fn from(unknown: UnknownModel) -> Self {
        LayerError::Model(unknown)
    }
}

impl From<SessionOptionsError> for LayerError {
    fn from(error: SessionOptionsError) -> Self {
        LayerError::Options(error)
    }
}

impl CompactionLayer {
    /// The usual for this model: at eight tenths of its window compact to three tenths, without any
    /// model's help.
    ///
    /// # Errors
    /// A model that isn't known.
    pub fn for_model(model: &str) -> Result<Self, LayerError> {
        let model = Registry::built_in().find(model)?.clone();
        let counter = counter(model.tokenizer.counter()).expect("the registry names our counters");
        let compactor = Compactor::new(Options::default(), counter).expect("defaults are in range");
        let trigger = When::default().build().expect("the default is in range");
        let options = SessionOptions::new(Arc::new(trigger), random_key());
        let layer = CompactionLayer::new(compactor, options)?;
        Ok(layer.to(Recipient::from(&model)))
    }

    /// Compacts with `compactor` when `options` say.
    ///
    /// # Errors
    /// A setting that is out of range.
    pub fn new(compactor: Compactor, options: SessionOptions) -> Result<Self, LayerError> {
        let sessions = Sessions::new(options, compactor)?;
        Ok(CompactionLayer {
            shared: Arc::new(Shared {
                sessions: Mutex::new(sessions),
                settled: Notify::new(),
                to: None,
                begun: Instant::now(),
                observer: None,
            }),
        })
    }

    /// All requests are for this model, whatever they say: its window holds. Otherwise each
    /// request's model is looked up in the registry, and where it isn't known nothing is known of
    /// its window.
    #[must_use]
    pub fn to(self, recipient: Recipient) -> Self {
        self.with(|shared| shared.to = Some(recipient))
    }

    /// Tells `observer` what happens, from inside the call.
    #[must_use]
    pub fn observed_by(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.with(|shared| shared.observer = Some(Box::new(observer)))
    }

    /// Changes what isn't shared yet.
    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared =
            Arc::into_inner(self.shared).expect("a layer is set up before it is cloned");
        change(&mut shared);
        CompactionLayer { shared: Arc::new(shared) }
    }
}

impl<S> Layer<S> for CompactionLayer {
    type Service = Compacting<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Compacting::new(inner, Arc::clone(&self.shared))
    }
}

/// Adds [`with_compaction`](WithCompaction::with_compaction) to every service.
pub trait WithCompaction: Sized {
    /// This client, with its conversations kept inside the window.
    fn with_compaction(self, layer: CompactionLayer) -> Compacting<Self> {
        layer.layer(self)
    }
}

impl<S> WithCompaction for S {}

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// Bytes of a request that is looked at where it comes: a thread would cost more.
const SMALL: usize = 1 << 14;

/// What all clients of a layer share.
pub(crate) struct Shared {
    sessions: Mutex<Sessions>,
    /// A compaction ended, one way or another.
    pub(crate) settled: Notify,
    to: Option<Recipient>,
    begun: Instant,
    observer: Option<Observer>,
}

impl Shared {
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

/// Different in each process, so that nobody can make up texts whose chains meet.
fn random_key() -> ChainKey {
    let random = RandomState::new();
    ChainKey([0, 1, 2, 3].map(|nth: u64| random.hash_one(nth)))
}
