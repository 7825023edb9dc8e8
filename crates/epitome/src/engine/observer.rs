//! What observers are told, and how often: a compaction that began has exactly one end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Compaction, Outcome, State};
use crate::count::Tally;
use crate::events::{Amount, Event, ThreadScope};
use crate::plan::PlanStep;
use crate::view::Fate;

/// How much of a compaction was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    Nothing,
    Considered,
    Started,
    /// How it ended.
    Over,
}

impl Compaction {
    /// What its observer wants around a stretch of steps that is done on another thread than this.
    pub fn around(&self) -> ThreadScope {
        self.compactor.around()
    }

    pub(super) fn tell(&self, event: &Event) {
        self.telling.store(true, Ordering::Relaxed);
        self.compactor.tell(self.number, event);
        self.telling.store(false, Ordering::Relaxed);
    }

    pub(super) fn tell_considered(&mut self, tally: &Tally) {
        if self.told < Told::Considered {
            self.told = Told::Considered;
            let (tokens, target) = (tally.total().tokens, self.target(tally));
            self.tell(&Event::Considered { tokens, target });
        }
    }

    pub(super) fn tell_started(&mut self) {
        if self.told < Told::Started {
            self.told = Told::Started;
            let (format, model) = (self.request.format, self.request.model());
            self.tell(&Event::Started { format, model });
        }
    }

    pub(super) fn tell_applied(&self, steps: &[PlanStep]) {
        for step in steps {
            self.tell(&Event::Applied(step.clone()));
        }
    }

    /// The end of what began; of what didn't there is none.
    pub(super) fn tell_finished(&mut self, outcome: &Outcome) {
        let was = std::mem::replace(&mut self.told, Told::Over);
        if was != Told::Started || !self.compactor.is_observed() {
            return;
        }
        let receipt = Arc::new(outcome.receipt.clone());
        let entries = outcome.view.fates().filter(|fate| !fate.is_shown()).count();
        let edited = outcome.view.fates().filter(|fate| matches!(fate, Fate::Edit(_))).count();
        let saved = receipt.edits.iter().map(|run| run.saved).sum();
        let dropped = Amount { entries, tokens: saved };
        let retained = Amount {
            entries: outcome.base.transcript.len() - entries,
            tokens: receipt.before.count.tokens.saturating_sub(saved),
        };
        self.tell(&Event::Finished { receipt, dropped, edited, retained });
    }

    pub(super) fn tell_ended(&mut self, event: &Event) {
        if std::mem::replace(&mut self.told, Told::Over) != Told::Over {
            self.tell(event);
        }
    }
}

impl Drop for Compaction {
    /// What is dropped under way is cancelled. An observer that panicked isn't called again.
    fn drop(&mut self) {
        if self.told == Told::Started && !self.telling.load(Ordering::Relaxed) {
            let is_panic = matches!(self.state, State::Over);
            let error = "code that it called panicked".to_owned();
            self.tell_ended(&if is_panic { Event::Failed { error } } else { Event::Cancelled });
        }
    }
}
