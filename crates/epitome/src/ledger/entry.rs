//! What an entry of a transcript says, by its parts.

use super::{Ledger, Shown, Speaker};
use crate::draft::part_text;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Transcript};

impl Ledger {
    /// Reads the texts and results of an entry, of which `shown` says how much is still shown.
    /// Entries come in their order.
    pub fn observe_entry(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
    ) {
        let at = entry.index as u32;
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            let who = match (part.kind(), part.origin()) {
                (_, Origin::Checkpoint) => continue,
                (PartKind::Result, _) => Speaker::Tool,
                (PartKind::Text, _) if entry.role().instructs() => Speaker::System,
                (PartKind::Text, Origin::Human) => Speaker::Human,
                (PartKind::Text, Origin::Injected) => Speaker::Injected,
                (PartKind::Text, Origin::Model) => Speaker::Model,
                (PartKind::Text, Origin::Tool) => Speaker::Tool,
                _ => continue,
            };
            self.reading = Some(self.parts.len() as u32);
            self.parts.push(part.slot);
            self.observe(at, who, shown(&part), &part_text(transcript, &part));
        }
        self.reading = None;
    }
}
