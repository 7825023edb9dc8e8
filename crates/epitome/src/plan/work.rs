//! The working view while a plan is made: edits in turn, then what the provider still demands.

use std::sync::Arc;

use super::{PlanStep, Subject};
use crate::budget::Stop;
use crate::guard::open_turn;
use crate::model::Binding;
use crate::strategy::{Edit, Strategy, StrategyContext};
use crate::transcript::unit::Unit;
use crate::transcript::{Origin, PartKind, Role, Slot, Transcript};
use crate::view::{PartEdit, Put, Reason};
use crate::wire::{Opening, Thinking};
use crate::working_view::Draft;

/// A plan in the making.
pub(super) struct Work<'a, 's> {
    pub(super) subject: &'s Subject<'a>,
    pub(super) draft: Draft,
    pub(super) steps: Vec<PlanStep>,
    pub(super) horizon: usize,
}

impl Work<'_, '_> {
    /// Where the view would land with the least checkpoint that it needs.
    pub(super) fn landing(&self) -> u64 {
        self.draft.total() + if self.draft.folds() { self.subject.least } else { 0 }
    }

    /// Whether nothing more needs to be done.
    pub(super) fn is_done(&self) -> bool {
        let landing = self.scene().landing();
        self.subject.stop == Stop::AtTarget && landing <= self.subject.budget.target
    }

    /// The most tokens that the checkpoint may have: what is left, and no more than what it stands for.
    pub(super) fn checkpoint(&self) -> u64 {
        if !self.draft.folds() {
            return 0;
        }
        let subject = self.subject;
        // What goes to its end may be under its target before it began: it never grows up to it.
        let most = subject.budget.target.min(subject.tally.total().tokens);
        let folded = (0..subject.request.transcript.len()).filter(|at| self.draft.is_folded(*at));
        let gone: u64 = folded.map(|at| subject.tally.entry(at)).sum();
        // Earlier checkpoints that left messages which stay.
        let transcript = &subject.request.transcript;
        let carried = transcript
            .entries()
            .flat_map(|entry| entry.parts())
            .filter(|part| part.origin() == Origin::Checkpoint && self.draft.is_gone(part.slot));
        let gone = gone + carried.map(|part| subject.tally.part(part.slot)).sum::<u64>();
        let most_of_it = if subject.stop == Stop::AtEnd { gone / 3 } else { gone };
        // Where what must stay is above the target by itself, a checkpoint of one line would help nobody.
        let is_above = self.draft.total() + subject.least > most;
        let least =
            if is_above { subject.budget.share().max(subject.least) } else { subject.least };
        let cap = most_of_it.min(subject.budget.checkpoint()).max(subject.least);
        most.saturating_sub(self.draft.total()).max(least).min(cap)
    }

    /// Folds all that may leave before the last entry that is folded: what is shown behind the checkpoint is newer than what it
    /// stands for (law 14).
    pub(super) fn keep_order(&mut self) {
        let subject = self.subject;
        let all = subject.request.transcript.len();
        let Some(last) = (0..all).rev().find(|at| self.draft.is_folded(*at)) else { return };
        let leaves = |unit: &&Unit| {
            unit.entries.clone().all(|at| subject.guard.may_leave(at))
                && unit.entries.clone().any(|at| self.draft.is_shown(at))
        };
        let older = subject.units.all().iter().take_while(|unit| unit.entries.start < last);
        let fold = |unit: &Unit| Edit::Fold(unit.entries.clone(), Reason::OlderStep);
        let edits: Vec<Edit> = older.filter(leaves).map(fold).collect();
        if !edits.is_empty() {
            self.impose("fold", edits);
        }
    }

    /// What is left must begin as its provider demands: with the user, where no checkpoint speaks
    /// first; and a turn in progress with thinking, where that was enabled by hand. Units that don't
    /// leave until one does.
    pub(super) fn settle(&mut self) {
        let subject = self.subject;
        if subject.request.format.opening() == Opening::User {
            while let Some(at) = self.leads_with_model() {
                if !self.take(at) {
                    break;
                }
            }
        }
        if Thinking::of(subject.request) == Thinking::Manual {
            let whole = Draft::new(&subject.request.transcript, subject.tally);
            // A turn that came in without thinking isn't ours to mend.
            if !self.bare_steps(&whole).is_empty() {
                return;
            }
            loop {
                let bare = self.bare_steps(&self.draft);
                let took = bare.into_iter().filter(|at| self.take(*at)).count();
                if took == 0 {
                    break;
                }
            }
        }
    }

    /// The first entry shown, if it is the model's and another was first when it came in.
    fn leads_with_model(&self) -> Option<usize> {
        let transcript = &self.subject.request.transcript;
        let speaking = || transcript.entries().filter(|e| !e.role().instructs());
        let came_first = speaking().next()?;
        let first = speaking().find(|e| self.draft.is_shown(e.index))?;
        // A checkpoint before it speaks first.
        let is_behind = (0..first.index).any(|at| self.draft.is_folded(at))
            && (first.index..transcript.len()).all(|at| !self.draft.is_folded(at));
        if is_behind {
            return None;
        }
        let leads = first.role() == Role::Assistant && first.index != came_first.index;
        leads.then_some(first.index)
    }

    /// The steps at the start of the open turn that don't begin with thinking, in what is shown.
    fn bare_steps(&self, draft: &Draft) -> Vec<usize> {
        let subject = self.subject;
        let transcript = &subject.request.transcript;
        let is_shown = |at: usize| draft.is_shown(at);
        let Some(turn) = open_turn(subject.request, is_shown) else { return Vec::new() };
        // What prompts the model may be of the unit of its step.
        let says = |at: usize| is_shown(at) && transcript.entry(at).role() == Role::Assistant;
        let steps = subject.units.all()[subject.units.index_of(turn)..]
            .iter()
            .filter(|unit| unit.entries.clone().any(says));
        let is_bare = |unit: &&Unit| {
            let said = unit.entries.clone().filter(|at| says(*at));
            let mut parts = said.flat_map(|at| transcript.entry(at).parts());
            let first = parts.find(|p| !draft.is_gone(p.slot) && p.name() != "compaction");
            first.is_some_and(|part| part.kind() != PartKind::Reasoning)
        };
        steps.take_while(is_bare).map(|unit| unit.entries.start).collect()
    }

    /// Takes the unit of `entry` away, in the manner of what was taken before; whether it might leave.
    fn take(&mut self, entry: usize) -> bool {
        let subject = self.subject;
        let entries = subject.units.all()[subject.units.index_of(entry)].entries.clone();
        if !entries.clone().all(|at| subject.guard.may_leave(at)) {
            return false;
        }
        self.draft.apply(&Edit::Fold(entries, Reason::OlderStep), &subject.matter());
        self.keep_order();
        true
    }

    fn scene(&self) -> StrategyContext<'_> {
        self.subject.scene(&self.draft, self.horizon)
    }

    /// Lets `strategies` propose in turn until enough is done.
    pub(super) fn run(&mut self, strategies: &[Arc<dyn Strategy>]) {
        for strategy in strategies {
            if self.is_done() {
                break;
            }
            let mut edits = strategy.propose(&self.scene());
            if self.unbind(&edits) {
                edits = strategy.propose(&self.scene());
            }
            self.make(strategy.name(), edits);
        }
    }

    /// Makes edits in order until the target is reached.
    pub(super) fn make(&mut self, strategy: &str, edits: Vec<Edit>) {
        // Folds are chosen together: half of a fold is another cut.
        if edits.iter().any(|edit| matches!(edit, Edit::Fold(..))) {
            self.take_up(Reason::OlderStep);
            return self.impose(strategy, edits);
        }
        self.make_while(strategy, edits, |work| !work.is_done());
    }

    /// Makes all of the edits.
    pub(super) fn impose(&mut self, strategy: &str, edits: Vec<Edit>) {
        self.make_while(strategy, edits, |_| true);
    }

    fn make_while(&mut self, strategy: &str, edits: Vec<Edit>, goes_on: fn(&Self) -> bool) {
        self.unbind(&edits);
        let before = self.draft.total();
        let mut made = 0;
        for edit in edits {
            if !goes_on(self) {
                break;
            }
            self.draft.apply(&edit, &self.subject.matter());
            made += 1;
        }
        if made > 0 {
            let saved = before.saturating_sub(self.draft.total());
            self.steps.push(PlanStep { strategy: strategy.to_owned(), edits: made, saved });
        }
    }

    /// Takes earlier checkpoints out of the messages that they share: the next one takes them on.
    pub(super) fn take_up(&mut self, reason: Reason) {
        let subject = self.subject;
        let edits = subject.checkpoints(&self.draft, reason);
        let before = self.draft.total();
        for edit in &edits {
            self.draft.apply(edit, &subject.matter());
        }
        if !edits.is_empty() {
            let saved = before.saturating_sub(self.draft.total());
            self.steps.push(PlanStep { strategy: "fold".to_owned(), edits: edits.len(), saved });
        }
    }

    /// Bound reasoning can't follow an edit: before one is made all of it leaves (DESIGN.md §8). Whether
    /// it did now.
    fn unbind(&mut self, edits: &[Edit]) -> bool {
        if self.subject.binding == Binding::Free {
            return false;
        }
        let transcript = &self.subject.request.transcript;
        let first = edits.iter().map(|edit| start(edit, transcript)).min();
        first.is_some_and(|first| self.unbind_from(first))
    }

    /// The same, before an edit of entry `first`.
    pub(super) fn unbind_from(&mut self, first: usize) -> bool {
        let subject = self.subject;
        if subject.binding == Binding::Free || !subject.guard.may_unbind() {
            return false;
        }
        let transcript = &subject.request.transcript;
        let reasoning: Vec<Slot> = (0..transcript.part_count())
            .map(|slot| Slot(slot as u32))
            .filter(|slot| transcript.part(*slot).kind() == PartKind::Reasoning)
            .collect();
        let follows = |slot: &Slot| {
            let at = transcript.entry_of(*slot);
            at >= first && self.draft.is_shown(at) && !self.draft.is_gone(*slot)
        };
        if !reasoning.iter().any(follows) {
            return false;
        }
        let gone = |at: &Slot| {
            let (at, put) = (*at, Put::Nothing);
            Edit::Put(PartEdit { at, put, reason: Reason::BoundReasoning })
        };
        let edits: Vec<Edit> = reasoning.iter().map(gone).collect();
        let before = self.draft.total();
        for edit in &edits {
            self.draft.apply(edit, &subject.matter());
        }
        // What has to stand before such a reply leaves with it: system text in mid-conversation.
        let instructs =
            |at: usize| transcript.entry(at).role().instructs() && self.draft.is_shown(at);
        let alone: Vec<usize> = reasoning
            .iter()
            .map(|slot| transcript.entry_of(*slot))
            .filter(|at| *at > 0 && !self.draft.is_shown(*at) && instructs(*at - 1))
            .collect();
        for at in alone {
            self.take(at - 1);
        }
        let saved = before.saturating_sub(self.draft.total());
        self.steps.push(PlanStep { strategy: "unbind".to_owned(), edits: edits.len(), saved });
        true
    }
}

/// The first entry that the edit changes.
fn start(edit: &Edit, transcript: &Transcript) -> usize {
    match edit {
        Edit::Put(put) => transcript.entry_of(put.at),
        Edit::Together(puts) => {
            let entries = puts.iter().map(|put| transcript.entry_of(put.at));
            entries.min().unwrap_or(transcript.len())
        }
        Edit::Fold(entries, _) => entries.start,
    }
}
