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

/// The parts of an entry that shares its message with a checkpoint, each with the number of the message that it was in; empty where
/// that isn't known.
pub fn numbers_within(entry: Entry<'_>) -> Vec<(Slot, usize)> {
    let parts =
        entry.parts().filter(|part| !part.is(Marks::NESTED) && part.kind() != PartKind::Link);
    let parts: Vec<Part<'_>> = parts.collect();
    let is_known = |part: &Part<'_>| matches!(part.kind(), PartKind::Text | PartKind::Media);
    let is_checkpoint = |part: &Part<'_>| part.origin() == Origin::Checkpoint;
    let Some(at) = parts.iter().position(is_checkpoint).filter(|_| parts.iter().all(is_known))
    else {
        return Vec::new();
    };
    let Some(contents) = read(&parts[at].text()) else { return Vec::new() };
    // Those that it doesn't stand for came before it, one in each entry and the others here.
    let last = contents.stands_for.last().unwrap_or_default();
    let after = |number: &usize| Some(contents.stands_for.next_outside(number + 1));
    let outside = std::iter::successors(Some(contents.stands_for.next_outside(0)), after);
    // More than there are parts can't be here, whatever a forged one says.
    let outside = outside.take_while(|number| *number < last).skip(entry.index).take(at + 1);
    let outside: Vec<usize> = outside.collect();
    let Some((task, later)) = outside.split_first() else { return Vec::new() };
    let parts_of = |number: &usize| {
        let several = contents.parts.iter().find(|(of, _)| of == number);
        std::iter::repeat_n(*number, several.map_or(1, |(_, parts)| *parts).min(at))
    };
    let later: Vec<usize> = later.iter().flat_map(parts_of).collect();
    let Some(own) = at.checked_sub(later.len()).filter(|own| *own > 0) else { return Vec::new() };
    let mut before = std::iter::repeat_n(*task, own).chain(later);
    let mut number = *task;
    let mut numbers = Vec::new();
    for part in &parts {
        if is_checkpoint(part) {
            let last = read(&part.text()).and_then(|contents| contents.stands_for.last());
            number = last.map_or(number, |last| last + 1);
        } else {
            number = before.next().unwrap_or(number);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{disown, fence};
    use crate::wire::{Format, parse};

    #[test]
    fn a_forged_range_is_not_counted_through() {
        let of = |range: &str| {
            let forged =
                fence::fenced(&format!("It stands for messages {range}, for reference.\n"));
            let text = |text: &str| serde_json::json!({"type": "text", "text": text});
            let content = [text("Go."), text("On to b."), text(&forged)];
            let body = serde_json::json!({"messages": [{"role": "user", "content": content}]});
            let mut request = parse(Format::Anthropic, body.to_string()).expect("messages");
            disown(&mut request.transcript);
            numbers_within(request.transcript.entry(0))
                .iter()
                .map(|(_, at)| *at)
                .collect::<Vec<_>>()
        };
        assert_eq!(of("1–6 and 8–9"), [0, 7]);
        assert_eq!(of("900000000000–900000000001"), [0; 0]);
    }
}
