//! Secrets of many words: a wallet's phrase, codes for when a telephone is lost, keys in groups, a key as JSON.

use super::{Class, LOOKED_AT};
use crate::text::cut;

/// Words of a wallet's phrase.
const PHRASE: usize = 12;

/// Codes of a list.
const CODES: usize = 3;

/// Words that stand in sentences, and in no list for phrases.
const STOP_WORDS: &[&str] =
    &["the", "and", "for", "are", "was", "has", "not", "but", "with", "from"];

/// What may stand between the words of a list: signs, and the numbers of its items; quotes where each has its own.
fn apart(text: &str, quotes: usize) -> usize {
    let is_sign =
        |c: char| c.is_whitespace() || ",;*-•|".contains(c) || quotes > 0 && "\"'".contains(c);
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches(is_sign);
        let next = next.strip_prefix("\\n").unwrap_or(next);
        let next = next.strip_prefix("\\\"").filter(|_| quotes > 0).unwrap_or(next);
        let digits = next.bytes().take(3).take_while(u8::is_ascii_digit).count();
        let next = match next.as_bytes().get(digits) {
            Some(b'.' | b')' | b':') if digits > 0 => &next[digits + 1..],
            _ => next,
        };
        if next.len() == rest.len() {
            return text.len() - rest.len();
        }
        rest = next;
    }
}

/// The items of the first list in `text` that has `least` or more, from the first to the last. `is_one` tells of an item,
/// of what follows it and of the one before whether it is another.
fn list(
    text: &str,
    least: usize,
    is_one: impl Fn(&str, &str, &str) -> bool,
) -> Option<(usize, usize)> {
    let (mut at, mut count, mut from, mut to, mut quotes, mut before) = (0, 0, 0, 0, 0, "");
    while at < text.len() {
        let start = at + apart(&text[at..], quotes);
        let rest = &text[start..];
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
        let (item, behind) = rest.split_at(length);
        if !item.is_empty() && is_one(item, behind, before) {
            if count == 0 {
                let has_own =
                    text[..start].ends_with(['"', '\'']) && behind.starts_with(['"', '\'', '\\']);
                (from, quotes) = (start, usize::from(has_own));
            }
            (at, to, before, count) = (start + length, start + length, item, count + 1);
        } else if count >= least {
            break;
        } else {
            let word =
                rest.find(|c: char| c.is_whitespace() || "\"'\\".contains(c)).unwrap_or(rest.len());
            // An escape is two signs.
            let sign = rest[word..].chars().next().map_or(0, char::len_utf8);
            let escaped = rest[word..].strip_prefix('\\').and_then(|rest| rest.chars().next());
            at = start + word + sign + escaped.map_or(0, char::len_utf8);
            (count, quotes, before) = (0, 0, "");
        }
    }
    (count >= least).then_some((from, to))
}

/// The words of a wallet's phrase in `text`: twelve or more, as the lists have them.
pub(super) fn phrase(text: &str) -> Option<(usize, usize)> {
    list(text, PHRASE, |word, behind, _| {
        let ends = behind.bytes().next().is_none_or(|byte| b" ,.\n\r\t\"'\\;`<)".contains(&byte));
        let is_word = (3..=8).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
        is_word && ends && !STOP_WORDS.contains(&word)
    })
}

/// Codes in `text` of one length.
pub(super) fn codes(text: &str) -> Option<(usize, usize)> {
    list(text, CODES, |code, _, before| {
        let digits = code.bytes().filter(u8::is_ascii_digit).count();
        let is_like = before.is_empty() || before.len() == code.len();
        (4..=24).contains(&code.len()) && digits >= 2 && is_like
    })
}

/// How long a key is in groups of one length with which `text` begins: `JBSW Y3DP EHPK 3PXP`, `H7K2P-9QX4M-…`.
pub(super) fn groups(text: &str) -> Option<usize> {
    let seen = cut::head(text, LOOKED_AT);
    let letters =
        |from: usize| seen.bytes().skip(from).take_while(u8::is_ascii_alphanumeric).count();
    let length = letters(0);
    let sign = seen[length..].chars().next().filter(|sign| matches!(sign, ' ' | '-'))?;
    (4..=6).contains(&length).then_some(())?;
    let mut to = length;
    while seen[to..].starts_with(sign) && letters(to + 1) == length {
        to += 1 + length;
    }
    let has = |is: fn(&u8) -> bool| seen[..to].bytes().filter(is).count();
    let (digits, small) = (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase));
    let count = (to + 1) / (length + 1);
    let ends = !seen[to..].starts_with(|c: char| c.is_alphanumeric() || c == sign);
    let is_mixed = digits >= 2 && has(u8::is_ascii_alphabetic) >= 4;
    // Google draws four times four letters, and Microsoft eight times six digits.
    let is_drawn = is_mixed || ends && (count == 4 && small == 16 || count == 8 && digits == 48);
    (count >= 4 && is_drawn).then_some(to)
}

/// The secret members of a JSON Web Key in the first bytes of `text`, from the first to the last.
pub(super) fn jwk(text: &str, length: usize) -> Option<(usize, usize)> {
    const SECRET: &[&str] = &["d", "p", "q", "dp", "dq", "qi", "k"];
    let mut found: Option<(usize, usize)> = None;
    let mut pieces = ["", ""];
    for piece in text[..length].split('"') {
        let value = piece.trim_end_matches('\\');
        let [name, colon] = pieces;
        if colon.trim().trim_end_matches('\\') == ":" && SECRET.contains(&name) && value.len() >= 20
        {
            let at = cut::place_in(text, value);
            // It may go on behind the searched text.
            let to = at + value.len() + Class::Symbols.length(&text[at + value.len()..]);
            found = Some((found.map_or(at, |(from, _)| from), to));
        }
        pieces = [colon, value];
    }
    found
}
