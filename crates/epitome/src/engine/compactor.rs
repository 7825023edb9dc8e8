//! A compactor's configuration, and the ways to drive it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Answer, CompactError, Compaction, Outcome, Step};
use crate::archive::Archive;
use crate::budget::{Tail, Target};
use crate::count::TokenCounter;
use crate::events::{Event, Observer};
use crate::guard::{Pin, Task};
use crate::receipt::Originals;
use crate::request::Request;
use crate::strategy::{Strategy, ladder};
use crate::transcript::{ContentId, Entry};

/// What a compactor is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// Where to land.
    pub target: Target,
    /// The newest content that stays verbatim.
    pub tail: Tail,
    /// What becomes of the first human message.
    pub task: Task,
    /// What stays verbatim besides.
    pub pins: Vec<Pin>,
    /// Tools whose calls and results stay.
    pub preserved_tools: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            target: Target::DEFAULT,
            tail: Tail::Fitting,
            task: Task::Keep,
            pins: Vec::new(),
            preserved_tools: Vec::new(),
        }
    }
}

/// A setting that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A target of nothing, or of more than there is.
    #[error("the target {0} is out of range: tokens from 1, percent from 1 to 100")]
    Target(Target),
    /// A pin that every text says.
    #[error("a pin must say something")]
    EmptyPin,
}

/// Compacts requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Compactor {
    options: Arc<Options>,
    counter: Arc<dyn TokenCounter>,
    strategies: Arc<[Arc<dyn Strategy>]>,
    observer: Option<Arc<dyn Observer>>,
    known: Arc<BTreeSet<ContentId>>,
}

impl Compactor {
    /// A compactor with the whole ladder.
    ///
    /// # Errors
    /// A setting that is out of range; it never means "off".
    pub fn new(options: Options, counter: Arc<dyn TokenCounter>) -> Result<Self, OptionsError> {
        if matches!(options.target, Target::Tokens(0) | Target::Percent(0 | 101..)) {
            return Err(OptionsError::Target(options.target));
        }
        if options.pins.iter().any(|pin| matches!(pin, Pin::Text(text) if text.trim().is_empty())) {
            return Err(OptionsError::EmptyPin);
        }
        Ok(Compactor {
            options: Arc::new(options),
            counter,
            strategies: ladder().into(),
            observer: None,
            known: Arc::default(),
        })
    }

    /// The same with other strategies, in order.
    #[must_use]
    pub fn with_strategies(self, strategies: Vec<Arc<dyn Strategy>>) -> Self {
        Compactor { strategies: strategies.into(), ..self }
    }

    /// The same, telling `observer` what happens.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        Compactor { observer: Some(observer), ..self }
    }

    /// The same, knowing checkpoints of earlier compactions by their id: these are continued. What
    /// merely looks like a checkpoint is plain text.
    #[must_use]
    pub fn knowing(self, checkpoints: impl IntoIterator<Item = ContentId>) -> Self {
        let known = self.known.iter().copied().chain(checkpoints).collect();
        Compactor { known: Arc::new(known), ..self }
    }

    /// What it is asked to do.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The counter that decides.
    pub fn counter(&self) -> &dyn TokenCounter {
        self.counter.as_ref()
    }

    /// Begins a compaction whose originals the caller holds.
    pub fn begin(&self, request: &Request) -> Compaction {
        Compaction::new(self.clone(), request.clone(), Originals::Caller)
    }

    /// Compacts `request`; the caller, who has it, holds the originals.
    ///
    /// # Errors
    /// See [`CompactError`]; nothing was changed then.
    pub fn compact(&self, request: &Request) -> Result<Outcome, CompactError> {
        let mut compaction = self.begin(request);
        loop {
            match compaction.step() {
                Step::Yield => {}
                Step::Persist(_) => unreachable!("the caller holds the originals"),
                Step::Done(done) => return done.map(|outcome| *outcome),
            }
        }
    }

    /// Compacts `request`, with what the view hides kept in `archive` first.
    ///
    /// # Errors
    /// See [`CompactError`]; nothing was changed then.
    pub fn compact_into(
        &self,
        request: &Request,
        archive: &dyn Archive,
    ) -> Result<Outcome, CompactError> {
        let mut compaction = Compaction::new(self.clone(), request.clone(), Originals::Archive);
        loop {
            match compaction.step() {
                Step::Yield => {}
                Step::Persist(originals) => {
                    compaction.supply(Answer::Persisted(archive.put(&originals)));
                }
                Step::Done(done) => return done.map(|outcome| *outcome),
            }
        }
    }

    pub(super) fn strategies(&self) -> &[Arc<dyn Strategy>] {
        &self.strategies
    }

    pub(super) fn tell(&self, event: &Event) {
        if let Some(observer) = &self.observer {
            observer.observe(event);
        }
    }

    /// Whether the entry is a checkpoint whose id is known.
    pub(super) fn knows(&self, entry: Entry<'_>) -> bool {
        !self.known.is_empty() && {
            let text: String = entry.parts().map(|part| part.text()).collect();
            self.known.contains(&ContentId::of_text(&text))
        }
    }
}
