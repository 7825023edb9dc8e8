//! Cuts text into the pieces that byte pair encoding works within, as the split patterns of
//! o200k_base and cl100k_base do, without a regex engine.
//!
//! o200k_base, alternatives in order of preference (`c` stands for `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`):
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+c
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*c
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! cl100k_base (`c` here isn't optional):
//!
//! ```text
//! c
//! [^\r\n\p{L}\p{N}]?\p{L}+
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! Source: the `openai_public.py` of tiktoken. The functions take a position and return where the
//! piece that starts there ends; none looks at what lies before.

/// Classes of code points, one bit each; `build.rs` writes the table with the same bits.
mod class {
    pub(super) const UPPER: u8 = 1 << 0; // Lu, Lt
    pub(super) const LOWER: u8 = 1 << 1; // Ll
    pub(super) const CASELESS: u8 = 1 << 2; // Lm, Lo
    pub(super) const MARK: u8 = 1 << 3;
    pub(super) const NUMBER: u8 = 1 << 4;
    pub(super) const NEWLINE: u8 = 1 << 5; // \r, \n
    pub(super) const BLANK: u8 = 1 << 6; // every other \s
    pub(super) const OTHER: u8 = 1 << 7;

    pub(super) const LETTER: u8 = UPPER | LOWER | CASELESS;
    pub(super) const SPACE: u8 = NEWLINE | BLANK;
}

const BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"));
const ROWS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.rows"));

/// The classes of single-byte characters; bytes of longer ones have no bit set.
static ASCII: [u8; 256] = ascii();

const fn ascii() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = ROWS[BLOCKS[0] as usize * 128 + byte];
        byte += 1;
    }
    classes
}

/// End of the piece of o200k_base that starts at `start`, which lies within the text.
#[cfg(feature = "o200k")]
#[inline]
pub(super) fn o200k(text: &str, start: usize) -> usize {
    let text = text.as_bytes();
    if let Some(end) = small_word(text, start) {
        return end;
    }
    let (class, len) = classify(text, start);
    let next = start + len;
    if class & (class::LETTER | class::MARK) != 0 {
        // A mark could also be the optional first character: the piece would end at the same place.
        return contraction(text, cased_word(text, start));
    }
    if class & class::NUMBER != 0 {
        return number(text, next);
    }
    if class & class::NEWLINE == 0 {
        let (after, after_len) = classify(text, next);
        if after & (class::LETTER | class::MARK) != 0 {
            return contraction(text, cased_word(text, next));
        }
        if class & class::OTHER != 0 {
            return punctuation(text, next, b"\r\n/");
        }
        if after & class::OTHER != 0 && text[start] == b' ' {
            return punctuation(text, next + after_len, b"\r\n/");
        }
    }
    space(text, start)
}

/// End of the piece of o200k_base that starts at `start`, if it is what most pieces are: small letters, perhaps behind a
/// capital, perhaps behind a blank or a sign, all of one byte each, and what follows surely isn't part of it.
#[cfg(feature = "o200k")]
#[inline]
fn small_word(text: &[u8], start: usize) -> Option<usize> {
    let class = |at: usize| text.get(at).map_or(0, |byte| ASCII[usize::from(*byte)]);
    let mut at = start + usize::from(class(start) & (class::BLANK | class::OTHER) != 0);
    at += usize::from(class(at) & class::UPPER != 0);
    let first = at;
    while class(at) & class::LOWER != 0 {
        at += 1;
    }
    let is_over = text.get(at).is_none_or(|byte| byte.is_ascii() && *byte != b'\'');
    (at > first && is_over).then_some(at)
}

/// End of the piece of cl100k_base that starts at `start`, which lies within the text.
#[cfg(feature = "cl100k")]
#[inline]
pub(super) fn cl100k(text: &str, start: usize) -> usize {
    let text = text.as_bytes();
    let (class, len) = classify(text, start);
    let next = start + len;
    if class & class::LETTER != 0 {
        return run(text, next, class::LETTER);
    }
    if class & class::NUMBER != 0 {
        return number(text, next);
    }
    if class & class::NEWLINE == 0 {
        let end = contraction(text, start);
        if end > start {
            return end;
        }
        let (after, after_len) = classify(text, next);
        if after & class::LETTER != 0 {
            return run(text, next + after_len, class::LETTER);
        }
        if class & (class::OTHER | class::MARK) != 0 {
            return punctuation(text, next, b"\r\n");
        }
        if after & (class::OTHER | class::MARK) != 0 && text[start] == b' ' {
            return punctuation(text, next + after_len, b"\r\n");
        }
    }
    space(text, start)
}

/// End of the letters and marks at `start` that make one word: capitals, then small letters, where
/// caseless letters and marks count as both. There is at least one.
#[cfg(feature = "o200k")]
#[inline]
fn cased_word(text: &[u8], start: usize) -> usize {
    const BOTH: u8 = class::CASELESS | class::MARK;
    let mut at = start;
    let mut after_both = start;
    loop {
        let (class, len) = classify(text, at);
        if class & class::UPPER != 0 {
            at += len;
        } else if class & BOTH != 0 {
            at += len;
            after_both = at;
        } else if class & class::LOWER != 0 {
            return run(text, at + len, class::LOWER | BOTH);
        } else if after_both > start {
            // The first alternative needs something that counts as small, so it gives back the
            // capitals after the last such character.
            return after_both;
        } else {
            return at;
        }
    }
}

/// End of an English contraction at `at`, or `at` if there is none.
#[inline]
fn contraction(text: &[u8], at: usize) -> usize {
    if text.get(at) != Some(&b'\'') {
        return at;
    }
    match &text[at + 1..] {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => at + 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => at + 3,
        [0xC5, 0xBF, ..] => at + 3, // U+017F folds to s
        _ => at,
    }
}

/// End of at most three numbers of which the first ends at `at`.
#[inline]
fn number(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        let (class, len) = classify(text, at);
        if class & class::NUMBER == 0 {
            break;
        }
        at += len;
    }
    at
}

/// End of punctuation that goes on at `at`, with the characters of `tail` that follow it.
#[inline]
fn punctuation(text: &[u8], at: usize, tail: &[u8]) -> usize {
    let mut at = run(text, at, class::OTHER | class::MARK);
    while text.get(at).is_some_and(|byte| tail.contains(byte)) {
        at += 1;
    }
    at
}

/// End of the white space at `start`: after its last line end; else all that is there at the end of
/// the text; else all but the last character, which goes with what follows, unless it is alone.
#[inline]
fn space(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut last = start;
    let mut after_newline = start;
    loop {
        let (class, len) = classify(text, at);
        if class & class::SPACE == 0 {
            break;
        }
        last = at;
        at += len;
        if class & class::NEWLINE != 0 {
            after_newline = at;
        }
    }
    if after_newline > start {
        after_newline
    } else if at == text.len() || last == start {
        at
    } else {
        last
    }
}

/// End of the characters of these classes that go on at `at`.
#[inline]
fn run(text: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        while let Some(&byte) = text.get(at)
            && ASCII[usize::from(byte)] & classes != 0
        {
            at += 1;
        }
        // Either the run is over or a longer character comes.
        let (class, len) = classify(text, at);
        if class & classes == 0 {
            return at;
        }
        at += len;
    }
}

/// Class and length in bytes of the character at `at`; no class at the end of the text.
#[inline]
fn classify(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        None => (0, 0),
        Some(&byte) if byte < 0x80 => (ASCII[usize::from(byte)], 1),
        Some(_) => classify_long(&text[at..]),
    }
}

fn classify_long(text: &[u8]) -> (u8, usize) {
    let bits = |index: usize| u32::from(text[index] & 0x3F);
    let lead = u32::from(text[0]);
    let (point, len) = if lead < 0xE0 {
        ((lead & 0x1F) << 6 | bits(1), 2)
    } else if lead < 0xF0 {
        ((lead & 0x0F) << 12 | bits(1) << 6 | bits(2), 3)
    } else {
        ((lead & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4)
    };
    let row = usize::from(BLOCKS[(point >> 7) as usize]);
    (ROWS[row << 7 | (point & 0x7F) as usize], len)
}

#[cfg(all(test, feature = "o200k", feature = "cl100k"))]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
    fn check(split: fn(&str, usize) -> usize, text: &str, pieces: Expect) {
        let mut shown = String::new();
        let mut at = 0;
        while at < text.len() {
            let end = split(text, at);
            shown.push_str(if at == 0 { "" } else { "|" });
            shown.push_str(&text[at..end].replace('\r', r"\r").replace('\n', r"\n"));
            at = end;
        }
        pieces.assert_eq(&shown);
    }

    #[test]
    fn o200k_keeps_contractions_and_splits_where_case_rises() {
        check(
            o200k,
            "I'll don'T HTTPServer getURL's",
            expect!["I'll| don'T| HTTPServer| get|URL's"],
        );
    }

    #[test]
    fn o200k_gives_back_capitals_after_a_caseless_letter() {
        check(o200k, "AーBC AーBc", expect![[r"Aー|BC| AーBc"]]);
    }

    #[test]
    fn cl100k_cuts_contractions_off() {
        check(cl100k, "I'll don'T HTTPServer", expect!["I|'ll| don|'T| HTTPServer"]);
    }

    #[test]
    fn white_space_leaves_one_character_to_what_follows() {
        check(o200k, "a   b \n\n  c  ", expect![[r"a|  | b| \n\n| | c|  "]]);
        check(o200k, "  7", expect![" | |7"]);
    }

    #[test]
    fn punctuation_takes_line_ends_and_slashes() {
        check(o200k, "x ://\n/y {}\r\n12345", expect![[r"x| ://\n/|y| {}\r\n|123|45"]]);
        check(cl100k, "x ://\n/y", expect![[r"x| ://\n|/y"]]);
    }
}
