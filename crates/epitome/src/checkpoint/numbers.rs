//! Which messages of the whole conversation the entries of a view are, where a checkpoint stands for some.

use super::read::read;
use crate::transcript::{Entry, Numbering, Origin, Part, PartKind, Transcript};

/// The number of each entry, by what earlier checkpoints in the transcript say that they stand for. What follows a checkpoint
/// is newer than all that it stands for; what precedes it has the numbers that are left.
pub fn numbering(transcript: &Transcript) -> Numbering {
    let mut numbering = Numbering::default();
    for entry in transcript.entries() {
        for part in entry.parts().filter(|part| part.origin() == Origin::Checkpoint) {
            if let Some(contents) = read(&part.text()) {
                let Some(last) = contents.stands_for.last() else { continue };
                let mut number = 0;
                for before in 0..=entry.index {
                    number = contents.stands_for.next_outside(number);
                    numbering.go_on(before, number);
                    number += 1;
                }
                // Where roles take turns, what follows may share the checkpoint's message.
                let shares = is_followed(entry, &part);
                numbering.go_on(entry.index + 1, last + 1 + usize::from(shares));
            }
        }
    }
    numbering
}

fn is_followed(entry: Entry<'_>, checkpoint: &Part<'_>) -> bool {
    entry.parts().any(|part| part.slot > checkpoint.slot && part.kind() != PartKind::Link)
}

/// Whether a checkpoint is all that the entry says.
pub(super) fn is_checkpoint(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().filter(|part| part.kind() != PartKind::Link).peekable();
    parts.peek().is_some() && parts.all(|part| part.origin() == Origin::Checkpoint)
}
