//! A reply that was under way while the epoch changed: its reasoning is bound to the earlier prompt.

use super::part_path::{Spot, spots};
use crate::count::{TokenCounter, part_count};
use crate::request::Request;
use crate::transcript::reasoning_links::{is_thought, ties};
use crate::transcript::{Entry, Marks, PartKind, Role};

/// A link that came in after its prompt was no longer the one in force.
#[derive(Clone, Debug)]
pub(super) struct Late {
    /// Its parts that are reasoning, with their tokens.
    reasoning: Vec<(Spot, u64)>,
    /// Its own ids, which are refused without the reasoning that it was made with.
    ids: Vec<Spot>,
    /// Whether it holds nothing but reasoning.
    pub(super) is_bare: bool,
}

impl Late {
    pub(super) fn of(entry: Entry<'_>, request: &Request, counter: &dyn TokenCounter) -> Self {
        let parts = |kind: PartKind| spots(entry).filter(move |(_, part)| part.kind() == kind);
        // What can't leave alone stays, and the model does without it.
        let may_leave = ties(&request.transcript, entry.index).is_some();
        let reasoning = parts(PartKind::Reasoning).filter(|_| may_leave);
        let tokens = |part| part_count(&part, request.format, counter).tokens;
        let ids = parts(PartKind::Link).filter(|(_, part)| !part.is(Marks::FIXED));
        let ids = ids.filter(|_| entry.role() == Role::Assistant && !is_thought(entry));
        Late {
            ids: ids.map(|(spot, _)| spot).collect(),
            is_bare: is_thought(entry) && may_leave,
            reasoning: reasoning.map(|(spot, part)| (spot, tokens(part))).collect(),
        }
    }

    /// Whether it holds reasoning.
    pub(super) fn reasons(&self) -> bool {
        !self.reasoning.is_empty()
    }

    /// The parts of it that have to leave, with their tokens.
    pub(super) fn leaving(&self) -> impl Iterator<Item = (Spot, u64)> {
        let ids = self.ids.iter().map(|id| (*id, 0));
        self.reasoning.iter().copied().chain(ids)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::count::CharsPer;
    use crate::wire::{Format, parse};

    #[test]
    fn what_leaves_with_a_thought_are_the_ids_of_its_reply() {
        let items = [
            r#"{"type":"message","id":"msg_0","role":"user","content":"Go."}"#,
            r#"{"type":"code_interpreter_call","id":"ci_1","code":"1","outputs":[]}"#,
            r#"{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"c2ln"}"#,
            r#"{"type":"message","id":"msg_3","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]}"#,
            r#"{"type":"message","role":"assistant","content":"So."}"#,
        ];
        let body = format!(r#"{{"input":[{}]}}"#, items.join(","));
        let request = parse(Format::OpenaiResponses, body).expect("items");
        let counter = CharsPer::new(NonZeroU32::MIN);
        let late = |at: usize| Late::of(request.transcript.entry(at), &request, &counter);
        let all: Vec<_> = (0..items.len())
            .map(|at| (late(at).reasons(), late(at).is_bare, late(at).leaving().count()))
            .collect();
        let nothing = (false, false, 0);
        assert_eq!(all, [nothing, nothing, (true, true, 1), (false, false, 1), nothing]);
        assert_eq!(late(3).leaving().map(|(_, tokens)| tokens).sum::<u64>(), 0);
    }
}
