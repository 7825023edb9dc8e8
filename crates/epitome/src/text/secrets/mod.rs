//! Masking secrets in what is shown or written anew: keys and tokens by their shapes, private keys, passwords in
//! addresses, values that are called a secret, and all of these in base64.
//!
//! What is kept stays as it is. A shape begins at the beginning of a
//! word, so that no part of a longer text is taken for a secret, and its rest has a digit.

mod base64;
mod blocks;
mod called;
mod commands;
mod ends;
mod names;
mod patterns;
mod starts;
mod values;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use super::cut;
use base64::Run;
use blocks::private_key;
use called::{called_so, may_be_said};
use commands::given;
use ends::{ENDS, Ends, Told};
use names::may_be_named;
use patterns::patterned;
use starts::Starts;
use values::is_drawn;

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
    Numbers,
    Small,
    Lines,
    Printed,
}

impl Class {
    /// How many there are.
    const ALL: usize = Class::Printed as usize + 1;

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "a" => Class::Alphanumeric,
            "u" => Class::Capitals,
            "h" => Class::Hexadecimal,
            "w" => Class::Word,
            "d" => Class::Dotted,
            "s" => Class::Symbols,
            "n" => Class::Numbers,
            "l" => Class::Small,
            "b" => Class::Lines,
            "p" => Class::Printed,
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
            Class::Numbers => byte.is_ascii_digit(),
            Class::Small => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Class::Lines => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'/' | b'+' | b'=' | b'\n' | b'\r' | b'\\')
            }
            Class::Printed => Class::Symbols.has(byte) || matches!(byte, b'$' | b'%' | b':'),
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
    let shape = |row: &'static str| {
        let mut cells = row.split(' ');
        let (name, prefix) = (cells.next()?, cells.next()?);
        let (rest, least) = (Class::named(cells.next()?)?, cells.next()?.parse().ok()?);
        Some(Shape { name, prefix, rest, least })
    };
    let shapes = rows().filter(|row| row.matches(' ').count() > 1);
    shapes.map(|row| shape(row).expect("a test reads every row")).collect()
});

fn rows() -> impl Iterator<Item = &'static str> {
    let table = include_str!("../../../data/secrets.txt");
    table.lines().filter(|row| !row.starts_with('#') && !row.is_empty())
}

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
    /// Up to here all secrets are found.
    done: usize,
    /// Up to here there is base64 that hides nothing.
    harmless: usize,
}

impl<'t> Secrets<'t> {
    fn of(text: &'t str, unwrapping: Unwrapping) -> Self {
        let starts = Starts::of(text.as_bytes());
        Secrets { text, starts, at: 0, word: 0..0, unwrapping, done: 0, harmless: 0 }
    }

    /// The secret that begins where a word or a part of it does, or is told by it, if one does.
    fn found(&mut self) -> Option<Secret> {
        if is_ordinary(&ENDS, self.text.as_bytes(), self.at..self.word.end) {
            return None;
        }
        let rest = &self.text[self.at..];
        let found = found(self.text, self.at, self.word.end, self.done);
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
                password_in_address(&self.text[self.at..]).map(|secret| secret.behind(self.at))
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
fn is_ordinary(ends: &Ends, bytes: &[u8], word: Range<usize>) -> bool {
    match ends.tell(bytes, word.start, word.end) {
        Told::Nothing => true,
        Told::Name => !(may_be_said(&bytes[word.end..]) && may_be_named(&bytes[word])),
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
        [b'-', ..] | [b'B' | b'b', b'a' | b'A' | b'e' | b'E', ..] => true,
        // A number before a key, a port.
        [b'b', b'o', .., b'0'..=b'9'] => behind.first() == Some(&b':'),
        [b'0'..=b'9', ..] => {
            word.len() >= LEAST_NUMBER || matches!(behind.first(), Some(b'/' | b':'))
        }
        _ => false,
    };
    // Keys that are told by what stands in their middle, and what may be base64.
    let is_long = matches!(word.len(), LEAST_LONG | 17) || word.len() >= base64::LEAST;
    let is_run = || {
        let digits = || base64::length(&behind[..behind.len().min(base64::LEAST)]);
        matches!(behind.first(), Some(b'+' | b'/')) && word.len() + digits() >= base64::LEAST
    };
    let is_called = || may_be_said(behind) && may_be_named(word);
    // Of a shape the first two bytes stand in its word.
    let is_shaped = || word.len() > 1 && BY_FIRST.begins(text);
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
    let found = shaped(rest).or_else(|| patterned(rest)).map(|secret| secret.behind(at));
    let found = found.or_else(|| match first {
        b'-' => private_key(text, at, done).or_else(|| given(text, at, end)),
        b'B' | b'b' => credentials(rest).map(|secret| secret.behind(at)),
        b'0'..=b'9' => password_of_port(text, at, end),
        _ => None,
    });
    found.or_else(|| called_so(text, at, end))
}

fn shaped(text: &str) -> Option<Secret> {
    BY_FIRST.of(text.as_bytes()).iter().find_map(|at| {
        let shape = &SHAPES[*at];
        let rest = text.strip_prefix(shape.prefix)?;
        if shape.rest == Class::Lines {
            return lines(shape, text);
        }
        let body = shape.rest.beginning(rest).trim_end_matches('.');
        let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
        let is_one = body.len() >= shape.least && has_digit;
        is_one.then(|| {
            let body = rest[..shape.rest.length(rest)].trim_end_matches('.');
            Secret { name: shape.name, from: 0, to: shape.prefix.len() + body.len() }
        })
    })
}

/// A shape of which the rest goes on for lines.
fn lines(shape: &Shape, text: &str) -> Option<Secret> {
    let rest = &text[shape.prefix.len()..];
    let space = rest.bytes().take_while(|byte| *byte == b' ').count();
    let all = &rest[space..][..shape.rest.length(&rest[space..])];
    // A word on a line that isn't a block's whole line.
    let all = if rest[space + all.len()..].starts_with(['-', ' ', ':', '.']) {
        &all[..all.rfind('\n').or_else(|| all.rfind("\\n")).unwrap_or(all.len())]
    } else {
        all.trim_end_matches(['\n', '\r', '\\'])
    };
    let to = shape.prefix.len() + space + all.len();
    (all.len() >= shape.least).then_some(Secret { name: shape.name, from: 0, to })
}

/// `://user:PASSWORD@`, its slashes escaped or not.
fn password_in_address(text: &str) -> Option<Secret> {
    let rest = text.strip_prefix("://").or_else(|| text.strip_prefix(":\\/\\/"))?;
    let start = text.len() - rest.len();
    let seen = cut::head(rest, LOOKED_AT);
    let end = seen.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<'));
    let seen = &seen[..end.unwrap_or(seen.len())];
    let slash = seen.find('/').unwrap_or(seen.len());
    let one =
        |from: usize, to: usize| Secret { name: "password", from: start + from, to: start + to };
    let Some(at) = seen[..slash].rfind('@') else {
        // A slash that nobody escaped.
        let colon = seen[..slash].find(':')?;
        let at = slash + seen[slash..].find('@')?;
        let is_drawn = is_drawn(&seen[colon + 1..at]) && values::is_random(&seen[colon + 1..at]);
        return is_drawn.then(|| one(colon + 1, at));
    };
    let Some((name, password)) = seen[..at].split_once(':') else {
        return is_drawn(&seen[..at]).then(|| one(0, at));
    };
    let is_example = password == name || values::EXAMPLES.contains(&password);
    let is_placeholder = password.len() < 4 || password.starts_with(['$', '{', '<', '*', '[', '%']);
    // Some write the secret first.
    let from = if is_drawn(name) { 0 } else { name.len() + 1 };
    (!is_placeholder && !is_example).then(|| one(from, at))
}

/// `host:5432:database:user:PASSWORD`, of which the port begins at `at`.
fn password_of_port(text: &str, at: usize, end: usize) -> Option<Secret> {
    let is_port = (4..=5).contains(&(end - at)) && text[..at].ends_with(':');
    let mut from = end;
    for names in (0..3).rev() {
        from += text[from..].strip_prefix(':').filter(|_| is_port).map(|_| 1)?;
        let seen = cut::head(&text[from..], 64);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-*.".contains(c);
        let length = seen.find(|c| !is_name(c)).unwrap_or(seen.len());
        if names > 0 {
            text[from + length..].starts_with(':').then_some(())?;
            from += length;
        }
    }
    let length = values::run(text, from, None);
    let value = &text[from..from + length];
    let is_one = !value.contains(':') && (values::is_typed(value) || is_drawn(value));
    is_one.then(|| Secret { name: "password", from, to: from + length })
}

/// What follows `Bearer` or `Basic`.
fn credentials(text: &str) -> Option<Secret> {
    ["bearer ", "basic "].into_iter().find_map(|scheme| {
        text.get(..scheme.len()).filter(|it| it.eq_ignore_ascii_case(scheme))?;
        let rest = &text[scheme.len()..];
        let length = Class::Symbols.length(rest);
        let seen = Class::Symbols.beginning(rest);
        let has_digit = seen.bytes().any(|byte| byte.is_ascii_digit());
        // Eight bytes of a name and a password, as `Basic` has them, may have no digit in base64.
        let is_basic = length.is_multiple_of(4) && (seen.ends_with('=') || is_drawn(seen));
        let is_one = length >= 16 && if scheme == "basic " { is_basic } else { has_digit };
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
                Just("\tMIIEabcdefghijklmnop\nabc=\n-----END RSA PRIVATE KEY-----".to_owned()),
                Just("curl -u a:\u{1}Xk29fjQ0 -p\tXk29fjQ0pzLm\nmysql -p".to_owned()),
                Just("Private-Lines: 2\n0123456789abcdef\n".repeat(3)),
                Just("Cookie: a=Xk29fjQ0pzLm; password:\n".to_owned()),
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
