//! Results that pairing by ids would drop, though it is plain whose they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Format;
use super::rules::{Finding, Mend, RuleId};
use crate::json::quote;
use crate::request::Request;
use crate::text::NO_RESULT;
use crate::transcript::{Marks, Part, PartKind, Role, Slot, Transcript};

/// The longest result, in bytes, that may be no more than the note that there is none.
const LONGEST_NOTE: usize = 256;

/// Keeps such results: the last one of a call, with the content of those before it, and results right behind as many calls.
pub(super) fn keep(request: &Request, findings: &mut Vec<Finding>) {
    let transcript = &request.transcript;
    let strays: HashSet<Slot> =
        findings.iter().filter_map(|found| stray(transcript, found)).collect();
    if strays.is_empty() {
        return;
    }
    keep_last(transcript, findings);
    let placed = by_place(transcript, &strays);
    let calls: HashSet<Slot> = placed.values().copied().collect();
    findings.retain(|found| !matches!(found.mend, Mend::Answer(call) if calls.contains(&call)));
    for found in findings {
        let result = stray(transcript, found);
        let Some((result, call)) = result.and_then(|slot| Some((slot, placed.get(&slot)?))) else {
            continue;
        };
        let call = transcript.part(*call);
        let id = call.id().into_owned();
        found.mend = match request.format {
            Format::Gemini => {
                let (name, id) = (call.name().into_owned(), Some(id).filter(|id| !id.is_empty()));
                Mend::Label { result, name, id }
            }
            _ => Mend::Claim { result, id },
        };
    }
}

/// If a call has several results, all but the last leave, and the last gets their content. A synthetic "no result" gives way to
/// any other.
fn keep_last(transcript: &Transcript, findings: &mut Vec<Finding>) {
    let mut all: HashMap<_, Vec<Part<'_>>> = HashMap::new();
    for part in results(transcript) {
        all.entry(key(&part)).or_default().push(part);
    }
    let mut left = HashSet::new();
    // What the results before the last one say that it doesn't.
    let mut said: BTreeMap<Slot, (RuleId, Vec<Slot>)> = BTreeMap::new();
    for found in findings.iter_mut() {
        let Some(last) = stray(transcript, found).map(|slot| transcript.part(slot)) else {
            continue;
        };
        let same = all.get(&key(&last)).map(Vec::as_slice).unwrap_or_default();
        let before = &same[..same.partition_point(|part| part.slot < last.slot)];
        let earlier = before.iter().rev().find(|part| !left.contains(&part.slot));
        // By its name alone nobody knows whose it is.
        let earlier = earlier.filter(|part| !last.id().is_empty() || is_made_up(part));
        let Some(earlier) = earlier else { continue };
        let (first, second) = (earlier.text(), last.text());
        let is_note = is_made_up(earlier);
        // What adds nothing leaves itself.
        if is_made_up(&last) || !is_note && first.contains(&*second) {
            left.insert(last.slot);
            continue;
        }
        left.insert(earlier.slot);
        let mut before = said.remove(&earlier.slot).map_or_else(Vec::new, |(_, before)| before);
        if !is_note && !second.contains(&*first) {
            before.push(earlier.slot);
        }
        let is_literal = |slot: &Slot| transcript.part(*slot).raw_body().starts_with('"');
        before.retain(|slot| is_literal(slot) && is_literal(&last.slot));
        if !before.is_empty() {
            said.insert(last.slot, (found.rule, before));
        }
        found.entry = transcript.entry_of(earlier.slot);
        found.slot = Some(earlier.slot);
        found.detail = format!("`{}` has a later result", last.id());
        found.mend = Mend::DropPart(earlier.slot);
    }
    findings.extend(said.into_iter().map(|(last, (rule, before))| {
        let texts: Vec<_> =
            before.iter().chain([&last]).map(|slot| transcript.part(*slot).text()).collect();
        let mend = Mend::Rewrite { slot: last, json: quote(&texts.join("\n")) };
        let detail = format!("`{}` has an earlier result", transcript.part(last).id());
        Finding::of_entry(rule, transcript.entry_of(last), Some(last), detail, mend)
    }));
}

/// The result that a finding would drop for want of a call.
fn stray(transcript: &Transcript, found: &Finding) -> Option<Slot> {
    let Mend::DropPart(slot) = found.mend else {
        return None;
    };
    let is_of_pairs = found.rule.0.ends_with("/orphan") || found.rule.0.contains("/duplicate-");
    (is_of_pairs && transcript.part(slot).kind() == PartKind::Result).then_some(slot)
}

fn results(transcript: &Transcript) -> impl Iterator<Item = Part<'_>> {
    let parts = transcript.entries().flat_map(|entry| entry.parts());
    parts.filter(|part| part.kind() == PartKind::Result && !part.is(Marks::NESTED))
}

/// Whether a result only says that there is none.
fn is_made_up(result: &Part<'_>) -> bool {
    result.raw_body().len() <= LONGEST_NOTE && result.text().contains(NO_RESULT)
}

/// By what a call and its result are known: their id; where they have none, as Gemini's may, the tool.
fn key<'a>(part: &Part<'a>) -> Cow<'a, str> {
    Some(part.id()).filter(|id| !id.is_empty()).unwrap_or_else(|| part.name())
}

/// The strays right behind as many calls that have no result at all, and by their order the calls.
fn by_place(transcript: &Transcript, strays: &HashSet<Slot>) -> HashMap<Slot, Slot> {
    let said: HashSet<_> = results(transcript).map(|part| key(&part)).collect();
    let parts = || transcript.entries().flat_map(|entry| entry.parts());
    let is_call = |part: &Part<'_>| part.kind() == PartKind::Call && !part.is(Marks::SERVER);
    let made: HashSet<_> = parts().filter(is_call).map(|part| key(&part)).collect();
    let mut placed = HashMap::new();
    let (mut calls, mut behind) = (Vec::<Part<'_>>::new(), Vec::<Part<'_>>::new());
    let mut pair = |calls: &mut Vec<Part<'_>>, behind: &mut Vec<Part<'_>>| {
        let is_open = |call: &Part<'_>| !said.contains(&key(call));
        let is_stray = |part: &Part<'_>| strays.contains(&part.slot) && !made.contains(&key(part));
        if calls.len() == behind.len() && calls.iter().all(is_open) && behind.iter().all(is_stray) {
            placed
                .extend(calls.iter().zip(&*behind).map(|(call, result)| (result.slot, call.slot)));
        }
        calls.clear();
        behind.clear();
    };
    for part in parts().filter(|part| !part.is(Marks::NESTED) && part.kind() != PartKind::Link) {
        match part.kind() {
            PartKind::Result if !part.is(Marks::SERVER) => behind.push(part),
            PartKind::Call if !part.is(Marks::SERVER) => {
                if !behind.is_empty() {
                    pair(&mut calls, &mut behind);
                }
                calls.push(part);
            }
            _ => {
                let speaks = transcript.entry(transcript.entry_of(part.slot)).role();
                if !behind.is_empty() || speaks != Role::Assistant {
                    pair(&mut calls, &mut behind);
                }
            }
        }
    }
    pair(&mut calls, &mut behind);
    placed
}

#[cfg(test)]
mod tests {
    use crate::text::NO_RESULT;
    use crate::wire::{Format, parse, repair};

    /// The repairs of a chat with these messages, and the repaired body.
    fn mended(messages: &[String]) -> (Vec<String>, String) {
        let body = format!(r#"{{"model":"gpt-4o","messages":[{}]}}"#, messages.join(","));
        let repaired = repair(&parse(Format::OpenaiChat, body).expect("messages"));
        let how = repaired.mended.iter().map(|mended| mended.mend.to_string()).collect();
        (how, repaired.request.source().to_string())
    }

    fn calls(ids: &[&str]) -> String {
        let call = |id: &&str| {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
            )
        };
        let calls: Vec<String> = ids.iter().map(call).collect();
        format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, calls.join(","))
    }

    fn result(id: &str, text: &str) -> String {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
    }

    const ASK: &str = r#"{"role":"user","content":"Go."}"#;

    #[test]
    fn what_came_takes_the_place_of_a_made_up_result() {
        let (none, came) = (result("b", NO_RESULT), result("b", "released"));
        let begun = [ASK.to_owned(), calls(&["a", "b"]), result("a", "x"), none.clone()];
        for (behind, how) in [
            (vec![came.clone()], vec!["dropped the part"]),
            (
                vec![r#"{"role":"assistant","content":"Hm."}"#.to_owned(), came.clone()],
                vec!["dropped the part", "moved the result behind its call"],
            ),
        ] {
            let (done, text) = mended(&[&begun[..], &behind].concat());
            assert_eq!(done, how);
            assert!(text.contains("released") && !text.contains(NO_RESULT), "{text}");
        }
        // Of two that say something both are said.
        let (one, two, three) =
            (result("b", "queued"), result("b", "released"), result("b", "released"));
        let (done, text) = mended(&[ASK.to_owned(), calls(&["b"]), one, two, three]);
        assert_eq!(
            done,
            ["dropped the part", "rewrote the payload in the form demanded", "dropped the part"]
        );
        assert!(text.contains(r#""queued\nreleased""#), "{text}");
        // What says nothing takes no place.
        let (_, text) = mended(&[ASK.to_owned(), calls(&["b"]), came, none]);
        assert!(text.contains("released") && !text.contains(NO_RESULT), "{text}");
    }

    #[test]
    fn results_right_behind_as_many_calls_are_theirs() {
        let ask = || ASK.to_owned();
        let (done, text) =
            mended(&[ask(), calls(&["a", "b"]), result("x", "one"), result("", "two"), ask()]);
        assert_eq!(done, ["gave the result its call's id"; 2]);
        let at = |words: &str| text.find(words).expect(words);
        assert!(at(r#""tool_call_id":"a""#) < at("one") && at("one") < at(r#""tool_call_id":"b""#));
        // It may be either's, or another call's.
        for messages in [
            vec![ask(), calls(&["a", "b"]), result("x", "one"), ask()],
            vec![ask(), calls(&["c"]), calls(&["a"]), result("c", "one"), ask()],
            vec![ask(), calls(&["a"]), ask(), result("x", "one"), ask()],
        ] {
            let (done, _) = mended(&messages);
            assert!(!done.iter().any(|how| how.contains("its call's id")), "{done:?}");
        }
    }
}
