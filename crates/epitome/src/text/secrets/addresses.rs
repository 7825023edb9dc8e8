//! Passwords in addresses, behind ports, and behind the words of a header.

use super::values::is_drawn;
use super::{Class, LOOKED_AT, Secret, values};
use crate::text::cut;

/// `://user:PASSWORD@`, its slashes escaped or not.
pub(super) fn password_in_address(text: &str) -> Option<Secret> {
    let rest = text.strip_prefix("://").or_else(|| text.strip_prefix(":\\/\\/"))?;
    let start = text.len() - rest.len();
    let seen = cut::head(rest, LOOKED_AT);
    let end = seen.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<'));
    let seen = &seen[..end.unwrap_or(seen.len())];
    let slash = seen.find('/').unwrap_or(seen.len());
    let one =
        |from: usize, to: usize| Secret { name: "password", from: start + from, to: start + to };
    let Some(at) = seen[..slash].rfind('@') else {
        // An unescaped slash.
        let colon = seen[..slash].find(':')?;
        let at = slash + seen[slash..].find('@')?;
        let is_drawn = is_drawn(&seen[colon + 1..at]) && values::is_random(&seen[colon + 1..at]);
        return is_drawn.then(|| one(colon + 1, at));
    };
    let Some((name, password)) = seen[..at].split_once(':') else {
        return is_drawn(&seen[..at]).then(|| one(0, at));
    };
    let is_example = password == name || values::EXAMPLES.contains(&password);
    let is_placeholder = password.len() < 4
        || password.starts_with(['$', '{', '<', '*', '[', '%'])
        || is_capitals(name) && is_capitals(password);
    // Some write the secret first.
    let from = if is_drawn(name) { 0 } else { name.len() + 1 };
    (!is_placeholder && !is_example).then(|| one(from, at))
}

/// `USER:PASSWORD`, as documentation writes placeholders.
fn is_capitals(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// `host:5432:database:user:PASSWORD`, whose port begins at `at`.
pub(super) fn password_of_port(text: &str, at: usize, end: usize) -> Option<Secret> {
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
pub(super) fn credentials(text: &str) -> Option<Secret> {
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
