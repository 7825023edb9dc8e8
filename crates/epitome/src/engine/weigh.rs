//! Counting what came in, and asking whether anything is due.

use super::{Attempt, Compaction, Counting, State, step_bytes};
use crate::count::{Basis, Count, Tally};
use crate::plan::Plan;
use crate::transcript::unit::Units;
use crate::transcript::{Part, Slot};

/// Plans for which what they show is counted, where only a sample was, before all is.
const MOST_PLANS: usize = 4;

impl Compaction {
    /// What is known before anything is counted, or by a sample.
    pub(super) fn begin_tally(&self) -> Tally {
        let counter = self.compactor.counter();
        match self.compactor.options().counting {
            Counting::Sampled if !self.compactor.asks_others() => {
                Tally::sampled(&self.request, counter)
            }
            Counting::Sampled | Counting::Whole => Tally::begin(&self.request, counter),
        }
    }

    /// A plan for which all is counted that it shows.
    pub(super) fn plan_counted(&mut self, tally: &mut Tally) -> (Units, Plan) {
        let mut plans = 0;
        loop {
            let (units, plan) = self.draw_up(tally);
            plans += 1;
            let is_due = self.attempt != Attempt::Pass;
            let shows = |part: &Part<'_>| {
                plans > MOST_PLANS || plan.draft.is_shown_whole(&self.request.transcript, part)
            };
            let parts = self.request.transcript.entries().flat_map(|entry| entry.parts());
            let open = parts.filter(|part| is_due && tally.is_sampled(part.slot) && shows(part));
            let open: Vec<Slot> = open.map(|part| part.slot).collect();
            if open.is_empty() {
                return (units, plan);
            }
            for part in open {
                tally.settle(&self.request, part, self.compactor.counter());
            }
        }
    }

    /// Asks the trigger, once all of the request is counted.
    pub(super) fn weigh(&mut self, mut tally: Tally) -> State {
        if self.extend(&mut tally) {
            return State::Weigh(tally);
        }
        let due = self.compactor.due().expect("it is weighed for a trigger");
        let fires = |count| due.trigger.fires(&due.around.around(&self.request, count));
        let total = tally.total();
        let Some(cause) = fires(total) else {
            self.came_from = (0..self.request.transcript.len()).map(Some).collect();
            self.attempt = Attempt::Pass;
            return State::Plan(tally);
        };
        let least = Count::exact(total.tokens.saturating_sub(total.upper - total.tokens));
        if total.basis == Basis::Sampled && fires(least).is_none() {
            return State::Weigh(Tally::begin(&self.request, self.compactor.counter()));
        }
        self.compactor = self.compactor.clone().because(cause);
        State::Mend(Some(tally))
    }

    /// Counts a step further; whether anything is left.
    fn extend(&self, tally: &mut Tally) -> bool {
        let (counter, beside) = (self.compactor.counter(), self.compactor.beside());
        tally.extend(&self.request, counter, step_bytes(beside), beside)
    }

    pub(super) fn count(&mut self, mut tally: Tally) -> State {
        if self.extend(&mut tally) {
            return State::Count(tally);
        }
        State::Plan(tally)
    }
}
