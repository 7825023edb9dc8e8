//! Above the least that can be reached, a view must be one that the next compaction leaves as it is.

use super::{Attempt, Compaction, Outcome, Step};
use crate::guard::Pin;
use crate::plan::Reached;
use crate::receipt::Originals;

/// Whether a view is held to the law of rest before it is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// It is.
    Held,
    /// It isn't: this is the second compaction, by which another one is.
    Assumed,
}

impl Compaction {
    /// Whether the view is above the least that can be reached and would not stay as it is. What must stay
    /// depends on what stands around it, so that this is tried, not told from the plan.
    pub(super) fn is_restless(&self, outcome: &Outcome) -> bool {
        let is_above = matches!(outcome.receipt.reached, Reached::Unreachable { .. });
        if self.rest == Rest::Assumed
            || self.attempt != Attempt::Asked
            || !is_above
            || outcome.view.is_whole()
        {
            return false;
        }
        let placed = outcome.view.checkpoint().map(|placed| placed.before);
        let shown: Vec<usize> = outcome
            .view
            .fates()
            .enumerate()
            .filter(|(_, fate)| fate.is_shown())
            .map(|(at, _)| at)
            .collect();
        let place = |at: usize| {
            let nth = shown.iter().position(|shown| *shown == at)?;
            Some(nth + usize::from(placed.is_some_and(|before| before <= at)))
        };
        let pins = self.compactor.options().pins.iter().filter_map(|pin| match pin {
            Pin::Entry(at) => {
                let now = outcome.came_from.iter().position(|from| from == &Some(*at))?;
                place(now).map(Pin::Entry)
            }
            Pin::Text(words) => Some(Pin::Text(words.clone())),
        });
        let checkpoint = outcome.receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id);
        let again = self.compactor.again(outcome.receipt.target, pins.collect(), checkpoint);
        let again = again.remembering(&outcome.receipt.ledger_changes);
        let mut again = Compaction::new(again, outcome.request.clone(), Originals::Caller);
        again.rest = Rest::Assumed;
        loop {
            if let Step::Done(done) = again.step() {
                return done.map_or(true, |second| second.rendered() != outcome.rendered());
            }
        }
    }
}
