//! Mending a request the least way: each breach by no more than its offending parts.

mod ends;
mod frame;
mod lists;
mod patch;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::breach::place;
use super::inspect::{Spans, taken};
use super::rules::Mend;
use super::{Finding, RuleId, check_except, inspect, parse};
use crate::json::Span;
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Slot};
use patch::Patch;

/// A breach that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mended {
    /// The rule that was broken.
    pub rule: RuleId,
    /// Index of the offending entry, in the request as it came.
    pub entry: Option<usize>,
    /// Where around the entries it was: the path of a member of the body.
    pub member: Option<String>,
    /// What was found.
    pub detail: String,
    /// What was done.
    pub mend: Cow<'static, str>,
}

impl Mended {
    /// The original place, as a path into the request as it came; `None` in an entry that a repair made.
    pub fn place(&self) -> Option<String> {
        let known = self.member.is_some() || self.entry.is_some();
        known.then(|| place(self.member.as_deref(), self.entry.unwrap_or_default()))
    }
}

/// A request without the breaches that can be mended.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The mended request; the very same if nothing was broken.
    pub request: Request,
    /// What was mended, in order.
    pub mended: Vec<Mended>,
    /// What only the author can mend.
    pub left: Vec<Finding>,
    /// For each entry of the mended request, the entry it was.
    pub came_from: Vec<Option<usize>>,
}

/// One mend can lay bare another breach (a dropped part empties its message); a chain is short.
const MOST_ROUNDS: usize = 16;

/// Repairs all breaches that can be repaired.
pub fn repair(request: &Request) -> Repaired {
    repair_except(request, &[])
}

/// Repairs all breaches that can be repaired, except those of waived rules.
pub fn repair_except(request: &Request, waived: &[RuleId]) -> Repaired {
    mend(request, check_except(request, waived), |request| check_except(request, waived))
}

/// Repairs all that [`inspect`] finds and that can be repaired, except breaches of waived rules.
pub fn repair_inspected(request: &Request, waived: &[RuleId]) -> Repaired {
    mend(request, inspect(request, waived), |request| inspect(request, waived))
}

/// Repairs what [`check`](super::check) found and that can be repaired.
pub(crate) fn repair_found(request: &Request, findings: Vec<Finding>) -> Repaired {
    mend(request, findings, |request| check_except(request, &[]))
}

fn mend(
    request: &Request,
    mut findings: Vec<Finding>,
    check: impl Fn(&Request) -> Vec<Finding>,
) -> Repaired {
    let mut current = request.clone();
    let mut came_from: Vec<Option<usize>> = (0..request.transcript.len()).map(Some).collect();
    let mut mended = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let (open, left): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.mend != Mend::Nothing);
        if open.is_empty() {
            return Repaired { request: current, mended, left, came_from };
        }
        // Frame members are repaired alone; other findings are found again.
        let (frame, inside): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|finding| frame::is_of(&current, &finding.mend));
        let (inside, moved) = beside_moves(&current, inside);
        let (open, mut rest) = if frame.is_empty() { (inside, frame) } else { (frame, inside) };
        rest.extend(moved);
        let (text, origins) = match frame::mended(&current, &open) {
            Some(text) => (text, (0..current.transcript.len()).map(Some).collect()),
            None => Patch::of(&current, &open).apply(&current),
        };
        // A request of nothing is no request, nor is what can't be read, so the last breaches stay.
        let next = Some(text).filter(|_| !origins.is_empty());
        let Some(next) = next.and_then(|text| parse(current.format, text).ok()) else {
            let mut left: Vec<_> = open.into_iter().chain(rest).chain(left).collect();
            for finding in &mut left {
                finding.mend = Mend::Nothing;
            }
            return Repaired { request: current, mended, left, came_from };
        };
        for finding in open {
            mended.push(Mended {
                rule: finding.rule,
                // Frame members belong to no entry.
                entry: came_from
                    .get(finding.entry)
                    .copied()
                    .flatten()
                    .filter(|_| finding.member.is_none()),
                member: finding.member,
                detail: finding.detail,
                mend: words(&finding.mend).into(),
            });
        }
        came_from = origins.into_iter().map(|origin| origin.and_then(|at| came_from[at])).collect();
        current = next.addressed_as(request);
        keep_origins(request, &mut current, &came_from);
        findings = check(&current);
    }
    Repaired { request: current, mended, left: findings, came_from }
}

/// Findings outside of what others move or rewrite, and those inside, which are found again afterwards.
fn beside_moves(request: &Request, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Finding>) {
    let moved = |found: &Finding| match &found.mend {
        // Findings in a value that is rewritten.
        Mend::Overwrite { value, .. } => {
            Some(Span { start: value.start + 1, end: value.end.max(value.start + 2) - 1 })
        }
        Mend::Lead(result) | Mend::MoveResult { result, .. } => {
            let entry = request.transcript.entry(request.transcript.entry_of(*result));
            let is_message = entry.role() == Role::Tool;
            let part = request.transcript.part(*result).row().span;
            Some(if is_message { entry.span() } else { part })
        }
        _ => None,
    };
    let moved = Spans::of(findings.iter().filter_map(moved).collect());
    findings.into_iter().partition(|found| {
        // What isn't there yet is put into its part.
        let part = |span: Span| match found.slot.filter(|_| span.is_empty()) {
            Some(slot) => {
                let start = request.transcript.part(slot).row().span.start + 1;
                Span { start, end: start }
            }
            None => span,
        };
        let taken: Vec<Span> = taken(request, found).into_iter().map(part).collect();
        !taken.iter().any(|span| moved.hold(*span))
    })
}

/// The request without these parts, and for each of its entries the entry it was; `None` if nothing would be left.
pub(crate) fn without(request: &Request, slots: &[Slot]) -> Option<(Request, Vec<Option<usize>>)> {
    let (text, origins) = Patch::without(request, slots).apply(request);
    let next = parse(request.format, text).ok().filter(|_| !origins.is_empty())?;
    Some((next.addressed_as(request), origins))
}

/// Whether nothing would be left of a request from which all leaves that the findings let leave.
pub(super) fn leaves_nothing(request: &Request, findings: &[Finding]) -> bool {
    let (len, patch) = (request.transcript.len(), Patch::of(request, findings));
    let is_made_up = || patch.apply(request).1.iter().all(Option::is_none);
    len > 0 && patch.dropped().len() == len && is_made_up()
}

/// Entries whose speaker a recording knew keep their speaker.
pub(crate) fn keep_origins(from: &Request, to: &mut Request, came_from: &[Option<usize>]) {
    for (index, origin) in came_from.iter().enumerate() {
        let Some(old) = origin.map(|at| from.transcript.entry(at)) else { continue };
        let speaks = |p: &Part<'_>| {
            matches!(p.kind(), PartKind::Text | PartKind::Media) && !p.is(Marks::NESTED)
        };
        let was: Vec<_> = old.parts().filter(speaks).map(|p| (p.raw(), p.origin())).collect();
        let now: Vec<_> =
            to.transcript.entry(index).parts().filter(speaks).map(|p| p.slot).collect();
        // Parts may have left; what stays says the same.
        let mut was = was.into_iter();
        for slot in now {
            let raw = to.transcript.part(slot).raw();
            if let Some((_, origin)) = was.find(|(old, _)| *old == raw) {
                to.transcript.set_part_origin(slot, origin);
            }
        }
    }
}

fn words(mend: &Mend) -> &'static str {
    match mend {
        Mend::Nothing => "left as it is",
        Mend::DropPart(_) => "dropped the part",
        Mend::DropEntry => "dropped the message",
        Mend::Answer(_) => "added a result that says that there is none",
        Mend::MoveResult { .. } => "moved the result behind its call",
        Mend::Lead(_) => "moved the result to the front",
        Mend::Rename { .. } => "gave the call and its result a fresh id",
        Mend::CallTool { .. } => "gave the call's tool a name that is allowed",
        Mend::Retype { .. } => "gave it the type demanded",
        Mend::Replace(..) => "put a block of the format's own in its place",
        Mend::Rewrite { .. } => "rewrote the payload in the form demanded",
        Mend::Label { .. } => "gave the result its call's name",
        Mend::Claim { .. } => "gave the result its call's id",
        Mend::Sign(_) => "gave the call the signature of calls that the model didn't make",
        Mend::Join { .. } => "joined the message to the one before it",
        Mend::DefineTools => "defined the tools that were called",
        Mend::Unmark(_) => "left out the cache marker",
        Mend::LeaveOut(_) => "left it out",
        Mend::Overwrite { .. } => "wrote the value in the form demanded",
        Mend::AddMember { .. } => "added the member",
        Mend::Shorten(_) => "made the cache marker one for five minutes",
        Mend::LeadIn => "put a note in the user's role first",
        Mend::SpeakAsUser => "changed the role to the user's",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;
    use crate::wire::Format;

    #[test]
    fn repairs_keep_the_speakers() {
        let orphan = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"text","text":"note"}]}"#;
        let body = format!(
            r#"[{{"role":"user","content":"x"}},{{"role":"assistant","content":"y"}},{orphan}]"#
        );
        let mut request = crate::wire::parse(Format::Anthropic, body).expect("it is JSON");
        let note = request.transcript.entry(2).parts().next_back().expect("the note").slot;
        request.transcript.set_part_origin(note, Origin::Injected);
        let repaired = repair(&request);
        assert_eq!(repaired.mended.len(), 1);
        let origins = repaired
            .request
            .transcript
            .entries()
            .map(|entry| entry.parts().map(|part| part.origin()).collect::<Vec<_>>());
        let origins: Vec<_> = origins.flatten().collect();
        assert_eq!(origins, [Origin::Human, Origin::Model, Origin::Injected]);
    }
}
