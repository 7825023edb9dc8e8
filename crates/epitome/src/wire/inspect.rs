//! What a provider refuses today, beyond the permanent rules.

use std::collections::{BTreeMap, BTreeSet};

use super::breach::{Finding, Mend, check_structure};
use super::rules::RuleId;
use super::{shape, strict};
use crate::json::Span;
use crate::request::{Envelope, Request};
use crate::transcript::Slot;

/// All breaches that [`check_except`](super::check_except) finds, and whatever the provider's SDK doesn't know: types, members and
/// values.
///
/// A provider may have relaxed these since. So only an inspection asks for them, and a conversion, whose output must pass
/// one: a compaction carries unknown content. A part that another repair rewrites is judged after it.
pub fn inspect(request: &Request, waived: &[RuleId]) -> Vec<Finding> {
    let mut findings = check_structure(request, waived);
    let dialect = request.format.dialect();
    let mut more = dialect.inspect(request);
    // A part that another repair removes or rewrites needs no repair.
    let gone = findings.iter().chain(&more).flat_map(|found| taken(request, found));
    let gone = Spans::of(gone.collect());
    let is_left = |found: &Finding| match &found.mend {
        Mend::Overwrite { value, .. } => !gone.hold(*value),
        _ => true,
    };
    more.extend(strict::characters(request).into_iter().filter(is_left));
    more.extend(strict::numbers_and_depth(request));
    if let Some(shapes) = dialect.shapes(request) {
        let source = request.source();
        let remade = remade(request, &findings);
        for entry in request.transcript.entries() {
            more.extend(shape::of_entry(shapes, source, entry, &remade));
        }
        if let Some(body) = body(request) {
            more.extend(shape::of_body(shapes, source, body));
        }
    }
    let mut known: BTreeMap<(usize, RuleId), Vec<&Mend>> = BTreeMap::new();
    for found in &findings {
        known.entry((found.entry, found.rule)).or_default().push(&found.mend);
    }
    more.retain(|found| {
        let told = known.get(&(found.entry, found.rule));
        !waived.contains(&found.rule) && told.is_none_or(|told| !told.contains(&&found.mend))
    });
    findings.append(&mut more);
    findings.sort_by_key(|finding| (finding.entry, finding.slot));
    findings
}

/// Ranges of bytes, by where they begin, each with the furthest end so far.
pub(super) struct Spans(Vec<(u32, u32)>);

impl Spans {
    pub(super) fn of(spans: Vec<Span>) -> Self {
        let mut all: Vec<(u32, u32)> =
            spans.into_iter().map(|span| (span.start, span.end)).collect();
        all.sort_unstable();
        let mut furthest = 0;
        for (_, end) in &mut all {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Spans(all)
    }

    /// Whether one of them holds the bytes.
    pub(super) fn hold(&self, span: Span) -> bool {
        let before = self.0.partition_point(|(start, _)| *start <= span.start);
        before.checked_sub(1).is_some_and(|last| span.end <= self.0[last].1)
    }
}

/// The parts that these repairs remove or rewrite, so that other findings in them don't matter.
fn remade(request: &Request, findings: &[Finding]) -> BTreeSet<Span> {
    let transcript = &request.transcript;
    let span = |found: &Finding| match &found.mend {
        Mend::DropEntry => Some(transcript.entry(found.entry).span()),
        Mend::DropPart(slot) | Mend::Replace(slot, _) | Mend::Retype { slot, .. } => {
            Some(transcript.part(*slot).row().span)
        }
        Mend::Rewrite { slot, .. } => Some(transcript.part(*slot).row().body),
        _ => None,
    };
    findings.iter().filter_map(span).collect()
}

/// The bytes of which nothing is left once it is mended.
pub(super) fn taken(request: &Request, found: &Finding) -> Vec<Span> {
    let row = |slot: &Slot| *request.transcript.part(*slot).row();
    match &found.mend {
        Mend::LeaveOut(span)
        | Mend::Unmark(span)
        | Mend::Shorten(span)
        | Mend::Overwrite { value: span, .. } => vec![*span],
        Mend::DropEntry => vec![request.transcript.entry(found.entry).span()],
        Mend::DropPart(slot) | Mend::Replace(slot, _) => vec![row(slot).span],
        Mend::Rewrite { slot, .. } => vec![row(slot).body],
        Mend::Retype { slot, .. } | Mend::CallTool { slot, .. } => vec![row(slot).name],
        Mend::Label { result, id: None, .. } => vec![row(result).name],
        Mend::Label { result, .. } => vec![row(result).name, row(result).id],
        Mend::Claim { result, .. } => vec![row(result).id],
        Mend::Rename { slots, .. } => slots.iter().map(|slot| row(slot).id).collect(),
        _ => Vec::new(),
    }
}

/// The object with the list of entries in it.
pub(super) fn body(request: &Request) -> Option<Span> {
    let source = request.source();
    let start = source.find('{').filter(|_| request.frame.envelope == Envelope::Body)?;
    let end = source.rfind('}')?;
    Some(Span::new(start..end + 1))
}
