//! Where a secret may begin: at the beginning of a word, or behind an escape or a terminal's color, whose last
//! letters look like part of the word.

use std::ops::Range;

/// Digits and semicolons of a color.
const LONGEST_COLOR: usize = 24;

/// Bytes of a word: letters, digits, `_` and `-`.
const WORD: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-');
        byte += 1;
    }
    all
};

/// Bytes with which an escape begins or a number of a color, or ends.
const ESCAPES: [bool; 256] = {
    let mut all = [false; 256];
    let signs = b"\\%[;";
    let mut at = 0;
    while at < signs.len() {
        all[signs[at] as usize] = true;
        at += 1;
    }
    all
};

/// The first word from `from` on that may begin or contain something: one that isn't `ordinary` by itself, or follows
/// the start of an escape or a color. A colon of a possible address, and the last byte of a non-ASCII character, are
/// words of length 0. The part of a word before `from` is left out.
pub(super) fn next_but(
    bytes: &[u8],
    from: usize,
    ordinary: impl Fn(&[u8], Range<usize>) -> bool,
) -> Option<Range<usize>> {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        if WORD[usize::from(*byte)] {
            let word = at..end_of_word(bytes, at + 1);
            let escapes = at > 0 && ESCAPES[usize::from(bytes[at - 1])];
            if escapes || !ordinary(bytes, word.clone()) {
                return Some(word);
            }
            at = word.end;
        } else if *byte == b':' && matches!(next, Some(b'/' | b'\\'))
            || !byte.is_ascii() && next.is_none_or(u8::is_ascii)
        {
            return Some(at..at);
        } else {
            at += 1;
        }
    }
    None
}

/// The word in which `at` stands, as far back as something may begin in it.
pub(super) fn word_at(bytes: &[u8], at: usize) -> Range<usize> {
    let mut start = at;
    while start > 0 && at - start < LONGEST_COLOR + 2 && WORD[usize::from(bytes[start - 1])] {
        start -= 1;
    }
    start..end_of_word(bytes, at)
}

fn end_of_word(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < bytes.len() && WORD[usize::from(bytes[end])] {
        end += 1;
    }
    end
}

/// Where in `word` something may begin, from `from` on.
pub(super) fn next_in(bytes: &[u8], word: &Range<usize>, from: usize) -> Option<usize> {
    if from == word.start {
        return Some(from);
    }
    match word.start.checked_sub(1).map(|before| bytes[before])? {
        b'\\' | b'%' => (from..word.end.min(word.start + 6)).find(|at| is_escape(bytes, *at)),
        b'[' | b';' => {
            let color = bytes[word.clone()].iter().take(LONGEST_COLOR + 1);
            let end = word.start + color.take_while(|byte| byte.is_ascii_digit()).count() + 1;
            (from..word.end).contains(&end).then_some(end).filter(|end| ends_color(bytes, *end))
        }
        _ => None,
    }
}

/// Whether what stands before is an escape, as in `\nghp_…`, `\u003dghp_…` and `%3Dghp_…`.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let ends = |escape: &[u8], digits: usize| {
        let from = at.saturating_sub(digits);
        before[..from].ends_with(escape) && before[from..].iter().all(u8::is_ascii_hexdigit)
    };
    matches!(before, [.., b'\\', b'n' | b't' | b'r'])
        || ends(b"%", 2)
        || ends(b"\\x", 2)
        || ends(b"\\u", 4)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Class;
    use super::*;

    /// All places where something may begin, one by one.
    fn begins(bytes: &[u8]) -> Vec<usize> {
        let is_word = |at: usize| Class::Word.has(bytes[at]);
        let is_start = |at: usize| {
            at == 0 || !is_word(at - 1) || is_escape(bytes, at) || ends_color(bytes, at)
        };
        (0..bytes.len()).filter(|at| is_word(*at) && is_start(*at)).collect()
    }

    #[test]
    fn the_table_is_the_class() {
        assert!((0..=255u8).all(|byte| WORD[usize::from(byte)] == Class::Word.has(byte)));
    }

    proptest! {
        #[test]
        fn no_beginning_is_passed_over(
            text in r"([a-fnrtmux0-9_:\\%\[; é\x1b-]|\\x1b\[|\\u00|%3D|033\[3|://|[a-z]{20}){0,60}",
            cut in 0usize..60,
        ) {
            let bytes = text.as_bytes();
            let mut all = Vec::new();
            let mut at = cut.min(bytes.len());
            let mut word = word_at(bytes, at);
            loop {
                if at < word.end {
                    match next_in(bytes, &word, at) {
                        Some(start) => {
                            all.push(start);
                            at = start + 1;
                        }
                        None => at = word.end,
                    }
                } else if let Some(next) = next_but(bytes, at, |_, _| false) {
                    at = next.start + usize::from(next.is_empty());
                    word = next;
                } else {
                    break;
                }
            }
            let known: Vec<usize> = begins(bytes).into_iter().filter(|at| *at >= cut).collect();
            prop_assert_eq!(all, known);
        }
    }
}
