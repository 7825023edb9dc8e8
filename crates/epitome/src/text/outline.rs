//! JSON as the outline of its text, to write it out again in less.
//!
//! Keys, numbers and short values keep their own bytes and their order, which an owned tree would
//! not give.

use std::fmt::Write as _;

use super::kinds::{Cell, Row};
use super::odd::odd;
use super::{cut, excerpt, figure};
use crate::json::{JsonError, Scanner, Span, escape, quote, unquote, unquote_inner};
use crate::specifics;

/// Containers deeper than this are only ever written as a count of what they hold.
const MAX_DEPTH: usize = 32;
/// A text no longer than this is never cut or counted: saying so would take as much.
pub(super) const SMALL: usize = 24;

/// Bytes behind a cut that are looked at: a character that joins the one before it.
const AFTER_CUT: usize = 16;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    /// A number, `true`, `false` or `null`.
    Scalar,
    Array,
    Object,
}

/// One value, or the key before it.
#[derive(Debug, Clone, Copy)]
struct Node {
    span: Span,
    /// The node after this one and everything in it.
    next: u32,
    /// Elements of an array, members of an object; unknown (0) below [`MAX_DEPTH`].
    children: u32,
    kind: ValueKind,
    /// How many elements of its array are odder; [`Node::NOT_ODD`] for one like the others.
    rank: u32,
}

impl Node {
    const NOT_ODD: u32 = u32::MAX;
}

/// A JSON text with the place of every value in it.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

/// How strings that are too long are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cutting<'q> {
    /// Their beginning, and how much is missing.
    Head,
    /// Their telling lines, and those that this question asks about.
    Telling(&'q str),
}

/// What may be written of a JSON text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'q> {
    /// Bytes of one string, without its quotes and before escaping.
    pub(super) text: usize,
    /// Elements kept at the start of an array.
    pub(super) first: usize,
    /// Elements kept at the end of an array.
    pub(super) last: usize,
    /// Elements kept between these, the oddest of each array.
    pub(super) odd: usize,
    /// Members kept of an object.
    pub(super) members: usize,
    /// Levels of containers …
    pub(super) depth: usize,
    /// … below which only those with at most so many bytes are written and not counted.
    pub(super) small: usize,
    pub(super) cutting: Cutting<'q>,
}

impl<'a> Outline<'a> {
    /// Reads `text` if it is one well-formed JSON array or object.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if u32::try_from(text.len()).is_err() {
            return None;
        }
        let mut scanner = Scanner::new(text);
        if !matches!(scanner.peek(), Some(b'{' | b'[')) {
            return None;
        }
        let mut nodes = Vec::new();
        outline(&mut scanner, 0, &mut nodes).ok()?;
        scanner.end().ok()?;
        Some(Self { text, nodes })
    }

    /// Finds the elements that say otherwise than most of their array. How many an array has at most.
    pub(super) fn find_odd(&mut self) -> usize {
        let mut most = 0;
        for at in 0..self.nodes.len() {
            if self.nodes[at].kind == ValueKind::Array {
                let elements: Vec<usize> = self.children(at).collect();
                let rows: Vec<Row> = elements.iter().map(|at| self.row(*at)).collect();
                let odd = odd(&rows);
                most = most.max(odd.len());
                for (rank, row) in odd.into_iter().enumerate() {
                    self.nodes[elements[row]].rank = rank as u32;
                }
            }
        }
        most
    }

    /// The elements of an array, or the keys of an object.
    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let count = self.nodes[at].children as usize;
        let is_object = self.nodes[at].kind == ValueKind::Object;
        let next = move |at: &usize| Some(self.nodes[at + usize::from(is_object)].next as usize);
        std::iter::successors(Some(at + 1), next).take(count)
    }

    /// An element as a row, for comparison; of nested members only their presence counts.
    fn row(&self, at: usize) -> Row {
        let said = |at: usize| match self.nodes[at].kind {
            ValueKind::Text | ValueKind::Scalar => self.raw(self.nodes[at]),
            ValueKind::Array => "[",
            ValueKind::Object => "{",
        };
        if self.nodes[at].kind != ValueKind::Object {
            return vec![Cell::of("", said(at))];
        }
        self.children(at).map(|key| Cell::of(self.raw(self.nodes[key]), said(key + 1))).collect()
    }

    /// What the outermost value is.
    pub(super) fn kind(&self) -> ValueKind {
        self.nodes[0].kind
    }

    /// Writes the text within `limits`, or nothing if that takes more than `max` bytes.
    pub(super) fn write(&self, limits: &Limits<'_>, max: usize) -> Option<String> {
        let mut out = String::new();
        self.write_node(0, 0, limits, max, &mut out).then_some(out)
    }

    fn raw(&self, node: Node) -> &'a str {
        node.span.of(self.text)
    }

    /// Whether it still fits.
    fn write_node(
        &self,
        at: usize,
        depth: usize,
        limits: &Limits<'_>,
        max: usize,
        out: &mut String,
    ) -> bool {
        let node = self.nodes[at];
        let raw = self.raw(node);
        if out.len() > max {
            return false;
        }
        match node.kind {
            ValueKind::Scalar => out.push_str(raw),
            ValueKind::Text if raw.len() <= limits.text.max(SMALL) => out.push_str(raw),
            ValueKind::Text => write_short(raw, limits, out),
            // Empty, or nothing but white space in it.
            ValueKind::Array | ValueKind::Object if raw.len() == 2 => out.push_str(raw),
            ValueKind::Array | ValueKind::Object
                if depth >= MAX_DEPTH || (depth >= limits.depth && raw.len() > limits.small) =>
            {
                write_count(node, out);
            }
            ValueKind::Array => return self.write_array(at, depth, limits, max, out),
            ValueKind::Object => return self.write_object(at, depth, limits, max, out),
        }
        out.len() <= max
    }

    fn write_array(
        &self,
        at: usize,
        depth: usize,
        limits: &Limits<'_>,
        max: usize,
        out: &mut String,
    ) -> bool {
        let count = self.nodes[at].children as usize;
        let is_kept = |index: usize, child: usize| {
            index < limits.first
                || index + limits.last >= count
                || (self.nodes[child].rank as usize) < limits.odd
        };
        out.push('[');
        // The first that is left out, and how many are.
        let mut gap = (at, 0);
        for (index, child) in self.children(at).enumerate() {
            let is_kept = is_kept(index, child);
            if !is_kept {
                gap = (if gap.1 == 0 { child } else { gap.0 }, gap.1 + 1);
            }
            let comma = |index: usize| if index > 0 { "," } else { "" };
            if gap.1 > 0 && (is_kept || index + 1 == count) {
                let first = index + usize::from(!is_kept) - gap.1;
                out.push_str(comma(first));
                // A marker for one element is no gain.
                if gap.1 > 1 {
                    let _ = write!(out, "\"… {} more items\"", figure::grouped(gap.1));
                } else if !self.write_node(gap.0, depth + 1, limits, max, out) {
                    return false;
                }
                gap.1 = 0;
            }
            if is_kept {
                out.push_str(comma(index));
                if !self.write_node(child, depth + 1, limits, max, out) {
                    return false;
                }
            }
        }
        out.push(']');
        out.len() <= max
    }

    fn write_object(
        &self,
        at: usize,
        depth: usize,
        limits: &Limits<'_>,
        max: usize,
        out: &mut String,
    ) -> bool {
        let count = self.nodes[at].children as usize;
        let kept = if count > limits.members + 1 { limits.members } else { count };
        out.push('{');
        let mut key = at + 1;
        for index in 0..kept {
            if index > 0 {
                out.push(',');
            }
            out.push_str(self.raw(self.nodes[key]));
            out.push(':');
            if !self.write_node(key + 1, depth + 1, limits, max, out) {
                return false;
            }
            key = self.nodes[key + 1].next as usize;
        }
        if kept < count {
            let comma = if kept > 0 { "," } else { "" };
            let _ = write!(out, "{comma}\"…\":\"{} more keys\"", figure::grouped(count - kept));
        }
        out.push('}');
        out.len() <= max
    }
}

/// Writes a string literal that is too long in about `limits.text` bytes.
fn write_short(raw: &str, limits: &Limits<'_>, out: &mut String) {
    match limits.cutting {
        Cutting::Telling(question) => {
            out.push_str(&quote(&excerpt::excerpt_text(&unquote(raw), question, limits.text).text));
        }
        Cutting::Head => write_head(raw, limits.text, out),
    }
}

/// Writes the first `max` bytes of a string literal's text, escaped as they stand, with a note of how many
/// bytes of JSON are missing, unless that would be longer. Looks at no more of a long literal than it
/// has to: many lengths are tried before one is kept.
fn write_head(raw: &str, max: usize, out: &mut String) {
    let inner = &raw[1..raw.len() - 1];
    // What follows a cut tells whether it is a good one.
    let (context, _) = head_of(inner, max + AFTER_CUT);
    let said = unquote_inner(&inner[..context]);
    let (end, decoded) = head_of(inner, specifics::floor(&said, cut::head(&said, max).len()));
    let elided = inner.len() - end;
    let marker = format!("[… {} bytes elided]", figure::grouped(elided));
    out.push('"');
    let (whole, _) = head_of(inner, decoded + marker.len());
    if whole == inner.len() {
        out.push_str(inner);
    } else {
        out.push_str(&inner[..end]);
        out.push_str(&marker);
    }
    out.push('"');
}

/// How much of the inside of a string literal says at most `max` bytes of text, and how many it says.
fn head_of(inner: &str, max: usize) -> (usize, usize) {
    let (mut at, mut decoded) = (0, 0);
    loop {
        let window = &inner.as_bytes()[at..(at + (max - decoded)).min(inner.len())];
        let plain = memchr::memchr(b'\\', window).unwrap_or(window.len());
        let end = inner.floor_char_boundary(at + plain);
        decoded += end - at;
        at = end;
        if plain == window.len() {
            return (at, decoded);
        }
        let (length, said) = escape(&inner[at..]);
        let said = said.len_utf8();
        if decoded + said > max {
            return (at, decoded);
        }
        at += length;
        decoded += said;
    }
}

fn write_count(node: Node, out: &mut String) {
    let (open, noun, close) =
        if node.kind == ValueKind::Array { ('[', "item", ']') } else { ('{', "key", '}') };
    let count = match node.children as usize {
        0 => figure::size(node.span.len()),
        children => figure::counted(children, noun),
    };
    let _ = write!(out, "\"{open}… {count}{close}\"");
}

/// Adds the value at the scanner, and everything in it, to `nodes` in document order.
fn outline(
    scanner: &mut Scanner<'_>,
    depth: usize,
    nodes: &mut Vec<Node>,
) -> Result<(), JsonError> {
    let own = nodes.len();
    let kind = match scanner.peek() {
        Some(b'{') => ValueKind::Object,
        Some(b'[') => ValueKind::Array,
        Some(b'"') => ValueKind::Text,
        _ => ValueKind::Scalar,
    };
    nodes.push(Node { span: Span::NONE, next: 0, children: 0, kind, rank: Node::NOT_ODD });
    let mut children = 0;
    let span = match kind {
        ValueKind::Object if depth < MAX_DEPTH => scanner.object(|scanner, key| {
            children += 1;
            let next = nodes.len() as u32 + 1;
            nodes.push(Node {
                span: key,
                next,
                children: 0,
                kind: ValueKind::Text,
                rank: Node::NOT_ODD,
            });
            outline(scanner, depth + 1, nodes)
        })?,
        ValueKind::Array if depth < MAX_DEPTH => scanner.array(|scanner| {
            children += 1;
            outline(scanner, depth + 1, nodes)
        })?,
        _ => scanner.value()?,
    };
    nodes[own] = Node { span, next: nodes.len() as u32, children, kind, rank: Node::NOT_ODD };
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROOMY: Limits<'static> = Limits {
        text: 1_000,
        first: 99,
        last: 99,
        odd: 0,
        members: 99,
        depth: 99,
        small: SMALL,
        cutting: Cutting::Telling(""),
    };

    fn write(text: &str, limits: &Limits<'_>) -> String {
        Outline::read(text).expect("it is JSON").write(limits, usize::MAX).expect("it fits")
    }

    #[test]
    fn values_keep_their_bytes_and_their_order() {
        let text = r#" {"b": [1.50, true, {"é\n": null}], "a": "x\u0041"} "#;
        assert_eq!(write(text, &ROOMY), r#"{"b":[1.50,true,{"é\n":null}],"a":"x\u0041"}"#);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let rows: Vec<u32> = (0..100).collect();
        let text = serde_json::to_string(&rows).expect("numbers are JSON");
        let limits = Limits { first: 2, last: 1, ..ROOMY };
        assert_eq!(write(&text, &limits), r#"[0,1,"… 97 more items",99]"#);
        let limits = Limits { members: 1, depth: 1, ..ROOMY };
        let text = r#"{"a":{"long enough":"to be counted"},"b":2,"c":3}"#;
        assert_eq!(write(text, &limits), r#"{"a":"{… 1 key}","…":"2 more keys"}"#);
    }

    proptest! {
        #[test]
        fn heads_of_literals_say_what_their_text_begins_with(text in "[a-c\\\\\"\n\t\u{1}é☃𝄞]{0,40}", max in 0usize..60) {
            let ascii = |text: &str| {
                let unit = |unit: u16| match unit {
                    0x61..=0x7a => char::from(unit as u8).to_string(),
                    _ => format!("\\u{unit:04x}"),
                };
                text.encode_utf16().map(unit).collect::<String>()
            };
            let plain = quote(&text);
            for inner in [&plain[1..plain.len() - 1], &ascii(&text)] {
                let (end, said) = head_of(inner, max);
                let head = unquote_inner(&inner[..end]);
                prop_assert!(text.starts_with(&*head) && head.len() == said);
                let next = text[said..].chars().next();
                prop_assert!(said <= max && next.is_none_or(|next| said + next.len_utf8() > max));
            }
        }
    }

    #[test]
    fn deep_json_is_no_danger() {
        let text = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(write(&text, &ROOMY).contains("… 99.9 kB]"));
    }
}
