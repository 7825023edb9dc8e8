//! Gathering what the checkpoint is made from, and writing it.

use std::sync::Arc;

use super::delegation::Given;
use super::{Attempt, Compaction, STEP_BYTES, State};
use crate::budget::Stop;
use crate::checkpoint::{self, Checkpoint, Gathered};
use crate::count::Tally;
use crate::guard::Pin;
use crate::plan::Plan;
use crate::summarize::SummarySource;
use crate::transcript::unit::Units;
use crate::working_view::CountContext;

/// What the checkpoint is being made from.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) tally: Tally,
    pub(super) units: Units,
    pub(super) plan: Plan,
    pub(super) gathered: Gathered,
    /// What summarizers read, where there are any.
    pub(super) source: Option<SummarySource>,
    /// What somebody else sums it up as.
    pub(super) given: Option<Given>,
    pub(super) next: usize,
}

impl Compaction {
    /// Begins to gather what `plan` folds.
    pub(super) fn begin_gathering(&mut self, tally: Tally, units: Units, plan: Plan) -> State {
        let given = self.given.clone().filter(|_| self.attempt == Attempt::Asked);
        let is_asked = self.attempt == Attempt::Asked && self.compactor.summaries().is_some();
        let source = (is_asked || given.is_some()).then(SummarySource::default);
        self.gathering((tally, units, plan), source, given)
    }

    /// The same, with what somebody else sums it up as.
    pub(super) fn gathering(
        &self,
        (tally, units, plan): (Tally, Units, Plan),
        source: Option<SummarySource>,
        given: Option<Given>,
    ) -> State {
        let read_only: Arc<[String]> = self.compactor.options().read_only.as_slice().into();
        let channel = self.compactor.channel().cloned();
        let gathered = Gathered::new(channel, &self.numbering, read_only);
        State::Gather(Box::new(Gathering { tally, units, plan, gathered, source, given, next: 0 }))
    }

    pub(super) fn gather(&mut self, mut gathering: Box<Gathering>) -> State {
        let transcript = &self.request.transcript;
        let Gathering { units, plan, gathered, source, given, next, .. } = gathering.as_mut();
        let folds = plan.draft.folds();
        let mut said = given.as_mut().and_then(|given| given.said.as_mut());
        let mut done = 0;
        while *next < transcript.len() && done < STEP_BYTES {
            let entry = transcript.entry(*next);
            if plan.draft.is_folded(*next) {
                done += entry.span().len();
                gathered.fold(transcript, units, entry);
                if let Some(source) = source.as_mut() {
                    source.add(transcript, units, entry);
                }
            } else if folds {
                done += entry.span().len();
                gathered.show(transcript, units, entry, &plan.draft);
            }
            if let Some(said) = said.as_mut() {
                said.add(transcript, units, entry);
            }
            *next += 1;
        }
        if *next < transcript.len() {
            return State::Gather(gathering);
        }
        let Gathering { tally, plan, gathered, source, given, .. } = *gathering;
        self.tell_applied(&plan.steps);
        if gathered.is_empty() {
            return self.fill(tally, plan, None);
        }
        match (source, given) {
            (Some(source), None) => self.begin_summing(tally, plan, gathered, source),
            (Some(source), Some(given)) => self.seat(tally, plan, gathered, source, given),
            (None, _) => {
                let checkpoint = self.written(&plan, &gathered, None);
                self.fill(tally, plan, Some(checkpoint))
            }
        }
    }

    /// The checkpoint in the room that the plan leaves for it.
    pub(super) fn written(
        &self,
        plan: &Plan,
        gathered: &Gathered,
        summary: Option<&str>,
    ) -> Checkpoint {
        let transcript = &self.request.transcript;
        checkpoint::write(gathered, transcript, plan.checkpoint, summary, self.compactor.counter())
    }

    /// Gives room that is left back to what was cut for it.
    pub(super) fn fill(
        &self,
        tally: Tally,
        mut plan: Plan,
        checkpoint: Option<Checkpoint>,
    ) -> State {
        let transcript = &self.request.transcript;
        let counter = self.compactor.counter();
        let target = self.target(&tally);
        let own = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.tokens);
        let room = target.saturating_sub(plan.draft.total() + own);
        let pins = self.compactor.options().pins.iter();
        let pinned: Vec<&str> = pins.filter_map(Pin::words).collect();
        // What somebody else cut stays as they cut it.
        let is_ours = self.attempt != Attempt::Delegated;
        if is_ours && self.compactor.options().stop == Stop::AtTarget {
            let matter = CountContext { transcript, tally: &tally, counter };
            plan.draft.give_back(room, &matter, &pinned);
        }
        State::Render { tally, plan: Box::new(plan), checkpoint }
    }
}
