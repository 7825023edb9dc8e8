//! Figures with their units, and the few words that tell what they are of.

use std::ops::Range;

use crate::text::cut;

/// Money, percentages, and whole numbers with a unit, with the words before on the same line that begin at `from`, and
/// behind it whom it is for.
pub(super) fn figure<'a>(
    text: &'a str,
    word: &str,
    token: Range<usize>,
    mut from: usize,
) -> Option<&'a str> {
    let Range { start, end } = token;
    let digits = word.strip_prefix('$').unwrap_or(word);
    let figure = digits.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    if figure == 0 || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let money = digits.len() < word.len() && figure == digits.len();
    let unit = &digits[figure..];
    let mut to = start + word.len();
    if !money && (unit.is_empty() || !is_unit(unit)) {
        if !unit.is_empty() {
            return None;
        }
        // `1,234 tokens`: the unit is the next word.
        let next = text.get(end..)?.strip_prefix(' ')?;
        let length =
            next.find(|c: char| !c.is_ascii_alphabetic() && c != '%').unwrap_or(next.len());
        if !is_unit(&next[..length]) {
            return None;
        }
        to = end + 1 + length;
    }
    to += whose(text.as_bytes(), to);
    // `1,234`: a comma splits tokens, not figures.
    let floor = to.saturating_sub(80);
    if from < floor {
        from = text.ceil_char_boundary(floor);
    }
    let phrase = text.get(from..to)?;
    let phrase = &phrase[memchr::memrchr(b'\n', phrase.as_bytes()).map_or(0, |at| at + 1)..];
    let phrase = phrase.rsplit_once(". ").map_or(phrase, |(_, sentence)| sentence);
    let phrase = phrase.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '$');
    let prose = |c: char| {
        c.is_alphanumeric() || matches!(c, ' ' | '$' | '%' | '.' | ',' | '\'' | '-' | '/')
    };
    (phrase.contains(' ') && phrase.chars().all(prose)).then_some(cut::head(phrase, 80))
}

/// How many bytes behind a figure tell whose it is, and so tell twins apart: ` for paid users`.
fn whose(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..bytes.len().min(at + 40)];
    if !OF_WHOM.iter().any(|joint| rest.starts_with(joint)) {
        return 0;
    }
    let is_of_word = |b: &u8| b.is_ascii_alphabetic() || *b == b'-';
    let (mut length, mut words) = (0, 0);
    while words < 3 {
        let word = rest[length + 1..].iter().take_while(|b| is_of_word(b)).count();
        // Not half a word, and no other figure.
        let is_whole = rest.get(length + 1 + word).map_or(at + rest.len() == bytes.len(), |b| {
            !(*b >= 0x80 || *b == b'_' || b.is_ascii_digit())
        });
        if word == 0 || !is_whole {
            break;
        }
        length += 1 + word;
        words += 1;
        if rest.get(length) != Some(&b' ') {
            break;
        }
    }
    if words > 1 { length } else { 0 }
}

/// What joins a figure to whom it is for.
const OF_WHOM: [&[u8]; 4] = [b" for ", b" per ", b" on ", b" in "];

/// Whether a word makes the number before it a figure.
fn is_unit(word: &str) -> bool {
    matches!(
        word,
        "%" | "ms"
            | "s"
            | "sec"
            | "seconds"
            | "min"
            | "minutes"
            | "hours"
            | "days"
            | "weeks"
            | "kB"
            | "KB"
            | "MB"
            | "GB"
            | "TB"
            | "bytes"
            | "B"
            | "k"
            | "K"
            | "M"
            | "px"
            | "tokens"
            | "tests"
            | "files"
            | "lines"
            | "users"
            | "requests"
            | "rows"
            | "errors"
            | "warnings"
            | "passed"
            | "failed"
            | "USD"
            | "EUR"
            | "dollars"
            | "percent"
    )
}
