//! Rendering by splicing: what isn't edited keeps its bytes.

use std::borrow::Cow;

use super::Dialect;
use super::layout::{Piece, joined, layout};
use crate::json::{self, Span, Splices, key_is, quote};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, Marks, Part, PartKind, Slot};
use crate::view::{Fate, PartEdit, Put, View};

pub(super) fn render(request: &Request, view: &View) -> String {
    let dialect = request.format.dialect();
    let mut out = Writer::new(request);
    let fates: Vec<&Fate> = view.fates().collect();
    let text = |piece: Piece| -> Cow<'_, str> {
        let Piece::Entry(at) = piece else {
            let placed = view.checkpoint().expect("a checkpoint is laid where there is one");
            return dialect.user_message(&placed.text).into();
        };
        let entry = request.transcript.entry(at);
        match fates[at] {
            Fate::Edit(edits) => edit(dialect, entry, edits).into(),
            _ => entry.raw().into(),
        }
    };
    for pieces in layout(request, view).chunk_by(|a, b| a.message == b.message) {
        let first = pieces[0].piece;
        let message = if pieces.len() == 1 {
            text(first)
        } else {
            let texts: Vec<_> = pieces.iter().map(|laid| text(laid.piece)).collect();
            joined(&texts, dialect.content_key()).into()
        };
        match first {
            Piece::Entry(at) => out.entry(at, &message),
            Piece::Checkpoint => out.insert(&message),
        }
    }
    out.finish()
}

/// Writes entries between the request's head and tail, with its own separators.
pub(super) struct Writer<'a> {
    request: &'a Request,
    out: String,
    wrote: bool,
    /// Where plain words stand for the list: what is written, since more than they wants a list.
    pieces: Option<Vec<String>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        let mut out = String::with_capacity(request.source().len());
        out.push_str(request.head());
        let is_words = request.frame.list.of(request.source()).starts_with('"');
        let pieces = (is_words && request.frame.envelope == Envelope::Body).then(Vec::new);
        Writer { request, out, wrote: false, pieces }
    }

    /// Writes entry `index` of the request, as `text`.
    pub(super) fn entry(&mut self, index: usize, text: &str) {
        self.write(self.request.separator(index), text);
    }

    /// Writes an entry that the request doesn't have.
    pub(super) fn insert(&mut self, text: &str) {
        self.write(self.request.plain_separator(), text);
    }

    pub(super) fn finish(mut self) -> String {
        match self.pieces.take().as_deref() {
            None => {}
            Some([words]) if words.starts_with('"') => self.out.push_str(words),
            Some(pieces) => {
                let format = self.request.format;
                let item = |piece: &String| {
                    let is_words = piece.starts_with('"');
                    if is_words {
                        format.user_message(&json::unquote(piece))
                    } else {
                        piece.clone()
                    }
                };
                let items: Vec<String> = pieces.iter().map(item).collect();
                self.out.push('[');
                self.out.push_str(&items.join(","));
                self.out.push(']');
            }
        }
        self.out.push_str(self.request.tail());
        self.out
    }

    fn write(&mut self, separator: &str, text: &str) {
        if let Some(pieces) = &mut self.pieces {
            return pieces.push(text.to_owned());
        }
        if std::mem::replace(&mut self.wrote, true) {
            self.out.push_str(separator);
        }
        self.out.push_str(text);
    }
}

/// `entry` with slots replaced.
pub(super) fn edit(dialect: &dyn Dialect, entry: Entry<'_>, edits: &[PartEdit]) -> String {
    dialect.splices(entry, edits).apply(entry.raw())
}

/// The replacements that make `edits`, relative to the entry's own bytes.
pub(super) fn splices(dialect: &dyn Dialect, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
    let origin = entry.span().start;
    let parts: Vec<Part<'_>> = entry.parts().collect();
    let part = |slot: Slot| parts.iter().find(|p| p.slot == slot);
    let mut splices = Splices::default();
    let mut gone: Vec<Slot> = Vec::new();
    for edit in edits {
        let Some(part) = part(edit.at) else { continue };
        let replaces_element = matches!(part.kind(), PartKind::Media | PartKind::Opaque);
        match &edit.put {
            Put::Nothing => gone.push(edit.at),
            Put::Text(text) if replaces_element => {
                splices.replace(part.row().span.relative_to(origin), dialect.text_block(text));
            }
            put => replace_payload(dialect, part, put, origin, &mut splices),
        }
    }
    if !gone.is_empty() {
        remove(entry, &parts, &gone, &mut splices);
    }
    splices
}

/// Puts words or arguments where a part's payload is. A call without arguments or a result without
/// content has nothing to replace.
pub(super) fn replace_payload(
    dialect: &dyn Dialect,
    part: &Part<'_>,
    put: &Put,
    origin: u32,
    splices: &mut Splices,
) {
    let body = part.row().body;
    if body.is_empty() {
        return;
    }
    let is_literal = part.is(Marks::LITERAL);
    let json = match put {
        Put::Nothing => return,
        Put::Arguments(json) if !is_literal => json.to_string(),
        Put::Text(text) if part.kind() == PartKind::Result && !is_literal => {
            dialect.result_words(part, text)
        }
        Put::Text(text) | Put::Arguments(text) => quote(text),
    };
    splices.replace(body.relative_to(origin), json);
}

/// Closes the holes that `gone` leaves: list elements go with their separators, members with their
/// keys; `content` becomes `null` where other members carry the message.
fn remove(entry: Entry<'_>, parts: &[Part<'_>], gone: &[Slot], splices: &mut Splices) {
    let raw = entry.raw();
    let origin = entry.span().start;
    let local = |slot: &Slot| {
        let part = parts.iter().find(|p| p.slot == *slot);
        part.map(|p| p.row().span)
            .filter(|span| !span.is_empty())
            .map(|span| span.relative_to(origin))
    };
    let holes: Vec<Span> = gone.iter().filter_map(local).collect();
    let is_hole = |span: Span| holes.contains(&span);
    // Lists inside a result.
    for part in parts.iter().filter(|p| p.kind() == PartKind::Result && !p.row().body.is_empty()) {
        let body = part.row().body.relative_to(origin);
        if !raw[body.range()].starts_with('[') {
            continue;
        }
        let items = json::elements(raw, body).unwrap_or_default();
        if !items.is_empty() && items.iter().all(|item| is_hole(*item)) {
            splices.replace(body, "\"\"".to_owned());
        } else if items.iter().any(|item| is_hole(*item)) {
            splices.remove_items(&items, |i| is_hole(items[i]));
        }
    }
    // Members of the entry, and lists in them.
    let whole = Span::new(0..raw.len());
    let members = json::members(raw, whole).unwrap_or_default();
    let spans: Vec<Span> =
        members.iter().map(|(key, value)| Span { start: key.start, end: value.end }).collect();
    let mut leaving = vec![false; members.len()];
    for (index, (key, value)) in members.iter().enumerate() {
        let is_content = key_is(raw, *key, "content");
        let vanishes = if is_hole(*value) {
            true
        } else if raw[value.range()].starts_with('[') {
            let items = json::elements(raw, *value).unwrap_or_default();
            let all = !items.is_empty() && items.iter().all(|item| is_hole(*item));
            splices.remove_items(&items, |i| is_hole(items[i]));
            all
        } else {
            false
        };
        if vanishes && is_content {
            splices.replace(*value, "null".to_owned());
        } else if vanishes {
            // Earlier duplicates of the key must not come back to life.
            let name = json::unquote(key.of(raw));
            for (other, (key, _)) in members.iter().enumerate() {
                leaving[other] |= key_is(raw, *key, &name);
            }
        }
        debug_assert!(index < leaving.len(), "one flag a member");
    }
    if leaving.contains(&true) {
        splices.remove_items(&spans, |i| leaving[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Reason;
    use crate::wire::{Format, parse};

    /// Edits the first entry of a bare array and returns its new text.
    fn edited(format: Format, entry: &str, puts: &[(u32, Put)]) -> String {
        let request = parse(format, format!("[{entry}]")).expect("a message");
        let edits: Vec<_> = puts
            .iter()
            .map(|(slot, put)| PartEdit {
                at: Slot(*slot),
                put: put.clone(),
                reason: Reason::OldOutput,
            })
            .collect();
        edit(format.dialect(), request.transcript.entry(0), &edits)
    }

    #[test]
    fn openai_holes_are_closed_legally() {
        let entry = r#"{"role":"assistant", "reasoning_content":"hm", "content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}, {"id":"b","function":{"name":"g","arguments":"{}"}}]}"#;
        let cut = |puts: &[(u32, Put)]| edited(Format::OpenaiChat, entry, puts);
        assert_eq!(cut(&[(0, Put::Nothing)]), entry.replace(r#" "reasoning_content":"hm","#, ""));
        assert_eq!(cut(&[(1, Put::Nothing)]), entry.replace("\"hi\"", "null"));
        assert_eq!(
            cut(&[(2, Put::Nothing)]),
            entry.replace(r#"{"id":"a","function":{"name":"f","arguments":"{}"}}, "#, "")
        );
        assert_eq!(
            cut(&[(2, Put::Nothing), (3, Put::Nothing)]),
            r#"{"role":"assistant", "reasoning_content":"hm", "content":"hi"}"#
        );
        assert_eq!(
            cut(&[(3, Put::Arguments("{\"x\":1}".into()))]),
            entry.replacen("\"{}\"}}]", "\"{\\\"x\\\":1}\"}}]", 1)
        );
    }

    #[test]
    fn anthropic_holes_are_closed_legally() {
        let entry = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},{"type":"text","text":"go on"}]}"#;
        let cut = |puts: &[(u32, Put)]| edited(Format::Anthropic, entry, puts);
        assert!(
            cut(&[(2, Put::Text("[image]".into()))])
                .contains(r#"{"type":"text","text":"x"},{"type":"text","text":"[image]"}]"#)
        );
        assert!(cut(&[(2, Put::Nothing)]).contains(r#""content":[{"type":"text","text":"x"}]}"#));
        assert!(
            cut(&[(1, Put::Nothing), (2, Put::Nothing)])
                .contains(r#""tool_use_id":"a","content":""}"#)
        );
        assert!(
            cut(&[(0, Put::Text("stub".into()))])
                .contains(r#""tool_use_id":"a","content":"stub"}"#)
        );
        assert!(cut(&[(3, Put::Nothing)]).ends_with("]}]}"));
    }

    #[test]
    fn duplicate_keys_do_not_come_back() {
        let entry = r#"{"reasoning":"old","role":"assistant","content":"c","reasoning":"new"}"#;
        let cut = edited(Format::OpenaiChat, entry, &[(1, Put::Nothing)]);
        assert_eq!(cut, r#"{"role":"assistant","content":"c"}"#);
    }
}
