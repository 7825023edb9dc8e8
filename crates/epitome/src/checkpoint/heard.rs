//! What all entries say together: the ledger.

use std::sync::Arc;

use super::folded::{Earlier, Left};
use crate::ledger::{Ledger, Made, Shown, spoken};
use crate::transcript::{Entry, Numbering, Part, Slot, Transcript};

/// The ledger, as far as the entries were heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(super) ledger: Ledger,
    /// So many first entries the ledger has read before, for another view: of these it is only told what is shown.
    pub(super) read: usize,
    pub(super) numbering: Arc<Numbering>,
    /// What earlier checkpoints remember, until that was said.
    pub(super) waiting: Vec<Earlier>,
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
        let Left { earlier, masked } = left;
        let checkpoint = earlier.last().map(|earlier| earlier.slot);
        self.waiting.extend(earlier);
        if self.waiting.is_empty() {
            return self.ledger.observe_masked(transcript, entry, shown, &masked, |_| true);
        }
        // What is shown behind a checkpoint may have come before some of what that stands for.
        let slots: Vec<Slot> = entry.parts().map(|part| part.slot).collect();
        let numbers = self.numbering.shared(entry.index).unwrap_or_default().to_vec();
        let own = self.numbering.of(entry.index);
        let number = |nth: usize| match (checkpoint, numbers.len()) {
            (Some(at), _) if slots[nth] <= at => None,
            (_, 0) => Some(own),
            // The last parts are those of the last messages.
            (_, len) => Some(numbers[len.saturating_sub(slots.len() - nth)]),
        };
        let mut from = 0;
        while from < slots.len() {
            let next = (from..slots.len()).find(|nth| number(*nth) != number(from));
            let next = next.unwrap_or(slots.len());
            if let Some(number) = number(from) {
                self.hear_before(number);
            }
            let range = slots[from]..=slots[next - 1];
            self.ledger
                .observe_masked(transcript, entry, &shown, &masked, |of| range.contains(&of));
            from = next;
        }
    }

    /// Hears what earlier checkpoints remember of what was said before message `number`.
    fn hear_before(&mut self, number: usize) {
        for earlier in &mut self.waiting {
            let (words, listed) = earlier.before(number);
            let said = words.iter().flat_map(|word| {
                let at = word.at as u32;
                word.stretches().map(move |text| (at, text))
            });
            if !(words.is_empty() && listed.is_empty()) {
                self.ledger.resume_some(said, listed, &earlier.texts);
            }
        }
        self.waiting.retain(|earlier| !earlier.is_empty());
    }

    /// Once all was read: the same of all of it.
    pub(super) fn end(&mut self) {
        self.hear_before(usize::MAX);
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
