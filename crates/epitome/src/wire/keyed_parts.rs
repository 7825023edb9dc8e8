//! Edits where a part is the value of a member of a list element: `{"functionCall": {…}}`.
//!
//! An element leaves when no part is left in it; a part that leaves alone takes its member along.

use super::Dialect;
use super::splice::replace_payload;
use crate::json::{self, Span, Splices, quote};
use crate::transcript::{Entry, Marks, Part, PartKind};
use crate::view::{PartEdit, Put};

/// The replacements that make `edits`, relative to the entry's own bytes; its elements stand in `list`.
pub(super) fn splices(dialect: &dyn Dialect, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
    let raw = entry.raw();
    let origin = entry.span().start;
    let parts: Vec<Held<'_>> = held(entry, edits);
    let mut work = Work { dialect, raw, origin, splices: Splices::default() };
    // Words in the place of words leave the list as it is.
    if parts.iter().all(Held::keeps_its_element) {
        for (part, put) in parts.iter().filter_map(|held| Some((&held.part, held.put?))) {
            replace_payload(dialect, part, put, origin, &mut work.splices);
        }
        return work.splices;
    }
    let whole = Span::new(0..raw.len());
    let elements = json::member(raw, whole, dialect.terms().content)
        .filter(|list| raw[list.range()].starts_with('['))
        .and_then(|list| json::elements(raw, list).ok())
        .unwrap_or_default();
    let mut gone = vec![false; elements.len()];
    let mut from = 0;
    for (index, element) in elements.iter().enumerate() {
        let end = from
            + parts[from..]
                .iter()
                .take_while(|held| held.part.row().span.relative_to(origin).end <= element.end)
                .count();
        let (own, nested): (Vec<&Held<'_>>, Vec<&Held<'_>>) =
            parts[from..end].iter().partition(|held| !held.part.is(Marks::NESTED));
        from = end;
        gone[index] = !own.is_empty() && own.iter().all(|held| held.is_gone());
        if !gone[index] {
            work.element(*element, &own);
            work.nested(&own, &nested);
        }
    }
    work.splices.remove_items(&elements, |index| gone[index]);
    work.splices
}

/// A part and what is put in its place.
struct Held<'a> {
    part: Part<'a>,
    put: Option<&'a Put>,
}

impl Held<'_> {
    fn is_gone(&self) -> bool {
        self.put == Some(&Put::Nothing)
    }

    /// Whether nothing but its payload changes, whatever becomes of others like it.
    fn keeps_its_element(&self) -> bool {
        let is_element = matches!(self.part.kind(), PartKind::Media | PartKind::Opaque);
        !self.part.is(Marks::NESTED) && (self.put.is_none() || !self.is_gone() && !is_element)
    }
}

/// Parts and edits are both in slot order.
fn held<'a>(entry: Entry<'a>, edits: &'a [PartEdit]) -> Vec<Held<'a>> {
    let mut sorted: Vec<&PartEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.at);
    let mut edits = sorted.into_iter().peekable();
    let pair = |part: Part<'a>| {
        while edits.next_if(|edit| edit.at < part.slot).is_some() {}
        let put = edits.next_if(|edit| edit.at == part.slot).map(|edit| &edit.put);
        Held { part, put }
    };
    entry.parts().map(pair).collect()
}

struct Work<'a> {
    dialect: &'a dyn Dialect,
    raw: &'a str,
    origin: u32,
    splices: Splices,
}

impl Work<'_> {
    /// Edits an element that stays.
    fn element(&mut self, element: Span, own: &[&Held<'_>]) {
        for held in own {
            let span = held.part.row().span.relative_to(self.origin);
            match held.put {
                None => {}
                // The rest is a signature, which needs at least a text beside it.
                Some(Put::Nothing) if held.part.kind() != PartKind::Reasoning => {
                    self.member(element, span, Some(r#""text":"""#));
                }
                Some(Put::Nothing) => self.member(element, span, None),
                Some(Put::Text(text))
                    if matches!(held.part.kind(), PartKind::Media | PartKind::Opaque) =>
                {
                    self.become_text(element, own, text);
                }
                Some(put) => {
                    replace_payload(self.dialect, &held.part, put, self.origin, &mut self.splices);
                }
            }
        }
    }

    /// Removes the member whose value is at `span`, or puts another in its place.
    fn member(&mut self, object: Span, span: Span, other: Option<&str>) {
        let members = json::members(self.raw, object).unwrap_or_default();
        let name = members.iter().find(|(_, value)| *value == span).map(|(key, _)| *key);
        let Some(name) = name.map(|key| json::unquote(key.of(self.raw)).into_owned()) else {
            return;
        };
        let spans: Vec<Span> =
            members.iter().map(|(key, value)| Span { start: key.start, end: value.end }).collect();
        let stays = |at: usize| other.is_some() && members[at].1 == span;
        if let (Some(other), Some(at)) = (other, (0..members.len()).find(|at| stays(*at))) {
            self.splices.replace(spans[at], other.to_owned());
        }
        // Earlier duplicates of the key must not come back to life.
        let is_gone = |at: usize| json::key_is(self.raw, members[at].0, &name) && !stays(at);
        self.splices.remove_items(&spans, is_gone);
    }

    /// A note where a medium was; what was said about the medium goes with it, a signature stays.
    fn become_text(&mut self, element: Span, own: &[&Held<'_>], text: &str) {
        let is_seal = |held: &&&Held<'_>| held.part.kind() == PartKind::Reasoning;
        let seal = own.iter().position(|held| is_seal(&held) && !held.is_gone());
        let said = format!(r#""text":{}"#, quote(text));
        let block = match seal.map(|at| (at, own[at].part.raw())) {
            None => format!("{{{said}}}"),
            // Slots are in the order of the bytes.
            Some((0, seal)) => format!(r#"{{"thoughtSignature":{seal},{said}}}"#),
            Some((_, seal)) => format!(r#"{{{said},"thoughtSignature":{seal}}}"#),
        };
        self.splices.replace(element, block);
    }

    /// Edits the elements of a result that is not replaced as a whole; where it is, they leave.
    fn nested(&mut self, own: &[&Held<'_>], nested: &[&Held<'_>]) {
        let Some(result) = own.iter().find(|held| held.part.kind() == PartKind::Result) else {
            return;
        };
        let Some(first) = nested.first() else { return };
        let object = result.part.row().span.relative_to(self.origin);
        let inside = first.part.row().span.relative_to(self.origin);
        let holds = |span: &Span| span.start <= inside.start && inside.end <= span.end;
        let list = json::members(self.raw, object)
            .unwrap_or_default()
            .into_iter()
            .map(|(_, value)| value)
            .find(holds);
        let Some(list) = list else { return };
        // A result without a payload has no place in the entry.
        let is_body = list.shifted_by(self.origin) == result.part.row().body;
        if result.put.is_some() {
            if !is_body {
                self.member(object, list, None);
            }
            return;
        }
        let elements = json::elements(self.raw, list).unwrap_or_default();
        let mut gone = vec![false; elements.len()];
        let mut rest = nested.iter().peekable();
        for (index, element) in elements.iter().enumerate() {
            let within = |held: &&&Held<'_>| {
                held.part.row().span.relative_to(self.origin).end <= element.end
            };
            let mut mine = Vec::new();
            while let Some(held) = rest.next_if(within) {
                mine.push(*held);
            }
            gone[index] = !mine.is_empty() && mine.iter().all(|held| held.is_gone());
            if !gone[index] {
                self.element(*element, &mine);
            }
        }
        if gone.iter().all(|gone| *gone) && !is_body {
            self.member(object, list, None);
        } else {
            self.splices.remove_items(&elements, |index| gone[index]);
        }
    }
}

/// A string of JSON text for a member that must be a list of one text element.
pub(super) fn one_text(text: &str) -> String {
    format!(r#"[{{"text":{}}}]"#, quote(text))
}
