//! A validating JSON scanner over one string: it finds byte ranges and builds nothing.
//!
//! Format readers drive it: they walk the members they know and skip the rest, so every byte is
//! looked at once, and key positions are known (dropping a member needs them). `serde_json` is its
//! oracle in the tests. Nesting is bounded by memory only: skipping keeps an explicit stack.

mod compact;
mod literal;
mod splices;

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

pub(crate) use compact::compact;
pub(crate) use literal::{characters, escape, spelt_out, unquote_inner};
pub use literal::{quote, unquote};
pub use splices::Splices;

/// A byte range of the source text. `Span::NONE` stands for "not there".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The absent span; no JSON value is empty, so it can't be mistaken for one.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// A span over `range`.
    pub fn new(range: Range<usize>) -> Self {
        Span { start: range.start as u32, end: range.end as u32 }
    }

    /// The range to slice the source with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span is absent (or empty).
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The text under the span.
    pub fn of(self, source: &str) -> &str {
        &source[self.range()]
    }

    /// The same span in a text that starts at `origin` of the old one.
    #[must_use]
    pub fn relative_to(self, origin: u32) -> Span {
        Span { start: self.start - origin, end: self.end - origin }
    }

    /// The same span in a text into which the old one was put at `origin`.
    #[must_use]
    pub fn shifted_by(self, origin: u32) -> Span {
        Span { start: self.start + origin, end: self.end + origin }
    }
}

/// Where and why a text isn't JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// Byte offset into the text.
    pub at: usize,
    /// The error.
    pub what: &'static str,
}

type Result<T> = std::result::Result<T, JsonError>;

/// A cursor over a JSON text.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<u8>,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Scanner { text, bytes: text.as_bytes(), at: 0, open: Vec::new() }
    }

    /// A scanner at byte `at` of `text`.
    pub fn starting_at(text: &'a str, at: u32) -> Self {
        Scanner { at: at as usize, ..Scanner::new(text) }
    }

    /// The text that is scanned.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The cursor, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The first byte of the next value, after white space; `None` at the end.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Asserts that nothing but white space is left.
    pub fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("unexpected text after the JSON value")),
        }
    }

    /// Walks an object; `member` gets each key's span (quotes included) and must consume the value.
    pub fn object<E: From<JsonError>>(
        &mut self,
        mut member: impl FnMut(&mut Self, Span) -> std::result::Result<(), E>,
    ) -> std::result::Result<Span, E> {
        self.peek();
        let start = self.at;
        self.expect(b'{', "expected an object")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Span::new(start..self.at));
        }
        loop {
            self.peek();
            let key = self.string()?;
            self.peek();
            self.expect(b':', "expected `:` after a key")?;
            self.peek();
            member(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.error("expected `,` or `}` in an object").into()),
            }
        }
        self.at += 1;
        Ok(Span::new(start..self.at))
    }

    /// Reads an object; `each` gets the name and the value of each member.
    pub(crate) fn members(&mut self, mut each: impl FnMut(&str, Span)) -> Result<Span> {
        let text = self.text;
        self.object(|scanner, key| {
            let value = scanner.value()?;
            each(&unquote(key.of(text)), value);
            Ok(())
        })
    }

    /// Goes on behind values that are known; they end at `at`.
    pub(crate) fn go_on_at(&mut self, at: u32) {
        self.at = at as usize;
    }

    /// Walks an array; `element` must consume one value each time.
    pub fn array<E: From<JsonError>>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<Span, E> {
        self.peek();
        let start = self.at;
        self.expect(b'[', "expected an array")?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Span::new(start..self.at));
        }
        loop {
            self.peek();
            element(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.error("expected `,` or `]` in an array").into()),
            }
        }
        self.at += 1;
        Ok(Span::new(start..self.at))
    }

    /// Consumes a string; the span includes the quotes.
    pub fn string(&mut self) -> Result<Span> {
        let start = self.at;
        self.expect(b'"', "expected a string")?;
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            at += plain_run(&bytes[at..]);
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Span { start: start as u32, end: self.at as u32 });
                }
                Some(b'\\') => {
                    // Where one is others are.
                    while bytes.get(at) == Some(&b'\\') {
                        self.at = at;
                        self.escape()?;
                        at = self.at;
                    }
                }
                found => {
                    self.at = at;
                    return Err(self.error(match found {
                        Some(_) => "raw control character in a string",
                        None => "string without end",
                    }));
                }
            }
        }
    }

    /// Consumes and validates any value.
    pub fn value(&mut self) -> Result<Span> {
        // Most values are.
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let start = self.at;
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        loop {
            // Descend to the next scalar or empty container.
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(b'}');
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(b']');
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(_) => return Err(self.error("expected a JSON value")),
                None => return Err(self.error("the text ends where a value should be")),
            }
            // Ascend as long as containers end here.
            loop {
                let Some(&close) = open.last() else {
                    self.open = open;
                    return Ok(Span::new(start..self.at));
                };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(self.error("expected `,` or the end of a container")),
                }
            }
        }
    }

    /// An error at the cursor.
    pub fn error(&self, what: &'static str) -> JsonError {
        JsonError { at: self.at, what }
    }

    fn key(&mut self) -> Result<()> {
        self.peek();
        self.string()?;
        self.peek();
        self.expect(b':', "expected `:` after a key")
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<()> {
        if self.bytes.get(self.at) == Some(&byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    #[inline]
    fn escape(&mut self) -> Result<()> {
        let hex = |b: Option<&u8>| b.is_some_and(u8::is_ascii_hexdigit);
        match self.bytes.get(self.at + 1) {
            Some(sign) if literal::is_short(*sign) => self.at += 2,
            Some(b'u') if (2..6).all(|i| hex(self.bytes.get(self.at + i))) => self.at += 6,
            _ => return Err(self.error("unknown escape in a string")),
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<()> {
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("expected a JSON value"))
        }
    }
}

const ONES: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// The high bit of the first byte that is 0; those above it aren't to be trusted. 0 where none is.
fn zero_byte(v: u64) -> u64 {
    v.wrapping_sub(ONES) & !v & HIGH
}

/// The high bit of the first byte that is a quote, a backslash or a control character; 0 where none is.
#[inline]
fn ends(v: u64) -> u64 {
    let quote = v ^ (ONES * u64::from(b'"'));
    let slash = v ^ (ONES * u64::from(b'\\'));
    // Borrows make only bytes above the first hit unreliable, and only the first counts.
    let quote = quote.wrapping_sub(ONES) & !quote;
    let slash = slash.wrapping_sub(ONES) & !slash;
    let control = v.wrapping_sub(ONES * 0x20) & !v;
    (quote | slash | control) & HIGH
}

/// Bytes before the next quote, backslash or control character, eight at a time.
#[inline]
fn plain_run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let hit = ends(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return bytes.len() - rest.len() + (hit.trailing_zeros() / 8) as usize;
        }
        rest = behind;
    }
    let is_end = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
    bytes.len() - rest.len() + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// Whether the key under `span` is `name`, escapes resolved.
pub fn key_is(source: &str, span: Span, name: &str) -> bool {
    let raw = span.of(source);
    // An escape is longer than its character.
    if raw.starts_with('"') && raw.len() <= name.len() + 2 && !name.contains('\\') {
        return raw.get(1..raw.len() - 1) == Some(name);
    }
    unquote(raw) == name
}

/// A key that many texts are searched for: what searching takes is made once.
pub(crate) type Sought = LazyLock<Finder<'static>>;

/// Whether `name` may be a key in `json`: a quick check, before a full read.
pub(crate) fn may_mention(json: &str, name: &Sought) -> bool {
    static ESCAPED: Sought = LazyLock::new(|| Finder::new("\\u00"));
    let bytes = json.as_bytes();
    let escaped =
        || ESCAPED.find_iter(bytes).any(|at| matches!(bytes.get(at + 4), Some(b'3'..=b'7')));
    // A letter, a digit or an underscore of it may be.
    name.find(bytes).is_some() || escaped()
}

/// The last member `name` of an object, with the separator that leaves along with it; and its value.
pub fn hole(source: &str, object: Span, name: &str) -> Option<(Span, Span)> {
    let members = members(source, object).ok()?;
    let at = members.iter().rposition(|(key, _)| key_is(source, *key, name))?;
    let (key, value) = members[at];
    let before = at.checked_sub(1).map(|before| members[before].1);
    let hole = match (members.get(at + 1), before) {
        (Some((next, _)), _) => Span { start: key.start, end: next.start },
        (None, Some(before)) => Span { start: before.end, end: value.end },
        (None, None) => Span { start: key.start, end: value.end },
    };
    Some((hole, value))
}

/// The members of the object at `span`: spans of key and value.
pub fn members(source: &str, span: Span) -> Result<Vec<(Span, Span)>> {
    let mut found = Vec::new();
    Scanner::starting_at(source, span.start).object(|s, key| {
        found.push((key, s.value()?));
        Ok::<_, JsonError>(())
    })?;
    Ok(found)
}

/// The elements of the array at `span`.
pub fn elements(source: &str, span: Span) -> Result<Vec<Span>> {
    let mut found = Vec::new();
    Scanner::starting_at(source, span.start).array(|s| {
        found.push(s.value()?);
        Ok::<_, JsonError>(())
    })?;
    Ok(found)
}

/// The value of the last member called `name` (in JSON the last of duplicates wins).
pub fn member(source: &str, object: Span, name: &str) -> Option<Span> {
    let found = members(source, object).ok()?;
    found.iter().rev().find(|(key, _)| key_is(source, *key, name)).map(|(_, value)| *value)
}

/// The string in the member `name` of an object that is all of `object`.
pub(crate) fn text_member(object: &str, name: &str) -> Option<String> {
    let value = member(object, Span::new(0..object.len()), name)?;
    Some(unquote(value.of(object)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.value().and_then(|_| scanner.end()).is_ok()
    }

    #[test]
    fn characters_are_counted_as_they_are_said() {
        for literal in [
            r#""""#,
            r#""abc é 🎉""#,
            r#""a\nb\t\"c\\ \u00e9 \ud83c\udf89 \ud83c x""#,
            r#""\u12""#,
            r#""\é""#,
            "7",
            "null",
        ] {
            assert_eq!(characters(literal), unquote(literal).chars().count(), "{literal}");
        }
    }

    #[test]
    fn agrees_with_serde_on_odd_texts() {
        for text in [
            "",
            " ",
            "nul",
            "null",
            "[1 2]",
            "[1,]",
            "[,1]",
            "{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "-0",
            "1.",
            "1.0e5",
            "1e",
            "1e+",
            ".5",
            "+1",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"a\nb\"",
            "\"a",
            "[[[]]]",
            "[[]",
            "]",
            "true false",
            "\u{feff}{}",
            "{\"a\":1,\"a\":2}",
            "\"\u{7f}\"",
            "[1,[2,{\"k\":[3]}],4]",
            "-a",
            "tru",
            "[\"12345678\u{1}\"]",
            "{\"a\" : [ ] , \"b\" : { } }",
        ] {
            let mut oracle = serde_json::Deserializer::from_str(text);
            let valid =
                serde::de::IgnoredAny::deserialize(&mut oracle).is_ok() && oracle.end().is_ok();
            assert_eq!(accepts(text), valid, "{text:?}");
        }
    }
    use serde::Deserialize;

    #[test]
    fn depth_is_bounded_by_memory_only() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        assert!(accepts(&deep));
        assert!(!accepts(&deep[1..]));
    }

    #[test]
    fn decodes_escapes_and_surrogates() {
        assert_eq!(unquote(r#""a\n\t\"\\\/\u00e9\ud83d\ude00""#), "a\n\t\"\\/é😀");
        assert_eq!(unquote(r#""\ud83dx\ude00\ud800""#), "\u{FFFD}x\u{FFFD}\u{FFFD}");
        assert_eq!(unquote(r#""plain""#), "plain");
    }

    proptest! {
        #[test]
        fn quote_then_unquote_is_identity(text in ".{0,40}") {
            prop_assert_eq!(unquote(&quote(&text)).into_owned(), text);
        }

        #[test]
        fn agrees_with_serde_on_random_bytes(text in r#"[\[\]{}:,"\\u0-9a-f \ntrue.eE+-]{0,24}"#) {
            let mut oracle = serde_json::Deserializer::from_str(&text);
            let valid = serde::de::IgnoredAny::deserialize(&mut oracle).is_ok() && oracle.end().is_ok();
            prop_assert_eq!(accepts(&text), valid);
        }

        #[test]
        fn skips_what_serde_writes(text in any::<Vec<(String, f64)>>()) {
            let written = serde_json::to_string_pretty(&text).expect("serializable");
            prop_assert!(accepts(&written));
        }
    }
}
