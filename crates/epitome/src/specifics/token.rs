//! The class of a single token, by its bytes.

use super::Class;
use crate::word_list::words;

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const MARK: u8 = 8;
/// Stands in tokens and makes none a specific: hyphens and letters beyond ASCII.
const OTHER: u8 = 16;

/// What each byte is; 0 ends a token.
const TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = match at as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'/' | b'.' | b':' | b'~' | b'@' | b'$' | b'%' | b'#' | b'+' => MARK,
            b'-' => OTHER,
            128.. => OTHER,
            _ => 0,
        };
        at += 1;
    }
    table
};

/// The length of the separator that `bytes` begin with; 0 inside a token.
pub(super) fn sign(bytes: &[u8]) -> usize {
    match bytes {
        // General punctuation, arrows and other symbols; punctuation of CJK; full-width forms; « and ».
        [0xe2, _, _, ..] | [0xe3, 0x80, _, ..] | [0xef, 0xbc, _, ..] => 3,
        [0xc2, _, ..] => 2,
        // Escapes of a JSON text that stands in a text.
        [b'\\', b'u', rest @ ..]
            if rest.len() >= 4 && rest[..4].iter().all(u8::is_ascii_hexdigit) =>
        {
            6
        }
        [b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'"' | b'\\' | b'/', ..] => 2,
        [byte, ..] => usize::from(TABLE[*byte as usize] == 0),
        [] => 1,
    }
}

/// Which kinds of bytes a token has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    any: u8,
    uppers: u8,
}

impl Bits {
    pub(super) fn add(&mut self, byte: u8) {
        let bit = TABLE[byte as usize];
        self.any |= bit;
        self.uppers = self.uppers.saturating_add(u8::from(bit == UPPER));
    }

    /// Whether it can be nothing but a word.
    pub(super) fn is_plain(self) -> bool {
        self.any & (DIGIT | MARK) == 0
            && self.uppers < 2
            && !(self.any & OTHER != 0 && self.any & LOWER != 0)
    }
}

/// The token without marks that end a sentence around it.
pub(super) fn trim(bytes: &[u8], mut from: usize, mut to: usize) -> (usize, usize) {
    while to > from
        && matches!(
            bytes[to - 1],
            b'.' | b',' | b':' | b'?' | b'=' | b'&' | b'\\' | b'#' | b'+' | b'@'
        )
    {
        to -= 1;
    }
    while from < to {
        from += match &bytes[from..to] {
            [b'.', b'.', b'.', ..] => 3,
            [b',' | b':' | b'=' | b'?' | b'&' | b'+' | b'#' | b'\\' | b'%', ..] => 1,
            _ => break,
        };
    }
    (from, to)
}

/// The length of the end of an escape sequence that a token begins with: `255m`.
pub(super) fn colour(token: &[u8]) -> usize {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_colour = digits <= 3 && token.get(digits) == Some(&b'm');
    if digits > 0 && is_colour { digits + 1 } else { 0 }
}

/// The class of a token; `None` for a word.
pub(super) fn class(token: &str) -> Option<Class> {
    let bytes = token.as_bytes();
    let has = |wanted: u8| bytes.iter().any(|byte| TABLE[*byte as usize] == wanted);
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if let Some((scheme, rest)) = token.split_once("://") {
        let is_scheme =
            !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
        return (is_scheme && rest.len() > 2).then_some(Class::Url);
    }
    if letters == 0 {
        let is_number = digits >= 3 || digits >= 2 && token.contains(['.', '$', '%']);
        return is_number.then_some(Class::Number);
    }
    if is_path(token) {
        return Some(Class::Path);
    }
    if is_uuid_or_hash(token, digits) {
        return Some(Class::Id);
    }
    if is_error(token) {
        return Some(Class::Error);
    }
    // A number with a unit: `45s`, `10k`, `3.5MB`.
    if digits > 0 && letters <= 2 && bytes[0].is_ascii_digit() {
        let is_number = digits >= 3 || token.contains('.');
        return is_number.then_some(Class::Number);
    }
    let is_name = bytes.iter().all(|b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'@' | b'#' | b'$')
    });
    // A measure in words: `15-minute`.
    if token.split_once('-').is_some_and(|(number, unit)| {
        number.len() <= 3
            && number.bytes().all(|b| b.is_ascii_digit())
            && unit.bytes().all(|b| b.is_ascii_lowercase())
    }) && digits > 0
    {
        return None;
    }
    let is_code = digits >= 1 && !has(LOWER);
    if (digits >= 2 || is_code) && is_name && token.len() >= 5 && !token.contains(':') {
        return Some(Class::Id);
    }
    if token.starts_with("--") && letters >= 2 {
        return Some(Class::Identifier);
    }
    if !is_name {
        // `key=value`, `a@b`: the whole is what may be needed.
        let is_pair =
            token.contains('=') && has(DIGIT) || token.contains('@') && token.contains('.');
        return is_pair.then_some(Class::Id);
    }
    let inner = token.trim_matches(['_', '.', ':', '$', '#', '@', '-']);
    let is_humped = inner
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_joined = inner.contains('_') || inner.contains("::");
    let is_dotted =
        inner.contains('.') && inner.split('.').all(|part| part.len() >= 2) && is_member(inner);
    (is_humped || is_joined || is_dotted).then_some(Class::Identifier)
}

/// A path without the line that stands behind it: `src/main.rs:12:5` is `src/main.rs`.
pub(super) fn without_line(path: &str) -> &str {
    let is_line = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let cut = path.match_indices(':').find(|(at, _)| *at > 1 && is_line(&path[at + 1..]));
    cut.map_or(path, |(at, _)| &path[..at])
}

/// `object.member`, not the end of one sentence and the beginning of the next.
fn is_member(token: &str) -> bool {
    token
        .split('.')
        .skip(1)
        .all(|part| !part.starts_with(|c: char| c.is_ascii_uppercase()) || part.contains('_'))
}

/// A file name, or names with slashes between them.
fn is_path(token: &str) -> bool {
    let token = without_line(token);
    let is_windows = token.len() > 3 && token.as_bytes()[1] == b':' && token.contains('\\');
    if is_windows || token.starts_with("~/") && token.len() > 3 {
        return true;
    }
    let mut parts = token.split('/').filter(|part| !part.is_empty());
    let Some(last) = parts.next_back() else { return false };
    let count = 1 + parts.count();
    if token.contains('/') {
        let is_rooted =
            token.starts_with('/') || token.starts_with("./") || token.starts_with("../");
        // Words with slashes between them may be a choice: `input/output/cached`.
        let is_plain = token.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'/');
        let is_relative = count >= 3 && !is_plain
            || count >= 2 && (has_extension(last) || token.contains('.') || token.ends_with('/'));
        return is_rooted && (count >= 2 || has_extension(last))
            || is_relative && !token.contains('=');
    }
    has_extension(last) && is_file_name(last)
}

fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        KNOWN.contains(&ending) && !stem.is_empty() || stem.is_empty() && ending.len() >= 3
    })
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=8).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
            && ending.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// Endings that make a name without a folder a file.
const KNOWN: [&str; 60] = [
    "bash", "bat", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "env", "ex", "exs",
    "gif", "go", "gz", "h", "hpp", "html", "ini", "ipynb", "java", "jpg", "js", "json", "jsonl",
    "jsx", "kt", "lock", "log", "lua", "md", "mjs", "pdf", "php", "pl", "png", "proto", "ps1",
    "py", "rb", "rs", "rst", "scss", "sh", "sql", "svg", "swift", "tar", "tf", "toml", "ts", "tsx",
    "txt", "vue", "xml", "yaml", "yml", "zip",
];

fn is_uuid_or_hash(token: &str, digits: usize) -> bool {
    token.len() >= 7
        && digits >= 1
        && token.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && token.bytes().any(|b| b.is_ascii_alphabetic())
}

/// `ValueError`, `ENOENT`.
fn is_error(token: &str) -> bool {
    let name = token.rsplit(['.', ':']).next().unwrap_or(token);
    let is_named = ["Error", "Exception", "Warning", "Failure"]
        .iter()
        .any(|end| name.len() > end.len() && name.ends_with(end));
    let is_errno = name.len() >= 5
        && name.starts_with('E')
        && name.bytes().all(|b| b.is_ascii_uppercase())
        && words!(
            "ENOENT EACCES EEXIST EPERM EINVAL EPIPE EADDRINUSE ECONNREFUSED ECONNRESET ETIMEDOUT \
             ENOTFOUND EISDIR ENOTDIR ENOSPC EMFILE EAGAIN EBUSY"
        )
        .contains(&name);
    is_named || is_errno
}
