//! Whether a value looks like a secret: drawn by a program or thought of by a person, and no word, path, type or
//! reference.

use super::{Class, LOOKED_AT};
use crate::text::cut;

/// A value with fewer characters is rather a word, or a placeholder.
const LEAST_DRAWN: usize = 12;

/// A password with fewer characters is rather a number of something.
const LEAST_TYPED: usize = 8;

/// A phrase with fewer characters is rather a name.
const LEAST_PHRASE: usize = 20;

/// Fewer characters are rather code.
const LEAST_NOISE: usize = 28;

/// Parts of placeholders.
const PLACEHOLDERS: &[&str] = &["your", "example", "placeholder", "changeme", "redacted", "xxxx"];

/// Values that only say what they are.
pub(super) const EXAMPLES: &[&str] = &["password", "pass", "passwd", "secret", "token", "apikey"];

/// How much of `text` from `from` on is a value, as far as is looked at: to its quote, or to a sign that ends one.
pub(super) fn run(text: &str, from: usize, quote: Option<u8>) -> usize {
    let seen = cut::head(&text[from..], LOOKED_AT);
    let ends = |c: char| match quote {
        Some(quote) => c == char::from(quote) || c == '\\' || c == '"' || c.is_whitespace(),
        None => c.is_whitespace() || c.is_control() || "\"'`\\,;)]}<>&|".contains(c),
    };
    // What would end a value is part of it: a brace that is doubled, as databases have it, a sign before no parameter.
    let mut length = 0;
    while let Some(at) = seen[length..].find(ends) {
        let rest = &seen[length + at..];
        let part = match rest.as_bytes() {
            [b'}', b'}', ..] if quote == Some(b'}') => 2,
            [b'"', rest @ ..]
                if quote != Some(b'"')
                    && !matches!(rest, [] | [b',' | b':' | b'}' | b']', ..])
                    && quote.is_some() =>
            {
                1
            }
            [b'&', rest @ ..] if quote.is_none() && goes_on(rest) => 1,
            // Within other quotes one of these is the value's, but not where a string of JSON ends.
            _ => {
                length += at;
                break;
            }
        };
        length += at + part;
    }
    let is_ended = seen[length..].starts_with(ends);
    let value = if is_ended { &seen[..length] } else { seen };
    if quote.is_some() { value.len() } else { value.trim_end_matches(['.', '!', '?', ':']).len() }
}

/// Whether what follows `&` is no parameter, no reference and no command.
fn goes_on(rest: &[u8]) -> bool {
    let name = rest.iter().take_while(|byte| Class::Dotted.has(**byte)).count();
    name > 0
        && !matches!(rest.get(name), Some(b'=' | b'['))
        && !(rest.get(name) == Some(&b';')
            && matches!(&rest[..name], b"amp" | b"quot" | b"lt" | b"gt" | b"apos"))
}

/// How long a value is of which so many bytes were looked at.
pub(super) fn whole(text: &str, from: usize, run: usize) -> usize {
    if run < LOOKED_AT - 3 { run } else { run + Class::Symbols.length(&text[from + run..]) }
}

/// Whether letters and digits look random.
pub(super) fn is_drawn(value: &str) -> bool {
    if value.len() < LEAST_DRAWN {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    let cases = has(u8::is_ascii_uppercase) > 0 && has(u8::is_ascii_lowercase) > 0;
    let is_plain = digits >= 2 && letters >= 4 && (cases || is_hex(value));
    // Of one case, as base32 is.
    let is_single =
        digits >= 2 && letters >= 4 && value.len() >= 16 && letters + digits == value.len();
    let is_drawn = is_plain || is_single || is_random(value);
    // A path, a name with dots or a call is no value of that kind; none is as long as what isn't looked at to its end.
    let is_path = value.contains('/') && !(is_random(value) && digits > 0)
        || value.contains('.') && (value.len() < 24 || digits < 3 || !is_random(value));
    let is_path = is_path && !value.ends_with('=') && value.len() < LOOKED_AT - 3;
    let is_named = value.trim_end_matches('=').contains('=');
    is_drawn
        && !is_path
        && !is_named
        && !is_placeholder(value)
        && letters + digits >= value.len() / 2
}

/// Whether a value may be a hash or an id.
pub(super) fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether a password was invented by a person: letters, a digit or more, and signs.
pub(super) fn is_typed(value: &str) -> bool {
    if !(LEAST_TYPED..LOOKED_AT / 2).contains(&value.len()) {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    // Names in code, paths, addresses and placeholders aren't secrets.
    let is_code = value.contains(['(', '[', '/', '.', ':', '=', '$', '{', '%', '*', '<']);
    let is_name = value.contains('_') && value.bytes().all(|b| Class::Word.has(b));
    (has_digit || is_random(value))
        && letters >= 3
        && !is_code
        && !is_name
        && !is_placeholder(value)
}

/// How a value is written that is no name in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// Between quotes.
    Quoted,
    /// As shells and XML have it: whatever stands there.
    Plain,
    /// Behind a colon, to the end of the line.
    Line,
    /// Behind a sign and a space, to the end of the line: as settings have it, and code.
    Setting,
}

/// Whether a password in a `literal` was invented by a person: it may look like a name in code.
pub(super) fn is_written(value: &str, literal: Literal) -> bool {
    if !(LEAST_TYPED..LOOKED_AT / 2).contains(&value.len()) || refers(value) {
        return false;
    }
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    // Keys of texts and of settings are small, and joined by dots.
    let is_key = match literal {
        Literal::Plain => false,
        _ if leets(value) > 0 => false,
        Literal::Line => is_dotted(value),
        Literal::Quoted => {
            let says_so = EXAMPLES.iter().any(|it| value.contains(it));
            is_dotted(value) || value.contains('_') && says_so
        }
        Literal::Setting => value.bytes().all(|byte| Class::Dotted.has(byte)),
    };
    letters >= 3 && (has(u8::is_ascii_digit) || is_words(value)) && !is_key
}

/// How often digits stand for letters: `m0nitor`, `Pa55`.
pub(super) fn leets(value: &str) -> usize {
    let bytes = value.as_bytes();
    let (mut at, mut count) = (0, 0);
    while let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let from = at + digit;
        at = from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_inside = from > 0
            && bytes[from - 1].is_ascii_alphabetic()
            && bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        let are_letters = bytes[from..at].iter().all(|byte| b"013457".contains(byte));
        count += usize::from(is_inside && are_letters && at - from <= 2);
    }
    count
}

/// How much a value looks like a password, whatever it is called: nothing of a word, two and more of what somebody
/// thought of.
pub(super) fn strength(value: &str) -> usize {
    let has = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    let is_code = value.contains(['/', '=', ':', '<', '>', '|', '(', '{', '*', '%'])
        || value.contains('@') && value.contains('.')
        || value.contains('.') && leets(value) == 0;
    if !(LEAST_TYPED..LOOKED_AT / 2).contains(&value.len()) || digits == 0 || letters < 3 {
        return 0;
    }
    if (is_code || refers(value) || is_hex(value)) && !is_noisy(value) {
        return 0;
    }
    let is_mixed = has(u8::is_ascii_uppercase) > 0 && has(u8::is_ascii_lowercase) > 0;
    let has_sign = !value.starts_with('&')
        && value.contains(['!', '@', '#', '$', '^', '&', '+', '?', '~', '%']);
    1 + leets(value).min(2) + usize::from(is_mixed) + 2 * usize::from(has_sign)
}

/// Whether a short value has signs, digits and letters of both sizes side by side.
fn is_noisy(value: &str) -> bool {
    let is_code =
        value.contains("://") || value.starts_with(['/', '.', '$', '<', '{', '-', '(', '[']);
    signs(value).1 >= 3
        && is_random(value)
        && !is_code
        && !value.contains(['(', ')', '[', ']', '{', '}', '<', '>', '|'])
}

/// How many signs there are, and how many kinds of them.
fn signs(value: &str) -> (usize, usize) {
    let signs = value.bytes().filter(u8::is_ascii_punctuation);
    let kinds = signs.clone().fold(0_u128, |kinds, sign| kinds | 1 << sign);
    (signs.count(), kinds.count_ones() as usize)
}

/// Whether names are joined by dots.
fn is_dotted(value: &str) -> bool {
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    // Two words with a digit and a capital are rather a password.
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let says_so = EXAMPLES.iter().any(|it| value.to_ascii_lowercase().contains(it));
    let is_pair = value.matches('.').count() == 1
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && !says_so;
    value.contains('.') && value.split('.').all(is_name) && !is_pair
}

/// Whether a value is a phrase of words, as people are told to think of.
fn is_words(value: &str) -> bool {
    let words = value.split('-');
    let is_word = |word: &str| word.len() > 3 && word.bytes().all(|b| b.is_ascii_lowercase());
    let says_so = EXAMPLES.iter().any(|it| value.contains(it));
    value.len() >= LEAST_PHRASE && value.contains('-') && words.clone().all(is_word) && !says_so
}

/// Whether a value is a reference or a placeholder.
fn refers(value: &str) -> bool {
    let signs = ["${", "$(", "{{", "://", "(", "[", "/"];
    value.starts_with(['$', '{', '<', '*', '%', '.', '~', '-'])
        || signs.iter().any(|sign| value.contains(sign))
        || is_placeholder(&value.replace('$', "_"))
}

/// Whether letters, digits and many kinds of signs are mixed as only a program does.
pub(super) fn is_noise(value: &str) -> bool {
    let (all, kinds) = signs(value);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_code = value.contains("://")
        || value.contains("()")
        || value.starts_with(['/', '.', '$', '<', '{']);
    value.len() >= LEAST_NOISE
        && value.len() < LOOKED_AT - 3
        && (kinds >= 4 && all >= 6 && digits >= 2 && letters >= 4)
        && !is_code
        && !is_placeholder(&value.replace(['$', '{', '('], "_"))
}

/// Whether a value is a placeholder or a reference.
pub(super) fn is_placeholder(value: &str) -> bool {
    if value.starts_with(['<', '*', '[', '%']) || value.contains(['{', '(', '$']) {
        return true;
    }
    let lower = cut::head(value, LOOKED_AT).to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|it| lower.contains(it))
        || EXAMPLES.contains(&lower.trim_end_matches(|c: char| c.is_ascii_digit()))
            && value.bytes().filter(u8::is_ascii_digit).count() < 2
}

/// The pieces of a header's value that were drawn, from the first to the last.
pub(super) fn pieces(text: &str, from: usize) -> Option<(usize, usize)> {
    let seen = cut::head(&text[from..], 2 * LOOKED_AT);
    let seen =
        &seen[..seen.find(['"', '\'', '`', '\\', '\n', '\r', '<', '$', '{']).unwrap_or(seen.len())];
    let (mut at, mut found) = (from, None);
    for piece in seen.split_inclusive([' ', ',', ';', '=', '&', ':']) {
        let one = piece.trim_end_matches([' ', ',', ';', '=', '&', ':']);
        if is_drawn(one) {
            let padding = text[at + one.len()..].bytes().take_while(|byte| *byte == b'=').count();
            let to = at + one.len() + padding;
            found = Some((found.map_or(at, |(first, _)| first), to));
        }
        at += piece.len();
    }
    let (first, last) = found?;
    let more =
        if last + 1 >= from + 2 * LOOKED_AT { Class::Symbols.length(&text[last..]) } else { 0 };
    Some((first, last + more))
}

/// Whether letters and digits, small and large, follow one another as nobody writes them.
pub(super) fn is_random(value: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let letters = value.bytes().map(kind).filter(|kind| *kind > 0);
    let (mut all, mut changes, mut before, mut single, mut run) = (0, 0, 0, 0, 0);
    for kind in letters {
        let is_change = kind != before;
        // A lonely small letter, or capitals side by side, as names in code have few of.
        single += usize::from(run == 1 && if is_change { before == 2 } else { kind == 1 });
        changes += usize::from(is_change);
        run = if is_change { 1 } else { run + 1 };
        (all, before) = (all + 1, kind);
    }
    // Names in code change too, but have no digits, and words in them.
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let share = if has_digit || single > 1 && all >= 10 { 3 } else { 2 };
    changes * share >= all && all > 0
}
