//! Cache markers: how many there may be, and in which order (PROVIDERS.md B.1.6).

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{self, Sought, Span};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, PartKind};
use crate::wire::clean::Past;
use crate::wire::keys::may_have;
use crate::wire::rules::{self, Finding, Mend};

/// Markers in one request.
const MOST: usize = 4;

/// A `cache_control`.
struct Marker {
    /// The entry that it stands in; none in the frame.
    entry: Option<usize>,
    /// The member with a separator, so that its object is whole without it.
    hole: Span,
    /// Its `ttl`, where it has one.
    ttl: Option<Span>,
    life: Life,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Minutes,
    Hour,
}

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let markers = all(request, past);
    let mut findings = Vec::new();
    // A marker further on writes all that an earlier one would.
    let mut surplus = markers.len().saturating_sub(MOST);
    let mut is_out = vec![false; markers.len()];
    for (marker, is_out) in markers.iter().zip(&mut is_out) {
        let Some(entry) = marker.entry.filter(|_| surplus > 0) else { continue };
        surplus -= 1;
        *is_out = true;
        findings.push(Finding {
            rule: rules::ANTHROPIC_MARKERS,
            entry,
            slot: None,
            detail: format!("{} markers", markers.len()),
            mend: Mend::Unmark(marker.hole),
        });
    }
    if surplus > 0 {
        findings.push(Finding {
            rule: rules::ANTHROPIC_MARKERS,
            entry: 0,
            slot: None,
            detail: format!("{} markers", markers.len()),
            mend: Mend::Nothing,
        });
    }
    let mut is_short = false;
    for marker in markers.iter().zip(is_out).filter(|(_, is_out)| !is_out).map(|(it, _)| it) {
        match (marker.life, marker.entry, marker.ttl) {
            (Life::Minutes, ..) => is_short = true,
            (Life::Hour, entry, ttl) if is_short => findings.push(Finding {
                rule: rules::ANTHROPIC_MARKER_ORDER,
                entry: entry.unwrap_or(0),
                slot: None,
                detail: "an hour behind five minutes".to_owned(),
                mend: match ttl.filter(|_| entry.is_some()) {
                    Some(ttl) => Mend::Shorten(ttl),
                    None => Mend::Nothing,
                },
            }),
            (Life::Hour, ..) => {}
        }
    }
    findings
}

static KEY: Sought = LazyLock::new(|| Finder::new("cache_control"));

/// Whether a marker may be somewhere in it.
fn may_stand_in(json: &str) -> bool {
    json::may_mention(json, &KEY)
}

/// Whether an entry may have one.
pub(super) fn may_be_in(entry: Entry<'_>) -> bool {
    may_have(entry, &KEY)
}

/// All markers, in the order in which the provider reads them.
fn all(request: &Request, past: &Past) -> Vec<Marker> {
    let (source, transcript) = (request.source(), &request.transcript);
    if past.entries == 0 && !may_stand_in(source) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for list in [request.frame.tools, request.frame.system] {
        if may_stand_in(list.of(source)) {
            let blocks = json::elements(source, list).unwrap_or_default();
            found.extend(blocks.into_iter().filter_map(|block| marker(source, block, None)));
        }
    }
    let known = past.marked.iter().map(|at| transcript.entry(*at as usize));
    let new = past.rest(transcript).filter(|entry| may_be_in(*entry));
    for entry in known.chain(new) {
        // Thinking can't have one: that is another rule.
        let parts = entry.parts().filter(|part| part.kind() != PartKind::Reasoning);
        found.extend(parts.filter_map(|part| marker(source, part.row().span, Some(entry.index))));
    }
    if request.frame.envelope == Envelope::Body {
        // Where it stands matters to nobody: it isn't mended.
        let slim = request.slim();
        let start = slim.find('{').unwrap_or(slim.len());
        found.extend(marker(&slim, Span::new(start..slim.len()), None));
    }
    found
}

/// The marker of an object.
fn marker(source: &str, holder: Span, entry: Option<usize>) -> Option<Marker> {
    let text = holder.of(source);
    if !text.starts_with('{') || !may_stand_in(text) {
        return None;
    }
    let (hole, value) = json::hole(source, holder, "cache_control")?;
    if !value.of(source).starts_with('{') {
        return None;
    }
    let ttl = json::member(source, value, "ttl");
    let is_hour = ttl.is_some_and(|ttl| json::unquote(ttl.of(source)) == "1h");
    Some(Marker { entry, hole, ttl, life: if is_hour { Life::Hour } else { Life::Minutes } })
}
