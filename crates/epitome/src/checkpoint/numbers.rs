//! Which messages a checkpoint stands for, and so which ones of the whole conversation those behind it are.

use super::unfenced;
use crate::transcript::{Entry, Numbering, Origin, PartKind, Transcript};

/// What stands behind the number of those that came later.
pub(super) const LATER: &str = " of them came after the message that follows.";

/// Which messages of the whole conversation the entries of a view are, where checkpoints whose origin is known stand for
/// some: by these numbers a checkpoint names them.
pub fn numbering(transcript: &Transcript) -> Numbering {
    let mut numbering = Numbering::default();
    for entry in transcript.entries() {
        for part in entry.parts().filter(|part| part.origin() == Origin::Checkpoint) {
            let text = part.text();
            let Some(body) = unfenced(&text) else { continue };
            let (messages, later) = stands_for(body);
            // What is said beside it in one entry comes behind it.
            let (behind, more) = if is_checkpoint(entry) {
                (entry.index + 1, messages - 1)
            } else {
                (entry.index, messages)
            };
            numbering.skip(behind, more, later);
        }
    }
    numbering
}

/// Whether a checkpoint is all that the entry says.
pub(super) fn is_checkpoint(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().filter(|part| part.kind() != PartKind::Link).peekable();
    parts.peek().is_some() && parts.all(|part| part.origin() == Origin::Checkpoint)
}

/// How many messages a checkpoint says that it stands for, one at the least; and how many of them it says came
/// after the message that follows it.
pub(super) fn stands_for(body: &str) -> (usize, usize) {
    let number = |text: &str| {
        let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().unwrap_or(0)
    };
    let head = &body[..body.find("\n## ").unwrap_or(body.len())];
    let later = head.lines().find(|line| line.ends_with(LATER)).map_or(0, number);
    let messages = number(head.lines().next().unwrap_or_default()).max(1);
    (messages, later.min(messages - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Form, Gathered, fenced, head};

    #[test]
    fn every_head_says_how_many_it_stands_for() {
        let mut gathered = Gathered::default();
        let (folded, _) = gathered.halves();
        (folded.messages, folded.later) = (31, 4);
        assert_eq!(stands_for(&head(&gathered, Form::Full)), (31, 4));
        assert_eq!(stands_for(&head(&gathered, Form::Brief)), (31, 0));
        assert_eq!(stands_for(&head(&gathered, Form::Line)), (31, 0));
        assert_eq!(
            stands_for("No number.\n7 of them came after the message that follows.\n"),
            (1, 0)
        );
    }

    #[test]
    fn messages_behind_a_checkpoint_go_on_from_it() {
        let text = fenced("5 messages of before are not shown here.\n");
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
        assert_eq!(numbers(&["<checkpoint 0>\n5 messages\n</checkpoint 0>"]), [1, 2, 3]);
    }
}
