//! A compaction under way, step by step.

use epitome::engine::{Answer, CompactError, Compaction, Outcome, Step};
use epitome::session::{SessionId, Ticket};

pub(super) struct Flight {
    pub(super) session: SessionId,
    pub(super) ticket: Ticket,
    /// Of the model that it was begun for.
    pub(super) window: Option<u64>,
    pub(super) state: State,
}

pub(super) enum State {
    Flying(Box<Compaction>),
    /// It ended, and nobody brought it back yet.
    Landed(Result<Box<Outcome>, CompactError>),
}

impl Flight {
    /// So many steps further.
    pub(super) fn fly(&mut self, steps: usize) {
        for _ in 0..steps {
            let State::Flying(compaction) = &mut self.state else { return };
            if let Step::Done(outcome) = compaction.step() {
                self.state = State::Landed(outcome);
            }
        }
    }

    /// Whoever runs it gives up.
    pub(super) fn cancel(&mut self) {
        if let State::Flying(compaction) = &mut self.state {
            compaction.supply(Answer::Cancel);
        }
    }
}
