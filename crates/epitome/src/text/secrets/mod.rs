//! Masking secrets in shown or rewritten text: keys and tokens by their shapes, private keys, passwords in addresses,
//! values named as secrets, and all of these in base64.
//!
//! What is kept stays as it is. A shape begins at the beginning of a
//! word, so that no part of a longer text is taken for a secret, and its rest is none of words.

mod addresses;
mod base64;
mod blocks;
mod called;
mod commands;
mod lists;
mod names;
mod nearby;
mod patterns;
mod shapes;
mod starts;
mod tables;
mod values;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use addresses::{credentials, password_in_address, password_of_port};
use base64::Run;
use blocks::private_key;
use called::{called_so, may_be_said};
use commands::given;
use names::{NameKind, end_of_foreign, may_be_named, named};
use patterns::patterned;
use shapes::{BY_FIRST, Class, LOOKED_AT, rows, shaped};
use tables::Tables;

use memchr::memchr;

use crate::json::{Scanner, quote, spelt_out, unquote};
use crate::text::cut;

/// Ends of lines: in a text, and in a string of JSON.
const LINE_ENDS: [&str; 4] = ["\n", "\r\n", "\\n", "\\r\\n"];

/// Shorter words are none that may be a key by their length, and shorter numbers none before one.
const LEAST_LONG: usize = 14;
const LEAST_NUMBER: usize = 8;

/// `text` with each secret replaced by its kind: `[masked: github-token]`.
///
/// ```
/// use epitome::text::secrets::masked;
/// let said = "git push https://me:hunter2hunter2@example.org/x";
/// assert_eq!(masked(said), "git push https://me:[masked: password]@example.org/x");
/// assert_eq!(masked("nothing secret"), "nothing secret");
/// ```
pub fn masked(text: &str) -> Cow<'_, str> {
    match masked_once(text) {
        // What stands beside a secret may be told by what is left.
        Cow::Owned(once) => match masked_once(&once) {
            Cow::Owned(twice) => twice.into(),
            Cow::Borrowed(_) => once.into(),
        },
        none @ Cow::Borrowed(_) => none,
    }
}

fn masked_once(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for Secret { name, from, to } in Secrets::of(text, Unwrapping::Once) {
        out.push_str(&text[done..from]);
        let quote = bare_value(text, from, to);
        out.extend([quote, MASK, name, "]", quote]);
        done = to;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The quotes of a name in JSON, with their escapes, if its value between these places is a number: a mask has to be a string there.
/// Empty elsewhere.
fn bare_value(text: &str, from: usize, to: usize) -> &str {
    let is_number = text[from..to].bytes().all(|byte| byte.is_ascii_digit());
    let name = text[..from].trim_end().strip_suffix(':').filter(|_| is_number);
    let Some(name) = name.and_then(|name| name.trim_end().strip_suffix('"')) else { return "" };
    let start = name.trim_end_matches('\\').len();
    &text[start..=name.len()]
}

/// The first `most` characters of `text` without its secrets. More text is searched, so that a secret at the end isn't
/// cut before it is recognised, and its mark is shown whole.
///
/// ```
/// use epitome::text::secrets::beginning;
/// let said = beginning("postgres://app:hunter2hunter2@db/x and more", 20);
/// assert_eq!(said, "postgres://app:[masked: password]");
/// ```
pub fn beginning(text: &str, most: usize) -> String {
    let text = masked(cut::head(text, LONGEST_SECRET + 4 * most));
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let last = cut::head(&text, end + MASK.len() - 1).rfind(MASK).filter(|at| *at < end);
    let closed = last.and_then(|at| Some(at + text[at..].find(']')? + 1));
    text[..closed.map_or(end, |closed| closed.max(end))].to_owned()
}

/// What stands for a secret begins so.
const MASK: &str = "[masked: ";

/// Few secrets are longer: keys on many lines.
const LONGEST_SECRET: usize = 16 * LOOKED_AT;

/// [`masked`] of a JSON document, or of its lines: secrets in strings are also found decoded. It stays JSON.
pub fn masked_document(json: &str) -> Cow<'_, str> {
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    while let Some(start) = memchr(b'"', &json.as_bytes()[at..]).map(|from| at + from) {
        let Ok(string) = Scanner::starting_at(json, start as u32).string() else {
            at = start + 1;
            continue;
        };
        at = string.end as usize;
        let literal = &json[start..at];
        if literal.contains('\\')
            && let Cow::Owned(masked) = masked(&unquote(literal))
        {
            out.push_str(&json[done..start]);
            out.push_str(&quote(&masked));
            done = at;
        }
    }
    if done == 0 {
        return masked(json);
    }
    out.push_str(&json[done..]);
    masked(&out).into_owned().into()
}

/// [`masked`] of a JSON text: escapes are read as the characters that they stand for, so that none hides a secret.
pub(crate) fn masked_json(json: &str) -> Cow<'_, str> {
    match spelt_out(json) {
        Cow::Borrowed(json) => masked(json),
        Cow::Owned(json) => match masked(&json) {
            Cow::Borrowed(_) => json.into(),
            Cow::Owned(masked) => masked.into(),
        },
    }
}

/// Whether texts in base64 are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unwrapping {
    Once,
    Not,
}

/// The secrets of a text, in order.
struct Secrets<'t> {
    text: &'t str,
    at: usize,
    /// The word that `at` stands in, or one before it.
    word: Range<usize>,
    unwrapping: Unwrapping,
    /// Up to here all secrets are found.
    done: usize,
    /// Up to here there is base64 that hides nothing.
    harmless: usize,
    tables: Tables,
    /// Secrets that the head of a table announced, in order.
    told: VecDeque<Secret>,
    /// For each kind of names up to where nothing stands nearby.
    searched_to: [usize; NameKind::ALL],
}

impl<'t> Secrets<'t> {
    fn of(text: &'t str, unwrapping: Unwrapping) -> Self {
        Secrets {
            text,
            at: 0,
            word: 0..0,
            unwrapping,
            done: 0,
            harmless: 0,
            tables: Tables::default(),
            told: VecDeque::new(),
            searched_to: [0; NameKind::ALL],
        }
    }

    /// The secret that begins where a word or a part of it does, or is told by it, if one does.
    fn found(&mut self) -> Option<Secret> {
        if is_ordinary(self.text.as_bytes(), self.at..self.word.end) {
            return None;
        }
        let rest = &self.text[self.at..];
        let found = found(self.text, self.at, self.word.end, self.done);
        let word = &self.text.as_bytes()[self.at..self.word.end];
        let is_head = found.is_none()
            && may_be_named(word)
            && self.tables.begin(self.text, self.at, self.word.end);
        let found =
            if is_head { None } else { found.or_else(|| self.nearby(self.at, self.word.end)) };
        if found.is_some() || self.unwrapping == Unwrapping::Not || self.at < self.harmless {
            return found;
        }
        match base64::looked_into(rest) {
            Run::None => None,
            Run::Harmless(length) => {
                self.harmless = self.at + length;
                None
            }
            Run::Hides(secret) => Some(secret.behind(self.at)),
        }
    }
}

impl Secrets<'_> {
    /// What a name tells of that ends at `end`, where its value stands further from it. Each place is looked at once.
    fn nearby(&mut self, at: usize, end: usize) -> Option<Secret> {
        if !(may_be_said(&self.text.as_bytes()[end..])
            && may_be_named(&self.text.as_bytes()[at..end]))
        {
            return None;
        }
        let kind = named(&self.text[..end]).filter(|_| !self.text[..at].ends_with(MASK))?;
        // What a table tells comes first.
        self.told.is_empty().then_some(())?;
        let is_call = matches!(kind, NameKind::Opening | NameKind::Signing);
        let begins = ["(", " '", " \""].iter().any(|it| self.text[end..].starts_with(it));
        (!is_call || begins).then_some(())?;
        let searched_to = &mut self.searched_to[kind as usize];
        let reach = nearby::reach(self.text, end, *searched_to, kind);
        (reach > *searched_to).then_some(())?;
        let found = nearby::near(self.text, at..end, *searched_to, reach, kind);
        let found = found.filter(|it| it.from >= self.done);
        if found.is_none() {
            *searched_to = reach;
        }
        found
    }

    /// What a colon of an address leads to, or the last byte of a name in another script.
    fn beside(&mut self) -> Option<Secret> {
        let (text, at) = (self.text, self.at);
        if text.as_bytes()[at].is_ascii() {
            return password_in_address(&text[at..]).map(|secret| secret.behind(at));
        }
        let end = end_of_foreign(text, at + 1)?;
        called_so(text, end, end).or_else(|| {
            let kind = named(&text[..end])?;
            nearby::near(text, end..end, 0, nearby::reach(text, end, 0, kind), kind)
        })
    }
}

impl Iterator for Secrets<'_> {
    type Item = Secret;

    fn next(&mut self) -> Option<Secret> {
        let bytes = self.text.as_bytes();
        loop {
            if let Some(cell) = self.told.pop_front_if(|cell| cell.from <= self.at) {
                if cell.from < self.done {
                    continue;
                }
                (self.at, self.done) = (cell.to, cell.to);
                self.word = starts::word_at(bytes, self.at);
                return Some(cell);
            }
            // Secrets and what leads to them begin with a word or its end, or in an address.
            let found = if self.at < self.word.end {
                let Some(start) = starts::next_in(bytes, &self.word, self.at) else {
                    self.at = self.word.end;
                    continue;
                };
                self.at = start;
                self.found()
            } else {
                let next = starts::next_but(bytes, self.at, is_ordinary);
                // A cell is one even if it looks like an ordinary word.
                let next_at = next.as_ref().map_or(bytes.len(), |next| next.start);
                self.tables.tell(self.text, next_at, &mut self.told);
                if let Some(cell) = self.told.front().filter(|cell| cell.from <= next_at) {
                    self.at = cell.from;
                    continue;
                }
                let next = next?;
                self.at = next.start;
                if !next.is_empty() {
                    self.word = next;
                    continue;
                }
                self.beside()
            };
            let Some(secret) = found else {
                self.at += 1;
                continue;
            };
            (self.at, self.done) = (secret.to, secret.to);
            self.word = starts::word_at(bytes, self.at);
            return Some(secret);
        }
    }
}

/// Whether a word, or what is left of one, begins no secret for sure. Most are told by their ends and their length.
#[inline]
fn is_ordinary(bytes: &[u8], word: Range<usize>) -> bool {
    let (text, behind) = (&bytes[word.start..], &bytes[word.end..]);
    let word = &bytes[word];
    let may_begin = match word {
        // A private key, a flag, a header.
        [b'-', ..] | [b'B' | b'b', b'a' | b'A' | b'e' | b'E', ..] => true,
        // The head of an Azure secret.
        [_, _, _, _, _] if behind.first() == Some(&b'~') => true,
        // A number before a key, a port.
        [b'b', b'o', .., b'0'..=b'9'] => behind.first() == Some(&b':'),
        [b'0'..=b'9', ..] => {
            word.len() >= LEAST_NUMBER || matches!(behind.first(), Some(b'/' | b':'))
        }
        _ => false,
    };
    // Keys that are recognised by their middle, and possible base64.
    let is_long = matches!(word.len(), LEAST_LONG | 17) || word.len() >= base64::LEAST;
    let is_run = || {
        let digits = || base64::length(&behind[..behind.len().min(base64::LEAST)]);
        matches!(behind.first(), Some(b'+' | b'/')) && word.len() + digits() >= base64::LEAST
    };
    let is_called = || may_be_said(behind) && may_be_named(word);
    // Of a shape the first two bytes stand in its word.
    let is_shaped = || (word.len() > 1 || behind.first() == Some(&b'$')) && BY_FIRST.begins(text);
    !(may_begin || is_long || is_shaped() || is_run() || is_called())
}

/// A secret: its bytes.
struct Secret {
    name: &'static str,
    from: usize,
    to: usize,
}

impl Secret {
    /// The same of a text of which so many bytes are before.
    fn behind(self, at: usize) -> Self {
        Secret { from: self.from + at, to: self.to + at, ..self }
    }
}

/// What begins with the word of `text` between `at` and `end`, or is told by it. Nothing of it is `done`.
fn found(text: &str, at: usize, end: usize, done: usize) -> Option<Secret> {
    let rest = &text[at..];
    let first = *rest.as_bytes().first()?;
    let found = shaped(rest).or_else(|| patterned(text, at)).map(|secret| secret.behind(at));
    let found = found.or_else(|| match first {
        b'-' => private_key(text, at, done).or_else(|| given(text, at, end)),
        b'B' | b'b' => credentials(rest).map(|secret| secret.behind(at)),
        b'0'..=b'9' => password_of_port(text, at, end),
        _ => None,
    });
    found.or_else(|| called_so(text, at, end))
}

#[cfg(test)]
mod tests;
