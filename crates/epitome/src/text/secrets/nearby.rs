//! Secrets at a distance from their names: behind the rest of a sentence, on the line below, among arguments, before a
//! pipe.

use std::ops::Range;

use super::names::NameKind;
use super::values::{Literal, is_drawn, is_hex, is_random, is_typed, is_written, strength};
use super::{LINE_ENDS, LOOKED_AT, Secret, lists, values};
use crate::text::cut;

/// So much behind a name is looked at.
const NEAR: usize = 160;

/// So much of an object behind a name is looked at: the longest keys that are drawn have less.
const OBJECT: usize = 16 * LOOKED_AT;

/// What says that a value follows.
const SAYS: &[&str] = &[
    "is", "was", "ist", "lautet", "est", "es", "to", "be", "=", "->", "→", "—", "é", "è", "это",
    "jest",
];

/// What reads a secret from a pipe.
const READERS: &[&str] = &[
    "passwd",
    "password",
    "passphrase",
    "sudo -S",
    "login",
    "secret",
    "token",
    "kinit",
    "stdin",
    "cryptsetup",
];

/// Prompts before a typed command.
const PROMPTS: &[&str] = &["$ ", "# ", "% ", "> ", ">>> ", "❯ "];

/// A word of a line: its place, and whether quotes stand around it.
struct Word<'t> {
    at: usize,
    text: &'t str,
    is_quoted: bool,
}

/// The secret that a name tells of whose value doesn't follow it. It is looked for up to `reach`; others have looked up to
/// `searched_to`.
pub(super) fn near(
    text: &str,
    name: Range<usize>,
    searched_to: usize,
    reach: usize,
    kind: NameKind,
) -> Option<Secret> {
    let Range { start: at, end } = name;
    let line = &text[end..reach];
    let searched = searched_to.saturating_sub(end);
    // A list that begins in what was searched may go on behind it.
    let from = text.ceil_char_boundary(end.max(searched_to.saturating_sub(LOOKED_AT)));
    let listed =
        |found: Option<(usize, usize)>| found.map(|(at, to)| (from - end + at, from - end + to));
    let found = match kind {
        NameKind::Password | NameKind::Key => {
            let before = before(text, at);
            let is_command = ["", "sudo "].contains(&before) || PROMPTS.contains(&before);
            in_sentence(&text[end..], line, searched, kind, is_command && line.starts_with(' '))
                .or_else(|| below(text, before, end, line, kind))
        }
        NameKind::Generator => below(text, before(text, at), end, line, kind),
        NameKind::Pair => pair(line, searched),
        NameKind::Opening | NameKind::Signing => argument(line, kind),
        NameKind::Command => switched(line),
        NameKind::Piped => piped(line),
        NameKind::Phrase => listed(lists::phrase(&text[from..reach])),
        NameKind::Codes => listed(lists::codes(&text[from..reach])),
        NameKind::Jwk => listed(lists::jwk(&text[from..], reach - from)),
        NameKind::Letters => return letters(text, at),
        NameKind::Header | NameKind::Parameter | NameKind::Code => None,
    };
    found.map(|(from, to)| Secret { name: "secret", from: end + from, to: end + to })
}

/// Up to where is looked for what a name tells of that ends at `end`, where others have looked up to `searched_to`.
pub(super) fn reach(text: &str, end: usize, searched_to: usize, kind: NameKind) -> usize {
    match kind {
        NameKind::Phrase | NameKind::Codes => cut::floor(text, end + 2 * LOOKED_AT).max(end),
        NameKind::Jwk => {
            let from = end.max(searched_to);
            let most = cut::floor(text, end + OBJECT).max(from);
            text[from..most].find(['{', '}', '[', ']']).map_or(most, |at| from + at)
        }
        // It looks before its name.
        NameKind::Letters => end,
        _ => end + line(text, end).len(),
    }
}

/// `"…".toCharArray()`, as Java has passwords, and `user:…@tcp(…`, as Go has them.
fn letters(text: &str, at: usize) -> Option<Secret> {
    let before = cut::tail(&text[..at], NEAR);
    let value = if let Some(address) = before.strip_suffix('@') {
        let pair =
            &address[address.rfind(|c: char| c.is_whitespace() || "\"'`=".contains(c))? + 1..];
        pair.split_once(':')?.1
    } else {
        let before = before.strip_suffix("\".")?;
        let before = before.strip_suffix('\\').unwrap_or(before);
        &before[before.rfind('"')? + 1..]
    };
    let from = cut::place_in(text, value);
    let is_one = strength(value) >= 2 || is_drawn(value) || is_typed(value);
    (is_one && !value.contains('\\')).then(|| Secret {
        name: "secret",
        from,
        to: from + value.len(),
    })
}

/// What is left of a line behind `at`, as far as is looked at: a word that goes on behind that isn't.
fn line(text: &str, at: usize) -> &str {
    let behind = &text[at..];
    let seen = cut::head(behind, NEAR);
    let mut ends = seen.match_indices(['\n', '\\']).map(|(at, _)| at).chain([seen.len()]);
    match ends.find(|end| ends_line(&behind[*end..])) {
        Some(end) => &seen[..end],
        None => seen.trim_end_matches(|c| !splits(c)),
    }
}

/// Whether a line ends where `behind` begins.
fn ends_line(behind: &str) -> bool {
    behind.is_empty() || LINE_ENDS.iter().any(|end| behind.starts_with(end))
}

/// What stands before `at` on its line, as far as is looked at.
fn before(text: &str, at: usize) -> &str {
    let before = cut::tail(&text[..at], NEAR);
    let before = before.rsplit('\n').next().unwrap_or(before);
    before.rsplit("\\n").next().unwrap_or(before).trim_start()
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Whether words end at a character.
fn splits(c: char) -> bool {
    c.is_whitespace()
        || QUOTES.contains(&c)
        || matches!(c, '(' | ')' | ',' | ';' | '[' | ']' | '\\')
}

/// The words of a line without quotes, brackets and what ends a clause.
fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    // Of a word behind a backslash the first letter may be an escape's.
    let is_whole =
        move |word: &&str| !word.is_empty() && !line[..cut::place_in(line, word)].ends_with('\\');
    line.split(splits).filter(is_whole).map(move |word| {
        let at = cut::place_in(line, word);
        let text = word.trim_end_matches(['.', '?', ':']);
        let text = if text.is_empty() { word } else { text };
        let is_quoted = line[..at].ends_with(QUOTES)
            && line[at + word.len()..].starts_with([QUOTES[0], QUOTES[1], QUOTES[2], '\\']);
        Word { at, text, is_quoted }
    })
}

/// `… password is generated for root@localhost: …`. `line` is the one with which `behind` begins; its words up to
/// `searched` are none.
fn in_sentence(
    behind: &str,
    line: &str,
    searched: usize,
    kind: NameKind,
    is_command: bool,
) -> Option<(usize, usize)> {
    let mut says = false;
    for Word { at, text, is_quoted } in words(line) {
        // `… is now …`
        let goes_on = says && text == "now";
        let said_by = |it: &&str| it.eq_ignore_ascii_case(text);
        let said = std::mem::replace(&mut says, goes_on || SAYS.iter().any(said_by));
        if at + text.len() <= searched {
            continue;
        }
        let says = said;
        let is_told =
            says || line[..at].trim_end_matches([' ', '"', '\'', '`']).ends_with([':', '：']);
        let rest = &behind[at + text.len()..];
        // A line ends with its string, too.
        let ends_string = || !is_quoted && ["\"", "\\\""].iter().any(|end| rest.starts_with(end));
        let is_last =
            ends_line(rest.trim_start_matches(['.', '"', '\'', ' ', '`'])) || ends_string();
        let least = if says || is_command || is_told && is_last { 2 } else { 3 };
        let is_one = if kind == NameKind::Password {
            strength(text) >= least
                || says && text.contains('-') && is_written(text, Literal::Plain)
                || is_told && (is_quoted || is_last) && is_drawn(text) && !is_hex(text)
        } else {
            let is_key = || is_drawn(text) && is_random(text) && strength(text) > 0;
            is_told && is_last && is_key() && !text.contains('+')
        };
        if is_one {
            return Some((at, at + text.len()));
        }
        if is_told && let Some(length) = lists::groups(&behind[at..]) {
            return Some((at, at + length));
        }
    }
    None
}

/// What stands alone on the line below: a sentence ends with a colon, or a command was typed.
fn below(
    text: &str,
    before: &str,
    end: usize,
    line: &str,
    kind: NameKind,
) -> Option<(usize, usize)> {
    let mut rest = &text[end + line.len()..];
    let is_typed_in = PROMPTS.iter().any(|prompt| before.contains(prompt));
    let is_told = kind != NameKind::Generator && line.trim_end().ends_with([':', '：']);
    (is_typed_in || is_told).then_some(())?;
    let mut lines = 0;
    while let Some(next) = LINE_ENDS.into_iter().find_map(|end| rest.strip_prefix(end)) {
        rest = next.trim_start_matches([' ', '\t', '\r']);
        lines += 1;
    }
    let quote =
        ["b'", "b\"", "'", "\"", "`"].into_iter().find(|it| rest.starts_with(it)).unwrap_or("");
    rest = &rest[quote.len()..];
    let seen = cut::head(rest, LOOKED_AT);
    let run = seen.find(|c: char| c.is_whitespace() || "\"'`\\".contains(c)).unwrap_or(seen.len());
    let to = values::whole(rest, 0, run);
    let behind = rest[to..].trim_start_matches([' ', '\'', '"', '`']);
    let is_alone = ends_line(behind) || behind.starts_with('\r');
    let value = &seen[..run];
    let is_hash = value.len() == 40 && is_hex(value);
    let is_strong = is_typed_in || kind == NameKind::Password;
    let is_one = is_drawn(value) && !is_hash || is_strong && strength(value) >= 2;
    let from = cut::place_in(&text[end..], rest);
    ((1..=3).contains(&lines) && is_alone && is_one).then_some((from, from + to))
}

/// `log in with deploy / …`.
fn pair(line: &str, searched: usize) -> Option<(usize, usize)> {
    let mut is_second = false;
    for Word { at, text, .. } in words(line) {
        if at + text.len() <= searched {
            is_second = text == "/";
            continue;
        }
        let (second, host) = match text.split_once(['/', ':']) {
            Some((first, second)) if first.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                second.split_once('@').filter(|(it, _)| strength(it) > 1).unwrap_or((second, ""))
            }
            _ if is_second => (text, ""),
            _ => ("", ""),
        };
        let is_given = text.len() > second.len() + host.len() + 1 && !host.is_empty();
        if strength(second) >= 3 || is_given {
            let to = at + text.len() - host.len() - usize::from(!host.is_empty());
            return Some((to - second.len(), to));
        }
        is_second = text == "/";
    }
    None
}

/// A literal that is given to a call, whose arguments begin a line.
fn argument(line: &str, kind: NameKind) -> Option<(usize, usize)> {
    const ALGORITHMS: &[&str] =
        &["aes", "sha", "md5", "hmac", "rsa", "des", "utf", "ascii", "base64", "chacha"];
    let is_named = |text: &str| {
        ALGORITHMS
            .iter()
            .any(|it| text.get(..it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it)))
    };
    words(line).filter(|word| word.is_quoted && !is_named(word.text)).find_map(
        |Word { at, text, .. }| {
            let is_first = !line[..at].contains(',');
            let is_one = match kind {
                NameKind::Opening => {
                    !is_first && (strength(text) >= 2 || is_drawn(text) && is_random(text))
                }
                _ => is_drawn(text) || is_typed(text),
            };
            is_one.then_some((at, at + text.len()))
        },
    )
}

/// `net use … /user:me …`, `xfreerdp … /p:…`.
fn switched(line: &str) -> Option<(usize, usize)> {
    words(line).find_map(|Word { at, text, .. }| {
        let value = text.strip_prefix("/p:").unwrap_or(text);
        let is_one = strength(value) >= 3 || is_drawn(value) || is_typed(value);
        let to = at + text.len();
        (is_one && !value.contains(['/', ':'])).then_some((to - value.len(), to))
    })
}

/// `echo … | sudo -S`.
fn piped(line: &str) -> Option<(usize, usize)> {
    let (said, reader) = line.split_once('|')?;
    READERS.iter().any(|it| reader.contains(it)).then_some(())?;
    let Word { at, text, .. } = words(said).last()?;
    let value = text.rsplit_once(':').map_or(text, |(_, value)| value);
    let to = at + text.len();
    (strength(value) >= 2 || is_drawn(value)).then_some((to - value.len(), to))
}
