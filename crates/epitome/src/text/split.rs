//! Lines and sentences by where they stand.
//!
//! Prose is split into sentences; lines of code, list items, headings and table rows stay lines. A
//! full stop ends a sentence only before white space, so `v1.2`, `main.rs` and `e.g.` don't; a CJK
//! full stop always does. Many write without capitals: before a small letter a
//! single stop ends a sentence behind a longer word, unless what follows goes on (`without`, `unless`).

use std::ops::Range;

use super::begins_with_one;
use super::octets::Octets;

/// What a sentence stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Running text.
    Prose,
    /// A list item.
    Item,
    /// A heading.
    Heading,
    /// A row of a table, or a rule.
    Row,
    /// A line between code fences.
    Code,
}

/// A sentence, or a line that is no prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Where it stands, in bytes, without white space around it. Sentences of hard-wrapped prose
    /// hold line ends.
    pub range: Range<usize>,
    /// What it stands in.
    pub kind: Kind,
}

/// A prose line this long that ends without a full stop was probably wrapped, not ended.
const WRAPPED: usize = 60;

/// The lines of `text` without their ends.
pub fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at);
        let trimmed = text[start..end].strip_suffix('\r').map_or(end, |line| start + line.len());
        let line = start..trimmed;
        start = end + 1;
        Some(line)
    })
}

/// The sentences of `text` in order. Blank lines and code fences themselves are left out.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut prose: Option<Range<usize>> = None;
    let mut fence: Option<&str> = None;
    for line in lines(text) {
        let content = text[line.clone()].trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        let kind = match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                None
            }
            (None, Some(mark)) => {
                fence = Some(mark);
                None
            }
            (Some(_), _) => Some(Kind::Code),
            (None, None) => Some(kind(content)),
        };
        if kind == Some(Kind::Prose) && !content.is_empty() {
            let wrapped = prose.as_ref().is_some_and(|prose| is_wrapped(&text[prose.clone()]));
            match &mut prose {
                Some(prose) if wrapped => prose.end = line.end,
                _ => flush(text, prose.replace(line), &mut found),
            }
            continue;
        }
        flush(text, prose.take(), &mut found);
        if let (Some(kind), false) = (kind, content.is_empty()) {
            found.push(Sentence { range: trim(text, line), kind });
        }
    }
    flush(text, prose.take(), &mut found);
    found
}

/// Whether a text is one sentence, or one line that is no prose, for sure: all that [`sentences`] finds in it.
pub fn is_one(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if !first.is_ascii_graphic() || !last.is_ascii_graphic() || matches!(first, b'`' | b'~') {
        return false;
    }
    let (eights, rest) = bytes.as_chunks();
    let mut from = 0;
    for eight in eights {
        if !goes_on(Octets::of(*eight), &bytes[from..]) {
            return false;
        }
        from += Octets::SIZE;
    }
    match bytes.last_chunk() {
        _ if rest.is_empty() => true,
        // The last eight, some of them once more.
        Some(last) => goes_on(Octets::of(*last), &bytes[bytes.len() - Octets::SIZE..]),
        None => {
            let mut few = [b' '; Octets::SIZE];
            few[..rest.len()].copy_from_slice(rest);
            goes_on(Octets::of(few), rest)
        }
    }
}

/// Whether no sentence and no line ends in the eight bytes, with which `text` begins, for sure: a letter follows each stop.
fn goes_on(eight: Octets, text: &[u8]) -> bool {
    let ends = eight.are(b'\n').or(eight.are(b'\r')).or(eight.ascii().not());
    if ends.any() {
        return false;
    }
    let mut stops = eight.are(b'.').or(eight.are(b'!')).or(eight.are(b'?')).bits();
    while stops != 0 {
        let next = stops.trailing_zeros() as usize + 1;
        if !text.get(next).is_none_or(u8::is_ascii_alphanumeric) {
            return false;
        }
        stops &= stops - 1;
    }
    true
}

/// Whether the last line of this prose goes on in the next one.
fn is_wrapped(prose: &str) -> bool {
    let last = &prose[memchr::memrchr(b'\n', prose.as_bytes()).map_or(0, |at| at + 1)..];
    last.len() >= WRAPPED && !last.trim_end().ends_with(['.', '!', '?', ':', '。', '！', '？', '…'])
}

fn kind(content: &str) -> Kind {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits) && content[digits..].starts_with(['.', ')']) && {
        content[digits + 1..].starts_with(' ')
    };
    if numbered || begins_with_one(content, &["- ", "* ", "+ ", "• ", "– "]) {
        Kind::Item
    } else if content.starts_with('#') && content.trim_start_matches('#').starts_with(' ') {
        Kind::Heading
    } else if content.starts_with('|')
        || (content.len() > 2 && content.bytes().all(|b| b"-=*_+|: ".contains(&b)))
    {
        Kind::Row
    } else {
        Kind::Prose
    }
}

fn flush(text: &str, prose: Option<Range<usize>>, found: &mut Vec<Sentence>) {
    let Some(prose) = prose else { return };
    let (mut start, mut at) = (prose.start, prose.start);
    // Bytes that no stop begins with needn't be decoded.
    while let Some(gap) = text.as_bytes()[at..prose.end].iter().position(|b| may_stop(*b)) {
        at += gap;
        let rest = &text[at..prose.end];
        let Some(c) = rest.chars().next() else { break };
        if !is_stop(c) {
            at += c.len_utf8();
            continue;
        }
        let after = rest[c.len_utf8()..].trim_start_matches(|c| is_stop(c) || is_closer(c));
        let end = prose.end - after.len();
        let is_run = rest.starts_with('.') && rest[1..].starts_with(|c| is_stop(c) || is_closer(c));
        if ends_sentence(&text[start..at], c, after) && !(is_run && begins_small(after)) {
            push(text, start..end, found);
            start = end;
        }
        at = end;
    }
    push(text, start..prose.end, found);
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Sentence>) {
    let range = trim(text, range);
    if !range.is_empty() {
        found.push(Sentence { range, kind: Kind::Prose });
    }
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡')
}

/// Whether a stop may begin with this byte.
fn may_stop(byte: u8) -> bool {
    matches!(byte, b'.' | b'!' | b'?' | 0xe2 | 0xe3 | 0xef)
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '*' | '_' | '`' | '»' | '”' | '’' | '」' | '』' | '）')
}

/// Words after which a full stop ends nothing, whatever follows.
const ABBREVIATIONS: [&str; 17] = [
    "e.g", "i.e", "eg", "ie", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "st", "fig", "sec",
    "eq", "approx", "resp",
];

/// Longer words after which one may end nothing where a small letter follows.
const SHORTENED: [&str; 10] =
    ["admin", "assoc", "config", "param", "params", "proto", "alloc", "descr", "inter", "capit"];
/// Words with which a sentence that goes on begins: `never deploy to production. without my ok`.
const GOES_ON: [&str; 26] = [
    "without", "unless", "except", "before", "after", "per", "of", "if", "until", "when", "while",
    "and", "or", "but", "nor", "to", "for", "in", "on", "at", "by", "with", "from", "than", "as",
    "then",
];
/// Shorter words may well be shortened: `prod.`, `asst.`
const LEAST_WHOLE: usize = 5;

fn begins_small(after: &str) -> bool {
    after.trim_start().starts_with(char::is_lowercase)
}

/// Whether a stop between the two surely ends a sentence, though a small letter follows: `fridays. we`.
fn parts_small(word: &str, after: &str) -> bool {
    let next = after.split_whitespace().next().unwrap_or_default();
    word.len() >= LEAST_WHOLE
        && word.chars().all(char::is_alphabetic)
        && word.chars().skip(1).all(char::is_lowercase)
        && !SHORTENED.contains(&word.to_lowercase().as_str())
        && !GOES_ON.contains(&next)
}

/// Whether the stop `mark` between `before` and `after` (what closes quotes skipped) ends a
/// sentence.
fn ends_sentence(before: &str, mark: char, after: &str) -> bool {
    if matches!(mark, '。' | '！' | '？' | '｡') {
        return true;
    }
    let Some(next) = after.chars().next() else { return true };
    if !next.is_whitespace() {
        return false;
    }
    if mark != '.' {
        return true;
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(before);
    // What goes on in lower case behind anything else was not at its end.
    if begins_small(after) && !parts_small(word, after) {
        return false;
    }
    let initial = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    !initial && (word.len() > 6 || !ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> =
            sentences(text).into_iter().map(|sentence| &text[sentence.range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_where_a_reader_says() {
        check("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]);
        check(
            "See e.g. Foo and v1.2 in main.rs. Done.",
            &["See e.g. Foo and v1.2 in main.rs.", "Done."],
        );
        check("He said \"no.\" Then (yes.) it", &["He said \"no.\"", "Then (yes.) it"]);
        check("Wait... what? J. Smith came.", &["Wait... what?", "J. Smith came."]);
        check(
            "it rains on fridays. the port is 9021. bring tea etc. and no. rope of foo.rs. that is all",
            &[
                "it rains on fridays.",
                "the port is 9021. bring tea etc. and no. rope of foo.rs. that is all",
            ],
        );
        for one in [
            "never deploy to prod. without my ok",
            "never merge on fridays. unless it burns",
            "due on the 15. april",
        ] {
            check(one, &[one]);
        }
        check("修好了。下一步！end", &["修好了。", "下一步！", "end"]);
    }

    #[test]
    fn lines_that_are_no_prose_stay_lines() {
        check(
            "# Title. Yes\n- one. two\n- three\n```rust\nlet x = 1. + y;\n```\nEnd.",
            &["# Title. Yes", "- one. two", "- three", "let x = 1. + y;", "End."],
        );
        check("| a | b |\n---\n1. first. second\n", &["| a | b |", "---", "1. first. second"]);
    }

    #[test]
    fn hard_wrapped_prose_is_joined() {
        let text = "This line of prose is long enough to have been wrapped by somebody's\neditor. Short\nline";
        check(
            text,
            &[
                "This line of prose is long enough to have been wrapped by somebody's\neditor.",
                "Short",
                "line",
            ],
        );
    }

    #[test]
    fn lines_have_no_ends() {
        let text = "a\r\n\nb";
        assert_eq!(lines(text).map(|line| &text[line]).collect::<Vec<_>>(), ["a", "", "b"]);
    }

    proptest! {
        #[test]
        fn eight_at_once_are_told_as_each_is(text in "[ab.]{0,20}[ab.!?\n\r1é… `~-]{0,3}[ab.]{0,20}") {
            let bytes = text.as_bytes();
            let is_told = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
            let is_framed = is_told(bytes.first()) && is_told(bytes.last());
            let each = bytes.iter().zip(1..).all(|(byte, next)| match byte {
                b'.' | b'!' | b'?' => bytes.get(next).is_none_or(u8::is_ascii_alphanumeric),
                b'\n' | b'\r' | 0x80.. => false,
                _ => true,
            });
            let is_fence = text.starts_with(['`', '~']);
            prop_assert_eq!(is_one(&text), is_framed && !is_fence && each);
        }

        #[test]
        fn one_is_one(text in "[-a-c*#|`. !?:\n1é]{0,24}") {
            if is_one(&text) {
                let found = sentences(&text);
                prop_assert!(found.len() == 1 && found[0].range == (0..text.len()), "{found:?}");
            }
        }

        #[test]
        fn any_text_is_split_in_order(text in prop_oneof![any::<String>(), "(a\\. B|[a-z ]{60,70}|\n|- x|```|。|\\.|\r\n){0,30}"]) {
            let mut end = 0;
            for Sentence { range, .. } in sentences(&text) {
                prop_assert!(range.start >= end && range.end > range.start);
                end = range.end;
                prop_assert!(text.get(range).is_some());
            }
            let kept: usize = sentences(&text).iter().map(|sentence| text[sentence.range.clone()].matches(char::is_alphanumeric).count()).sum();
            let fenced = text.contains("```") || text.contains("~~~");
            prop_assert!(fenced || kept == text.matches(char::is_alphanumeric).count());
        }
    }
}
