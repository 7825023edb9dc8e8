//! Making a plan, one strategy at a time.

use std::sync::Arc;

use super::work::WorkingPlan;
use super::{Means, Plan, PlanInput, PlanStep, Reached};
use crate::budget::Stop;
use crate::strategy::{Edit, Strategy};
use crate::view::Reason;

/// A plan in the making. Each step lets one strategy propose, so that a compaction can be cancelled in between.
///
/// The strategies run once. Where they don't reach the target, what must stay is cut to its share and they run a second
/// time, because the room that this gives may let them do more. Where that isn't enough either, though the floor is low
/// enough, all that may leave is folded.
#[derive(Clone, Debug)]
pub struct Planner {
    strategies: Arc<[Arc<dyn Strategy>]>,
    working: WorkingPlan,
    floor: u64,
    /// The strategy that is next.
    next: usize,
    round: Round,
}

/// How often strategies ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    First,
    Second,
}

/// A plan, once it is made.
#[derive(Clone, Debug)]
pub enum PlanProgress {
    /// There is more to do.
    More(Planner),
    /// It is made.
    Done(Box<Plan>),
}

impl Planner {
    /// Begins a plan by `strategies`, in turn.
    pub fn begin(input: &PlanInput<'_>, strategies: Arc<[Arc<dyn Strategy>]>) -> PlanProgress {
        let floor = input.floor();
        let mut working = WorkingPlan::new(input);
        // Without entries there is nothing to compact, whatever the frame weighs.
        let is_empty = input.request.transcript.is_empty();
        if is_empty || input.is_small() && input.stop == Stop::AtTarget {
            return PlanProgress::Done(Box::new(input.whole(Reached::NothingToDo, floor)));
        }
        if input.stop == Stop::AtTarget {
            // Held entries don't fit as they are: they are cut first, so that other entries may stay too.
            let cuts = input.cuts(&working.draft, input.levels());
            working.make(input, "squeeze", cuts);
        }
        let mut planner = Planner { strategies, working, floor, next: 0, round: Round::First };
        if planner.must_reach(input) {
            planner.working.horizon = input.horizon(&planner.working.draft);
        }
        PlanProgress::More(planner)
    }

    /// The steps so far, in order, by strategy.
    pub fn steps(&self) -> &[PlanStep] {
        &self.working.steps
    }

    /// Lets the next strategy propose, or ends the plan.
    #[must_use]
    pub fn step(mut self, input: &PlanInput<'_>) -> PlanProgress {
        let next = self.strategies.get(self.next).map(Arc::clone);
        if let Some(strategy) = next.filter(|_| !self.working.is_done(input)) {
            self.working.apply(input, strategy.as_ref());
            self.next += 1;
            return PlanProgress::More(self);
        }
        if self.round == Round::First && self.is_above(input) && self.make_room(input) {
            (self.round, self.next) = (Round::Second, 0);
            return PlanProgress::More(self);
        }
        PlanProgress::Done(Box::new(self.end(input)))
    }

    fn is_above(&self, input: &PlanInput<'_>) -> bool {
        self.working.landing(input) > input.budget.target
    }

    /// Whether it is to reach the target, whatever that takes.
    fn must_reach(&self, input: &PlanInput<'_>) -> bool {
        !input.is_small() && self.strategies.iter().any(|strategy| strategy.takes_oldest())
    }

    /// Takes away bound reasoning, which may be all that is in the way; then cuts what must stay. Whether that changed
    /// anything.
    fn make_room(&mut self, input: &PlanInput<'_>) -> bool {
        let before = self.working.steps.len();
        if self.must_reach(input) {
            self.working.drop_bound_reasoning(input, 0);
        }
        if self.is_above(input) {
            let cuts = input.cuts(&self.working.draft, input.shares());
            self.working.make(input, "squeeze", cuts);
        }
        self.working.steps.len() > before
    }

    fn end(mut self, input: &PlanInput<'_>) -> Plan {
        let (floor, target) = (self.floor, input.budget.target);
        if input.is_small() && self.working.steps.is_empty() {
            return input.whole(Reached::NothingToDo, floor);
        }
        // Strategies may leave held entries larger than their least size.
        let is_short = self.is_above(input) && floor <= target;
        if is_short && self.must_reach(input) && input.means == Means::All {
            self.working = input.least_view();
        }
        let mut working = self.working;
        working.keep_order(input);
        working.mend_opening(input);
        let cuts = input.cuts_for_deeds(&working.draft);
        working.make_all(input, "squeeze", cuts);
        let landing = working.landing(input);
        let before = input.tally.total().tokens;
        // A checkpoint for less than it takes itself is no gain.
        if landing >= before {
            return match () {
                () if input.is_small() => input.whole(Reached::NothingToDo, floor.min(before)),
                () if floor <= target => input.whole(Reached::Short, floor.min(before)),
                () => {
                    let held_by = input.held_by(&WorkingPlan::new(input).draft);
                    input.whole(Reached::Unreachable { held_by }, before)
                }
            };
        }
        let floor = floor.min(landing);
        let reached = match () {
            () if landing <= target => Reached::Target,
            () if floor <= target => Reached::Short,
            () => Reached::Unreachable { held_by: input.held_by(&working.draft) },
        };
        working.planned(input, reached, floor)
    }
}

impl PlanInput<'_> {
    fn is_small(&self) -> bool {
        self.tally.total().tokens <= self.budget.target
    }

    /// Only the held entries, cut where necessary.
    fn least_view(&self) -> WorkingPlan {
        let mut working = WorkingPlan::new(self);
        let units = self.units.all().iter().map(|unit| unit.entries.clone());
        let leaving = units.filter(|unit| unit.clone().all(|at| self.guard.may_leave(at)));
        let folds: Vec<Edit> = leaving.map(|unit| Edit::Fold(unit, Reason::LastResort)).collect();
        if !folds.is_empty() {
            working.take_checkpoints(self, Reason::LastResort);
        }
        working.make_all(self, "fold", folds);
        for levels in [self.levels(), self.shares()] {
            if working.landing(self) > self.budget.target {
                let cuts = self.cuts(&working.draft, levels);
                working.make_all(self, "squeeze", cuts);
            }
        }
        working
    }
}
