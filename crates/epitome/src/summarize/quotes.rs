//! Quotations in a text, between quotation marks. A summary may only quote words from its source.

use crate::text::cut;

/// Fewer words than these name a thing.
const LEAST_WORDS: usize = 4;
/// Characters that count as a word in scripts that don't part words.
const WORD_OF_SIGNS: usize = 2;

/// What opens a quotation, and what closes it.
const MARKS: [(char, &[char]); 8] = [
    ('"', &['"']),
    ('“', &['”', '“', '"']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('‘', &['’']),
    ('「', &['」']),
    ('\'', &['\'']),
];

/// Its quotations of several words, in order.
pub(super) fn quotes(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = cut::place_in(text, line);
        let begin = line.trim_start();
        // A quotation doesn't extend over the end of an item.
        if begin.is_empty() || begin.starts_with(['#', '-', '*', '>', '|', '`', '+']) {
            look(&text[start..at], &mut found);
            start = at;
        }
    }
    look(&text[start..], &mut found);
    found.retain(|quote| words(quote) >= LEAST_WORDS);
    found
}

fn look<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let opens = MARKS.iter().find(|(open, _)| *open == c).filter(|_| !before.is_alphanumeric());
        before = c;
        let Some((open, close)) = opens else { continue };
        let from = at + open.len_utf8();
        let inner = &text[from..];
        // A straight mark may be anything; `« non »` has its blanks.
        let is_straight = matches!(open, '"' | '\'');
        if is_straight && inner.starts_with(char::is_whitespace) {
            continue;
        }
        let ends = |(end, mark): &(usize, char)| {
            close.contains(mark)
                && !(is_straight && inner[..*end].ends_with(char::is_whitespace))
                && !inner[end + mark.len_utf8()..].starts_with(char::is_alphanumeric)
        };
        let Some((end, mark)) = inner.char_indices().find(ends) else { continue };
        found.push(&inner[..end]);
        while chars.next_if(|(next, _)| *next < from + end + mark.len_utf8()).is_some() {}
        before = mark;
    }
}

/// How many words it has.
fn words(text: &str) -> usize {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(|run| run.chars().filter(|c| is_sign(*c)).count() / WORD_OF_SIGNS)
        .map(|signs| signs.max(1))
        .sum()
}

/// Whether it is of a script that doesn't part words.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// The words of a text, in lower case, with one space around each: what quotations are looked up in.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // What JSON writes for the end of a line.
        let is_escape = c == '\\' && matches!(chars.peek(), Some('n' | 't' | 'r'));
        if is_escape {
            chars.next();
        }
        // `don't` is one word, whatever its mark.
        if matches!(c, '\'' | '’') && out.ends_with(char::is_alphanumeric) {
            continue;
        }
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

/// Whether `source`, as [`plain`] writes it, has the quotation; `…` may stand for omitted words.
pub(super) fn is_said(quote: &str, source: &str) -> bool {
    let quote = quote.replace("...", "…").replace("[…]", "…");
    quote.split('…').all(|part| {
        let part = plain(part);
        // Where words aren't parted, a quotation may begin within what stands together.
        let part = if part.contains(is_sign) { part.trim() } else { &part };
        part.trim().is_empty() || source.contains(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_of_several_words_are_found() {
        let text = "The user said: \"Please deploy on Friday, always.\" and \"no\".\n- It is “never so\nsimple as that”, 5\" \
                    wide.\n- Don't use the users' files; 'tis all.\n- 'go on with it now' and 「設定画面を開いてください」 `git commit \
                    -m \"fix all of the tests\"`";
        assert_eq!(
            quotes(text),
            [
                "Please deploy on Friday, always.",
                "never so\nsimple as that",
                "go on with it now",
                "設定画面を開いてください",
                "fix all of the tests",
            ]
        );
        assert_eq!(
            quotes("an open \"mark that nothing closes at all\n- and \"x\""),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn what_was_said_may_be_quoted() {
        let source = plain(
            "He said:\nDon’t EVER\\ndelete \\\"the backups\\\" — please, or else. 設定画面を開いて",
        );
        for quote in [
            "Don't ever delete the backups",
            "don’t  ever\ndelete \"the backups\"!",
            "don't ever … please, or else",
            "画面を開いて",
        ] {
            assert!(is_said(quote, &source), "{quote}: {source}");
        }
        for quote in ["Do delete the backups", "ever delete the backup", "delete … the … files"]
        {
            assert!(!is_said(quote, &source), "{quote}");
        }
    }
}
