//! The lists that hold an entry's elements.

use std::collections::HashMap;

use crate::json::{self, Span};
use crate::transcript::{Entry, Part, PartKind};

/// The lists of the entries that were asked for, each read once however many of its elements are.
#[derive(Default)]
pub(super) struct Lists(HashMap<usize, Vec<List>>);

/// A member's value, and its elements where it is a list.
struct List {
    span: Span,
    items: Vec<Span>,
}

impl Lists {
    /// The list element that a part is, or is in.
    pub(super) fn element_span(&mut self, entry: Entry<'_>, part: &Part<'_>) -> Span {
        let span = part.row().span;
        let origin = entry.span().start;
        let here = span.relative_to(origin);
        let holds = |item: &Span| item.start <= here.start && here.end <= item.end;
        let lists = self.0.entry(entry.index).or_insert_with(|| lists(entry.raw()));
        let at = lists.partition_point(|list| list.span.end < here.end);
        let Some(List { items, .. }) = lists.get(at).filter(|list| holds(&list.span)) else {
            return span;
        };
        let at = items.partition_point(|item| item.end < here.end);
        items.get(at).filter(|item| holds(item)).map_or(span, |item| item.shifted_by(origin))
    }

    pub(super) fn element<'a>(&mut self, entry: Entry<'a>, part: &Part<'_>) -> &'a str {
        let span = self.element_span(entry, part).relative_to(entry.span().start);
        &entry.raw()[span.range()]
    }
}

fn lists(raw: &str) -> Vec<List> {
    let members = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
    let list = |(_, span)| List { span, items: json::elements(raw, span).unwrap_or_default() };
    members.into_iter().map(list).collect()
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
