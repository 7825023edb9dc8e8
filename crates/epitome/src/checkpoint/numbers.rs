//! Which messages a checkpoint stands for, and so which ones of the whole conversation those behind it are.

use super::following::Following;
use super::unfenced;
use crate::transcript::{Entry, Numbering, Origin, Part, PartKind, Slot, Transcript};

/// Which messages of the whole conversation the entries of a view are, where checkpoints whose origin is known stand for
/// some: by these numbers a checkpoint names them.
pub fn numbering(transcript: &Transcript) -> Numbering {
    let mut numbering = Numbering::default();
    let parts = (0..transcript.part_count() as u32).map(|slot| transcript.part(Slot(slot)));
    for part in parts.filter(|part| part.origin() == Origin::Checkpoint) {
        if let Some(body) = unfenced(&part.text()) {
            let entry = transcript.entry(transcript.entry_of(part.slot));
            go_on_behind(&mut numbering, entry, &part, body);
        }
    }
    numbering
}

/// Goes on behind the checkpoint that a part of `entry` is.
fn go_on_behind(numbering: &mut Numbering, entry: Entry<'_>, part: &Part<'_>, body: &str) {
    let head = &body[..body.find("\n## ").unwrap_or(body.len())];
    let own = numbering.of(entry.index);
    let next = own + stands_for(body);
    let (mut messages, then) =
        Following::read(head).unwrap_or(Following::of(Vec::new(), next)).numbers();
    // What is said behind it in one entry is the first that follows.
    let parts = || entry.parts().filter(|other| other.kind() != PartKind::Link);
    let is_behind = parts().any(|other| other.slot > part.slot);
    let is_first = parts().all(|other| other.slot >= part.slot);
    let mut from = entry.index + 1;
    if is_behind {
        let shared = if messages.is_empty() { vec![then] } else { messages.remove(0) };
        let number = shared.first().copied().unwrap_or(then);
        let then = then + usize::from(shared == [then]);
        if is_first {
            numbering.go_on(entry.index, number);
        }
        numbering.share(entry.index, shared);
        from = told(numbering, from, messages);
        return numbering.go_on(from, then);
    }
    from = told(numbering, from, messages);
    numbering.go_on(from, then);
}

/// Tells which messages the entries from `from` on are made of; which one comes behind them.
fn told(numbering: &mut Numbering, from: usize, messages: Vec<Vec<usize>>) -> usize {
    let behind = from + messages.len();
    for (entry, numbers) in (from..).zip(messages) {
        if let Some(first) = numbers.first() {
            numbering.go_on(entry, *first);
        }
        if numbers.len() > 1 {
            numbering.share(entry, numbers);
        }
    }
    behind
}

/// Whether a checkpoint is all that the entry says.
pub(super) fn is_checkpoint(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().filter(|part| part.kind() != PartKind::Link).peekable();
    parts.peek().is_some() && parts.all(|part| part.origin() == Origin::Checkpoint)
}

/// How many messages a checkpoint says that it stands for, one at the least.
pub(super) fn stands_for(body: &str) -> usize {
    let line = body.lines().next().unwrap_or_default();
    let digits = line.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    // Numbers stay far from where they end.
    digits[..end].parse::<u32>().unwrap_or(0).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Form, Gathered, fenced, head};

    #[test]
    fn every_head_says_how_many_it_stands_for() {
        let mut gathered = Gathered::default();
        gathered.halves().0.messages = 31;
        for form in [Form::Full, Form::Brief, Form::Line] {
            assert_eq!(stands_for(&head(&gathered, form)), 31);
        }
        assert_eq!(stands_for("No number.\n7 of them\n"), 1);
    }

    #[test]
    fn messages_behind_a_checkpoint_go_on_from_it() {
        let text = fenced("5 messages of before are not shown here.\n");
        let told = "The messages that follow are 1+4, 5, and those from 9 on.\n";
        let told = fenced(&format!("5 messages of before are not shown here.\n{told}"));
        let numbers = |checkpoint: &[&str]| {
            let parts: Vec<String> = checkpoint
                .iter()
                .map(|text| serde_json::json!({"type": "text", "text": text}).to_string())
                .collect();
            let body = format!(
                r#"{{"model":"m","messages":[{{"role":"user","content":"Begin."}},{{"role":"assistant","content":"So."}},{{"role":"user","content":[{}]}},{{"role":"assistant","content":"On."}}]}}"#,
                parts.join(",")
            );
            let mut request =
                crate::wire::parse(crate::wire::Format::Anthropic, body).expect("messages");
            let slot = request.transcript.entry(2).parts().next().expect("a text").slot;
            request.transcript.set_part_origin(slot, Origin::Checkpoint);
            let numbering = numbering(&request.transcript);
            [1, 2, 3].map(|at| numbering.of(at))
        };
        assert_eq!(numbers(&[&text]), [1, 2, 7]);
        assert_eq!(numbers(&[&text, "Go on."]), [1, 7, 8]);
        assert_eq!(numbers(&[&told, "So.", "Go on."]), [1, 1, 5]);
        assert_eq!(numbers(&[&told]), [1, 2, 1]);
        assert_eq!(numbers(&["<checkpoint 0>\n5 messages\n</checkpoint 0>"]), [1, 2, 3]);
    }
}
