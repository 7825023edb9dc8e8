//! Counting what came in, and asking whether anything is due.

use super::{Attempt, Compaction, Counting, STEP_BYTES, State};
use crate::count::Tally;

impl Compaction {
    /// What a trigger looks at first.
    pub(super) fn begin_weighing(&self) -> Tally {
        let counter = self.compactor.counter();
        match self.compactor.options().counting {
            Counting::Whole => self.begin_counting(),
            Counting::Sampled => Tally::sampled(&self.request, counter),
        }
    }

    /// Counts all.
    pub(super) fn begin_counting(&self) -> Tally {
        Tally::begin(&self.request, self.compactor.counter())
    }

    /// Asks the trigger, once all of the request is counted.
    pub(super) fn weigh(&mut self, mut tally: Tally) -> State {
        if self.extend(&mut tally) {
            return State::Weigh(tally);
        }
        let due = self.compactor.due().expect("it is weighed for a trigger");
        let gauge = due.around.around(&self.request, tally.total());
        let Some(cause) = due.trigger.fires(&gauge) else {
            self.came_from = (0..self.request.transcript.len()).map(Some).collect();
            self.attempt = Attempt::Pass;
            return State::Plan(tally);
        };
        // What may be due is counted, and what is compacted is.
        if tally.is_sampled() {
            return State::Weigh(self.begin_counting());
        }
        self.compactor = self.compactor.clone().with_cause(cause);
        State::Mend(Some(tally))
    }

    /// Counts a step further; whether anything is left.
    fn extend(&self, tally: &mut Tally) -> bool {
        tally.extend(&self.request, self.compactor.counter(), STEP_BYTES)
    }

    pub(super) fn count(&mut self, mut tally: Tally) -> State {
        if self.extend(&mut tally) {
            return State::Count(tally);
        }
        State::Plan(tally)
    }
}
