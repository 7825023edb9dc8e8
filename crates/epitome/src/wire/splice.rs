//! Rendering by splicing: what isn't edited keeps its bytes.

use std::borrow::Cow;

use super::layout::{Piece, joined, layout};
use super::{Dialect, Feature, keyed_parts};
use crate::json::{self, JsonError, Scanner, Span, Splices, key_is, quote};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, Marks, Part, PartKind, Slot};
use crate::view::{Fate, PartEdit, Put, View};

/// What a view shows, and where which entries stand there as they came.
pub(super) fn render(request: &Request, view: &View) -> (String, Vec<Stands>) {
    let dialect = request.format.dialect();
    let mut out = Writer::new(request);
    let fates: Vec<&Fate> = view.fates().collect();
    let marker = view.checkpoint().and_then(|_| dialect.folded_marker(request, view));
    let text = |piece: Piece| -> Cow<'_, str> {
        let Piece::Entry(at) = piece else {
            let placed = view.checkpoint().expect("a checkpoint is laid where there is one");
            let message = match marker {
                Some(marker) => dialect.marked_message(&placed.text, marker),
                None => dialect.user_message(&placed.text),
            };
            return message.into();
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
            joined(&texts, dialect.terms().content).into()
        };
        match first {
            Piece::Entry(at) if pieces.len() == 1 && *fates[at] == Fate::Keep => out.keep(at),
            Piece::Entry(at) => out.entry(at, &message),
            Piece::Checkpoint => out.insert(&message),
        }
    }
    let kept = std::mem::take(&mut out.kept);
    (out.finish(), kept)
}

/// Where an entry stands as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stands {
    pub(super) start: u32,
    pub(super) entry: u32,
}

/// Writes entries between the request's head and tail, with its own separators.
pub(super) struct Writer<'a> {
    request: &'a Request,
    out: String,
    wrote: bool,
    /// Entries that were written as they came.
    kept: Vec<Stands>,
    /// Where plain words, or a content, stand for the list: what is written, since more than that wants a list.
    pieces: Option<Vec<String>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        let mut out = String::with_capacity(request.source().len());
        out.push_str(request.head());
        let is_alone = !request.frame.list.of(request.source()).starts_with('[');
        let pieces = (is_alone && request.frame.envelope == Envelope::Body).then(Vec::new);
        Writer { request, out, wrote: false, kept: Vec::new(), pieces }
    }

    /// Writes entry `index` of the request, as `text`.
    pub(super) fn entry(&mut self, index: usize, text: &str) {
        self.write(self.request.separator(index), text);
    }

    /// Writes entry `index` of the request as it came.
    fn keep(&mut self, index: usize) {
        let entry = self.request.transcript.entry(index);
        self.entry(index, entry.raw());
        if self.pieces.is_none() {
            let start = self.out.len() - entry.span().len();
            self.kept.push(Stands { start: start as u32, entry: index as u32 });
        }
    }

    /// Writes an entry that the request doesn't have.
    pub(super) fn insert(&mut self, text: &str) {
        self.write(self.request.plain_separator(), text);
    }

    pub(super) fn finish(mut self) -> String {
        match self.pieces.take().as_deref() {
            None => {}
            Some([only]) if self.is_alone(only) => self.out.push_str(only),
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

    /// Whether this may stand for the list.
    fn is_alone(&self, piece: &str) -> bool {
        let list = self.request.frame.list.of(self.request.source());
        let kind = |raw: &str| json::text_member(raw, "type");
        let is_object = |raw: &str| raw.starts_with('{');
        piece.starts_with('"') || is_object(piece) && is_object(list) && kind(piece) == kind(list)
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
    splices(dialect, entry, edits).apply(entry.raw())
}

/// The replacements that make `edits`, relative to the entry's own bytes.
pub(super) fn splices(dialect: &dyn Dialect, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
    if dialect.has(Feature::KeyedParts) {
        return keyed_parts::splices(dialect, entry, edits);
    }
    let origin = entry.span().start;
    let parts: Vec<Part<'_>> = entry.parts().collect();
    let mut splices = Splices::default();
    let mut gone: Vec<Slot> = Vec::new();
    for edit in edits {
        let Some(part) = part_at(&parts, edit.at) else { continue };
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

/// The part in `slot`, of all parts of an entry.
fn part_at<'p, 'a>(parts: &'p [Part<'a>], slot: Slot) -> Option<&'p Part<'a>> {
    let first = parts.first()?.slot;
    parts.get(slot.0.checked_sub(first.0)? as usize)
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
        part_at(parts, *slot)
            .map(|p| p.row().span)
            .filter(|span| !span.is_empty())
            .map(|span| span.relative_to(origin))
    };
    let mut holes: Vec<Span> = gone.iter().filter_map(local).collect();
    holes.sort_unstable();
    let is_hole = |span: Span| holes.binary_search(&span).is_ok();
    // Lists inside a result.
    for part in parts.iter().filter(|p| p.kind() == PartKind::Result && !p.row().body.is_empty()) {
        let body = part.row().body.relative_to(origin);
        // Values lie within each other or apart.
        let next = holes.get(holes.partition_point(|hole| hole.start <= body.start));
        let has_hole = next.is_some_and(|hole| hole.end < body.end);
        if !raw[body.range()].starts_with('[') || !has_hole {
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
    let spans = parts.iter().map(|part| part.row().span).filter(|span| !span.is_empty());
    let mut known: Vec<Span> = spans.map(|span| span.relative_to(origin)).collect();
    known.sort_unstable();
    let members = members(raw, &known).unwrap_or_default();
    let spans: Vec<Span> = members
        .iter()
        .map(|Member { key, value, .. }| Span { start: key.start, end: value.end })
        .collect();
    let mut leaving = vec![false; members.len()];
    for Member { key, value, items } in &members {
        let is_content = key_is(raw, *key, "content");
        let vanishes = if is_hole(*value) {
            true
        } else if let Some(items) = items {
            let all = !items.is_empty() && items.iter().all(|item| is_hole(*item));
            splices.remove_items(items, |i| is_hole(items[i]));
            all
        } else {
            false
        };
        if vanishes && is_content {
            splices.replace(*value, "null".to_owned());
        } else if vanishes {
            // Earlier duplicates of the key must not come back to life.
            let name = json::unquote(key.of(raw));
            for (other, Member { key, .. }) in members.iter().enumerate() {
                leaving[other] |= key_is(raw, *key, &name);
            }
        }
    }
    if leaving.contains(&true) {
        splices.remove_items(&spans, |i| leaving[i]);
    }
}

/// A member of an entry.
struct Member {
    key: Span,
    value: Span,
    /// Its elements, where it is a list.
    items: Option<Vec<Span>>,
}

/// The members of an object, of which some values are `known`, in order: these aren't read again.
fn members(raw: &str, known: &[Span]) -> Result<Vec<Member>, JsonError> {
    let mut members = Vec::new();
    let value = |scanner: &mut Scanner<'_>| {
        let start = scanner.position() as u32;
        match known.binary_search_by_key(&start, |known| known.start) {
            Ok(at) => {
                scanner.go_on_at(known[at].end);
                Ok(known[at])
            }
            Err(_) => scanner.value(),
        }
    };
    Scanner::new(raw).object(|scanner, key| {
        let mut items = (scanner.peek() == Some(b'[')).then(Vec::new);
        let value = match &mut items {
            Some(items) => scanner.array(|scanner| {
                items.push(value(scanner)?);
                Ok::<_, JsonError>(())
            })?,
            None => value(scanner)?,
        };
        members.push(Member { key, value, items });
        Ok::<_, JsonError>(())
    })?;
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;
    use crate::view::{Placed, Reason};
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

    fn rows(request: &Request) -> String {
        let entries = request.transcript.entries().map(|entry| {
            let parts: Vec<_> = entry.parts().map(|part| *part.row()).collect();
            format!("{:?} {:?} {:?} {parts:?}\n", entry.span(), entry.role(), entry.time())
        });
        format!("{:?}\n{}", request.frame, entries.collect::<String>())
    }

    #[test]
    fn what_is_shown_is_what_is_read_of_it() {
        let chat = r#"{"messages":[{"role":"system","content":"Be brief."},
            {"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"Go."}]},
            {"role":"assistant","content":"So.","reasoning":"hm","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"a","content":"x\\n"}, {"role":"user","content":"Thanks."}], "model":"m"}"#;
        let anthropic = r#"{"system":"Be brief.","messages":[{"role":"user","content":"Go."},
            {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"a","name":"f","input":{"x":[1]}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"x"}]},{"type":"text","text":"And?"}]},
            {"role":"assistant","content":[{"type":"text","text":"So."}]},{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]}"#;
        let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]},{"role":"model","parts":[{"text":"So."}]},{"role":"user","parts":[{"text":"More."}]}]}"#;
        let responses = r#"{"input":[{"role":"user","content":"Go."},{"type":"reasoning","id":"rs_1","summary":[]},
            {"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"x"},
            {"role":"assistant","content":[{"type":"output_text","text":"So."}]},{"role":"user","content":"More."}]}"#;
        let bedrock = r#"[{"role":"user","content":[{"text":"Go."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},
            {"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}}]},{"role":"assistant","content":[{"text":"So."}]},{"role":"user","content":[{"text":"More."}]}]"#;
        let lines = "{\"role\":\"user\",\"content\":\"Go.\"}\n{\"role\":\"assistant\",\"content\":\"So.\"}\n{\"role\":\"user\",\"content\":\"More.\"}\n";
        for (format, body) in [
            (Format::OpenaiChat, chat),
            (Format::Anthropic, anthropic),
            (Format::Gemini, gemini),
            (Format::OpenaiResponses, responses),
            (Format::OpenaiResponses, r#"{"input":"Go."}"#),
            (Format::Bedrock, bedrock),
            (Format::OpenaiChat, lines),
        ] {
            let mut request = parse(format, body.to_owned()).expect("messages");
            let entries = request.transcript.len();
            // A speaker that the caller set isn't in the text.
            request.transcript.set_origin(entries - 1, Origin::Injected);
            for fates in 0..4_usize.pow(entries as u32) {
                let mut view = View::default();
                for entry in request.transcript.entries() {
                    let text = entry.parts().find(|part| part.kind() == PartKind::Text);
                    let put = |part: Part<'_>| PartEdit {
                        at: part.slot,
                        put: Put::Text("Shorter.".into()),
                        reason: Reason::TooLarge,
                    };
                    view.push(match ((fates >> (2 * entry.index)) & 3, text) {
                        (0, _) => Fate::Fold(Reason::OlderStep),
                        (1, _) => Fate::Drop(Reason::LastResort),
                        (2, Some(text)) => Fate::Edit(Box::new([put(text)])),
                        _ => Fate::Keep,
                    });
                }
                if fates % 3 > 0 {
                    let before = fates % (entries + 1);
                    view.place(Placed { before, text: "<context>Before.</context>".into() });
                }
                let text = super::render(&request, &view).0;
                let read = parse(format, text.clone()).map(|read| rows(&read));
                let shown = crate::wire::shown(&request, &view).map(|shown| rows(&shown));
                assert_eq!(shown, read, "{text}");
            }
        }
    }
}
