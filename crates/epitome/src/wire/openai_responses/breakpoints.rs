//! Cache breakpoints: how many a request may write (PROVIDERS.md B.2.4).

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{self, Sought, Span, unquote};
use crate::request::{Envelope, Request};
use crate::transcript::Entry;
use crate::wire::clean::Past;
use crate::wire::keys::may_have;
use crate::wire::rules::{self, Finding, Mend};

/// Breakpoints of one request, the implicit one among them.
const MOST: usize = 4;
const KEY: &str = "prompt_cache_breakpoint";

static SOUGHT: Sought = LazyLock::new(|| Finder::new(KEY));

/// Whether an entry may have one.
pub(super) fn may_be_in(entry: Entry<'_>) -> bool {
    may_have(entry, &SOUGHT)
}

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let (source, transcript) = (request.source(), &request.transcript);
    if past.entries == 0 && !json::may_mention(source, &SOUGHT) {
        return Vec::new();
    }
    let known = past.marked.iter().map(|at| transcript.entry(*at as usize));
    let new = past.rest(transcript).filter(|entry| may_be_in(*entry));
    let mut found: Vec<(usize, Span)> = Vec::new();
    for entry in known.chain(new) {
        let content = json::member(source, entry.span(), "content");
        let elements = content.and_then(|content| json::elements(source, content).ok());
        for element in elements.unwrap_or_default() {
            let hole = json::hole(source, element, KEY);
            let marks = |(_, value): &(Span, Span)| value.of(source) != "null";
            found.extend(hole.filter(marks).map(|(hole, _)| (entry.index, hole)));
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let all = found.len() + usize::from(writes_one_itself(request));
    // A breakpoint further on writes all that an earlier one would.
    let surplus = all.saturating_sub(MOST);
    found
        .into_iter()
        .take(surplus)
        .map(|(entry, hole)| {
            Finding::of_entry(
                rules::RESPONSES_BREAKPOINTS,
                entry,
                None,
                format!("{all} breakpoints"),
                Mend::Unmark(hole),
            )
        })
        .collect()
}

/// Whether the provider sets a breakpoint besides: it does unless told not to.
fn writes_one_itself(request: &Request) -> bool {
    if request.frame.envelope != Envelope::Body {
        return true;
    }
    let slim = request.slim();
    let body = Span::new(slim.find('{').unwrap_or(slim.len())..slim.len());
    let mode = json::member(&slim, body, "prompt_cache_options")
        .and_then(|options| json::member(&slim, options, "mode"));
    mode.is_none_or(|mode| unquote(mode.of(&slim)) != "explicit")
}
