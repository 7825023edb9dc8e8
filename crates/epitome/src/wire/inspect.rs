//! What a provider refuses today, besides what none will ever take.

use std::collections::{BTreeMap, BTreeSet};

use super::breach::{Finding, Mend, check_except};
use super::rules::RuleId;
use super::{shape, strict};
use crate::json::Span;
use crate::request::{Envelope, Request};

/// All breaches that [`check_except`] finds, and whatever the provider's SDK doesn't know: types, members and values.
///
/// A provider may have learned these since, so nothing but a look at a request asks for them: a compaction or a conversion
/// carries what isn't known. What is
/// written anew where another breach is mended is judged then.
pub fn inspect(request: &Request, waived: &[RuleId]) -> Vec<Finding> {
    let mut findings = check_except(request, waived);
    let dialect = request.format.dialect();
    let mut more = dialect.inspect(request);
    let written = findings.iter().chain(&more).filter_map(|found| place(request, found));
    let written: Vec<Span> = written.collect();
    let holds = |outer: &Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    // Where another mend writes anew nothing is left of it.
    more.extend(strict::check(request).into_iter().filter(|found| match &found.mend {
        Mend::Overwrite { value, .. } => !written.iter().any(|outer| holds(outer, *value)),
        _ => true,
    }));
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

/// What leaves, moves or is written anew where these are mended, so that nothing else in it matters.
fn remade(request: &Request, findings: &[Finding]) -> BTreeSet<Span> {
    let transcript = &request.transcript;
    let span = |found: &Finding| match &found.mend {
        Mend::DropEntry => Some(transcript.entry(found.entry).span()),
        Mend::DropPart(slot)
        | Mend::Replace(slot, _)
        | Mend::Rewrite { slot, .. }
        | Mend::Retype { slot, .. }
        | Mend::Lead(slot)
        | Mend::MoveResult { result: slot, .. } => Some(transcript.part(*slot).row().span),
        _ => None,
    };
    findings.iter().filter_map(span).collect()
}

/// The bytes that a mend writes.
fn place(request: &Request, found: &Finding) -> Option<Span> {
    match &found.mend {
        Mend::LeaveOut(span)
        | Mend::Unmark(span)
        | Mend::Shorten(span)
        | Mend::Overwrite { value: span, .. } => Some(*span),
        Mend::SpeakAsUser | Mend::DropEntry => Some(request.transcript.entry(found.entry).span()),
        Mend::Nothing | Mend::Answer(_) => None,
        _ => found.slot.map(|slot| request.transcript.part(slot).row().span),
    }
}

/// The object with the list of entries in it.
fn body(request: &Request) -> Option<Span> {
    let source = request.source();
    let start = source.find('{').filter(|_| request.frame.envelope == Envelope::Body)?;
    let end = source.rfind('}')?;
    Some(Span::new(start..end + 1))
}
