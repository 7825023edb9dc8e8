//! What a provider refuses today, besides what none will ever take.

use std::collections::{BTreeMap, BTreeSet};

use super::breach::{Finding, Mend, check_except};
use super::rules::RuleId;
use super::shape;
use crate::json::Span;
use crate::request::{Envelope, Request};

/// All breaches that [`check_except`] finds, and whatever the provider's SDK doesn't know: types, members and values.
///
/// A provider may have learned these since, so nothing but a look at a request asks for them: a compaction or a conversion
/// carries what isn't known. Where an entry breaks another rule, its shape is judged when that is mended.
pub fn inspect(request: &Request, waived: &[RuleId]) -> Vec<Finding> {
    let mut findings = check_except(request, waived);
    let broken: BTreeSet<usize> =
        findings.iter().filter(|found| found.slot.is_some()).map(|found| found.entry).collect();
    let dialect = request.format.dialect();
    let mut more = dialect.inspect(request);
    if let Some(shapes) = dialect.shapes(request) {
        let source = request.source();
        for entry in request.transcript.entries().filter(|entry| !broken.contains(&entry.index)) {
            let judged = (entry.span(), &shapes.entry);
            more.extend(shape::of_value(shapes, source, entry.index, judged));
        }
        if let Some(body) = body(request) {
            more.extend(shape::of_value(shapes, source, 0, (body, &shapes.body)));
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

/// The object with the list of entries in it.
fn body(request: &Request) -> Option<Span> {
    let source = request.source();
    let start = source.find('{').filter(|_| request.frame.envelope == Envelope::Body)?;
    let end = source.rfind('}')?;
    Some(Span::new(start..end + 1))
}
