//! Changes of the ledger that came with a summary.

use super::Compaction;
use crate::checkpoint::{self, Checkpoint, Gathered, Seat};
use crate::count::Tally;
use crate::ledger::{Delta, Proposed, Refused, spoken};
use crate::plan::Plan;

/// What a summary is put into.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) gathered: Gathered,
    pub(super) seat: Seat,
    pub(super) checkpoint: Checkpoint,
}

impl Compaction {
    /// Makes the changes that the transcript bears out, and writes the checkpoint anew with them; what became
    /// of each. Where that would quote less of what people said, or leave no room for a summary, none is made.
    pub(super) fn change_ledger(
        &self,
        tally: &Tally,
        plan: &Plan,
        place: &mut Place,
        deltas: Vec<Delta>,
    ) -> Vec<Proposed> {
        if deltas.is_empty() {
            return Vec::new();
        }
        let mut ledger = place.gathered.ledger().clone();
        let said = |at| spoken(&self.request.transcript, at);
        let mut proposed: Vec<Proposed> = deltas
            .into_iter()
            .map(|delta| Proposed { refused: ledger.change(&delta, &said).err(), delta })
            .collect();
        if proposed.iter().all(|one| one.refused.is_some()) {
            return proposed;
        }
        let gathered = place.gathered.with_ledger(ledger);
        let free = self.target(tally).saturating_sub(plan.draft.total());
        let most = plan.checkpoint.min(free);
        let counter = self.compactor.counter();
        let old = &place.checkpoint;
        let anew = checkpoint::write(&gathered, most, counter).filter(|anew| {
            anew.words_kept >= old.words_kept && anew.words_missing() <= old.words_missing()
        });
        let seat = anew.as_ref().and_then(|anew| Seat::of(anew, &gathered, most, counter));
        if let (Some(checkpoint), Some(seat)) = (anew, seat) {
            *place = Place { gathered, seat, checkpoint };
        } else {
            let taken = proposed.iter_mut().filter(|one| one.refused.is_none());
            taken.for_each(|one| one.refused = Some(Refused::Room));
        }
        proposed
    }
}
