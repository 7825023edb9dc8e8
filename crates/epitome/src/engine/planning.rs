//! Drawing up the plan of an attempt.

use std::sync::Arc;

use super::{Attempt, Compaction};
use crate::budget::Budget;
use crate::checkpoint::least_tokens;
use crate::count::Tally;
use crate::guard::{Guard, GuardOptions};
use crate::plan::{Means, Plan, PlanInput, Reached};
use crate::strategy::{Found, Head};
use crate::transcript::unit::Units;

impl Compaction {
    pub(super) fn target(&self, tally: &Tally) -> u64 {
        self.compactor.options().target.resolve(tally.total().tokens)
    }

    pub(super) fn guard(&self, tally: &Tally, units: &Units) -> Guard {
        let options = self.compactor.options();
        let wishes = GuardOptions {
            target: self.target(tally),
            task: options.task,
            pins: &options.pins,
            tail: options.tail,
            preserved: self.compactor.preserved(),
            binding: self.compactor.binding(&self.request),
            open_loop: self.compactor.open_loop(),
        };
        Guard::new(&self.request, units, tally, wishes)
    }

    pub(super) fn subject<'a>(
        &'a self,
        tally: &'a Tally,
        (units, guard): (&'a Units, &'a Guard),
        found: &'a Found,
    ) -> PlanInput<'a> {
        let options = self.compactor.options();
        PlanInput {
            request: &self.request,
            units,
            tally,
            guard,
            budget: Budget::new(self.target(tally)),
            least: least_tokens(self.compactor.counter()),
            stop: options.stop,
            means: Means::from(&options.strategies),
            cause: self.compactor.cause(),
            counter: self.compactor.counter(),
            binding: self.compactor.binding(&self.request),
            found,
        }
    }

    pub(super) fn draw_up(&mut self, tally: &Tally) -> (Units, Plan) {
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let found = self.found();
        let guard = self.guard(tally, &units);
        let subject = self.subject(tally, (&units, &guard), &found);
        let plan = match self.attempt {
            Attempt::Asked => subject.plan(self.compactor.strategies()),
            Attempt::Oldest => subject.plan(&[Arc::new(Head::default())]),
            Attempt::Nothing => subject.leave(),
            Attempt::Declined => subject.pass(Reached::Declined),
            Attempt::Pass => subject.pass(Reached::NotTriggered),
            Attempt::Delegated => unreachable!("its plan is somebody else's"),
        };
        self.note(&guard);
        (units, plan)
    }

    /// Remembers what the receipt tells of a plan.
    pub(super) fn note(&mut self, guard: &Guard) {
        self.firm = guard.firm();
        self.unmatched_pins = guard.unmatched().to_vec();
        self.unheld_pins = guard.unheld().to_vec();
    }

    /// What strategies found out, and will.
    pub(super) fn found(&mut self) -> Arc<Found> {
        let found = self.found.get_or_insert_with(|| Arc::new(Found::of(&self.request.transcript)));
        Arc::clone(found)
    }
}
