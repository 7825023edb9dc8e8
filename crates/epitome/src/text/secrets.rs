//! Masking secrets in what is shown: keys and tokens by their shapes, private keys, passwords in addresses,
//! and values that are called a secret.
//!
//! What is kept stays as it is; only what goes out of a search is masked. A shape begins at the beginning of a
//! word, so that no part of a longer text is taken for a secret, and its rest has a digit.

use std::borrow::Cow;
use std::sync::LazyLock;

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
            Class::Symbols => Class::Dotted.has(byte) || matches!(byte, b'/' | b'+' | b'='),
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
    let table = include_str!("../../data/secrets.txt");
    let rows = table.lines().filter(|row| !row.starts_with('#') && !row.is_empty());
    let shape = |row: &'static str| {
        let mut cells = row.split(' ');
        let (name, prefix) = (cells.next()?, cells.next()?);
        let (rest, least) = (Class::named(cells.next()?)?, cells.next()?.parse().ok()?);
        Some(Shape { name, prefix, rest, least })
    };
    rows.map(|row| shape(row).expect("a test reads every row")).collect()
});

/// What values are called that are secrets, without `_` and `-`, in lower case.
const CALLED: [&str; 14] = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "clientsecret",
    "secretkey",
    "apikey",
    "accesskey",
    "secretaccesskey",
    "privatekey",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "token",
];

/// In so many characters it shows whether something is a secret. Beginnings follow one another without a
/// gap in what is made for that, so that looking at all that follows each would never end.
const LOOKED_AT: usize = 256;

/// Digits and semicolons of a color.
const LONGEST_COLOR: usize = 24;

/// A value with fewer characters is rather a word, or a placeholder.
const LEAST_VALUE: usize = 12;

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
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let is_start = at == 0
            || !Class::Word.has(bytes[at - 1])
            || is_escape(bytes, at)
            || ends_color(bytes, at);
        // Secrets and what leads to them begin with a letter, a digit or a dash.
        let may_begin = bytes[at].is_ascii_alphanumeric() || bytes[at] == b'-' || bytes[at] == b':';
        if !may_begin || !(is_start || bytes[at] == b':') {
            at += 1;
            continue;
        }
        match found(&text[at..]) {
            Some(Secret { name, from, to }) => {
                out.push_str(&text[done..at + from]);
                out.push_str("[masked: ");
                out.push_str(name);
                out.push(']');
                at += to;
                done = at;
            }
            None => at += 1,
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Whether the letter before is of an escape, as in `\nghp_…`.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r')
}

/// Whether what stands before is a terminal's color, as in `\x1b[31mghp_…`, plain or as JSON has it.
fn ends_color(bytes: &[u8], at: usize) -> bool {
    let Some(before) = bytes[..at].strip_suffix(b"m") else { return false };
    let numbers = before.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';');
    let before = &before[..before.len() - numbers.take(LONGEST_COLOR).count()];
    let before = before.strip_suffix(b"[");
    let escapes: [&[u8]; 5] = [b"\x1b", b"u001b", b"u001B", b"x1b", b"033"];
    before.is_some_and(|before| escapes.iter().any(|escape| before.ends_with(escape)))
}

/// A secret near the beginning of a text: its bytes.
struct Secret {
    name: &'static str,
    from: usize,
    to: usize,
}

fn found(text: &str) -> Option<Secret> {
    shaped(text)
        .or_else(|| private_key(text))
        .or_else(|| password_in_address(text))
        .or_else(|| credentials(text))
        .or_else(|| called_so(text))
}

fn shaped(text: &str) -> Option<Secret> {
    SHAPES.iter().find_map(|shape| {
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

/// A block of PEM, or what is left of one that was cut.
fn private_key(text: &str) -> Option<Secret> {
    const BEGIN: &str = "-----BEGIN ";
    const KEY: &str = "PRIVATE KEY";
    let rest = text.strip_prefix(BEGIN)?;
    let title = &rest[..rest.find("-----")?];
    if title.len() > 40 || !title.contains(KEY) {
        return None;
    }
    let after = BEGIN.len() + title.len() + 5;
    let end = text[after..].find("-----END ").map(|at| after + at);
    let to = end.map_or(text.len(), |end| {
        text[end + 9..].find("-----").map_or(text.len(), |at| end + 9 + at + 5)
    });
    Some(Secret { name: "private-key", from: 0, to })
}

/// `://user:PASSWORD@`.
fn password_in_address(text: &str) -> Option<Secret> {
    let rest = text.strip_prefix("://")?;
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<'));
    let authority = &rest[..end.unwrap_or(rest.len())];
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let is_placeholder = password.len() < 4 || password.starts_with(['$', '{', '<', '*', '[', '%']);
    let from = 3 + name.len() + 1;
    (!is_placeholder).then(|| Secret { name: "password", from, to: from + password.len() })
}

/// What follows `Bearer` or `Basic`.
fn credentials(text: &str) -> Option<Secret> {
    ["Bearer ", "bearer ", "Basic "].into_iter().find_map(|scheme| {
        let rest = text.strip_prefix(scheme)?;
        let length = Class::Symbols.length(rest);
        let has_digit = rest[..length].bytes().any(|byte| byte.is_ascii_digit());
        let is_one = length >= 16 && has_digit;
        is_one.then(|| Secret {
            name: "credentials",
            from: scheme.len(),
            to: scheme.len() + length,
        })
    })
}

/// `password = "…"`, `"api_key": "…"`, `SECRET_KEY=…`: a value of letters and digits that looks drawn.
fn called_so(text: &str) -> Option<Secret> {
    let length = Class::Word.length(text);
    let bare: String = text[..length.min(64)]
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if !CALLED.iter().any(|name| bare.ends_with(name)) {
        return None;
    }
    let rest = &text[length..];
    let value = rest.trim_start_matches(['"', '\'', '\\', ' ']).strip_prefix([':', '='])?;
    let value = value.trim_start_matches(['"', '\'', '\\', ' ']);
    let from = text.len() - value.len();
    let all = value;
    let value = Class::Symbols.beginning(all);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let cases = value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase());
    let is_hex = Class::Hexadecimal.length(value) == value.len();
    let is_drawn = digits >= 2 && letters >= 4 && (cases || is_hex);
    // A path, a name with dots or a call is no value of that kind; none is as long as what isn't looked at to its end.
    let is_code = value.contains(['.', '/']) && !value.ends_with('=') && value.len() < LOOKED_AT
        || all[value.len()..].starts_with(['(', '[']);
    let is_one = value.len() >= LEAST_VALUE && is_drawn && !is_code;
    is_one.then(|| Secret { name: "secret", from, to: from + Class::Symbols.length(all) })
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
        #[test]
        fn any_text_can_be_masked_and_again(text in ".{0,200}") {
            let once = masked(&text).into_owned();
            let twice = masked(&once).into_owned();
            prop_assert_eq!(&twice, &once);
        }
    }
}
