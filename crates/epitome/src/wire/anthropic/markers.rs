//! Cache markers: how many there may be, and in which order (PROVIDERS.md B.1.6).

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{self, Sought, Span};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, Part, PartKind};
use crate::view::{Fate, View};
use crate::wire::clean::Past;
use crate::wire::keys::may_have;
use crate::wire::rules::{self, Finding, Mend};

/// Markers in one request.
const MOST: usize = 4;

/// A `cache_control`.
struct Marker {
    place: Place,
    /// The member with a separator, so that its object is whole without it.
    hole: Span,
    /// Its `ttl`, where it has one.
    ttl: Option<Span>,
    life: Life,
}

#[derive(Clone)]
enum Place {
    Entry(usize),
    /// Around the entries, in the object at this path.
    Frame(String),
}

impl Place {
    /// The entry, and the member if it is none.
    fn parts(&self) -> (usize, Option<String>) {
        match self {
            Place::Entry(entry) => (*entry, None),
            Place::Frame(path) => (0, Some(format!("{path}cache_control"))),
        }
    }
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
        let Place::Entry(entry) = marker.place else { continue };
        if surplus == 0 {
            break;
        }
        surplus -= 1;
        *is_out = true;
        findings.push(Finding::of_entry(
            rules::ANTHROPIC_MARKERS,
            entry,
            None,
            format!("{} markers", markers.len()),
            Mend::Unmark(marker.hole),
        ));
    }
    if let Some(last) = markers.last().filter(|_| surplus > 0) {
        let (_, member) = last.place.parts();
        let detail = format!("{} markers", markers.len());
        let path = member.unwrap_or_default();
        findings.push(Finding::of_member(rules::ANTHROPIC_MARKERS, &path, detail));
    }
    let mut is_short = false;
    for marker in markers.iter().zip(is_out).filter(|(_, is_out)| !is_out).map(|(it, _)| it) {
        match marker.life {
            Life::Minutes => is_short = true,
            Life::Hour if is_short => {
                let (entry, member) = marker.place.parts();
                let ttl = marker.ttl.filter(|_| member.is_none());
                findings.push(Finding {
                    rule: rules::ANTHROPIC_MARKER_ORDER,
                    entry,
                    member,
                    slot: None,
                    detail: "an hour behind five minutes".to_owned(),
                    mend: ttl.map_or(Mend::Nothing, Mend::Shorten),
                });
            }
            Life::Hour => {}
        }
    }
    findings
}

/// The marker of the newest entry before a view's checkpoint that has one, where that entry is folded and no marker behind the
/// checkpoint lives as long: those end in all that is before them, too.
pub(super) fn folded<'a>(request: &'a Request, view: &View) -> Option<&'a str> {
    let (source, transcript) = (request.source(), &request.transcript);
    let before = view.checkpoint()?.before.min(transcript.len());
    if !may_stand_in(source) {
        return None;
    }
    let of_entry = |at: usize| -> Option<&'a str> {
        let entry = transcript.entry(at);
        let mut parts = entry.parts().rev().filter(|part| part.kind() != PartKind::Reasoning);
        let value = |part: Part<'_>| {
            let (_, value) = json::hole(source, part.row().span, "cache_control")?;
            Some(value.of(source)).filter(|value| value.starts_with('{'))
        };
        may_be_in(entry).then(|| parts.find_map(value))?
    };
    let shown: Vec<bool> =
        view.fates().map(|fate| matches!(fate, Fate::Keep | Fate::Edit(_))).collect();
    let (at, marker) = (0..before).rev().find_map(|at| Some((at, of_entry(at)?)))?;
    let mut behind = (before..transcript.len()).filter(|at| shown[*at]).filter_map(of_entry);
    let automatic = request.value(&["cache_control"]);
    let is_kept = behind.any(|one| life(one) == life(marker))
        || automatic.is_some_and(|one| life(one) == life(marker));
    (!shown[at] && !is_kept).then_some(marker)
}

/// How long a marker lives.
fn life(marker: &str) -> Life {
    let ttl = json::text_member(marker, "ttl");
    if ttl.is_some_and(|ttl| ttl == "1h") { Life::Hour } else { Life::Minutes }
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
    for (name, list) in [("tools", request.frame.tools), ("system", request.frame.system)] {
        if may_stand_in(list.of(source)) {
            let blocks = json::elements(source, list).unwrap_or_default();
            let place = |at| Place::Frame(format!("{name}[{at}]."));
            let blocks = blocks.into_iter().enumerate();
            found.extend(blocks.filter_map(|(at, block)| marker(source, block, place(at))));
        }
    }
    let known = past.marked.iter().map(|at| transcript.entry(*at as usize));
    let new = past.rest(transcript).filter(|entry| may_be_in(*entry));
    for entry in known.chain(new) {
        // Thinking can't have one: that is another rule.
        let parts = entry.parts().filter(|part| part.kind() != PartKind::Reasoning);
        let place = Place::Entry(entry.index);
        found.extend(parts.filter_map(|part| marker(source, part.row().span, place.clone())));
    }
    if request.frame.envelope == Envelope::Body {
        // Its place doesn't matter: it isn't repaired.
        let slim = request.slim();
        let start = slim.find('{').unwrap_or(slim.len());
        let place = Place::Frame(String::new());
        found.extend(marker(&slim, Span::new(start..slim.len()), place));
    }
    found
}

/// The marker of an object.
fn marker(source: &str, holder: Span, place: Place) -> Option<Marker> {
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
    Some(Marker { place, hole, ttl, life: if is_hour { Life::Hour } else { Life::Minutes } })
}
