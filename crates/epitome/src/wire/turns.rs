//! Turns of the wire: runs of entries of one role, which most providers read as one.

use std::ops::Range;

use super::clean::Past;
use super::pairing::{PairRules, Pairing, Spoken};
use super::rules::{Finding, RuleId};
use super::thinking::Thinking;
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Transcript};

/// Runs of entries of one role, in order, covering what stands behind `past`.
pub(super) fn runs(transcript: &Transcript, past: &Past) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for entry in past.rest(transcript) {
        match runs.last_mut() {
            Some(run) if transcript.entry(run.start).role() == entry.role() => {
                run.end = entry.index + 1;
            }
            _ => runs.push(entry.index..entry.index + 1),
        }
    }
    runs
}

/// The first step of an open tool loop must start with thinking. Only thinking that was enabled by hand
/// makes the demand; adaptive thinking doesn't.
pub(super) fn thinking_first(request: &Request, rule: RuleId) -> Option<Finding> {
    if Thinking::of(request) != Thinking::Manual {
        return None;
    }
    let transcript = &request.transcript;
    // A loop may have begun long ago.
    let runs = runs(transcript, &Past::default());
    let speaker = |run: &Range<usize>| transcript.entry(run.start).role();
    let answers = |run: &Range<usize>| run.clone().any(|at| transcript.entry(at).has_results());
    let calls = |run: &Range<usize>| run.clone().any(|at| transcript.entry(at).has_calls());
    // Text behind results doesn't close the loop: the API reads it as part of them.
    let asks = |run: &Range<usize>| speaker(run) == Role::User && !answers(run);
    let start = runs.iter().rposition(asks).map_or(0, |index| index + 1);
    let is_open = runs.last().is_some_and(|run| answers(run) || calls(run));
    let turn = runs[start..].iter().find(|run| speaker(run) == Role::Assistant).filter(|_| is_open);
    let turn = turn?;
    // What stands before a compaction block is dropped, so the turn begins behind it.
    let mut parts = turn.clone().flat_map(|at| transcript.entry(at).parts());
    let first = parts.find(|part| part.name() != "compaction");
    let first = first.filter(|part| part.kind() != PartKind::Reasoning)?;
    let detail = "the open tool loop's turn starts without thinking";
    Some(Finding::of_part(rule, transcript.entry_of(first.slot), first.slot, detail))
}

/// All broken pairs, where results are blocks of the user's and runs of one role are one turn.
pub(super) fn pairs(
    request: &Request,
    runs: &[Range<usize>],
    rules: PairRules,
    past: &Past,
) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut pairing = Pairing::new(rules, past);
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
            pairing.batch(run.start, calls.map(|(_, part)| *part));
        } else if role != Role::User {
            pairing.speak();
        }
        // What stands first answers calls of the history that the provider holds, which isn't here to be judged.
        let goes_on = run.start == 0 && role == Role::User && request.keeper().is_some();
        if goes_on {
            let mut spoken = Spoken::Nothing;
            for (at, part) in &parts {
                if is_client(part, PartKind::Result) {
                    pairing.result_elsewhere(*at, part, spoken);
                } else {
                    spoken = Spoken::Something;
                }
            }
            continue;
        }
        for (at, part) in parts {
            if is_client(&part, PartKind::Result) {
                if role == Role::User {
                    pairing.result(at, &part);
                } else {
                    pairing.misplaced(at, &part);
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
