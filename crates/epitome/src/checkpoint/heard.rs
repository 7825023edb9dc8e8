//! What all entries say together: the ledger.

use super::folded::Left;
use crate::ledger::{Ledger, Made, Shown, spoken};
use crate::transcript::{Entry, Part, Slot, Transcript};

/// The ledger, as far as the entries were heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(super) ledger: Ledger,
    /// So many first entries the ledger has read before, for another view: of these it is only told what is shown.
    pub(super) read: usize,
}

impl Heard {
    /// Entries that were read before.
    pub(crate) fn read_before(&self) -> usize {
        self.read
    }

    /// Hears what an entry says, of which that is `left`, and which `shown` tells to be shown.
    pub(crate) fn see(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
        left: Left,
    ) {
        if entry.index < self.read {
            return;
        }
        for (words, listed) in left.earlier {
            let said = words.iter().flat_map(|word| {
                let at = word.at as u32;
                word.stretches().map(move |text| (at, text))
            });
            self.ledger.resume(said, listed);
        }
        self.ledger.observe_masked(transcript, entry, shown, &left.masked);
    }

    /// Makes the changes of the ledger that earlier compactions made and this entry bears out, once it was heard.
    pub(crate) fn change_again(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        made: &[Made],
    ) {
        // A ledger that has read it has made them.
        if entry.index < self.read {
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

    /// Once all was read: what of it is shown, where some was read for another view.
    pub(super) fn show(&mut self, shown: impl Fn(Slot) -> Shown) {
        if self.read > 0 {
            self.ledger.show(shown);
        }
    }
}
