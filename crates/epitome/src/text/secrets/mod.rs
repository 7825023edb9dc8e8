//! Masking secrets in what is shown or written anew: keys and tokens by their shapes, private keys, passwords in
//! addresses, values that are called a secret, and all of these in base64.
//!
//! What is kept stays as it is. A shape begins at the beginning of a
//! word, so that no part of a longer text is taken for a secret, and its rest has a digit.

mod base64;
mod called;
mod ends;
mod starts;

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use super::cut;
use base64::Run;
use called::{called_so, may_be_called_so, may_be_said};
use ends::{ENDS, Ends, Told};
use starts::Starts;

/// A shape of secrets.
#[derive(Debug)]
struct Shape {
    name: &'static str,
    prefix: &'static str,
    rest: Class,
    least: usize,
}

/// Of which characters a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Alphanumeric,
    Capitals,
    Hexadecimal,
    Word,
    Dotted,
    Symbols,
}

impl Class {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "a" => Class::Alphanumeric,
            "u" => Class::Capitals,
            "h" => Class::Hexadecimal,
            "w" => Class::Word,
            "d" => Class::Dotted,
            "s" => Class::Symbols,
            _ => return None,
        })
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Class::Alphanumeric => byte.is_ascii_alphanumeric(),
            Class::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Hexadecimal => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Class::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Class::Dotted => Class::Word.has(byte) || byte == b'.',
            Class::Symbols => Class::Dotted.has(byte) || matches!(byte, b'/' | b'+' | b'=' | b'~'),
        }
    }

    /// How much of `text` is of it.
    fn length(self, text: &str) -> usize {
        text.bytes().position(|byte| !self.has(byte)).unwrap_or(text.len())
    }

    /// The beginning of `text` that is of it, as far as is looked at to tell a secret.
    fn beginning(self, text: &str) -> &str {
        let seen = text.bytes().take(LOOKED_AT);
        &text[..seen.take_while(|byte| self.has(*byte)).count()]
    }
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let table = include_str!("../../../data/secrets.txt");
    let rows = table.lines().filter(|row| !row.starts_with('#') && !row.is_empty());
    let shape = |row: &'static str| {
        let mut cells = row.split(' ');
        let (name, prefix) = (cells.next()?, cells.next()?);
        let (rest, least) = (Class::named(cells.next()?)?, cells.next()?.parse().ok()?);
        Some(Shape { name, prefix, rest, least })
    };
    rows.map(|row| shape(row).expect("a test reads every row")).collect()
});

/// The shapes by their first two bytes, which few words have.
static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut by_first = ByFirst { pairs: [0; 256], places: vec![0; 1 << 14], shapes: Vec::new() };
    for (at, shape) in SHAPES.iter().enumerate() {
        let pair = ByFirst::pair(shape.prefix.as_bytes()).expect("no prefix is shorter");
        if by_first.pairs[pair >> 6] & 1 << (pair & 63) == 0 {
            by_first.pairs[pair >> 6] |= 1 << (pair & 63);
            by_first.places[pair] = by_first.shapes.len() as u8;
            by_first.shapes.push(Vec::new());
        }
        by_first.shapes[usize::from(by_first.places[pair])].push(at);
    }
    by_first
});

struct ByFirst {
    /// A bit for each pair.
    pairs: [u64; 256],
    /// For each pair that has one, where its shapes are.
    places: Vec<u8>,
    shapes: Vec<Vec<usize>>,
}

impl ByFirst {
    fn pair(text: &[u8]) -> Option<usize> {
        let [first, second, ..] = text else { return None };
        (first | second).is_ascii().then_some(usize::from(*first) << 7 | usize::from(*second))
    }

    /// The shapes that begin with the first two bytes of `text`.
    fn of(&self, text: &[u8]) -> &[usize] {
        match Self::pair(text) {
            Some(pair) if self.pairs[pair >> 6] & 1 << (pair & 63) != 0 => {
                &self.shapes[usize::from(self.places[pair])]
            }
            _ => &[],
        }
    }

    /// Whether one of them begins with these letters.
    fn has(&self, first: u8, second: u8) -> bool {
        let pair = usize::from(first) << 7 | usize::from(second & 0x7f);
        self.pairs[pair >> 6] & 1 << (pair & 63) != 0
    }

    /// Whether `text` begins as one of them does.
    fn begins(&self, text: &[u8]) -> bool {
        self.of(text).iter().any(|at| text.starts_with(SHAPES[*at].prefix.as_bytes()))
    }
}

/// Shorter words are none that may be a key by their length, and shorter numbers none before one.
const LEAST_LONG: usize = 14;
const LEAST_NUMBER: usize = 8;

/// In so many characters it shows whether something is a secret. Beginnings follow one another without a
/// gap in what is made for that, so that looking at all that follows each would never end.
const LOOKED_AT: usize = 256;

/// `text` with each secret replaced by what it is: `[masked: github-token]`.
///
/// ```
/// use epitome::text::secrets::masked;
/// let said = "git push https://me:hunter2hunter2@example.org/x";
/// assert_eq!(masked(said), "git push https://me:[masked: password]@example.org/x");
/// assert_eq!(masked("nothing secret"), "nothing secret");
/// ```
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for Secret { name, from, to } in Secrets::of(text, Unwrapping::Once) {
        out.push_str(&text[done..from]);
        out.push_str("[masked: ");
        out.push_str(name);
        out.push(']');
        done = to;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// [`masked`] of a text that is needed as it is where it has no secret.
pub(crate) fn into_masked(text: Cow<'_, str>) -> String {
    match masked(&text) {
        Cow::Borrowed(_) => text.into_owned(),
        Cow::Owned(masked) => masked,
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
    starts: Starts<'t>,
    at: usize,
    /// The word that `at` stands in, or one before it.
    word: Range<usize>,
    unwrapping: Unwrapping,
    /// Up to here there is base64 that hides nothing.
    harmless: usize,
}

impl<'t> Secrets<'t> {
    fn of(text: &'t str, unwrapping: Unwrapping) -> Self {
        let starts = Starts::of(text.as_bytes());
        Secrets { text, starts, at: 0, word: 0..0, unwrapping, harmless: 0 }
    }

    /// The secret that begins where a word or a part of it does, if one does.
    fn found(&mut self) -> Option<Secret> {
        if is_ordinary(&ENDS, self.text.as_bytes(), self.at..self.word.end) {
            return None;
        }
        let rest = &self.text[self.at..];
        let word = self.word.end - self.at;
        let found = found(rest, word);
        if found.is_some() || self.unwrapping == Unwrapping::Not || self.at < self.harmless {
            return found;
        }
        match base64::looked_into(rest) {
            Run::None => None,
            Run::Harmless(length) => {
                self.harmless = self.at + length;
                None
            }
            Run::Hides(secret) => Some(secret),
        }
    }
}

impl Iterator for Secrets<'_> {
    type Item = Secret;

    fn next(&mut self) -> Option<Secret> {
        let bytes = self.text.as_bytes();
        let ends: &Ends = &ENDS;
        let ordinary = |bytes: &[u8], word| is_ordinary(ends, bytes, word);
        loop {
            // Secrets and what leads to them begin with a word or its end, or in an address.
            let found = if self.at < self.word.end {
                let Some(start) = starts::next_in(bytes, &self.word, self.at) else {
                    self.at = self.word.end;
                    continue;
                };
                self.at = start;
                self.found()
            } else {
                let next = self.starts.next_but(self.at, ordinary)?;
                self.at = next.start;
                if !next.is_empty() {
                    self.word = next;
                    continue;
                }
                password_in_address(&self.text[self.at..])
            };
            let start = self.at;
            let Some(Secret { name, from, to }) = found else {
                self.at += 1;
                continue;
            };
            self.at = start + to;
            self.word = starts::word_at(bytes, self.at);
            return Some(Secret { name, from: start + from, to: start + to });
        }
    }
}

/// Whether a word, or what is left of one, begins no secret for sure. Most are told by their ends and their length.
#[inline]
fn is_ordinary(ends: &Ends, bytes: &[u8], word: Range<usize>) -> bool {
    match ends.tell(bytes, word.start, word.end) {
        Told::Nothing => true,
        Told::Name => !(may_be_said(&bytes[word.end..]) && may_be_called_so(&bytes[word])),
        Told::Anything => begins_none(bytes, word),
    }
}

/// The same by what the rules look at first.
#[inline(never)]
fn begins_none(bytes: &[u8], word: Range<usize>) -> bool {
    let (text, behind) = (&bytes[word.start..], &bytes[word.end..]);
    let word = &bytes[word];
    let may_begin = match word {
        // A private key, a flag, a header.
        [b'-', ..] | [b'B', b'a' | b'e', ..] | [b'b', b'e', ..] => true,
        // A number before a key.
        [b'0'..=b'9', ..] => word.len() >= LEAST_NUMBER || behind.first() == Some(&b'/'),
        _ => false,
    };
    // Keys that are told by what stands in their middle, and what may be base64.
    let is_long = matches!(word.len(), LEAST_LONG | 17) || word.len() >= base64::LEAST;
    let is_run = || {
        let digits = || base64::length(&behind[..behind.len().min(base64::LEAST)]);
        matches!(behind.first(), Some(b'+' | b'/')) && word.len() + digits() >= base64::LEAST
    };
    let is_called = || may_be_called_so(word) && may_be_said(behind);
    // Of a shape the first two bytes stand in its word.
    let is_shaped = || word.len() > 1 && BY_FIRST.begins(text);
    !(may_begin || is_long || is_shaped() || is_run() || is_called())
}

/// A secret near the beginning of a text: its bytes.
struct Secret {
    name: &'static str,
    from: usize,
    to: usize,
}

/// What `text`, which begins with a word of so many bytes, begins with.
fn found(text: &str, word: usize) -> Option<Secret> {
    let first = *text.as_bytes().first()?;
    let found = shaped(text).or_else(|| marked(text, word));
    let found = found.or_else(|| match first {
        b'-' => private_key(text),
        b'B' | b'b' => credentials(text),
        _ => None,
    });
    found.or_else(|| called_so(text, word))
}

fn shaped(text: &str) -> Option<Secret> {
    BY_FIRST.of(text.as_bytes()).iter().find_map(|at| {
        let shape = &SHAPES[*at];
        let rest = text.strip_prefix(shape.prefix)?;
        let body = shape.rest.beginning(rest).trim_end_matches('.');
        let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
        let is_one = body.len() >= shape.least && has_digit;
        is_one.then(|| {
            let body = rest[..shape.rest.length(rest)].trim_end_matches('.');
            Secret { name: shape.name, from: 0, to: shape.prefix.len() + body.len() }
        })
    })
}

/// Keys that are told by what stands in their middle; `text` begins with a word of so many bytes.
fn marked(text: &str, word: usize) -> Option<Secret> {
    let of = |class: Class, text: &str, lengths: RangeInclusive<usize>| {
        let length = class.beginning(text).len();
        lengths.contains(&length).then_some(length)
    };
    let one = |name, to| Some(Secret { name, from: 0, to });
    let first = text.bytes().next()?;
    match word {
        14 => {
            let rest = text[word..].strip_prefix(".atlasv1.")?;
            one("terraform-token", word + 9 + of(Class::Word, rest, 60..=70)?)
        }
        17 if text.starts_with("pat") => {
            let key = text[word..].strip_prefix('.')?;
            one("airtable-token", word + 1 + of(Class::Hexadecimal, key, 64..=64)?)
        }
        1..=23 if first.is_ascii_digit() => {
            let numbers = |byte: &u8| byte.is_ascii_digit() || *byte == b'/';
            let numbers = text.bytes().take(48).take_while(numbers).count();
            let key = text[numbers..].strip_prefix(':')?;
            if numbers >= 18 {
                let key = of(Class::Hexadecimal, key, 32..=32)?;
                return one("asana-token", numbers + 1 + key);
            }
            // A bot's number and its key.
            let key = key.strip_prefix("AA").filter(|_| (8..=10).contains(&numbers))?;
            one("telegram-token", numbers + 3 + of(Class::Word, key, 32..=36)?)
        }
        24..=28 if matches!(first, b'M' | b'N' | b'O') => {
            // A bot's number in base64, a time, a key.
            let time = text[word..].strip_prefix('.')?;
            let key = time.get(of(Class::Word, time, 6..=6)?..)?.strip_prefix('.')?;
            one("discord-token", word + 8 + of(Class::Word, key, 27..=40)?)
        }
        36..=37 => {
            let key = of(Class::Hexadecimal, text, 32..=32)?;
            let region = text[key..word].strip_prefix("-us")?;
            region.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
            one("mailchimp-key", word)
        }
        _ => None,
    }
}

/// A block of PEM, or what is left of one that was cut; in JSON no further than its string.
fn private_key(text: &str) -> Option<Secret> {
    const BEGIN: &str = "-----BEGIN ";
    const KEY: &str = "PRIVATE KEY";
    const END: &str = "-----END ";
    let rest = text.strip_prefix(BEGIN)?;
    // Characters of a title, which are ASCII.
    let title = rest.bytes().take(40).take_while(|byte| *byte != b'-' && byte.is_ascii()).count();
    let title = &rest[..title];
    if !title.contains(KEY) || !rest[title.len()..].starts_with("-----") {
        return None;
    }
    let after = BEGIN.len() + title.len() + 5;
    let body = &text[after..];
    let body = &body[..body.find(['"', '\'', '`']).unwrap_or(body.len())];
    // One before a quote belongs to it.
    let body = body.trim_end_matches('\\');
    let to = body.find(END).map_or(body.len(), |end| {
        body[end + END.len()..].find("-----").map_or(body.len(), |at| end + END.len() + at + 5)
    });
    Some(Secret { name: "private-key", from: 0, to: after + to })
}

/// `://user:PASSWORD@`, its slashes escaped or not.
fn password_in_address(text: &str) -> Option<Secret> {
    let rest = text.strip_prefix("://").or_else(|| text.strip_prefix(":\\/\\/"))?;
    let start = text.len() - rest.len();
    let seen = cut::head(rest, LOOKED_AT);
    let end = seen.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<'));
    let authority = &seen[..end.unwrap_or(seen.len())];
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let is_placeholder = password.len() < 4 || password.starts_with(['$', '{', '<', '*', '[', '%']);
    let from = start + name.len() + 1;
    (!is_placeholder).then(|| Secret { name: "password", from, to: from + password.len() })
}

/// What follows `Bearer` or `Basic`.
fn credentials(text: &str) -> Option<Secret> {
    ["Bearer ", "bearer ", "Basic "].into_iter().find_map(|scheme| {
        let rest = text.strip_prefix(scheme)?;
        let length = Class::Symbols.length(rest);
        let has_digit = rest[..length].bytes().any(|byte| byte.is_ascii_digit());
        // Eight bytes of a name and a password, as `Basic` has them, may have no digit in base64.
        let is_basic =
            scheme == "Basic " && length.is_multiple_of(4) && rest[..length].ends_with('=');
        let is_one = length >= 16 && (has_digit || is_basic);
        is_one.then(|| Secret {
            name: "credentials",
            from: scheme.len(),
            to: scheme.len() + length,
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A rest of the shape's characters, as if drawn.
    fn example(shape: &Shape, seed: usize) -> String {
        let all: Vec<char> = (33u8..127).filter(|b| shape.rest.has(*b)).map(char::from).collect();
        let of = |at: usize| all[(seed + 1) * (at * at + 7 * at + 3) % 9973 % all.len()];
        let body: String = (0..shape.least.max(8) + seed % 9).map(of).collect();
        // A dot at an end is a sentence's, and a digit has to be there.
        format!("{}7{}a", shape.prefix, &body[1..].replace('.', "x"))
    }

    #[test]
    fn the_table_is_read_and_has_many_shapes() {
        assert!(SHAPES.len() >= 100, "{}", SHAPES.len());
        let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        assert!(names.len() >= 60, "{}", names.len());
        for (at, shape) in SHAPES.iter().enumerate() {
            let hidden = SHAPES[..at].iter().find(|before| shape.prefix.starts_with(before.prefix));
            assert!(hidden.is_none(), "{} is never reached behind {hidden:?}", shape.prefix);
        }
    }

    #[test]
    fn every_shape_is_masked_wherever_it_stands() {
        for shape in SHAPES.iter() {
            for seed in 0..20 {
                let mut secret = example(shape, seed);
                if shape.rest == Class::Hexadecimal || shape.rest == Class::Capitals {
                    secret.pop();
                    secret.push('7');
                }
                for said in [
                    secret.clone(),
                    format!("export KEY={secret}\n"),
                    format!("{{\"key\":\"{secret}\"}}"),
                    format!("{{\\\"key\\\":\\\"{secret}\\\"}}"),
                    format!("first\\n{secret}\\nlast"),
                    format!("(see {secret}, please)"),
                    format!("https://{secret}"),
                ] {
                    let out = masked(&said);
                    assert!(!out.contains(&secret[shape.prefix.len()..]), "{said} → {out}");
                    assert!(out.contains("[masked: "), "{said} → {out}");
                }
            }
        }
    }

    #[test]
    fn secrets_without_a_shape_of_their_own() {
        for (said, shown) in [
            ("postgres://app:s3cr3t!pw@db:5432/x", "postgres://app:[masked: password]@db:5432/x"),
            (
                "Authorization: Bearer abc123def456ghi789",
                "Authorization: Bearer [masked: credentials]",
            ),
            ("DB_PASSWORD=Xk29fjQ0pzLm", "DB_PASSWORD=[masked: secret]"),
            (r#""client_secret": "aB3dE6gH9jK2""#, r#""client_secret": "[masked: secret]""#),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nrest",
                "[masked: private-key]\nrest",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIE cut", "[masked: private-key]"),
            ("redis://:hunter2hunter2@cache", "redis://:[masked: password]@cache"),
            (
                "\u{1b}[1;31mghp_0123456789abcdefghijABCDEFGHIJ012345\u{1b}[0m",
                "\u{1b}[1;31m[masked: github-token]\u{1b}[0m",
            ),
            (
                r#""\u001b[32mghp_0123456789abcdefghijABCDEFGHIJ012345""#,
                r#""\u001b[32m[masked: github-token]""#,
            ),
        ] {
            assert_eq!(masked(said), shown);
        }
    }

    #[test]
    fn long_values_are_masked_whole() {
        let long = "aB3/".repeat(101);
        assert_eq!(masked(&format!("token=\"{long}=\" x")), "token=\"[masked: secret]\" x");
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for said in [
            "sk-learn and sk-something-else-that-is-long",
            "let password = read_password(&prompt_for_it);",
            "token: string, secret: SecretString",
            "max_tokens=2000, token_count: 118934, tokens: 12",
            "password: ${DB_PASSWORD} token=process.env.GITHUB_TOKEN1234",
            "https://user:$PASSWORD@example.org/ http://localhost:8080/a@b",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "commit 3f2a9c1b7d20e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
            "npm_config_registry_of_the_whole_company_network",
            "key-value and hf_hub and glc_ and AKIA",
        ] {
            assert_eq!(masked(said), said);
        }
    }

    /// Looked at to its end from each beginning, such a text takes hours.
    #[test]
    fn what_goes_on_and_on_is_looked_at_once() {
        for beginning in ["token=", "SG.", "AccountKey=", "eyJ.", "glpat-"] {
            let text = beginning.repeat(2_000_000 / beginning.len());
            assert_eq!(masked(&text), text);
        }
        let long = format!("eyJ{}", "a1".repeat(5000));
        assert_eq!(masked(&long), "[masked: jwt]");
        let long = format!("token={}", "aB3".repeat(5000));
        assert_eq!(masked(&long), "token=[masked: secret]");
    }

    proptest! {
        /// The quick look passes over nothing that the rules look at.
        #[test]
        fn ordinary_words_begin_none(word in "[-a-zA-Z0-9_]{1,30}", behind in "[ -~é]{0,30}") {
            let text = format!("{word}{behind}");
            let word = starts::word_at(text.as_bytes(), 0);
            prop_assert_eq!(is_ordinary(&ENDS, text.as_bytes(), word.clone()), begins_none(text.as_bytes(), word));
        }

        #[test]
        fn json_stays_json(
            said in prop::collection::vec(prop_oneof![
                ".{0,20}",
                Just("-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_owned()),
                Just("password: \"Xk29fjQ0pzLm\"".to_owned()),
                Just("x://u:pa\"ss\\word@h".to_owned()),
                Just("ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned()),
                Just("\\".to_owned()),
                Just("\"".to_owned()),
            ], 0..8),
        ) {
            let text = said.concat();
            let json = serde_json::json!({ "text": text, "password": text, "list": [text, 1] }).to_string();
            for json in [masked(&json).into_owned(), masked(&serde_json::Value::from(json).to_string()).into_owned()] {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            }
        }

        #[test]
        fn any_text_can_be_masked_and_again(text in ".{0,200}") {
            let once = masked(&text).into_owned();
            let twice = masked(&once).into_owned();
            prop_assert_eq!(&twice, &once);
        }
    }
}
