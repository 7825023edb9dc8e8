//! Members of entries and parts that a conversion can't carry over.

use crate::json::{self, Span, unquote};
use crate::transcript::{Entry, Marks, Part, PartKind, Role};
use crate::wire::neutral::{Loss, Neutral};
use crate::wire::{Dialect, Feature};
use crate::word_list::words;

/// Lists an entry's members beside its parts.
pub(super) fn members(from: &dyn Dialect, entry: Entry<'_>, neutral: &mut Neutral) {
    let terms = from.terms();
    let is_result = entry.role() == Role::Tool && !terms.result_members.is_empty();
    let known = if is_result { terms.result_members } else { terms.members };
    let raw = entry.raw();
    // A part that is left out whole is listed as a whole.
    let is_served = || entry.parts().any(|part| part.is(Marks::SERVER));
    let is_left_out = from.has(Feature::FlatEntries)
        && (is_served() || !entry.parts().any(|part| is_carried(&part)));
    if known.is_empty() || is_left_out || !raw.starts_with('{') {
        return;
    }
    for (key, value) in json::members(raw, Span::new(0..raw.len())).unwrap_or_default() {
        let name = unquote(key.of(raw));
        if !known.contains(&name.as_ref()) && value.of(raw) != "null" {
            neutral.lose(Some(entry.index), Loss::Member, name.as_ref());
        }
        if name == from.terms().content && value.of(raw).starts_with('[') {
            elements(from, entry.index, raw, value, neutral);
        }
    }
}

/// Lists what elements say beside their data.
fn elements(from: &dyn Dialect, at: usize, raw: &str, list: Span, neutral: &mut Neutral) {
    let known = from.terms().about_elements;
    if known.is_empty() {
        return;
    }
    for element in json::elements(raw, list).unwrap_or_default() {
        if !element.of(raw).starts_with('{') {
            continue;
        }
        for (key, _) in json::members(raw, element).unwrap_or_default() {
            let name = unquote(key.of(raw));
            if known.contains(&name.as_ref()) {
                neutral.lose(Some(at), Loss::Member, name);
            }
        }
    }
}

/// Members of blocks that are read, or say nothing.
const READ: [&str; 31] = words!(
    "type text id name input tool_use_id content is_error source title image_url detail file \
     filename file_data file_url file_id input_audio refusal function arguments custom toolUseId \
     status format mime_type data uri args response parts"
);

/// Lists a block's further members: cache markers, citations, annotations.
pub(super) fn part(from: &dyn Dialect, at: usize, part: &Part<'_>, neutral: &mut Neutral) {
    let raw = part.raw();
    if !is_carried(part) || !raw.starts_with('{') || !from.is_block(part) {
        return;
    }
    block(raw, |loss, name| neutral.lose(Some(at), loss, name));
}

/// Lists a block's further members, by `lose`.
pub(super) fn block(raw: &str, mut lose: impl FnMut(Loss, String)) {
    for (key, value) in json::members(raw, Span::new(0..raw.len())).unwrap_or_default() {
        let name = unquote(key.of(raw));
        if matches!(value.of(raw), "null" | "[]" | "{}") {
            continue;
        }
        if name == "cache_control" || name == "prompt_cache_breakpoint" {
            lose(Loss::CacheMarker, String::new());
        } else if !READ.contains(&name.as_ref()) {
            lose(Loss::Member, name.into_owned());
        }
    }
}

fn is_carried(part: &Part<'_>) -> bool {
    let is_kind =
        matches!(part.kind(), PartKind::Text | PartKind::Media | PartKind::Call | PartKind::Result);
    is_kind && !part.is(Marks::SERVER)
}
