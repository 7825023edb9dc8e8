//! What an entry of a transcript says, by its parts.

use super::{Ledger, Shown, Speaker, Spoken};
use crate::draft::part_text;
use crate::text::secrets::{into_masked, masked};
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Slot, Transcript};

impl Ledger {
    /// Reads the texts and results of an entry, of which `shown` says how much is still shown.
    /// Entries come in their order.
    pub fn observe_entry(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
    ) {
        self.observe_masked(transcript, entry, shown, &[], |_| true);
    }

    /// The same of some of its parts, where some of the texts are there already, masked.
    pub(crate) fn observe_masked(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
        known: &[(Slot, String)],
        reads: impl Fn(Slot) -> bool,
    ) {
        let at = entry.index as u32;
        // Both are in order.
        let mut known = known.iter().peekable();
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED) && reads(p.slot)) {
            let Some(who) = speaker(entry, &part) else { continue };
            self.reading = Some(self.parts.len() as u32);
            self.parts.push(part.slot);
            while known.next_if(|(slot, _)| slot.0 < part.slot.0).is_some() {}
            match known.next_if(|(slot, _)| *slot == part.slot) {
                Some((_, text)) => self.observe(at, who, shown(&part), text),
                None => {
                    self.observe(at, who, shown(&part), &masked(&part_text(transcript, &part)));
                }
            }
        }
        self.reading = None;
    }
}

/// The texts of an entry that the ledger reads, masked.
pub(crate) fn masked_texts(transcript: &Transcript, entry: Entry<'_>) -> Vec<(Slot, String)> {
    let parts = entry.parts().filter(|part| !part.is(Marks::NESTED));
    let read = parts.filter(|part| speaker(entry, part).is_some());
    read.map(|part| (part.slot, into_masked(part_text(transcript, &part)))).collect()
}

/// Who says a part; nobody where it says nothing that counts.
fn speaker(entry: Entry<'_>, part: &Part<'_>) -> Option<Speaker> {
    Some(match (part.kind(), part.origin()) {
        (_, Origin::Checkpoint) => return None,
        (PartKind::Result, _) => Speaker::Tool,
        (PartKind::Text, _) if entry.role().instructs() => Speaker::System,
        (PartKind::Text, Origin::Human) => Speaker::Human,
        (PartKind::Text, Origin::Injected) => Speaker::Injected,
        (PartKind::Text, Origin::Model) => Speaker::Model,
        (PartKind::Text, Origin::Tool) => Speaker::Tool,
        _ => return None,
    })
}

/// What the message at `at` says, part by part; `None` where there is none.
pub(crate) fn spoken(transcript: &Transcript, at: u32) -> Option<Spoken> {
    let at = at as usize;
    (at < transcript.len()).then(|| {
        let entry = transcript.entry(at);
        let parts = entry.parts().filter(|part| !part.is(Marks::NESTED));
        parts
            .filter_map(|part| {
                let who = speaker(entry, &part)?;
                Some((who, masked(&part_text(transcript, &part)).into()))
            })
            .collect()
    })
}
