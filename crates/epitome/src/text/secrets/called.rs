//! Values that are called a secret: `password = "…"`, `"api_key": "…"`.

use super::{Class, LOOKED_AT, Secret};
use crate::text::cut;

/// What values are called that are secrets, without `_` and `-`, in lower case.
const CALLED: [&str; 16] = [
    "password",
    "passwd",
    "pwd",
    "pass",
    "passphrase",
    "secret",
    "secretkey",
    "apikey",
    "accesskey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "privatekey",
    "authkey",
    "token",
];

/// Those of which people think values of their own.
const PASSWORDS: [&str; 4] = ["password", "passwd", "pwd", "passphrase"];

/// A value with fewer characters is rather a word, or a placeholder.
const LEAST_VALUE: usize = 12;

/// From so many characters on, how they follow one another tells what was drawn.
const LONG: usize = 12;

/// A password with fewer characters is rather a number of something.
const LEAST_TYPED: usize = 8;

/// `password = "…"`, `"api_key": "…"`, `SECRET_KEY=…`, `--token …`, "the password is …": a value that looks drawn.
pub(super) fn called_so(text: &str, word: usize) -> Option<Secret> {
    if !may_be_called_so(&text.as_bytes()[..word]) {
        return None;
    }
    let value = value(text, word)?;
    let name = cut::tail(&text[..word], 48);
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let bare = bare.to_ascii_lowercase();
    let from = text.len() - value.len();
    let length = if CALLED.iter().any(|name| bare.ends_with(name)) { drawn(value) } else { None };
    let is_password = || PASSWORDS.iter().any(|name| bare.ends_with(name));
    let length = length.or_else(|| is_password().then(|| typed(value)).flatten())?;
    // What a backslash says with the value's first letter leaves with it: half an escape is no JSON.
    let escape = text[..from].bytes().rev().take_while(|byte| *byte == b'\\').count();
    Some(Secret { name: "secret", from: from - escape, to: from + length })
}

/// The last letters of the names, for each the ones before it: bits by the lower five of a letter's.
const ENDS: [u32; 32] = {
    let mut ends = [0; 32];
    let mut at = 0;
    while at < CALLED.len() {
        let name = CALLED[at].as_bytes();
        let [before, last] = [name[name.len() - 2], name[name.len() - 1]];
        ends[last as usize & 31] |= 1 << (before & 31);
        at += 1;
    }
    ends
};

/// A quicker look: whether a name that ends with these bytes may end as one that is a secret's, or with other signs.
pub(super) fn may_end_called(before: u8, last: u8) -> bool {
    !before.is_ascii_alphanumeric()
        || !last.is_ascii_alphanumeric()
        || ENDS[usize::from(last & 31)] & 1 << (before & 31) != 0
}

/// A quick look: whether a name ends with the last two letters of one that is a secret's.
pub(super) fn may_be_called_so(name: &[u8]) -> bool {
    let is_end = |last: u8, before: u8| {
        matches!(
            (last, before),
            (b'd', b'r' | b'w') | (b's' | b'e', b's') | (b't' | b'y' | b'n', b'e')
        )
    };
    if let [.., before, last] = name
        && before.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return is_end(last | 0x20, before | 0x20);
    }
    let mut ends = name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric());
    let [last, before] =
        [ends.next(), ends.next()].map(|byte| byte.map_or(0, u8::to_ascii_lowercase));
    is_end(last, before)
}

/// A quick look: whether what stands behind a name may say what it is.
pub(super) fn may_be_said(behind: &[u8]) -> bool {
    let after = behind.iter().find(|byte| !matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'`'));
    matches!(after, Some(b':' | b'=' | b'%' | b'i'))
}

/// What is said of the name of which `text` has so many bytes, if anything is.
fn value(text: &str, name: usize) -> Option<&str> {
    const QUOTES: [char; 5] = ['"', '\'', '\\', ' ', '`'];
    let rest = &text[name..];
    let after = rest.trim_start_matches(QUOTES);
    let says = [":=", "=>", ":", "=", "%3D", "is: ", "is "];
    let value = says.iter().find_map(|says| after.strip_prefix(says));
    let is_flag = text.starts_with("--") && rest.starts_with(' ');
    let value = value.or_else(|| is_flag.then_some(after))?;
    Some(value.trim_start_matches(QUOTES))
}

/// How long a value of letters and digits is that looks drawn.
fn drawn(all: &str) -> Option<usize> {
    let value = Class::Symbols.beginning(all);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let cases = value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase());
    let is_hex = value.bytes().all(|byte| Class::Hexadecimal.has(byte) || byte == b'-');
    let is_plain = digits >= 2 && letters >= 4 && (cases || is_hex);
    let is_drawn = is_plain || value.len() >= LONG && is_random(value);
    // A path, a name with dots or a call is no value of that kind; none is as long as what isn't looked at to its end.
    let is_path = value.contains('.') || value.contains('/') && !is_random(value);
    let is_code = is_path && !value.ends_with('=') && value.len() < LOOKED_AT
        || all[value.len()..].starts_with(['(', '[']);
    (value.len() >= LEAST_VALUE && is_drawn && !is_code).then(|| Class::Symbols.length(all))
}

/// Whether letters and digits, small and large, follow one another as nobody writes them.
fn is_random(value: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let letters = value.bytes().map(kind).filter(|kind| *kind > 0);
    let (mut all, mut changes, mut before) = (0, 0, 0);
    for kind in letters {
        changes += usize::from(kind != before);
        (all, before) = (all + 1, kind);
    }
    // Names in code change too, but have no digits, and words in them.
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    changes * if has_digit { 3 } else { 2 } >= all && all > 0
}

/// How long a password is that somebody thought of: letters, a digit or more, and signs.
fn typed(all: &str) -> Option<usize> {
    let ends = |c: char| c.is_whitespace() || "\"'`\\,;)]}<>&|".contains(c);
    let seen = cut::head(all, LOOKED_AT);
    let value = &seen[..seen.find(ends).unwrap_or(seen.len())];
    let value = value.trim_end_matches(['.', '!', '?']);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    // A name in code, a path, an address or what is to be filled in isn't one.
    let is_code = value.contains(['(', '[', '/', '.', ':', '=', '$', '{', '%', '*']);
    let is_name = value.contains('_') && value.bytes().all(|b| Class::Word.has(b));
    let is_one = (LEAST_TYPED..LOOKED_AT / 2).contains(&value.len())
        && (has_digit || is_random(value))
        && letters >= 3
        && !is_code
        && !is_name;
    is_one.then_some(value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_begins_with_an_escape_leaves_none_of_it() {
        for (said, left) in [
            (r#""password":"\u001aA¡A""#, r#""password":"[masked: secret]""#),
            (r#""password":"\\Xk29fjQ0pzLm","a":1"#, r#""password":"[masked: secret]","a":1"#),
            (r#"{\"password\": \"Xk29fjQ0pzLm\"}"#, r#"{\"password\": \"[masked: secret]\"}"#),
        ] {
            assert_eq!(crate::text::secrets::masked(said), left);
        }
    }

    #[test]
    fn the_quick_look_lets_every_name_pass() {
        for name in CALLED.into_iter().chain(PASSWORDS) {
            assert!(may_be_called_so(format!("MY_{}_", name.to_uppercase()).as_bytes()), "{name}");
        }
    }
}
