//! One pass over a text for what can be looked up exactly: ids, addresses, paths, figures.

use super::Taken;
use super::figure::figure;
use crate::text::octets::{Octets, Runs, Told};

/// Something worth an exact copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Find<'a> {
    /// An id, with the name that stood before it.
    Id {
        label: Option<&'a str>,
        id: &'a str,
    },
    Url(&'a str),
    Path(&'a str),
    /// A figure with its unit and the few words before it.
    Number(&'a str),
}

/// Nothing longer is an anchor.
const MAX_TOKEN: usize = 200;

/// What stands behind an address and is no part of it.
const BEHIND_URL: [char; 11] = ['.', ',', ':', '!', '?', '\'', ';', '(', '[', '&', '*'];

/// Calls `found` for every find in `text` that is `wanted`, in order, while it says to go on.
pub(super) fn scan<'a>(text: &'a str, wanted: Taken, mut found: impl FnMut(Find<'a>) -> bool) {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), previous: 0..0, recent: [0; 4] };
    let mut runs = Runs::of(scanner.bytes, is_of_token, |eight| tells(eight, wanted));
    let mut at = 0;
    while let Some((run, is_telling)) = runs.next_from(at) {
        let start = run.start;
        if !is_telling {
            scanner.pass(run.clone());
            at = run.end;
            continue;
        }
        at = start;
        let mut seen = 0;
        while at < text.len() {
            let class = CLASSES[scanner.bytes[at] as usize];
            if class & END != 0 {
                break;
            }
            if class & WIDE != 0 {
                let c = text[at..].chars().next().expect("there is a byte, so there is a char");
                // Letters belong to words; marks and scripts without spaces separate.
                if !c.is_alphanumeric() || c >= '\u{2e80}' {
                    at += if at == start { c.len_utf8() } else { 0 };
                    break;
                }
                at += c.len_utf8();
            } else {
                at += 1;
            }
            seen |= class;
        }
        // Ids have a digit, addresses `://`.
        let may_be = match wanted {
            Taken::All => seen & (DIGIT | SLASH | DOT) != 0,
            Taken::Exact => seen & DIGIT != 0 || seen & (COLON | SLASH) == COLON | SLASH,
        };
        if may_be {
            let Some(next) = scanner.token(start, at, seen, wanted, &mut found) else { return };
            at = next;
        }
        scanner.pass(start..at);
    }
}

/// Bytes that end no token.
#[inline]
fn is_of_token(eight: Octets) -> Told {
    let signs = eight.within(b'#', b'&').or(eight.are(b'!')).or(eight.are(b'+'));
    let figures = eight.within(b'-', b':').or(eight.are(b'_')).or(eight.are(b'~'));
    let letters = eight.within(b'?', b'Z').or(eight.within(b'a', b'z'));
    signs.or(figures).or(letters).or(eight.ascii().not())
}

/// Bytes of which every token has one that may be something, and those that may end one by what they are.
#[inline]
fn tells(eight: Octets, wanted: Taken) -> Told {
    let telling = match wanted {
        // Digits and the colon; digits, the slash and the dot.
        Taken::Exact => eight.within(b'0', b':'),
        Taken::All => eight.within(b'.', b'9'),
    };
    telling.or(eight.ascii().not())
}

const END: u16 = 1;
const WIDE: u16 = 1 << 1;
const DIGIT: u16 = 1 << 2;
/// `a` to `f`.
const HEX: u16 = 1 << 3;
/// `g` to `z`.
const LOWER: u16 = 1 << 4;
const UPPER: u16 = 1 << 5;
const SLASH: u16 = 1 << 6;
const DOT: u16 = 1 << 7;
const DASH: u16 = 1 << 8;
const UNDER: u16 = 1 << 9;
const COLON: u16 = 1 << 10;
const MARK: u16 = 1 << 11;

const CLASSES: [u16; 256] = {
    let mut table = [END; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => HEX,
            b'g'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'/' => SLASH,
            b'.' => DOT,
            b'-' => DASH,
            b'_' => UNDER,
            b':' => COLON,
            b'#' | b'@' | b'+' | b'%' | b'~' | b'&' | b'$' | b'!' | b'?' => MARK,
            0x80..=0xff => WIDE,
            _ => END,
        };
        byte += 1;
    }
    table
};

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    previous: std::ops::Range<usize>,
    /// Where the last tokens began.
    recent: [u32; 4],
}

impl<'a> Scanner<'a> {
    /// Goes past a token.
    fn pass(&mut self, token: std::ops::Range<usize>) {
        let [_, third, second, last] = self.recent;
        self.recent = [third, second, last, token.start as u32];
        self.previous = token;
    }

    /// Looks at one token; where the scan goes on, if it does.
    fn token(
        &mut self,
        start: usize,
        end: usize,
        seen: u16,
        wanted: Taken,
        found: &mut impl FnMut(Find<'a>) -> bool,
    ) -> Option<usize> {
        if end - start > 2 * MAX_TOKEN {
            // Data, or an address that nobody types. Not looked into: that would be quadratic.
            return Some(end);
        }
        let token = &self.text[start..end];
        if seen & (COLON | SLASH) == COLON | SLASH
            && let Some(scheme) = scheme(token)
        {
            let after = start + scheme + "://".len();
            if !token[..scheme].bytes().all(|b| b.is_ascii_alphanumeric()) {
                return Some(after);
            }
            let end = self.end_of_url(start, after);
            let url = self.text[start..end].trim_end_matches(BEHIND_URL);
            let is_one = scheme > 1 && url.len() > scheme + 6 && url.len() <= MAX_TOKEN;
            return (!is_one || found(Find::Url(url))).then_some(end);
        }
        let word = bare(token);
        if word.len() < 2 || word.len() > MAX_TOKEN {
            return Some(end);
        }
        let id = if seen & DIGIT != 0 { self.id(word, start, end, seen) } else { None };
        let find = match (id, wanted) {
            (Some(id), _) => Some(id),
            (None, Taken::Exact) => None,
            (None, Taken::All) => {
                let path = if seen & (SLASH | DOT) != 0 { path(word) } else { None };
                let from = self.recent[1] as usize;
                let number = || figure(self.text, word, start..end, from).map(Find::Number);
                path.map(Find::Path).or_else(number)
            }
        };
        find.is_none_or(found).then_some(end)
    }

    /// The end of the URL of which the host is at `start`: white space, quotes or a bracket that it didn't open.
    fn end_of_url(&self, scheme: usize, start: usize) -> usize {
        let mut open = 0_usize;
        let is_quoted = scheme > 0 && self.bytes[scheme - 1] == b'\'';
        let ends = |byte: u8| {
            byte <= b' '
                || (byte == b'\'' && is_quoted)
                || matches!(byte, b'"' | b'<' | b'>' | b'`' | b'|' | b'\\' | b'{' | b'}' | 0x7f)
        };
        for (at, &byte) in self.bytes[start..].iter().enumerate().take(2 * MAX_TOKEN) {
            match byte {
                b'(' | b'[' => open += 1,
                b')' | b']' if open == 0 => return start + at,
                b')' | b']' => open -= 1,
                byte if ends(byte) || byte >= 0x80 => return start + at,
                _ => {}
            }
        }
        self.text.ceil_char_boundary((start + 2 * MAX_TOKEN).min(self.text.len()))
    }

    /// The token as an id, by its own shape or by the name before it.
    fn id(&self, word: &'a str, start: usize, end: usize, seen: u16) -> Option<Find<'a>> {
        let seen = seen & !(COLON | if word.contains('.') { 0 } else { DOT });
        let only = |classes: u16| seen & !classes == 0;
        if !only(DIGIT | HEX | LOWER | UPPER | DASH | UNDER) || word.len() > 64 {
            return None;
        }
        let label = self.label(start);
        let quoted =
            start > 0 && self.bytes[start - 1] == b'"' && self.bytes.get(end) == Some(&b'"');
        let is_id = (label.is_some() && word.len() >= if only(DIGIT) { 4 } else { 3 })
            || (only(DIGIT | HEX) && seen & HEX != 0 && word.len() >= 7 && !is_decimal(word))
            || (only(DIGIT | HEX | DASH) && is_uuid(word))
            || (only(DIGIT | UPPER | DASH) && is_ticket(word))
            || (quoted
                && only(DIGIT | UPPER)
                && seen & UPPER != 0
                && (5..=12).contains(&word.len()));
        is_id.then_some(Find::Id { label, id: word })
    }

    /// The name before the token, if it names ids and only punctuation stands between.
    fn label(&self, start: usize) -> Option<&'a str> {
        let label = &self.text[self.previous.clone()];
        let before = if label == ":" { self.before_colon()? } else { self.previous.clone() };
        let (name, joint) = (&self.text[before.clone()], self.bytes.get(before.end..start)?);
        let joined = name.ends_with(':') || joint.iter().any(|b| matches!(b, b':' | b'='));
        let near = joint.len() <= 6 && !joint.iter().any(|b| matches!(b, b'\n' | b','));
        let name = name.trim_end_matches(':');
        (joined && near && names_ids(name)).then_some(name)
    }

    /// The token before the lone colon of `"name": "value"`.
    fn before_colon(&self) -> Option<std::ops::Range<usize>> {
        let quote = self.previous.start.checked_sub(1)?;
        let end = if self.bytes[quote] == b'"' { quote } else { return None };
        let start =
            self.bytes[..end].iter().rposition(|b| CLASSES[*b as usize] & (END | WIDE) != 0)? + 1;
        (start < end).then_some(start..end)
    }
}

/// Where `://` stands in a token.
fn scheme(token: &str) -> Option<usize> {
    let bytes = token.as_bytes();
    memchr::memchr_iter(b':', bytes).find(|at| bytes[at + 1..].starts_with(b"//"))
}

/// A token without the marks around it.
fn bare(token: &str) -> &str {
    let bytes = token.as_bytes();
    let (mut from, mut to) = (0, bytes.len());
    while from < to && matches!(bytes[to - 1], b':' | b'.' | b'!' | b'?') {
        to -= 1;
    }
    while from < to && matches!(bytes[from], b':' | b'@') {
        from += 1;
    }
    &token[from..to]
}

fn names_ids(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if !(2..=40).contains(&name.len()) || !name.bytes().all(plain) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let ends = ["_id", "-id", "_number", "_no", "_code", "_sha", "_hash", "_ids"];
    let is_id = matches!(
        lower.as_str(),
        "id" | "uuid" | "sha" | "commit" | "hash" | "ticket" | "issue" | "pr"
    ) || ends.iter().any(|end| lower.ends_with(end))
        || name.ends_with("Id")
        || name.ends_with("ID");
    // What opens doors is never copied.
    let secret = ["token", "secret", "password", "apikey", "api_key", "auth", "cookie", "session"];
    is_id && !secret.iter().any(|word| lower.contains(word))
}

/// `12e4567` is a number to most readers, and a digit string with one letter hardly a hash.
fn is_decimal(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    letters < 2 || word.bytes().all(|b| b.is_ascii_digit() || b == b'e')
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.bytes().enumerate().all(|(at, b)| (b == b'-') == matches!(at, 8 | 13 | 18 | 23))
}

/// `ABC-123`, but no names of standards.
fn is_ticket(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    let standard = [
        "UTF", "SHA", "ISO", "GPT", "AES", "RFC", "MD", "CP", "HTTP", "TLS", "ES", "UTC", "GMT",
        "RS", "HS", "PS", "IEC", "IPV", "COVID", "CLAUDE", "LLAMA", "GEMINI", "BASE", "MIT", "BSD",
        "GPL", "LGPL", "APACHE", "INT", "UINT", "AMD", "ARM", "WIN", "P", "H", "T", "V",
    ];
    (2..=10).contains(&project.len())
        && project.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=10).contains(&number.len())
        && number
            .bytes()
            .enumerate()
            .all(|(at, b)| b.is_ascii_digit() || (b == b'-' && project == "CVE" && at == 4))
        && !standard.contains(&project)
}

/// Whether an ending makes a word without slashes a file.
fn is_ending(word: &str) -> bool {
    matches!(
        word,
        "rs" | "py"
            | "ts"
            | "tsx"
            | "js"
            | "jsx"
            | "mjs"
            | "cjs"
            | "md"
            | "mdx"
            | "json"
            | "jsonl"
            | "toml"
            | "yaml"
            | "yml"
            | "txt"
            | "sh"
            | "bash"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "hpp"
            | "go"
            | "java"
            | "kt"
            | "swift"
            | "rb"
            | "php"
            | "cs"
            | "html"
            | "css"
            | "scss"
            | "vue"
            | "svelte"
            | "sql"
            | "csv"
            | "tsv"
            | "xml"
            | "lock"
            | "log"
            | "ini"
            | "cfg"
            | "conf"
            | "env"
            | "proto"
            | "ipynb"
            | "ex"
            | "exs"
            | "pdf"
            | "png"
            | "svg"
            | "zip"
            | "diff"
    )
}

/// Whether a sign stands in a word so often in a row.
fn has_row(word: &str, sign: u8, times: usize) -> bool {
    let mut row = 0;
    for byte in word.as_bytes() {
        row = if *byte == sign { row + 1 } else { 0 };
        if row == times {
            return true;
        }
    }
    false
}

/// The path that a word is, without a place in the file.
fn path(word: &str) -> Option<&str> {
    // `a.rs:12:5`, `a.rs#L10`
    let end = word.find([':', '#']).unwrap_or(word.len());
    let word = word[..end].trim_end_matches(['.', '/']);
    let odd = |b: u8| matches!(b, b'%' | b'&' | b'$' | b'!' | b'?' | b'+');
    if word.len() < 4 || word.bytes().any(odd) || has_row(word, b'/', 2) || has_row(word, b'.', 3) {
        return None;
    }
    if word.ends_with('-') {
        // The fixed part of a pattern.
        return None;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let known = is_ending(ending);
    if word.contains('/') {
        let first = word.split('/').next().unwrap_or_default();
        let site =
            [".com", ".org", ".io", ".net", ".dev", ".ai"].iter().any(|end| first.ends_with(end));
        let rooted = word.starts_with(['/', '~', '.']) && word.matches('/').count() > 1;
        let typed =
            (1..=8).contains(&ending.len()) && ending.bytes().any(|b| b.is_ascii_alphabetic());
        (!site && (known || rooted || (typed && !stem.is_empty()))).then_some(word)
    } else {
        // `Node.js` and its like are no files.
        let product = ending == "js" && stem.starts_with(|c: char| c.is_ascii_uppercase());
        (known && !product && stem.bytes().any(|b| b.is_ascii_alphanumeric())).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[Find<'_>]) {
        let mut found = Vec::new();
        scan(text, Taken::All, |find| {
            found.push(find);
            true
        });
        assert_eq!(found, expected, "{text}");
    }

    fn id(id: &str) -> Find<'_> {
        Find::Id { label: None, id }
    }

    #[test]
    fn ids_are_found() {
        check("commit 3f2a9c1, see ABC-123.", &[id("3f2a9c1"), id("ABC-123")]);
        check(
            "(395eec3e-bf72-451f-9334-f1e4cc6307e9)",
            &[id("395eec3e-bf72-451f-9334-f1e4cc6307e9")],
        );
        check(
            "{\"user_id\": \"mia_3668\"}",
            &[Find::Id { label: Some("user_id"), id: "mia_3668" }],
        );
        check(
            "{\"reservationId\":\"4OG6T3\"}",
            &[Find::Id { label: Some("reservationId"), id: "4OG6T3" }],
        );
        check("[\"4OG6T3\"]", &[id("4OG6T3")]);
        check("order_id=12345", &[Find::Id { label: Some("order_id"), id: "12345" }]);
        check(
            "UTF-8, 1234567, 2024-05-11, deadbeef, #6c6c6c, E0308, facade, api_token: ab12345x",
            &[],
        );
    }

    #[test]
    fn addresses_are_found() {
        check("see https://x.org/a_(b)?q=1&r=2).", &[Find::Url("https://x.org/a_(b)?q=1&r=2")]);
        check("<http://localhost:8080/x>, ok", &[Find::Url("http://localhost:8080/x")]);
        check("curl https://x.org/items; echo", &[Find::Url("https://x.org/items")]);
        check("get('https://x.org/c');echo", &[Find::Url("https://x.org/c")]);
        check(
            "**https://x.org/c**, https://x.org/d';",
            &[Find::Url("https://x.org/c"), Find::Url("https://x.org/d")],
        );
    }

    #[test]
    fn paths_are_found() {
        check(
            "edit src/main.rs:12:5, then ./a/b and ~/c/d.txt.",
            &[Find::Path("src/main.rs"), Find::Path("./a/b"), Find::Path("~/c/d.txt")],
        );
        check(
            "`Cargo.toml` and/or e.g. v1.2.3 github.com/x/y 24/7 I/O node.js?",
            &[Find::Path("Cargo.toml"), Find::Path("node.js")],
        );
        check("修改了src/main.rs文件", &[Find::Path("src/main.rs")]);
    }

    #[test]
    fn figures_come_with_their_words() {
        check(
            "the budget is $500 and takes 80 ms",
            &[Find::Number("the budget is $500"), Find::Number("$500 and takes 80 ms")],
        );
        check("up to 12% of 2024", &[Find::Number("up to 12%")]);
        check(
            "The limit is 500 requests for paid users. It is 40 s on main, 30 s in 2024.",
            &[
                Find::Number("The limit is 500 requests for paid users"),
                Find::Number("It is 40 s on main"),
                Find::Number("s on main, 30 s"),
            ],
        );
    }

    #[test]
    fn eight_at_once_are_told_as_the_table_tells_each() {
        for byte in 0..=255u8 {
            let (eight, class) = (Octets::of([byte; 8]), CLASSES[usize::from(byte)]);
            assert_eq!(is_of_token(eight).any(), class & END == 0, "{byte}");
            for (wanted, of) in
                [(Taken::Exact, DIGIT | COLON | WIDE), (Taken::All, DIGIT | SLASH | DOT | WIDE)]
            {
                assert_eq!(tells(eight, wanted).any(), class & of != 0, "{byte}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_scanned(text in prop_oneof![any::<String>(), "(https?://|id: |\"|[a-f0-9]{7}|/|\\.|é|日|\n| |[0-9]{1,3}|:|%){0,40}"]) {
            let finds = |wanted| {
                let mut found = Vec::new();
                scan(&text, wanted, |find| {
                    found.push(find);
                    true
                });
                found
            };
            // Ids and addresses are found whatever else is looked for.
            let is_exact = |find: &Find<'_>| matches!(find, Find::Id { .. } | Find::Url(_));
            let mut all = finds(Taken::All);
            all.retain(is_exact);
            prop_assert_eq!(finds(Taken::Exact), all);
        }
    }
}
