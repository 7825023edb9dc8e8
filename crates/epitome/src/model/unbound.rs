//! Reasoning that a mend unbinds: it was signed over what stood before it (PROVIDERS.md B.1.4, B.2.5).

use std::collections::BTreeSet;

use super::Binding;
use crate::request::Request;
use crate::transcript::reasoning_links::ties;
use crate::transcript::{PartKind, Role, Slot};
use crate::wire::{self, Mended, Repaired, RuleId};

/// Repairs a request as [`wire::repair_except`] does, and removes reasoning that is bound to the repaired prefix.
///
/// With thinking enabled by hand, the reasoning of an open turn stays: the turn must begin with it.
pub fn repair(request: &Request, binding: Binding, waived: &[RuleId]) -> Repaired {
    let mend = |request: &Request| wire::repair_except(request, waived);
    unbind(request, mend(request), binding, mend)
}

/// The same as [`repair`], but as [`wire::repair_inspected`] does: also what the provider's SDK doesn't know.
pub fn repair_inspected(request: &Request, binding: Binding, waived: &[RuleId]) -> Repaired {
    let mend = |request: &Request| wire::repair_inspected(request, waived);
    unbind(request, mend(request), binding, mend)
}

/// Removes reasoning that is bound to the repaired prefix. `mend` judges the rest.
pub(crate) fn unbind(
    before: &Request,
    mut repaired: Repaired,
    binding: Binding,
    mend: impl Fn(&Request) -> Repaired,
) -> Repaired {
    let Some(rule) = repaired.mended.first().map(|mended| mended.rule) else { return repaired };
    if binding == Binding::Free {
        return repaired;
    }
    let request = &repaired.request;
    let transcript = &request.transcript;
    let first = changed(before, request);
    let end = match binding {
        Binding::PrefixManual => open_turn(request),
        _ => transcript.len(),
    };
    let mut gone = BTreeSet::new();
    let slots = (first..transcript.part_count()).map(|slot| Slot(slot as u32));
    for slot in slots.filter(|slot| transcript.part(*slot).kind() == PartKind::Reasoning) {
        let at = transcript.entry_of(slot);
        let Some(links) = ties(transcript, at).filter(|_| at < end) else { continue };
        gone.insert(slot);
        gone.extend(links);
    }
    let gone: Vec<Slot> = gone.into_iter().collect();
    let Some((mut request, origins)) = wire::without(request, &gone).filter(|_| !gone.is_empty())
    else {
        return repaired;
    };
    let is_reasoning = |slot: &&Slot| transcript.part(**slot).kind() == PartKind::Reasoning;
    let mut entries: Vec<usize> =
        gone.iter().filter(is_reasoning).map(|slot| transcript.entry_of(*slot)).collect();
    entries.dedup();
    repaired.mended.extend(entries.into_iter().map(|at| Mended {
        rule,
        entry: repaired.came_from[at],
        member: None,
        detail: "reasoning that is bound to what was mended before it".to_owned(),
        mend: "dropped the reasoning".into(),
    }));
    let came = |at: Option<usize>| at.and_then(|at| repaired.came_from[at]);
    let mut came_from: Vec<_> = origins.into_iter().map(came).collect();
    // What must precede such a reply is judged again, and also whether its turn may begin without it.
    let again = mend(&request);
    repaired.left = again.left;
    if !again.mended.is_empty() {
        let origin = |at: &Option<usize>| at.and_then(|at| came_from[at]);
        repaired.mended.extend(
            again.mended.into_iter().map(|mended| Mended {
                entry: mended.entry.and_then(|at| came_from[at]),
                ..mended
            }),
        );
        came_from = again.came_from.iter().map(origin).collect();
        request = again.request;
    }
    wire::keep_origins(before, &mut request, &came_from);
    repaired.request = request;
    repaired.came_from = came_from;
    repaired
}

/// The first changed part; changed cache markers don't count, because signatures ignore them.
fn changed(came: &Request, now: &Request) -> usize {
    if (came.tools(), came.system()) != (now.tools(), now.system()) {
        return 0;
    }
    let said = |request: &Request, slot: usize| {
        let (slot, transcript) = (Slot(slot as u32), &request.transcript);
        let (part, role) =
            (transcript.part(slot), transcript.entry(transcript.entry_of(slot)).role());
        let (id, name) = (part.id().into_owned(), part.name().into_owned());
        (role, part.kind(), id, name, part.raw_body().to_owned())
    };
    let both = came.transcript.part_count().min(now.transcript.part_count());
    (0..both).find(|slot| said(came, *slot) != said(now, *slot)).unwrap_or(both)
}

/// Where the turn in progress begins: behind the newest words that aren't the model's or a tool's.
fn open_turn(request: &Request) -> usize {
    let entries = request.transcript.entries();
    let asks = entries.rev().find(|entry| entry.role() == Role::User && !entry.has_results());
    asks.map_or(0, |entry| entry.index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    fn thinks(text: &str) -> String {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","signature":"c2ln"}},{{"type":"text","text":"Said {text}."}}]}}"#
        )
    }

    fn mended(head: &str, messages: &[&str]) -> (Vec<String>, String) {
        let body = format!(r#"{{{head}"messages":[{}]}}"#, messages.join(","));
        let request = parse(Format::Anthropic, body).expect("messages");
        let repaired = repair(&request, Binding::of(&request), &[]);
        assert_eq!(repaired.came_from.len(), repaired.request.transcript.len());
        let source = repaired.request.source().to_string();
        (repaired.mended.iter().map(|mended| mended.mend.to_string()).collect(), source)
    }

    #[test]
    fn reasoning_behind_what_was_mended_leaves_where_it_is_bound() {
        const GO: &str = r#"{"role":"user","content":"Go."}"#;
        let orphan =
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}"#;
        let (one, two) = (thinks("one"), thinks("two"));
        let messages = [GO, &one, orphan, GO, &two, GO];
        let (done, text) = mended(r#""model":"claude-opus-5-5","#, &messages);
        assert_eq!(done, ["dropped the part", "dropped the reasoning"]);
        assert!(text.contains(r#""thinking":"one""#) && !text.contains(r#""thinking":"two""#));
        assert!(text.contains("Said two."));
        let (done, text) = mended(r#""model":"claude-opus-4-5","#, &messages);
        assert_eq!(done, ["dropped the part"]);
        assert!(text.contains(r#""thinking":"two""#));
        // A repair behind it doesn't unbind it.
        let (done, text) = mended(r#""model":"claude-opus-5-5","#, &[GO, &one, GO, orphan]);
        assert_eq!(done, ["dropped the part"]);
        assert!(text.contains(r#""thinking":"one""#));
    }

    /// The two messages beside a reply that left were joined, and counted as two.
    #[test]
    fn messages_beside_a_reply_that_leaves_are_joined() {
        let call = |id: &str| {
            format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"Read","input":{{}}}}}}"#)
        };
        let result = |id: &str| {
            format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"ok"}}]}}}}"#)
        };
        let thought = r#"{"reasoningContent":{"reasoningText":{"text":"ok"}}}"#;
        let said = [
            ("user", call("b")),
            ("user", r#"{"text":"Begin."}"#.to_owned()),
            ("assistant", call("a")),
            ("user", result("a")),
            ("assistant", thought.to_owned()),
            ("user", format!(r#"{},{{"text":"ok"}}"#, result("b"))),
        ];
        let messages =
            said.map(|(role, content)| format!(r#"{{"role":"{role}","content":[{content}]}}"#));
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let request = parse(Format::Bedrock, body).expect("messages");
        let repaired = repair(&request, Binding::of(&request), &[]);
        assert_eq!(repaired.came_from, [Some(1), Some(2), Some(3)]);
        assert_eq!(wire::check(&repaired.request), []);
    }
}
