//! The working view while a plan is made: edits in turn, then what the provider still demands.

use super::{CheckpointRoom, Plan, PlanInput, PlanStep, Reached};
use crate::budget::Stop;
use crate::context::{Metadata, note};
use crate::guard::open_turn;
use crate::model::Binding;
use crate::strategy::{Edit, Strategy, StrategyContext};
use crate::transcript::unit::Unit;
use crate::transcript::{Origin, PartKind, Role, Slot, Transcript};
use crate::view::{PartEdit, Put, Reason};
use crate::wire::{Opening, Thinking};
use crate::working_view::Draft;

/// The working view, and the steps so far.
#[derive(Clone, Debug)]
pub(super) struct WorkingPlan {
    pub(super) draft: Draft,
    pub(super) steps: Vec<PlanStep>,
    /// Entries before this one will be folded whatever is done to them.
    pub(super) horizon: usize,
}

impl WorkingPlan {
    /// Everything unchanged.
    pub(super) fn new(input: &PlanInput<'_>) -> Self {
        let draft = Draft::new(&input.request.transcript, input.tally);
        WorkingPlan { draft, steps: Vec::new(), horizon: 0 }
    }

    /// Where the view would land with the least checkpoint that it needs.
    pub(super) fn landing(&self, input: &PlanInput<'_>) -> u64 {
        self.draft.total() + if self.draft.folds() { input.least } else { 0 }
    }

    /// Whether nothing more needs to be done.
    pub(super) fn is_done(&self, input: &PlanInput<'_>) -> bool {
        let landing = self.context(input).landing();
        input.stop == Stop::AtTarget && landing <= input.budget.target
    }

    /// The maximum tokens of the checkpoint: the room that is left, and no more than the entries it stands for.
    fn checkpoint(&self, input: &PlanInput<'_>) -> CheckpointRoom {
        if !self.draft.folds() {
            return CheckpointRoom::default();
        }
        // What goes to its end may be under its target before it began: it never grows up to it.
        let most = input.budget.target.min(input.tally.total().tokens);
        let folded = (0..input.request.transcript.len()).filter(|at| self.draft.is_folded(*at));
        let gone: u64 = folded.map(|at| input.tally.entry(at)).sum();
        // Earlier checkpoints that left messages which stay.
        let transcript = &input.request.transcript;
        let carried = transcript
            .entries()
            .flat_map(|entry| entry.parts())
            .filter(|part| part.origin() == Origin::Checkpoint && self.draft.is_gone(part.slot));
        let gone = gone + carried.map(|part| input.tally.part(part.slot)).sum::<u64>();
        let most_of_it = if input.stop == Stop::AtEnd { gone / 3 } else { gone };
        let cap = most_of_it.min(input.budget.checkpoint()).max(input.least);
        // If the target isn't reached anyway, a checkpoint of one line doesn't help.
        let above = input.budget.share().max(input.least).clamp(1, cap);
        let left = most.checked_sub(self.draft.total());
        CheckpointRoom { left: left.map_or(above, |left| left.clamp(1, cap)), above }
    }

    /// The plan that it comes to.
    pub(super) fn planned(self, input: &PlanInput<'_>, reached: Reached, floor: u64) -> Plan {
        let (checkpoint, place) = (self.checkpoint(input), input.place(&self.draft));
        Plan { draft: self.draft, steps: self.steps, reached, floor, checkpoint, place }
    }

    /// Folds everything before the last folded entry that may leave: what follows the checkpoint is newer than what it stands
    /// for (law 14).
    pub(super) fn keep_order(&mut self, input: &PlanInput<'_>) {
        let all = input.request.transcript.len();
        let Some(last) = (0..all).rev().find(|at| self.draft.is_folded(*at)) else { return };
        let leaves = |unit: &&Unit| {
            unit.entries.clone().all(|at| input.guard.may_leave(at))
                && unit.entries.clone().any(|at| self.draft.is_shown(at))
        };
        let older = input.units.all().iter().take_while(|unit| unit.entries.start < last);
        let fold = |unit: &Unit| Edit::Fold(unit.entries.clone(), Reason::OlderStep);
        let edits: Vec<Edit> = older.filter(leaves).map(fold).collect();
        if !edits.is_empty() {
            self.make_all(input, "fold", edits);
        }
    }

    /// The rest must begin as its provider demands: with the user, unless a checkpoint comes first; and a turn in
    /// progress with thinking, if that was enabled by hand. Units leave until one does.
    pub(super) fn mend_opening(&mut self, input: &PlanInput<'_>) {
        if input.request.format.opening() == Opening::User {
            while let Some(at) = self.leading_model(input) {
                if !self.fold_unit_of(input, at) {
                    break;
                }
            }
        }
        if Thinking::of(input.request) == Thinking::Manual {
            let whole = Draft::new(&input.request.transcript, input.tally);
            // A turn that came in without thinking isn't ours to mend.
            if !Self::steps_without_thinking(input, &whole).is_empty() {
                return;
            }
            loop {
                let bare = Self::steps_without_thinking(input, &self.draft);
                let took = bare.into_iter().filter(|at| self.fold_unit_of(input, *at)).count();
                if took == 0 {
                    break;
                }
            }
        }
    }

    /// The first entry shown, if it is the model's and another was first when it came in.
    fn leading_model(&self, input: &PlanInput<'_>) -> Option<usize> {
        let transcript = &input.request.transcript;
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

    /// The shown steps at the start of the open turn that don't begin with thinking.
    fn steps_without_thinking(input: &PlanInput<'_>, draft: &Draft) -> Vec<usize> {
        let transcript = &input.request.transcript;
        let is_shown = |at: usize| draft.is_shown(at);
        let Some(turn) = open_turn(input.request, is_shown) else { return Vec::new() };
        // What prompts the model may be of the unit of its step.
        let says = |at: usize| is_shown(at) && transcript.entry(at).role() == Role::Assistant;
        let steps = input.units.all()[input.units.index_of(turn)..]
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

    /// Removes the unit of `entry`, in the manner of earlier removals; returns whether it may leave.
    fn fold_unit_of(&mut self, input: &PlanInput<'_>, entry: usize) -> bool {
        let entries = input.units.all()[input.units.index_of(entry)].entries.clone();
        if !entries.clone().all(|at| input.guard.may_leave(at)) {
            return false;
        }
        self.draft.apply(&Edit::Fold(entries, Reason::OlderStep), &input.counts());
        self.keep_order(input);
        true
    }

    fn context<'a>(&'a self, input: &'a PlanInput<'_>) -> StrategyContext<'a> {
        input.context(&self.draft, self.horizon)
    }

    /// Lets `strategy` propose, and makes its edits.
    pub(super) fn apply(&mut self, input: &PlanInput<'_>, strategy: &dyn Strategy) {
        let mut edits = strategy.propose(&self.context(input));
        if self.drop_reasoning_before(input, &edits) {
            edits = strategy.propose(&self.context(input));
        }
        let mut metadata = Metadata::new();
        note(&mut metadata, strategy.metadata(&self.context(input)));
        let known = self.steps.len();
        self.make(input, strategy.name(), edits);
        // What had to leave before its edits isn't its own.
        let own = self.steps[known..].iter_mut().rfind(|step| step.strategy == strategy.name());
        if let Some(own) = own {
            own.metadata = metadata;
        }
    }

    /// Makes edits in order until the target is reached.
    pub(super) fn make(&mut self, input: &PlanInput<'_>, strategy: &str, edits: Vec<Edit>) {
        // Folds are chosen together: half of a fold is another cut.
        if edits.iter().any(|edit| matches!(edit, Edit::Fold(..))) {
            self.take_checkpoints(input, Reason::OlderStep);
            return self.make_all(input, strategy, edits);
        }
        self.make_while(input, strategy, edits, |working| !working.is_done(input));
    }

    /// Makes all of the edits.
    pub(super) fn make_all(&mut self, input: &PlanInput<'_>, strategy: &str, edits: Vec<Edit>) {
        self.make_while(input, strategy, edits, |_| true);
    }

    fn make_while(
        &mut self,
        input: &PlanInput<'_>,
        strategy: &str,
        edits: Vec<Edit>,
        goes_on: impl Fn(&Self) -> bool,
    ) {
        self.drop_reasoning_before(input, &edits);
        let before = self.draft.total();
        let mut made = 0;
        for edit in edits {
            if !goes_on(self) {
                break;
            }
            self.draft.apply(&edit, &input.counts());
            made += 1;
        }
        self.record(strategy, made, before);
    }

    /// Notes that `edits` were made when there were `before` tokens.
    fn record(&mut self, strategy: &str, edits: usize, before: u64) {
        if edits > 0 {
            let saved = before.saturating_sub(self.draft.total());
            let (strategy, metadata) = (strategy.to_owned(), Metadata::new());
            self.steps.push(PlanStep { strategy, edits, saved, metadata });
        }
    }

    /// Takes earlier checkpoints out of the messages that they share: the next one takes them on.
    pub(super) fn take_checkpoints(&mut self, input: &PlanInput<'_>, reason: Reason) {
        let edits = input.checkpoints(&self.draft, reason);
        let before = self.draft.total();
        for edit in &edits {
            self.draft.apply(edit, &input.counts());
        }
        self.record("fold", edits.len(), before);
    }

    /// Bound reasoning can't follow an edit: before one is made all of it leaves (DESIGN.md §8). Returns whether it did
    /// now.
    fn drop_reasoning_before(&mut self, input: &PlanInput<'_>, edits: &[Edit]) -> bool {
        if input.binding == Binding::Free {
            return false;
        }
        let transcript = &input.request.transcript;
        let first = edits.iter().map(|edit| start(edit, transcript)).min();
        first.is_some_and(|first| self.drop_bound_reasoning(input, first))
    }

    /// The same, before an edit of entry `first`.
    pub(super) fn drop_bound_reasoning(&mut self, input: &PlanInput<'_>, first: usize) -> bool {
        if input.binding == Binding::Free || !input.guard.may_unbind() {
            return false;
        }
        let transcript = &input.request.transcript;
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
            self.draft.apply(edit, &input.counts());
        }
        // System text in mid-conversation that must precede such a reply leaves with it.
        let instructs =
            |at: usize| transcript.entry(at).role().instructs() && self.draft.is_shown(at);
        let alone: Vec<usize> = reasoning
            .iter()
            .map(|slot| transcript.entry_of(*slot))
            .filter(|at| *at > 0 && !self.draft.is_shown(*at) && instructs(*at - 1))
            .collect();
        for at in alone {
            self.fold_unit_of(input, at - 1);
        }
        self.record("unbind", edits.len(), before);
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
