//! What a checkpoint is made from, taken of a whole transcript.

use epitome::checkpoint::Gathered;
use epitome::ledger::Shown;
use epitome::transcript::Transcript;
use epitome::transcript::unit::Units;

/// Ledger, anchors and what the narrative chooses from, of all entries, as if none were shown.
pub fn gathered(transcript: &Transcript, units: &Units) -> Gathered {
    let mut gathered = Gathered::recalled_by(None);
    for entry in transcript.entries() {
        gathered.add(transcript, units, entry);
        gathered.see(transcript, entry, |_| Shown::Elsewhere);
    }
    gathered.settle();
    gathered
}
