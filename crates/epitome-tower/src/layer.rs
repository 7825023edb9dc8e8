//! How a client's conversations are compacted.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use epitome::count::counter;
use epitome::model::{Registry, UnknownModel};
use epitome::session::{
    ChainKey, CurrentView, Recipient, SessionId, SessionOptions, SessionOptionsError, Sessions,
};
use epitome::trigger::{Demand, When};
use epitome::{Compactor, Options};
use tower_layer::Layer;

use crate::carrier::Carrier;
use crate::event::Event;
use crate::kept::{Conversations, Kept, KeptExperience};
use crate::service::Compacting;
use crate::shared::Shared;

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
        Ok(CompactionLayer { shared: Arc::new(Shared::new(sessions)) })
    }

    /// All requests are for this model, whatever they say: its window holds. Otherwise each
    /// request's model is looked up in the registry, and where it isn't known nothing is known of
    /// its window.
    #[must_use]
    pub fn to(self, recipient: Recipient) -> Self {
        self.with(|shared| shared.to = Some(recipient))
    }

    /// Windows by the model's name as requests name it (empty if they don't); they override the registry.
    #[must_use]
    pub fn with_windows(
        self,
        windows: impl Fn(&str) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        self.with(|shared| shared.windows = Some(Box::new(windows)))
    }

    /// Tells `observer` what happens, from inside the call.
    #[must_use]
    pub fn observed_by(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.with(|shared| shared.observer = Some(Box::new(observer)))
    }

    /// Keeps the state of compacted conversations there, before anything of them is sent, and looks there for unknown ones.
    /// A failure there fails no request. It needs tokio's time.
    #[must_use]
    pub fn kept_in(self, conversations: Arc<dyn Conversations>) -> Self {
        self.with(|shared| shared.kept = Some(Kept::new(conversations)))
    }

    /// Also keeps learnt facts about models there: windows from refusals, and how far counts are off. `place` is like those of
    /// conversations, but used for nothing else; layers that share it must send to the same servers.
    #[must_use]
    pub fn learning_at(self, place: [u8; 16]) -> Self {
        self.with(|shared| shared.learnt = Some(KeptExperience::at(place)))
    }

    /// Asks for a compaction of a conversation at its next request in which every call has its result, whatever the trigger
    /// is; whether the conversation is known. Events tell its id.
    pub async fn demand(&self, session: SessionId, demand: Demand) -> bool {
        let part = Shared::part_of(session);
        let asked = self.shared.ask(part, 0, move |sessions, _| sessions.demand(session, demand));
        asked.await.unwrap_or(false)
    }

    /// The request as the view in force shows it, and its hidden content, page by page; `None` if the request can't be
    /// parsed, or its conversation isn't known. Nothing is sent or recorded.
    pub async fn current<R: Carrier>(&self, carrier: &R) -> Option<CurrentView> {
        let (body, format, tenant) =
            (carrier.body()?.to_owned(), carrier.format(), carrier.tenant());
        let bytes = body.len();
        let reader = self.shared.reader.clone();
        let read = move || {
            let request = reader.read(&tenant, format, body).ok()?;
            Some(reader.arrive(&tenant, &request))
        };
        let arrived = self.shared.look(bytes, read).await??;
        let part = Shared::part(&arrived);
        let found = self.shared.found(part, &arrived).await;
        let current = move |sessions: &mut Sessions, _| {
            if let Some(found) = found {
                sessions.catch_up(&arrived, found);
            }
            sessions.current(&arrived)
        };
        self.shared.ask(part, bytes, current).await?
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

/// A key that is another in each process, so that nobody can make up texts whose chains meet.
pub fn random_key() -> ChainKey {
    let random = RandomState::new();
    ChainKey([0, 1, 2, 3].map(|nth: u64| random.hash_one(nth)))
}
