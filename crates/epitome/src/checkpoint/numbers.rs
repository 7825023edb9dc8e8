//! Which messages of the whole conversation the entries of a view are, where a checkpoint stands for some.

use super::read::read;
use crate::transcript::{Entry, Marks, Numbering, Origin, Part, PartKind, Slot, Transcript};

/// The number of each entry, from the ranges of earlier checkpoints in the transcript. Entries after a checkpoint are newer
/// than its range; entries before it have the numbers that are left.
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

/// What people say in an entry that shares its message with a checkpoint, each part with the number of the message that it was in;
/// empty where that isn't known.
pub fn numbers_within(entry: Entry<'_>) -> Vec<(Slot, usize)> {
    let parts = || entry.parts().filter(|part| !part.is(Marks::NESTED));
    let is_known =
        |part: Part<'_>| matches!(part.kind(), PartKind::Text | PartKind::Media | PartKind::Link);
    let is_checkpoint = |part: &Part<'_>| part.origin() == Origin::Checkpoint;
    let Some(first) = parts().find(is_checkpoint).filter(|_| parts().all(is_known)) else {
        return Vec::new();
    };
    let Some(contents) = read(&first.text()) else { return Vec::new() };
    // Those that it doesn't stand for came before it: one for each entry, and here one for each text, if they are as many.
    let last = contents.stands_for.last().unwrap_or_default();
    let outside = (0..last).filter(|number| !contents.stands_for.contains(*number));
    let outside: Vec<usize> = outside.skip(entry.index).collect();
    let begins = |part: &Part<'_>| part.is_human() && part.kind() == PartKind::Text;
    let texts = parts().take_while(|part| !is_checkpoint(part)).filter(begins).count();
    let Some(mut number) = outside.first().copied() else { return Vec::new() };
    let mut next = outside.iter().copied().filter(|_| texts == outside.len());
    let mut numbers = Vec::new();
    for part in parts() {
        if is_checkpoint(&part) {
            let last = read(&part.text()).and_then(|contents| contents.stands_for.last());
            number = last.map_or(number, |last| last + 1);
        } else if part.is_human() {
            if begins(&part) && part.slot < first.slot {
                number = next.next().unwrap_or(number);
            }
            numbers.push((part.slot, number));
        }
    }
    numbers
}

/// Whether a checkpoint is all that the entry says.
pub(super) fn is_checkpoint(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().filter(|part| part.kind() != PartKind::Link).peekable();
    parts.peek().is_some() && parts.all(|part| part.origin() == Origin::Checkpoint)
}
