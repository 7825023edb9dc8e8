//! What Anthropic demands: calls answered in the next user message, results first, thinking whole.
//!
//! The API merges consecutive messages of one role, so the rules speak of turns of the wire: runs
//! of entries of one role.

use std::ops::Range;

use crate::json::{self, Scanner, Span, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::pairing::{PairRules, Pairing, Scope};
use crate::wire::rules::{self, Finding, Mend};

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut findings = Vec::new();
    for entry in transcript.entries() {
        let place = if entry.index + 1 == transcript.len() { Place::Last } else { Place::Before };
        shape(entry, place, &mut findings);
    }
    let runs = runs(transcript);
    first_role(transcript, &mut findings);
    system_place(transcript, &runs, &mut findings);
    thinking_first(request, &runs, &mut findings);
    findings.extend(pairs(transcript, &runs));
    findings
}

fn pairs(transcript: &Transcript, runs: &[Range<usize>]) -> Vec<Finding> {
    let mut pairing = Pairing::new(PairRules {
        answered: rules::ANTHROPIC_ANSWERED,
        orphan: rules::ANTHROPIC_ORPHAN,
        duplicate: rules::ANTHROPIC_DUPLICATE,
        place: rules::ANTHROPIC_PLACE,
        reused: rules::ANTHROPIC_REUSED_ID,
        unique: Scope::Transcript,
    });
    for run in runs {
        let parts: Vec<(usize, Part<'_>)> = run
            .clone()
            .flat_map(|at| transcript.entry(at).parts().map(move |p| (at, p)))
            .filter(|(_, p)| !p.is(Marks::NESTED))
            .collect();
        let role = transcript.entry(run.start).role();
        let is_client = |part: &Part<'_>, kind| part.kind() == kind && !part.is(Marks::SERVER);
        if role == Role::Assistant {
            let calls = parts.iter().filter(|(_, p)| is_client(p, PartKind::Call));
            pairing.batch(run.start, calls.map(|(_, p)| (p.id().into_owned(), p.slot)));
        } else if role != Role::User {
            pairing.speak();
        }
        for (at, part) in parts {
            if is_client(&part, PartKind::Result) {
                let id = part.id().into_owned();
                if role == Role::User {
                    pairing.result(at, id, part.slot);
                } else {
                    pairing.misplaced(at, id, part.slot);
                }
            } else if role == Role::User {
                pairing.speak();
            }
        }
    }
    let mut findings = pairing.end();
    for finding in &mut findings {
        // A batch may be spread over entries.
        finding.entry = finding.slot.map_or(finding.entry, |slot| transcript.entry_of(slot));
    }
    findings
}

/// Runs of entries of one role.
fn runs(transcript: &Transcript) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for entry in transcript.entries() {
        match runs.last_mut() {
            Some(run) if transcript.entry(run.start).role() == entry.role() => {
                run.end = entry.index + 1;
            }
            _ => runs.push(entry.index..entry.index + 1),
        }
    }
    runs
}

/// In characters (PROVIDERS.md B.1.2).
const LONGEST_NAME: usize = 200;

/// Where an entry stands, as far as the rules care.
#[derive(Clone, Copy)]
enum Place {
    /// Something follows.
    Before,
    /// At the end, where the assistant's message may still be empty.
    Last,
}

fn shape(entry: Entry<'_>, place: Place, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding { rule, entry: entry.index, slot, detail: detail.to_owned(), mend });
    };
    let may_be_empty = matches!(place, Place::Last) && entry.role() == Role::Assistant;
    if entry.role() == Role::Other {
        return find(rules::ANTHROPIC_SHAPE, None, "no known role", Mend::DropEntry);
    }
    for part in entry.parts() {
        if part.kind() == PartKind::Call && !part.is(Marks::SERVER) {
            let name = part.name();
            if name.is_empty() || name.chars().count() > LONGEST_NAME {
                let cut: String = name.chars().take(LONGEST_NAME).collect();
                let name = if cut.is_empty() { "unknown".to_owned() } else { cut };
                let mend = Mend::CallTool { slot: part.slot, name };
                find(rules::ANTHROPIC_NAME, Some(part.slot), "", mend);
            }
        }
        match part.kind() {
            PartKind::Text if part.raw_body() == "\"\"" && part.raw() != part.raw_body() => {
                find(rules::ANTHROPIC_EMPTY_TEXT, Some(part.slot), "", Mend::DropPart(part.slot));
            }
            PartKind::Text if part.raw_body() == "\"\"" && !may_be_empty => {
                // A string content that is empty is the whole message's fault.
                find(rules::ANTHROPIC_EMPTY, None, "the content is empty", Mend::DropEntry);
            }
            PartKind::Call if !part.is(Marks::SERVER) && entry.role() != Role::Assistant => {
                find(
                    rules::ANTHROPIC_SIDE,
                    Some(part.slot),
                    &part.name(),
                    Mend::DropPart(part.slot),
                );
            }
            PartKind::Call if !part.raw_body().starts_with('{') => {
                let Some(json) = as_object(part.raw_body()) else { continue };
                let mend = Mend::Rewrite { slot: part.slot, json };
                find(rules::ANTHROPIC_INPUT, Some(part.slot), &part.name(), mend);
            }
            _ => {}
        }
    }
    if entry.parts().next().is_none() && !(may_be_empty && has_list(entry)) {
        find(rules::ANTHROPIC_EMPTY, None, "no content", Mend::DropEntry);
    }
}

fn has_list(entry: Entry<'_>) -> bool {
    let content = json::member(entry.raw(), Span::new(0..entry.raw().len()), "content");
    content.is_some_and(|content| content.of(entry.raw()).starts_with('['))
}

/// An input that isn't an object as one; `None` where there is no input at all.
fn as_object(body: &str) -> Option<String> {
    // Arguments that were left as a string of JSON.
    let inner = unquote(body);
    let is_object = inner.starts_with('{')
        && Scanner::new(&inner)
            .value()
            .is_ok_and(|span| inner[span.range().end..].trim().is_empty());
    match body {
        "" => None,
        "null" => Some("{}".to_owned()),
        _ if is_object => Some(inner.into_owned()),
        _ => Some(format!(r#"{{"value":{body}}}"#)),
    }
}

fn first_role(transcript: &Transcript, findings: &mut Vec<Finding>) {
    let Some(first) = transcript.entries().next() else { return };
    let is_compaction = first.parts().next().is_some_and(|p| p.name() == "compaction");
    if first.role() == Role::Assistant && !is_compaction {
        findings.push(Finding {
            rule: rules::ANTHROPIC_FIRST,
            entry: 0,
            slot: None,
            detail: "assistant".to_owned(),
            mend: Mend::LeadIn,
        });
    }
}

fn system_place(transcript: &Transcript, runs: &[Range<usize>], findings: &mut Vec<Finding>) {
    let role = |index: Option<usize>| {
        index.and_then(|i| runs.get(i)).map(|r| transcript.entry(r.start).role())
    };
    for (index, run) in runs.iter().enumerate() {
        if transcript.entry(run.start).role() != Role::System {
            continue;
        }
        let follows = match role(index.checked_sub(1)) {
            Some(Role::User) => true,
            Some(Role::Assistant) => {
                let before = transcript.entry(runs[index - 1].end - 1);
                before.parts().next_back().is_some_and(|p| p.is(Marks::SERVER))
            }
            _ => false,
        };
        let is_followed = matches!(role(Some(index + 1)), None | Some(Role::Assistant));
        if follows && is_followed {
            continue;
        }
        findings.extend(run.clone().map(|entry| Finding {
            rule: rules::ANTHROPIC_SYSTEM,
            entry,
            slot: None,
            detail: "a system message stands where none may".to_owned(),
            mend: Mend::SpeakAsUser,
        }));
    }
}

/// Only thinking that was enabled by hand makes the demand; adaptive thinking doesn't.
fn thinking_first(request: &Request, runs: &[Range<usize>], findings: &mut Vec<Finding>) {
    let mode = request.thinking().and_then(|raw| {
        json::member(raw, Span::new(0..raw.len()), "type")
            .map(|kind| unquote(kind.of(raw)).into_owned())
    });
    if mode.as_deref() != Some("enabled") {
        return;
    }
    let transcript = &request.transcript;
    let role = |run: &Range<usize>| transcript.entry(run.start).role();
    let answers = |run: &Range<usize>| run.clone().any(|at| transcript.entry(at).has_results());
    let calls = |run: &Range<usize>| run.clone().any(|at| transcript.entry(at).has_calls());
    // Text behind results doesn't close the loop: the API reads it as part of them.
    let asks = |run: &Range<usize>| role(run) == Role::User && !answers(run);
    let start = runs.iter().rposition(asks).map_or(0, |index| index + 1);
    let is_open = runs.last().is_some_and(|run| answers(run) || calls(run));
    let turn = runs[start..].iter().find(|run| role(run) == Role::Assistant).filter(|_| is_open);
    let Some(turn) = turn else { return };
    // What stands before a compaction block is dropped, so the turn begins behind it.
    let mut parts = turn.clone().flat_map(|at| transcript.entry(at).parts());
    let first = parts.find(|part| part.name() != "compaction");
    if let Some(first) = first.filter(|part| part.kind() != PartKind::Reasoning) {
        findings.push(Finding {
            rule: rules::ANTHROPIC_THINKING_FIRST,
            entry: transcript.entry_of(first.slot),
            slot: Some(first.slot),
            detail: "the open tool loop's turn starts without thinking".to_owned(),
            mend: Mend::Nothing,
        });
    }
}
