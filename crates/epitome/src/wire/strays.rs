//! Results that pairing by ids would drop, though it is plain whose they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Format;
use super::rules::{Finding, Mend, RuleId};
use crate::json::{self, Span, quote};
use crate::request::Request;
use crate::text::NO_RESULT;
use crate::text::outcome::said;
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
    keep_last(request, findings);
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

/// If a call has several results, all but the last leave, and the last gets their content. An empty result, or a synthetic
/// "no result", gives way to any other.
fn keep_last(request: &Request, findings: &mut Vec<Finding>) {
    let transcript = &request.transcript;
    let made = made(transcript);
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
        let same = all.get(&key(&last)).filter(|_| made.contains(&key(&last)));
        let same = same.map(Vec::as_slice).unwrap_or_default();
        let before = &same[..same.partition_point(|part| part.slot < last.slot)];
        let earlier = before.iter().rev().find(|part| !left.contains(&part.slot));
        // By its name alone nobody knows whose it is.
        let earlier =
            earlier.filter(|part| !last.id().is_empty() || says_nothing(transcript, part));
        let Some(earlier) = earlier else { continue };
        let (first, second) = (earlier.text(), last.text());
        let is_note = says_nothing(transcript, earlier);
        // What adds nothing leaves itself.
        if says_nothing(transcript, &last) || !is_note && says_all(&first, &second) {
            left.insert(last.slot);
            continue;
        }
        left.insert(earlier.slot);
        let mut before = said.remove(&earlier.slot).map_or_else(Vec::new, |(_, before)| before);
        if !is_note && !says_all(&second, &first) {
            before.push(earlier.slot);
        }
        if !before.is_empty() {
            said.insert(last.slot, (found.rule, before));
        }
        found.entry = transcript.entry_of(earlier.slot);
        found.slot = Some(earlier.slot);
        found.detail = format!("`{}` has a later result", last.id());
        found.mend = Mend::DropPart(earlier.slot);
    }
    findings.extend(said.into_iter().map(|(last, (rule, before))| {
        let all: Vec<_> = before.iter().chain([&last]).map(|slot| transcript.part(*slot)).collect();
        let mend = Mend::Rewrite { slot: last, json: joined(request, &all) };
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

/// Whether a result says nothing, or only that there is none.
fn says_nothing(transcript: &Transcript, result: &Part<'_>) -> bool {
    let text = result.text();
    let is_note = result.raw_body().len() <= LONGEST_NOTE && text.contains(NO_RESULT);
    is_note
        || matches!(said(&text).trim(), "" | "null" | "[]" | "{}")
            && !shows_media(transcript, result)
}

/// Whether something else than text is in it.
fn shows_media(transcript: &Transcript, result: &Part<'_>) -> bool {
    let span = result.row().span;
    let inside =
        |part: &Part<'_>| span.start <= part.row().span.start && part.row().span.end <= span.end;
    let entry = transcript.entry(transcript.entry_of(result.slot));
    let mut parts = entry.parts().filter(|part| part.is(Marks::NESTED));
    parts.any(|part| part.kind() == PartKind::Media && inside(&part))
}

/// Whether each line of `short` is one of `long`.
fn says_all(long: &str, short: &str) -> bool {
    short.lines().all(|line| long.lines().any(|said| said.trim() == line.trim()))
}

/// The body of a result that says what all of these say. An earlier one says how it went, where the last went otherwise.
fn joined(request: &Request, all: &[Part<'_>]) -> String {
    let has_failed = all.last().is_some_and(|last| last.is(Marks::ERROR));
    let note = |part: &Part<'_>| match part.is(Marks::ERROR) {
        failed if failed == has_failed => "",
        true => "[this result was an error] ",
        false => "[this result was no error] ",
    };
    let bodies = all.iter().map(Part::raw_body);
    if all.iter().all(|part| part.raw_body().starts_with('"')) {
        let texts = all.iter().map(|part| format!("{}{}", note(part), part.text()));
        return quote(&texts.collect::<Vec<_>>().join("\n"));
    }
    if request.format == Format::Gemini {
        return format!(r#"{{"results":[{}]}}"#, bodies.collect::<Vec<_>>().join(","));
    }
    let block = |text: &str| request.format.dialect().text_block(text);
    let mut blocks = Vec::new();
    for part in all {
        let body = part.raw_body();
        let elements = json::elements(body, Span::new(0..body.len())).unwrap_or_default();
        let note = note(part);
        if elements.is_empty() {
            blocks.push(block(&format!("{note}{}", part.text())));
            continue;
        }
        blocks.extend((!note.is_empty()).then(|| block(note.trim_end())));
        blocks.extend(elements.iter().map(|element| element.of(body).to_owned()));
    }
    format!("[{}]", blocks.join(","))
}

/// By what a call and its result are known: their id; where they have none, as Gemini's may, the tool.
fn key<'a>(part: &Part<'a>) -> Cow<'a, str> {
    Some(part.id()).filter(|id| !id.is_empty()).unwrap_or_else(|| part.name())
}

/// By what the calls are known that a client has to answer.
fn made(transcript: &Transcript) -> HashSet<Cow<'_, str>> {
    let parts = transcript.entries().flat_map(|entry| entry.parts());
    let is_call = |part: &Part<'_>| part.kind() == PartKind::Call && !part.is(Marks::SERVER);
    parts.filter(is_call).map(|part| key(&part)).collect()
}

/// The strays right behind as many calls that have no result at all, and by their order the calls.
fn by_place(transcript: &Transcript, strays: &HashSet<Slot>) -> HashMap<Slot, Slot> {
    let said: HashSet<_> = results(transcript).map(|part| key(&part)).collect();
    let parts = || transcript.entries().flat_map(|entry| entry.parts());
    let made = made(transcript);
    let mut placed = HashMap::new();
    let (mut calls, mut behind) = (Vec::<Part<'_>>::new(), Vec::<Part<'_>>::new());
    let mut pair = |calls: &mut Vec<Part<'_>>, behind: &mut Vec<Part<'_>>| {
        let is_open = |call: &Part<'_>| !said.contains(&key(call));
        let is_stray = |part: &Part<'_>| strays.contains(&part.slot) && !made.contains(&key(part));
        let may_be = |(call, result): (&Part<'_>, &Part<'_>)| {
            is_open(call)
                && is_stray(result)
                && (result.name().is_empty() || result.name() == call.name())
        };
        let pairs = || calls.iter().zip(&*behind);
        if calls.len() == behind.len() && pairs().all(may_be) {
            placed.extend(pairs().map(|(call, result)| (result.slot, call.slot)));
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
    fn ids_that_no_call_has_and_empty_results_take_nothing_away() {
        let ask = || ASK.to_owned();
        let step = |id: &str, said: &str| [calls(&[id]), result("zz", said)];
        let (done, text) =
            mended(&[vec![ask()], step("a", "one").into(), step("b", "two").into()].concat());
        assert_eq!(done, ["gave the result its call's id"; 2]);
        assert!(text.contains(r#""one""#) && text.contains(r#""two""#), "{text}");
        let empty = r#"{"role":"tool","tool_call_id":"b","content":null}"#.to_owned();
        for other in [empty, result("b", "")] {
            let (_, text) = mended(&[ask(), calls(&["b"]), result("b", "released"), other]);
            assert!(text.contains("released"), "{text}");
        }
        let list = |text: &str| {
            format!(
                r#"{{"role":"tool","tool_call_id":"b","content":[{{"type":"text","text":"{text}"}}]}}"#
            )
        };
        let (_, text) = mended(&[ask(), calls(&["b"]), list("not released"), list("released")]);
        assert!(
            text.contains(
                r#"{"type":"text","text":"not released"},{"type":"text","text":"released"}"#
            ),
            "{text}"
        );
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
