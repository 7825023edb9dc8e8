//! Gathering what the checkpoint is made from, and writing it.

use std::sync::mpsc;

use super::delegate::Given;
use super::{Attempt, Compaction, State, step_bytes};
use crate::budget::Stop;
use crate::checkpoint::{Checkpoint, Gathered, Left};
use crate::cores::{both, for_bytes};
use crate::count::Tally;
use crate::draft::Matter;
use crate::guard::Pin;
use crate::ledger::{self, Made};
use crate::plan::Plan;
use crate::summarize::Source;
use crate::transcript::unit::Units;
use crate::transcript::{Origin, Part};

/// Entries that are left to the other thread at once: waking it for each would take longer than to hear it.
const BATCH: usize = 64;

/// What the checkpoint is being made from.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) tally: Tally,
    pub(super) units: Units,
    pub(super) plan: Plan,
    pub(super) gathered: Gathered,
    /// Of so many first entries what is folded was taken before.
    folded: usize,
    /// What summarizers read, where there are any.
    pub(super) source: Option<Source>,
    /// What somebody else sums it up as.
    pub(super) given: Option<Given>,
    /// [`Compaction::remembered`].
    pub(super) remembered: Vec<Made>,
    pub(super) next: usize,
}

impl Compaction {
    /// Begins to gather what `plan` folds.
    pub(super) fn begin_gathering(&mut self, tally: Tally, units: Units, plan: Plan) -> State {
        let given = self.given.clone().filter(|_| self.attempt == Attempt::Asked);
        let is_asked = self.attempt == Attempt::Asked && self.compactor.summaries().is_some();
        let source = (is_asked || given.is_some()).then(Source::default);
        self.gathering((tally, units, plan), source, given)
    }

    /// Gathers, from where another compaction left off.
    pub(super) fn gathering(
        &mut self,
        (tally, units, plan): (Tally, Units, Plan),
        source: Option<Source>,
        given: Option<Given>,
    ) -> State {
        let remembered = self.remembered();
        let (gathered, folded) = self.going_on(&plan, &remembered);
        State::Gather(Box::new(Gathering {
            tally,
            units,
            plan,
            gathered,
            folded,
            source,
            given,
            remembered,
            next: 0,
        }))
    }

    /// Changes of the ledger that earlier compactions made, citing the messages of this transcript.
    fn remembered(&self) -> Vec<Made> {
        ledger::placed(self.compactor.remembered(), &self.request.transcript)
    }

    pub(super) fn gather(&mut self, mut gathering: Box<Gathering>) -> State {
        let transcript = &self.request.transcript;
        let Gathering {
            units, plan, gathered, folded: taken, source, given, remembered, next, ..
        } = gathering.as_mut();
        let beside = self.compactor.beside();
        // Who writes a summary reads what is known, too.
        let is_told = source.is_some() || given.as_ref().is_some_and(|given| given.said.is_some());
        let (from, mut done) = (*next, 0);
        while *next < transcript.len() && done < step_bytes(beside) {
            let is_taken = *next < *taken || !plan.draft.is_folded(*next);
            let is_known = is_taken && *next < gathered.read_before() && !is_told;
            if !is_known && (plan.draft.is_folded(*next) || plan.draft.is_shown(*next)) {
                done += transcript.entry(*next).span().len();
            }
            *next += 1;
        }
        let entries = from..*next;
        let beside = for_bytes(beside, done);
        let (folded, heard) = gathered.halves();
        let read = heard.read_before();
        let mut said = given.as_mut().and_then(|given| given.said.as_mut());
        let mut fold = |at: usize| {
            let entry = transcript.entry(at);
            let mut left = Left::default();
            if plan.draft.is_folded(at) {
                if at >= *taken {
                    left = folded.add(transcript, units, entry);
                }
                if let Some(source) = source.as_mut() {
                    source.add(transcript, units, entry);
                }
                if at >= *taken && self.is_pinned(at) {
                    folded.pin(transcript, entry);
                }
            } else {
                if at >= *taken {
                    folded.leave_out(transcript, units, entry, &plan.draft, &mut left);
                }
                // As much as can be done beside the ledger.
                if beside.is_some() && at >= read {
                    left.take_texts(transcript, entry);
                }
            }
            if let Some(said) = said.as_mut() {
                said.add(transcript, units, entry);
            }
            left
        };
        let mut hear = |at: usize, left: Left| {
            let entry = transcript.entry(at);
            heard.see(transcript, entry, |part| plan.draft.shown(transcript, part), left);
            heard.change_again(transcript, entry, remembered);
        };
        match beside {
            None => entries.for_each(|at| hear(at, fold(at))),
            Some(beside) => {
                let (leave, left) = mpsc::channel();
                let mut ahead = entries.clone().peekable();
                let fold = move || {
                    while ahead.peek().is_some() {
                        let batch: Vec<Left> = ahead.by_ref().take(BATCH).map(&mut fold).collect();
                        // Nobody hears on if that fell: it is told where both end.
                        if leave.send(batch).is_err() {
                            break;
                        }
                    }
                };
                let hear = || {
                    for (at, left) in entries.zip(left.into_iter().flatten()) {
                        hear(at, left);
                    }
                };
                both(beside, fold, hear);
            }
        }
        if *next < transcript.len() {
            return State::Gather(gathering);
        }
        let Gathering {
            tally,
            units,
            mut plan,
            mut gathered,
            folded,
            source,
            given,
            remembered,
            ..
        } = *gathering;
        gathered.end();
        self.keep_reading(&tally, &gathered, (&plan, &remembered), folded);
        let transcript = &self.request.transcript;
        gathered.keep_changes(&remembered);
        self.ledger_changes = gathered.ledger().changes_in(transcript);
        self.lost_changes = gathered.ledger().lost().to_vec();
        self.fold_outdated(&tally, &units, &mut plan, &mut gathered);
        gathered.show(|slot| plan.draft.shown(transcript, &transcript.part(slot)));
        gathered.settle();
        let counter = self.compactor.counter();
        if let Some(reserve) = self.uncovered(&tally, &plan, &gathered) {
            let carried = |part: Part<'_>| part.origin() == Origin::Checkpoint;
            let is_carried = transcript.entries().any(|entry| entry.parts().any(carried));
            // What is carried over for the next plan may be something else.
            self.heard = (!is_carried).then(|| gathered.into_ledger());
            self.reserve = Some(reserve);
            self.drafted = Some((units, plan.draft));
            return State::Plan(tally);
        }
        self.tell_applied(&plan.steps);
        let following = self.following(&plan, gathered.messages());
        gathered.follow(following);
        let checkpoint = (!gathered.is_empty())
            .then(|| crate::checkpoint::write(&gathered, plan.checkpoint, counter))
            .flatten();
        let checkpoint = self.show_words(&tally, &units, &mut plan, &mut gathered, checkpoint);
        match (source, checkpoint, given) {
            (Some(source), Some(checkpoint), None) => {
                self.begin_summing(tally, plan, gathered, source, checkpoint)
            }
            (Some(source), Some(checkpoint), Some(given)) => {
                self.seat(tally, plan, gathered, source, checkpoint, given)
            }
            (_, checkpoint, _) => self.fill(tally, plan, checkpoint),
        }
    }

    /// Gives room that is left back to what was cut for it.
    pub(super) fn fill(
        &mut self,
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
            let as_cut = self.stays_cut(&tally, &plan, checkpoint.as_ref());
            let matter = Matter { transcript, tally: &tally, counter };
            plan.draft.give_back(room, &matter, &pinned, &as_cut);
        }
        State::Render { tally, plan: Box::new(plan), checkpoint }
    }
}
