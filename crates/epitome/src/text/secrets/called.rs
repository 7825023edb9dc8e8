//! Values that are called a secret: `password = "…"`, `"api_key": "…"`, `<password>…</password>`, `setx TOKEN …`.

use super::names::{NameKind, SIGNS, named};
use super::values::Literal;
use super::{Class, Secret, lists, shaped, values};
use crate::text::cut;

/// What may stand between a name and its value, in lower case: types, members that hold values, tags.
const BETWEEN: &[&str] = &[
    "is",
    "was",
    "value",
    "val",
    "content",
    "default",
    "string",
    "str",
    "const",
    "char",
    "body",
    "td",
    "th",
    "code",
    "by",
    "some",
    "from",
    "byte",
    "base64",
    "token",
    "set",
    "b",
    "to",
    "pass",
    "n",
    "hex",
    "type",
    "ist",
    "est",
    "es",
    "lautet",
    "with",
    "send",
    "send_keys",
    "sendkeys",
    "fill",
    "setvalue",
    "jest",
    "isto",
    "adalah",
    "tapez",
];

/// Signs of passwords that no name has.
const TYPED: [char; 7] = ['!', '@', '#', '^', '&', '+', '?'];

/// The maximum words between them.
const MOST_BETWEEN: usize = 4;

/// Precedes a text of XML without separators.
const CDATA: &[u8] = b"<![CDATA[";

/// So long an element's name may be.
const NAME: usize = 80;

/// So much may stand between a name and its value.
const GAP: usize = 160;

/// The value of which the name ends at `end`, where it is a secret; its bytes from `at` on.
pub(super) fn called_so(text: &str, at: usize, end: usize) -> Option<Secret> {
    if text[..at].ends_with("[masked: ") {
        return None;
    }
    // The letter of an escape isn't the name's.
    let is_behind_escape = ["\\n", "\\r", "\\t"].iter().any(|it| text[..at].ends_with(it));
    let name = if is_behind_escape { &text[at..end] } else { &text[..end] };
    if let Some(rest) = reversed(text, at, end) {
        return secret(text, at, rest, NameKind::Key);
    }
    let kind = named(name)?;
    // `…:123456789012:secret:…` is a resource, behind the number of its account.
    let is_resource =
        text[end..].starts_with(':') && matches!(&text.as_bytes()[..at], [.., b'0'..=b'9', b':']);
    let gap = (!is_resource).then(|| gap(text, end, kind))??;
    let found = secret(text, at, gap, kind);
    if found.is_some() || !matches!(kind, NameKind::Pair | NameKind::Key) {
        return found;
    }
    // A user's name stands before a password.
    let run = values::run(text, gap.from, gap.quote);
    let rest = &text[gap.from..gap.from + run];
    let colon = rest.find(':').filter(|_| gap.is_assigned);
    let second = colon.map(|colon| Gap { from: gap.from + colon + 1, ..gap });
    let second = second.or_else(|| {
        let is_call = gap.quote.is_some() && text[end..gap.from].contains('(');
        let next = gap.from + run;
        let next = next
            + text[next..].bytes().take_while(|byte| matches!(byte, b'\\' | b'"' | b'\'')).count();
        (is_call && text.get(next..)?.starts_with(','))
            .then(|| self::gap(text, next, kind))
            .flatten()
    });
    secret(text, at, second?, NameKind::Password)
}

/// Where a value begins.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: usize,
    quote: Option<u8>,
    /// A sign says that it is the name's.
    is_assigned: bool,
}

/// `"value": "…", "name": "DB_PASSWORD"`: the value before its name.
fn reversed(text: &str, at: usize, end: usize) -> Option<Gap> {
    if !text[at..end].eq_ignore_ascii_case("value") {
        return None;
    }
    let gap = gap(text, end, NameKind::Key).filter(|gap| gap.quote.is_some())?;
    let run = values::run(text, gap.from, gap.quote);
    let behind = cut::head(&text[gap.from + run..], GAP);
    let rest = behind.trim_start_matches(['"', '\'', '\\', ',', ' ', '\n', '\t']);
    let is_key = |key: &str| rest.get(..key.len()).is_some_and(|it| it.eq_ignore_ascii_case(key));
    let key = ["name", "key"].into_iter().find(|key| is_key(key))?;
    let name = rest[key.len()..].trim_start_matches(['"', '\'', '\\', ':', '=', ' ']);
    let name = &name[..Class::Dotted.length(name)];
    named(name).map(|_| gap)
}

/// What stands between a name that ends at `end` and its value.
fn gap(text: &str, end: usize, kind: NameKind) -> Option<Gap> {
    let bytes = &text.as_bytes()[..text.len().min(end + GAP)];
    let (mut at, mut words, mut sign, mut quote) = (end + attributes(text, end), 0, None, None);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let mut next = None;
        let length = match rest {
            [b'"' | b'\'' | b'`', ..] => {
                next = Some(byte);
                1
            }
            [b'\\', b'n' | b'r', ..] if goes_on(text, at + 2, sign) => 2,
            [b'\\', b't', ..] => 2,
            [b'\n' | b'\r', ..] if goes_on(text, at + 1, sign) => 1,
            [b'\\', b'n' | b'r', ..] | [b'\n' | b'\r', ..] => return None,
            [b'\\' | b' ' | b'\t' | b'@' | b'(' | b')' | b'[' | b']' | b'*', ..] => 1,
            [b'=', b' ', b'<', b'<', ..] | [b'=', b'<', b'<', ..] => {
                sign = Some(b'=');
                1 + usize::from(rest[1] == b' ')
            }
            // `<<-'EOF'`: a text up to a line that is this word.
            [b'<', b'<', ..] if sign == Some(b'=') => rest
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || b"<-~_\"'".contains(b))
                .count(),
            // What joins the pieces of a text: `+`, and PHP's dot.
            [b'+' | b'.', b' ', ..] if sign.is_some() && b" \"'".contains(&bytes[at - 1]) => 1,
            // A member that is called: `.send_keys(`.
            [b'.', ..] if is_between(text, at + 1) => 1,
            [b'{', ..] if bytes[at - 1] == b'=' => {
                next = Some(b'}');
                1
            }
            [0x80..=0xff, ..] if text[at..].starts_with(SIGNS) => {
                let c = text[at..].chars().next()?;
                sign = sign.or_else(|| (c == '：').then_some(b':'));
                c.len_utf8()
            }
            [b'%', b'2' | b'3', digit, ..] if digit.is_ascii_hexdigit() => {
                sign = Some(b'=');
                3
            }
            [b':' | b'=' | b'>' | b'|' | b',' | b'{', ..] => {
                sign = Some(byte);
                1
            }
            [b'<', b'/', ..] | [b'<', b't', b'd', ..] => 1 + usize::from(rest[1] == b'/'),
            [b'<', ..] if sign == Some(b'>') && is_between(text, at + 1) => 1,
            [b'-', ..] if sign.is_some() || words > 0 || is_between(text, at) => 1,
            // `Key 1: …`
            [b'0'..=b'9', b':', ..] if sign.is_none() && words == 0 && bytes[at - 1] == b' ' => 1,
            // `password 7 …`: the number says how a router hides it.
            [b'0'..=b'9', b' ', ..] if sign.is_none() && words == 0 && bytes[at - 1] == b' ' => 1,
            // A type of YAML.
            [b'!', b'!', ..] if sign == Some(b':') => {
                2 + rest[2..].iter().take_while(|b| b.is_ascii_alphabetic()).count()
            }
            // A text of XML as it stands.
            _ if sign == Some(b'>') && rest.starts_with(CDATA) => {
                next = Some(b']');
                CDATA.len()
            }
            // An anchor of YAML.
            [b'&', ..] if sign == Some(b':') => {
                1 + rest[1..].iter().take_while(|b| b.is_ascii_alphanumeric()).count()
            }
            [b'&', ..] if sign.is_some() => 1,
            _ => {
                let word =
                    rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let behind = rest.get(word);
                // The scheme of a header, or the name of an element that ends: `Basic `, `</key>`.
                let is_scheme = kind == NameKind::Header && words == 0 && behind == Some(&b' ');
                let is_element = bytes[at - 1] == b'/' && behind == Some(&b'>');
                if word == 0
                    || words >= MOST_BETWEEN
                    || !(is_scheme || is_element || is_between(text, at))
                {
                    break;
                }
                words += 1;
                word
            }
        };
        quote = next;
        at += length;
    }
    (at > end && at < text.len() && text.is_char_boundary(at)).then_some(())?;
    // Behind `password(` and `password,` follows another argument or item, unless quotes tell that it is the value.
    let is_item =
        matches!(sign, None | Some(b',')) && text[end..at].contains('(') || sign == Some(b',');
    (quote.is_some() || !is_item).then_some(())?;
    Some(Gap { from: at, quote, is_assigned: sign.is_some() })
}

/// The attributes of an element whose name ends at `end`.
fn attributes(text: &str, end: usize) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '_';
    // Names of elements are short, and other runs may have any length.
    let name = cut::tail(&text[..end], NAME).trim_end_matches(is_name);
    let rest = cut::head(&text[end..], GAP);
    match rest.find(['>', '<', '\n']) {
        Some(to) if name.ends_with('<') && rest.starts_with(' ') && rest[to..].starts_with('>') => {
            to
        }
        _ => 0,
    }
}

/// Whether one of the words that stand before values begins at `at`, maybe as a flag.
fn is_between(text: &str, at: usize) -> bool {
    let rest = cut::head(&text[at..], 16).trim_start_matches('-');
    let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let ends = rest[word..].bytes().next().is_none_or(|byte| b" :=\"'\\>({|,<\n`)".contains(&byte));
    ends && BETWEEN.iter().any(|it| rest[..word].eq_ignore_ascii_case(it))
}

/// Whether a value may stand on the line that begins at `at`: behind a sign, or called one.
fn goes_on(text: &str, at: usize, sign: Option<u8>) -> bool {
    let seen = cut::head(&text[at..], GAP);
    let line = seen.trim_start_matches([' ', '\t', '"', '\\']);
    sign.is_some_and(|sign| sign != b',') || is_between(text, at + seen.len() - line.len())
}

/// The value behind `gap`, where it is a secret.
fn secret(text: &str, at: usize, gap: Gap, kind: NameKind) -> Option<Secret> {
    let Gap { from, quote, is_assigned } = gap;
    let (from, to) = match kind {
        NameKind::Header => is_assigned.then(|| values::pieces(text, from))??,
        NameKind::Password | NameKind::Key if lists::groups(&text[from..]).is_some() => {
            (from, from + lists::groups(&text[from..])?)
        }
        _ if kind > NameKind::Pair => return None,
        _ => {
            let run = values::run(text, from, quote);
            let value = &text[from..from + run];
            // A label, or the name of something timed: `PASS: TestSHA256 (0.32s)`.
            let behind = &text[from + run..];
            let is_called = quote.is_none()
                && (behind.starts_with(['(', '[', ':']) || is_duration(behind))
                || value.contains("::");
            let literal = literal(text, from, run, quote);
            let is_one = is_secret(value, kind)
                || literal.is_some() && values::is_noise(value)
                || literal.is_some() && values::is_typed(value) && value.contains(TYPED)
                || literal == Some(Literal::Quoted)
                    && values::leets(value) > 0
                    && values::strength(value) > 1
                || kind == NameKind::Password
                    && literal.is_some_and(|literal| values::is_written(value, literal));
            (!is_called && is_one).then_some(())?;
            let to = from + values::whole(text, from, run);
            // An exclamation mark may be the value's last character.
            (from, to + text[to..].bytes().take_while(|byte| *byte == b'!').count())
        }
    };
    // Backslashes before the value go with it: half an escape is no JSON.
    let escape = text[at..from].bytes().rev().take_while(|byte| *byte == b'\\').count();
    let name = if kind == NameKind::Header { "credentials" } else { "secret" };
    let name = shaped(&text[from..to]).map_or(name, |secret| secret.name);
    Some(Secret { name, from: from - escape, to })
}

/// Whether a time in brackets stands behind a value: ` (0.32s)`.
fn is_duration(behind: &str) -> bool {
    let Some(time) = behind.strip_prefix(" (") else { return false };
    let unit = time.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < time.len() && (unit.starts_with("s)") || unit.starts_with("ms)"))
}

/// Whether a value with a name of this kind is a secret, whatever stands around it.
pub(super) fn is_secret(value: &str, kind: NameKind) -> bool {
    let is_code = || (4..=8).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    values::is_drawn(value)
        || kind == NameKind::Password && values::is_typed(value)
        || kind == NameKind::Code && is_code()
}

/// How the value at `from` is written, where that shows it to be the value itself: no name in code stands there.
fn literal(text: &str, from: usize, run: usize, quote: Option<u8>) -> Option<Literal> {
    if quote == Some(b'}') {
        return None;
    }
    if quote.is_some() {
        return Some(Literal::Quoted);
    }
    let behind = &text[from + run..];
    let ends = ["\n", "\r", "\\n", "\\r", "\"", " #"];
    let ends_line = behind.is_empty() || ends.iter().any(|end| behind.starts_with(end));
    match &text.as_bytes()[..from] {
        [.., b'>'] if behind.starts_with("</") => Some(Literal::Plain),
        [.., before, b'='] if *before != b' ' => {
            (ends_line || behind.starts_with([' ', '"', '\'', '\\'])).then_some(Literal::Plain)
        }
        [.., b':', b' '] if ends_line => Some(Literal::Line),
        [.., b':', b' '] if behind.starts_with([',', '}']) => Some(Literal::Setting),
        [.., b'=', b' '] if ends_line => Some(Literal::Setting),
        _ => None,
    }
}

/// A quick check whether the text behind a name may be its value.
pub(super) fn may_be_said(behind: &[u8]) -> bool {
    !matches!(behind, [] | [b'.' | b'/' | b';' | b'+', ..])
        || matches!(behind, [b';', b'a'..=b'z', ..])
        || matches!(behind, [b'.', b's' | b'f' | b't' | b'v', ..])
}

#[cfg(test)]
mod tests {
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
}
