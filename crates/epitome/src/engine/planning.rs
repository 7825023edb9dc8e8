//! Drawing up the plan of an attempt.

use std::sync::Arc;

use super::{Attempt, Compaction};
use crate::budget::Budget;
use crate::checkpoint::Least;
use crate::count::Tally;
use crate::guard::{Guard, Overridden, Wishes};
use crate::plan::{Cover, Means, Plan, Reached, Subject};
use crate::strategy::{Found, Head};
use crate::transcript::unit::Units;

impl Compaction {
    pub(super) fn target(&self, tally: &Tally) -> u64 {
        self.compactor.options().target.resolve(tally.total().tokens)
    }

    pub(super) fn guard(&self, tally: &Tally, units: &Units) -> Guard {
        let options = self.compactor.options();
        let wishes = Wishes {
            target: self.target(tally),
            task: options.task,
            pins: &options.pins,
            tail: options.tail,
            preserved: self.compactor.preserved(),
            binding: self.compactor.binding(&self.request),
        };
        Guard::new(&self.request, units, tally, wishes)
    }

    pub(super) fn subject<'a>(
        &'a self,
        tally: &'a Tally,
        (units, guard): (&'a Units, &'a Guard),
        found: &'a Found,
    ) -> Subject<'a> {
        let options = self.compactor.options();
        Subject {
            request: &self.request,
            units,
            numbering: &self.numbering,
            tally,
            guard,
            budget: Budget::new(self.target(tally)),
            least: Least::of(self.compactor.counter()),
            stop: options.stop,
            cover: Cover::Folds,
            means: Means::from(&options.strategies),
            cause: self.compactor.cause(),
            counter: self.compactor.counter(),
            binding: self.compactor.binding(&self.request),
            before: None,
            found,
        }
    }

    pub(super) fn draw_up(&mut self, tally: &Tally) -> (Units, Plan) {
        let units = || Units::of(&self.request.transcript, self.request.format.instructions());
        let (units, before) = match self.drafted.take() {
            Some((units, draft)) => (units, Some(draft)),
            None => (units(), None),
        };
        let found = self.found();
        let guard = self.guard(tally, &units);
        let before = before.as_ref();
        let subject = Subject { before, ..self.subject(tally, (&units, &guard), &found) };
        let plan = match self.attempt {
            Attempt::Asked => {
                let strategies = self.compactor.strategies();
                let reserve = self.reserve.filter(|reserve| *reserve > 0);
                let covering = reserve.and_then(|reserve| subject.covering(strategies, reserve));
                covering.unwrap_or_else(|| subject.plan(strategies))
            }
            Attempt::Least => subject.least(self.compactor.strategies()),
            Attempt::Oldest => subject.plan(&[Arc::new(Head::oldest())]),
            Attempt::Nothing => subject.leave(),
            Attempt::Declined => Plan { reached: Reached::Declined, ..subject.leave() },
            Attempt::Pass => {
                let floor = subject.plan(&[]).floor;
                Plan { reached: Reached::NotTriggered, floor, ..subject.leave() }
            }
            Attempt::Delegated => unreachable!("its plan is somebody else's"),
        };
        self.note(&guard, &plan);
        (units, plan)
    }

    /// Remembers what the receipt tells of a plan.
    pub(super) fn note(&mut self, guard: &Guard, plan: &Plan) {
        self.firm = guard.firm();
        self.unmatched_pins = guard.unmatched().to_vec();
        self.unheld_pins = guard.unheld().to_vec();
        let is_hidden = |o: &&Overridden| !plan.draft.is_shown(o.entry);
        self.overridden = guard.overridden().iter().filter(is_hidden).cloned().collect();
    }
}
