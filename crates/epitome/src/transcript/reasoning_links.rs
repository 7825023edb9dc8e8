//! What a provider ties to a reasoning item: by their ids it knows which items it made from which thought.

use super::{Entry, Marks, PartKind, Role, Slot, Transcript};

/// Whether the entry is nothing but reasoning.
pub(crate) fn is_thought(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().filter(|part| part.kind() != PartKind::Link).peekable();
    parts.peek().is_some() && parts.all(|part| part.kind() == PartKind::Reasoning)
}

/// The ids that have to be left out if the thought in entry `at` leaves alone, since an item that comes
/// with its id is refused without its reasoning (PROVIDERS.md B.2.2). `None` if it can't leave alone.
///
/// Tied to a thought is what the model made next, up to its next thought. Of thoughts in a row the last one
/// is the one.
pub(crate) fn ties(transcript: &Transcript, at: usize) -> Option<Vec<Slot>> {
    if !is_thought(transcript.entry(at)) {
        return Some(Vec::new());
    }
    let mut links = Vec::new();
    let run = (at + 1..transcript.len()).map(|next| transcript.entry(next));
    for entry in run.take_while(|entry| entry.role() == Role::Assistant && !is_thought(*entry)) {
        for link in entry.parts().filter(|part| part.kind() == PartKind::Link) {
            if link.is(Marks::FIXED) {
                return None;
            }
            links.push(link.slot);
        }
    }
    Some(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    fn tied(items: &str, at: usize) -> Option<Vec<String>> {
        let request = parse(Format::OpenaiResponses, format!("[{items}]")).expect("items");
        let links = ties(&request.transcript, at)?;
        let id = |slot| request.transcript.part(slot).text().into_owned();
        Some(links.into_iter().map(id).collect())
    }

    #[test]
    fn a_thought_holds_what_was_made_of_it() {
        let thought = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
        let call = r#"{"type":"function_call","id":"fc_1","call_id":"a","arguments":"{}"}"#;
        let said = r#"{"type":"message","id":"msg_1","role":"assistant","content":[]}"#;
        let output = r#"{"type":"function_call_output","id":"fco_1","call_id":"a","output":""}"#;
        let image = r#"{"type":"image_generation_call","id":"ig_1"}"#;
        let names = |ids: &[&str]| Some(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        assert_eq!(tied(&[thought, call, said, output].join(","), 0), names(&["fc_1", "msg_1"]));
        assert_eq!(tied(&[thought, thought, call].join(","), 0), names(&[]));
        assert_eq!(tied(&[thought, call, thought, said].join(","), 0), names(&["fc_1"]));
        assert_eq!(tied(&[thought, said, image].join(","), 0), None);
        assert_eq!(tied(&[said, call].join(","), 0), names(&[]));
    }
}
