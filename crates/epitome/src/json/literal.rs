//! String literals: what they say, and how it is written.

use std::borrow::Cow;

use super::{ONES, zero_byte};

/// The text of a JSON string literal (quotes included), escapes resolved. A lone surrogate becomes
/// U+FFFD. Anything but a string literal is returned as it is.
pub fn unquote(literal: &str) -> Cow<'_, str> {
    match literal.as_bytes() {
        [b'"', inner @ .., b'"'] => unquote_inner(&literal[1..=inner.len()]),
        _ => Cow::Borrowed(literal),
    }
}

/// The text of what stands between the quotes of a string literal, or of a part of it that cuts no escape.
pub(crate) fn unquote_inner(inner: &str) -> Cow<'_, str> {
    if inner.len() <= SHORT && has_no_slash(inner.as_bytes()) {
        return Cow::Borrowed(inner);
    }
    let mut rest = inner;
    let mut out = String::new();
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.reserve(if out.is_empty() { rest.len() } else { 0 });
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // Where one is others are: searched for only behind the last of them.
        while rest.as_bytes().first() == Some(&b'\\') {
            let (length, said) = escape(rest);
            out.push(said);
            rest = &rest[length..];
        }
    }
    if rest.len() == inner.len() {
        return Cow::Borrowed(inner);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The same JSON without escapes that its strings can do without.
pub(crate) fn spelt_out(json: &str) -> Cow<'_, str> {
    let mut text = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += next;
        let (length, said) = escape(&json[at..]);
        if !needs_escape(said) {
            text.push_str(&json[from..at]);
            text.push(said);
            from = at + length;
        }
        at += length;
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    text.push_str(&json[from..]);
    Cow::Owned(text)
}

/// Whether an escape that says this stays one.
pub(super) fn needs_escape(said: char) -> bool {
    matches!(said, '"' | '\\' | char::REPLACEMENT_CHARACTER) || said.is_control()
}

/// Keys, ids and names: it takes longer to begin a search in them than to look at each byte.
const SHORT: usize = 32;

fn has_no_slash(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        if zero_byte(u64::from_le_bytes(*chunk) ^ (ONES * u64::from(b'\\'))) != 0 {
            return false;
        }
    }
    !rest.contains(&b'\\')
}

/// How many characters a literal says, without writing them down.
pub(crate) fn characters(literal: &str) -> usize {
    let Some(mut rest) = literal.strip_prefix('"').and_then(|s| s.strip_suffix('"')) else {
        return literal.chars().count();
    };
    let mut said = 0;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        said += rest[..at].chars().count() + 1;
        rest = &rest[at + escape(&rest[at..]).0..];
    }
    said + rest.chars().count()
}

/// The character of each two-character escape, by its second byte; 0 for an invalid one. A table avoids
/// unpredictable branches.
const SHORT_ESCAPES: [u8; 256] = {
    let mut said = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0Cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        said[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    said
};

/// Whether a backslash and `sign` are a whole escape.
pub(super) fn is_short(sign: u8) -> bool {
    SHORT_ESCAPES[usize::from(sign)] != 0
}

/// The length of the escape that `text` begins with, including both halves of a surrogate pair, and its character.
pub(crate) fn escape(text: &str) -> (usize, char) {
    let Some(&sign) = text.as_bytes().get(1) else { return (text.floor_char_boundary(1), '\\') };
    let said = SHORT_ESCAPES[usize::from(sign)];
    if said != 0 {
        return (2, char::from(said));
    }
    let (length, said) = if sign == b'u' {
        let unit = hex_unit(text).unwrap_or(0xFFFD);
        let low = (0xD800..0xDC00)
            .contains(&unit)
            .then(|| text.get(6..).and_then(hex_unit))
            .flatten()
            .filter(|low| (0xDC00..0xE000).contains(low));
        let (length, code) = match low {
            Some(low) => (12, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)),
            None => (6, unit),
        };
        (length, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    } else {
        (2, char::from(sign))
    };
    (text.floor_char_boundary(length), said)
}

/// The code unit of a leading `\uXXXX`.
fn hex_unit(text: &str) -> Option<u32> {
    text.strip_prefix("\\u")?.get(..4).and_then(|h| u32::from_str_radix(h, 16).ok())
}

/// `text` as a JSON string literal, quotes included.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a str is always a JSON string")
}
