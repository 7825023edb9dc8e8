//! What all entries say together: the ledger.

use std::collections::HashSet;

use super::folded::Left;
use crate::ledger::{Ledger, Made, Shown, spoken};
use crate::transcript::{Entry, Part, Slot, Transcript};

/// The ledger, as far as the entries were heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(super) ledger: Ledger,
    /// The parts that are shown in full, where the ledger was read for another view.
    pub(super) reread: Option<HashSet<Slot>>,
}

impl Heard {
    /// Whether it reads what is said, and not only what of it is shown.
    pub(crate) fn reads(&self) -> bool {
        self.reread.is_none()
    }

    /// Hears what an entry says, of which that is `left`, and which `shown` tells to be shown.
    pub(crate) fn see(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
        left: Left,
    ) {
        for (words, listed) in left.earlier {
            let said = words.iter().flat_map(|word| {
                let at = word.at as u32;
                word.stretches().map(move |text| (at, text))
            });
            self.ledger.resume(said, listed);
        }
        let Some(in_full) = &mut self.reread else {
            return self.ledger.observe_masked(transcript, entry, shown, &left.masked);
        };
        let parts = entry.parts().filter(|part| shown(part) == Shown::InFull);
        in_full.extend(parts.map(|part| part.slot));
    }

    /// Makes the changes of the ledger that earlier compactions made and this entry bears out, once it was heard.
    pub(crate) fn change_again(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        made: &[Made],
    ) {
        // The ledger that was read for another view has them.
        if self.reread.is_some() {
            return;
        }
        let at = entry.index as u32;
        for made in made.iter().filter(|made| made.delta.sources.iter().max() == Some(&at)) {
            self.ledger.change_again(made, &|at| spoken(transcript, at));
        }
    }

    /// Once all was read, the same for lines that were carried over without the messages that bear them out.
    pub(super) fn keep_changes(&mut self, made: &[Made]) {
        for made in made {
            self.ledger.keep_change(made);
        }
    }

    /// Once all was read in another view: what of it is shown there.
    pub(super) fn settle(&mut self) {
        let Some(in_full) = self.reread.take() else { return };
        self.ledger.show(
            |slot| {
                if in_full.contains(&slot) { Shown::InFull } else { Shown::Elsewhere }
            },
        );
    }
}
