//! What happens in a compaction: told to an observer at once, and kept for the receipt.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Compactor, Outcome};
use crate::context::{Metadata, note};
use crate::events::{Amount, CompactionId, Event, Observer, ThreadScope};
use crate::plan::PlanStep;
use crate::request::Request;
use crate::summarize::{Spent, SummaryCall, SummaryReceipt};
use crate::view::Fate;

/// How far a compaction is, as its observer was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Started,
    Ended,
}

/// What happened so far.
#[derive(Debug)]
pub(super) struct Log {
    observer: Option<(Arc<dyn Observer>, CompactionId)>,
    stage: Stage,
    /// Whether the observer is being told: it stays so where one panics.
    is_telling: bool,
    /// The strategies' edits that were told.
    applied: Vec<PlanStep>,
    /// Attempts that can't be used, and why.
    pub(super) fallbacks: Vec<String>,
    /// Calls of those who were asked to sum up, or to compact.
    pub(super) summary: Option<SummaryReceipt>,
    /// What those who were asked say of their answers.
    pub(super) metadata: BTreeMap<String, Metadata>,
}

impl Log {
    pub(super) fn new(observer: Option<(Arc<dyn Observer>, CompactionId)>) -> Self {
        Log {
            observer,
            stage: Stage::New,
            is_telling: false,
            applied: Vec::new(),
            fallbacks: Vec::new(),
            summary: None,
            metadata: BTreeMap::new(),
        }
    }

    pub(super) fn around(&self) -> ThreadScope {
        match &self.observer {
            Some((observer, _)) => observer.around(),
            None => Box::new(|work| work()),
        }
    }

    /// A request is looked at.
    pub(super) fn considered(&mut self, tokens: u64, target: u64, compactor: &Compactor) {
        self.tell_of(|| Event::Considered { tokens, target, about: compactor.context().clone() });
    }

    /// Keeps the metadata of a participant's answer.
    pub(super) fn note(&mut self, by: &str, said: Metadata) {
        if !said.is_empty() {
            note(self.metadata.entry(by.to_owned()).or_default(), said);
        }
    }

    /// The same as [`tell`](Self::tell), of what takes some time to say.
    fn tell_of(&mut self, event: impl FnOnce() -> Event) {
        if self.observer.is_some() {
            self.tell(&event());
        }
    }

    pub(super) fn tell(&mut self, event: &Event) {
        if let Some((observer, compaction)) = &self.observer {
            self.is_telling = true;
            observer.observe(*compaction, event);
            self.is_telling = false;
        }
    }

    pub(super) fn started(&mut self, request: &Request, compactor: &Compactor) {
        if self.stage == Stage::New {
            self.stage = Stage::Started;
            self.tell_of(|| Event::Started {
                format: request.format,
                model: request.model(),
                cause: compactor.cause().cloned(),
                about: compactor.context().clone(),
            });
        }
    }

    /// The edits of a plan so far. A new plan discards those of the one before.
    pub(super) fn applied(&mut self, steps: &[PlanStep], request: &Request, compactor: &Compactor) {
        if !steps.starts_with(&self.applied) {
            self.given_up("what the strategies did doesn't reach the target");
        }
        for step in &steps[self.applied.len()..] {
            self.started(request, compactor);
            self.tell(&Event::Applied(step.clone()));
        }
        self.applied = steps.to_vec();
    }

    /// The edits that were told aren't made, for this reason.
    pub(super) fn given_up(&mut self, why: &str) {
        if !self.applied.is_empty() {
            self.tell(&Event::FellBack { why: why.to_owned() });
            self.applied.clear();
        }
    }

    /// An attempt can't be used. Its edits are given up.
    pub(super) fn fell_back(&mut self, event: &Event, why: String) {
        self.tell(event);
        self.fallbacks.push(why);
        self.applied.clear();
    }

    /// Books a call.
    pub(super) fn book(&mut self, call: SummaryCall) {
        let summary = self.summary.get_or_insert_default();
        summary.spent += call.spent;
        summary.calls.push(call);
    }

    /// Books what summarizers were asked.
    pub(super) fn book_all(&mut self, asked: SummaryReceipt) {
        let mut summary = self.summary.take().unwrap_or_default();
        summary.spent += asked.spent;
        summary.calls.extend(asked.calls);
        self.summary = Some(SummaryReceipt { calls: summary.calls, spent: summary.spent, ..asked });
    }

    /// The author of the checkpoint's summary, if there is one, and its tokens.
    pub(super) fn shows_summary(&mut self, by: Option<String>, tokens: u64) {
        if let Some(summary) = &mut self.summary {
            (summary.by, summary.tokens) = (by, tokens);
        }
    }

    /// What all calls took.
    pub(super) fn spent(&self) -> Spent {
        self.summary.as_ref().map(|summary| summary.spent).unwrap_or_default()
    }

    /// There is a view.
    pub(super) fn finished(&mut self, outcome: &Outcome) {
        if self.stage != Stage::Started || self.observer.is_none() {
            return;
        }
        let receipt = Arc::new(outcome.receipt.clone());
        let entries = outcome.view.fates().filter(|fate| !fate.is_shown()).count();
        let edited = outcome.view.fates().filter(|fate| matches!(fate, Fate::Edit(_))).count();
        let saved = receipt.edits.iter().map(|run| run.saved).sum();
        let dropped = Amount { entries, tokens: saved };
        let retained = Amount {
            entries: outcome.base.transcript.len() - entries,
            tokens: (receipt.before.count.tokens + receipt.mending_added)
                .saturating_sub(saved + receipt.mending_took),
        };
        self.end(&Event::Finished { receipt, dropped, edited, retained });
    }

    /// The end event of a compaction, once for each start event. An observer that panicked isn't called again.
    pub(super) fn end(&mut self, event: &Event) {
        if self.stage == Stage::Started && !self.is_telling {
            self.stage = Stage::Ended;
            self.tell(event);
        }
    }
}
