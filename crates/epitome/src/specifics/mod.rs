//! Specifics: exact strings that an agent may need again, such as paths, identifiers, ids and numbers.
//!
//! One pass over a text splits it into tokens at white space and brackets; a table classifies each token. Plain words have
//! no class. A specific is always a whole token: it is shown whole or left out (law 18).

mod token;

use token::Bits;

/// The classes of specifics. Their order is the order in which names are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A file or folder: `src/main.rs`, `~/.codex/history.jsonl`, `Cargo.toml`.
    Path,
    /// An address: `https://example.com/a`.
    Url,
    /// The name of an error: `TypeError`, `ENOENT`.
    Error,
    /// A name in code: `parse_entry`, `JsonValue`, `std::mem::take`, `--release`.
    Identifier,
    /// Letters and digits that can't be guessed: `JG7FMM`, `E0382`, `omar_davis_3817`, a UUID, a hash.
    Id,
    /// Three digits or more, or a number with a point or a unit: `8080`, `3.14`, `$23,553`.
    Number,
    /// Words between quotation marks or backticks: `"not found"`.
    Quoted,
}

impl Class {
    /// All of them, in order.
    pub const ALL: [Class; 7] = [
        Class::Path,
        Class::Url,
        Class::Error,
        Class::Identifier,
        Class::Id,
        Class::Number,
        Class::Quoted,
    ];

    /// Its plural, as a checkpoint lists it.
    pub fn plural(self) -> &'static str {
        match self {
            Class::Path => "paths",
            Class::Url => "addresses",
            Class::Error => "errors",
            Class::Identifier => "identifiers",
            Class::Id => "ids",
            Class::Number => "numbers",
            Class::Quoted => "quoted",
        }
    }
}

/// An exact string, and where it begins, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specific<'t> {
    /// Its class.
    pub class: Class,
    /// The string as it stands.
    pub text: &'t str,
    /// Where it begins.
    pub at: usize,
}

/// The longest specific, in bytes. A longer token is data.
pub const MAX_BYTES: usize = 200;

/// The specifics of a text, in order. Takes linear time.
pub fn specifics(text: &str) -> Specifics<'_> {
    Specifics { text, at: 0, quoted_until: 0 }
}

/// The iterator of [`specifics`].
#[derive(Clone, Debug)]
pub struct Specifics<'t> {
    text: &'t str,
    at: usize,
    /// Up to here quotation marks were looked at.
    quoted_until: usize,
}

impl<'t> Iterator for Specifics<'t> {
    type Item = Specific<'t>;

    fn next(&mut self) -> Option<Specific<'t>> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let byte = bytes[self.at];
            let sign = token::sign(&bytes[self.at..]);
            if sign > 0 {
                let start = self.at;
                self.at += sign;
                if matches!(byte, b'"' | b'`')
                    && start >= self.quoted_until
                    && let Some(found) = self.quoted(start, byte)
                {
                    return Some(found);
                }
                continue;
            }
            let start = self.at;
            self.at = token_end(self.text, start);
            let mut bits = Bits::default();
            bytes[start..self.at].iter().for_each(|byte| bits.add(*byte));
            if bits.is_plain() {
                continue;
            }
            let (from, to) = token::trim(bytes, start, self.at);
            if is_piece(self.text, (start, self.at), from) {
                continue;
            }
            // The rest of an escape sequence that sets a colour, `[38;5;255mBRIGHT`.
            let is_coloured = start > 0 && matches!(bytes[start - 1], b'[' | b';');
            let from = if is_coloured { from + token::colour(&bytes[from..to]) } else { from };
            if to < from + 2 || to - from > MAX_BYTES {
                continue;
            }
            let found = &self.text[from..to];
            match token::class(found) {
                None => {}
                Some(Class::Number) if numbers_line(bytes, from, to) => {}
                // A place in a file says the file.
                Some(Class::Path) => {
                    let text = token::without_line(found);
                    return Some(Specific { class: Class::Path, text, at: from });
                }
                Some(class) => return Some(Specific { class, text: found, at: from }),
            }
        }
        None
    }
}

/// The last place at or before `at` between tokens, so that a text cut there has only whole ones. Words beyond ASCII, and words
/// longer than [`MAX_BYTES`], may be cut.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at.min(text.len()));
    match token_over(text, at) {
        Some((from, _)) if at - from <= MAX_BYTES && !is_foreign(&text[from..at]) => from,
        _ => at,
    }
}

/// The first place at or behind `at` where no token goes on; see [`floor`].
pub(crate) fn ceil(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at.min(text.len()));
    match token_over(text, at) {
        Some((_, to)) if to - at <= MAX_BYTES && !is_foreign(&text[at..to]) => to,
        _ => at,
    }
}

/// The token around the place, found from the white space before it. If it is longer than [`MAX_BYTES`] behind the
/// place, no more is read: a long word is asked for at many places.
fn token_over(text: &str, at: usize) -> Option<(usize, usize)> {
    if at == 0 || at == text.len() || text.as_bytes()[at].is_ascii_whitespace() {
        return None;
    }
    let text = &text[..text.ceil_char_boundary(at + 2 * MAX_BYTES)];
    let bytes = text.as_bytes();
    let reach = text.floor_char_boundary(at.saturating_sub(2 * MAX_BYTES));
    let space = bytes[reach..at].iter().rposition(u8::is_ascii_whitespace);
    let mut from = space.map_or(reach, |space| reach + space + 1);
    while from < at {
        let sign = token::sign(&bytes[from..]);
        let to = if sign > 0 { from + sign } else { token_end(text, from) };
        if sign == 0 && to > at {
            return Some((from, to));
        }
        from = to;
    }
    None
}

/// Whether a token is only a piece: of a template, `tmp/{id}/logs.json`, of a word with an escape, of a path without its
/// beginning, `.../a.rs`, or a member of the token before it, `f().split`. `from` is where it begins without marks around it.
fn is_piece(text: &str, (start, end): (usize, usize), from: usize) -> bool {
    let bytes = text.as_bytes();
    let before = &bytes[..start];
    let behind = &bytes[end..];
    let is_rest = before.ends_with(b"}")
        || matches!(behind, [b'{' | b'*', ..])
        || behind.starts_with(b"\\u")
        || start >= 6 && token::sign(&bytes[start - 6..]) == 6
        // A line that was escaped twice, or a Windows folder: both look alike.
        || before.ends_with(b"\\\\") && matches!(bytes[start], b'n' | b'r' | b't');
    let is_elided = bytes.get(from) == Some(&b'/')
        && (bytes[..from].ends_with(b"...") || text[..from].ends_with('…'));
    let is_member = bytes[start] == b'.'
        && !bytes[start..end].contains(&b'/')
        && (matches!(before, [.., b')' | b']' | b'?']) || behind.starts_with(b"("));
    is_rest || is_elided || is_member
}

/// Where the token that begins at `start` ends.
fn token_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len()
        && (token::sign(&bytes[at..]) == 0
            || groups(bytes, at)
            || queries(&text[start..at], bytes[at])
            || is_drive(&bytes[start..at]) && bytes[at] == b'\\')
    {
        at += 1;
    }
    at
}

/// Whether a piece of a token has nothing of what makes one a specific.
fn is_foreign(piece: &str) -> bool {
    !piece.bytes().any(|byte| byte.is_ascii())
}

/// Whether digits at the beginning of a line number it: `   115→`, `115:`.
fn numbers_line(bytes: &[u8], from: usize, to: usize) -> bool {
    let before = bytes[..from].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    let is_first = before.is_none_or(|byte| *byte == b'\n');
    is_first
        && (bytes[to..].starts_with("→".as_bytes())
            || matches!(bytes.get(to), Some(b':' | b'\t' | b'|')))
}

/// Whether an address that began as `token` continues with `next`: `?a=1&b=2`.
fn queries(token: &str, next: u8) -> bool {
    matches!(next, b'?' | b'=' | b'&') && token.len() < MAX_BYTES && token.contains("://")
}

/// Whether a token begins as a path of Windows does: `C:`.
fn is_drive(token: &[u8]) -> bool {
    matches!(token, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Whether the comma at `at` parts thousands: `23,553`.
fn groups(bytes: &[u8], at: usize) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    bytes[at] == b',' && at > 0 && is_digit(at - 1) && (1..4).all(|next| is_digit(at + next))
}

impl<'t> Specifics<'t> {
    /// What stands between two marks on one line, if it is several words.
    fn quoted(&mut self, start: usize, mark: u8) -> Option<Specific<'t>> {
        const MOST: usize = 80;
        let rest = &self.text.as_bytes()[start + 1..];
        let window = &rest[..rest.len().min(MOST)];
        let end = window.iter().position(|byte| *byte == mark || *byte == b'\n')?;
        if window[end] != mark {
            return None;
        }
        self.quoted_until = start + end + 2;
        let inner = &self.text[start + 1..=start + end];
        let is_words = inner.len() >= 5
            && inner.contains(' ')
            && inner.starts_with(char::is_alphanumeric)
            && inner.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '!' | '?' | ')'));
        is_words.then_some(Specific { class: Class::Quoted, text: inner, at: start + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Class, &str)> {
        specifics(text).map(|specific| (specific.class, specific.text)).collect()
    }

    #[test]
    fn a_cut_divides_no_token() {
        for token in
            ["https://example.org/a?b=1&c=2", "$23,553", r"C:\new\b.txt", "src/main.rs", "JG7FMM"]
        {
            let text = format!("see ({token}) now");
            for at in 6..5 + token.len() {
                assert_eq!(
                    (floor(&text, at), ceil(&text, at)),
                    (5, 5 + token.len()),
                    "{token} at {at}"
                );
            }
            assert_eq!((floor(&text, 2), floor(&text, 5)), (0, 5));
        }
        let long = "a1".repeat(MAX_BYTES);
        assert_eq!((floor(&long, 300), ceil(&long, 100)), (300, 100));
    }

    #[test]
    fn each_class_is_told() {
        use Class::{Error, Id, Identifier, Number, Path, Quoted, Url};
        for (text, expected) in [
            ("see src/main.rs.", vec![(Path, "src/main.rs")]),
            ("(Cargo.toml)", vec![(Path, "Cargo.toml")]),
            ("in ~/.codex/history.jsonl:12", vec![(Path, "~/.codex/history.jsonl")]),
            ("at https://example.com/a?b=1.", vec![(Url, "https://example.com/a?b=1")]),
            ("TypeError: x", vec![(Error, "TypeError")]),
            ("error[E0382] in ES2024", vec![(Id, "E0382"), (Id, "ES2024")]),
            ("got ENOENT", vec![(Error, "ENOENT")]),
            (
                "parse_entry() and JsonValue",
                vec![(Identifier, "parse_entry"), (Identifier, "JsonValue")],
            ),
            ("std::mem::take", vec![(Identifier, "std::mem::take")]),
            ("run --no-default-features", vec![(Identifier, "--no-default-features")]),
            ("JG7FMM", vec![(Id, "JG7FMM")]),
            ("omar_davis_3817", vec![(Id, "omar_davis_3817")]),
            (
                "019b7f07-4a68-7d10-a8ef-8454269f439d",
                vec![(Id, "019b7f07-4a68-7d10-a8ef-8454269f439d")],
            ),
            ("port 8080, not 80", vec![(Number, "8080")]),
            ("costs $23,553.", vec![(Number, "$23,553")]),
            ("version 1.95.0", vec![(Number, "1.95.0")]),
            ("it says \"not found here\"", vec![(Quoted, "not found here")]),
            ("  115→let x;\n12000: a", vec![]),
            ("« 8080 » → “x.rs”、a.rs", vec![(Number, "8080"), (Path, "x.rs"), (Path, "a.rs")]),
            (
                r#"{"a":"\nsrc/a.rs\n\u0074ests/b.rs","p":"C:\new\b.txt"}"#,
                vec![(Path, "src/a.rs"), (Path, r"C:\new\b.txt")],
            ),
            ("a.b().split(x) and tmp/{id}/logs.json", vec![]),
            (
                "'../../core/types.js' \".claude/commands/pm.md\"",
                vec![(Path, "../../core/types.js"), (Path, ".claude/commands/pm.md")],
            ),
            ("[...cliArgs], .../core/a.js, …/core/a.js", vec![(Identifier, "cliArgs")]),
            (r"\\nsrc/agents/a.ts\\n", vec![]),
            ("a?.role ?? b.filter(c)\n  .filter(d)[0].message", vec![]),
            (
                "input/output/cached and Given/When/Then, in src/agents/",
                vec![(Path, "src/agents/")],
            ),
            ("#D08770, a 15-minute walk, \x1b[38;5;255mBRIGHT", vec![(Id, "D08770")]),
            ("A plain sentence, e.g. this one, isn't one. Go on/off and/or stop.", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
