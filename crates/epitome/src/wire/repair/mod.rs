//! Mending a request the least way: each breach by no more than its offending parts.

mod lists;
mod patch;

use serde::Serialize;

use super::rules::Mend;
use super::{Finding, RuleId, check_except, parse};
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind};
use patch::Patch;

/// A breach that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mended {
    /// The rule that was broken.
    pub rule: RuleId,
    /// Index of the offending entry, in the request as it came.
    pub entry: Option<usize>,
    /// What was found.
    pub detail: String,
    /// What was done.
    pub mend: &'static str,
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

/// Mends what can be mended.
pub fn repair(request: &Request) -> Repaired {
    repair_except(request, &[])
}

/// Mends what can be mended, but for breaches of the rules that are waived.
pub fn repair_except(request: &Request, waived: &[RuleId]) -> Repaired {
    mend(request, waived, check_except(request, waived))
}

/// Mends what can be mended of what [`check`](super::check) found.
pub(crate) fn repair_found(request: &Request, findings: Vec<Finding>) -> Repaired {
    mend(request, &[], findings)
}

fn mend(request: &Request, waived: &[RuleId], mut findings: Vec<Finding>) -> Repaired {
    let mut current = request.clone();
    let mut came_from: Vec<Option<usize>> = (0..request.transcript.len()).map(Some).collect();
    let mut mended = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let (open, left): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.mend != Mend::Nothing);
        if open.is_empty() {
            return Repaired { request: current, mended, left, came_from };
        }
        let mut patch = Patch::default();
        for finding in &open {
            patch.add(&current, finding);
        }
        let (text, origins) = patch.apply(&current);
        if origins.is_empty() {
            // A request of nothing is no request, so the last breaches stay.
            let mut left: Vec<_> = open.into_iter().chain(left).collect();
            for finding in &mut left {
                finding.mend = Mend::Nothing;
            }
            return Repaired { request: current, mended, left, came_from };
        }
        for finding in open {
            mended.push(Mended {
                rule: finding.rule,
                entry: came_from[finding.entry],
                detail: finding.detail,
                mend: words(&finding.mend),
            });
        }
        came_from = origins.into_iter().map(|origin| origin.and_then(|at| came_from[at])).collect();
        let old = current;
        current = parse(old.format, text).expect("mended JSON is JSON of the same format");
        keep_origins(request, &mut current, &came_from);
        findings = check_except(&current, waived);
    }
    Repaired { request: current, mended, left: findings, came_from }
}

/// Entries whose speaker a recording knew keep their speaker.
fn keep_origins(from: &Request, to: &mut Request, came_from: &[Option<usize>]) {
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
        Mend::Rename { .. } => "gave the call and its result a fresh id",
        Mend::CallTool { .. } => "gave the call's tool a name that is allowed",
        Mend::Retype { .. } => "gave the text the type of its side",
        Mend::Rewrite { .. } => "rewrote the arguments in the form demanded",
        Mend::Label { .. } => "gave the result its call's name",
        Mend::Sign(_) => "gave the call the signature of calls that the model didn't make",
        Mend::Join { .. } => "joined the message to the one before it",
        Mend::DefineTools => "defined the tools that were called",
        Mend::Unmark(_) => "left out the cache marker",
        Mend::LeaveOut(_) => "left out the member",
        Mend::Shorten(_) => "made the cache marker one for five minutes",
        Mend::LeadIn => "put a note in the user's role first",
        Mend::SpeakAsUser => "changed the role to the user's",
    }
}
