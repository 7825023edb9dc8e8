//! The lists that hold an entry's elements.

use crate::json::{self, Span};
use crate::transcript::{Entry, PartKind, Slot};

/// The list element that a part is, or is in.
pub(super) fn element_span(entry: Entry<'_>, slot: Slot) -> Span {
    let raw = entry.raw();
    let origin = entry.span().start;
    let span = entry.parts().find(|p| p.slot == slot).map_or(entry.span(), |p| p.row().span);
    let here = span.relative_to(origin);
    let holds = |item: &Span| item.start <= here.start && here.end <= item.end;
    let lists = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
    let list = lists.into_iter().map(|(_, value)| value).find(holds);
    let items = list.and_then(|list| json::elements(raw, list).ok()).unwrap_or_default();
    let at = items.partition_point(|item| item.end < here.end);
    items.get(at).filter(|item| holds(item)).map_or(span, |item| item.shifted_by(origin))
}

pub(super) fn element(entry: Entry<'_>, slot: Slot) -> &str {
    let span = element_span(entry, slot).relative_to(entry.span().start);
    &entry.raw()[span.range()]
}

/// Puts `blocks` first in the entry's content.
pub(super) fn prepend(entry: Entry<'_>, blocks: &[String], splices: &mut json::Splices) {
    let raw = entry.raw();
    let Some(content) = json::member(raw, Span::new(0..raw.len()), "content") else { return };
    let blocks = blocks.join(",");
    if raw[content.range()].starts_with('[') {
        let first = Span { start: content.start + 1, end: content.start + 1 };
        let is_empty = json::elements(raw, content).is_ok_and(|items| items.is_empty());
        splices.replace(first, if is_empty { blocks } else { blocks + "," });
    } else if let Some(text) = entry.parts().next().filter(|p| p.kind() == PartKind::Text) {
        let text = text.raw();
        splices.replace(content, format!(r#"[{blocks},{{"type":"text","text":{text}}}]"#));
    }
}
