//! Where a secret may begin: at the beginning of a word, or behind an escape or a terminal's color, whose last
//! letters look like part of the word.

use std::ops::Range;

use super::places;
use crate::text::swar::bits;

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

/// Bytes that are looked at at once.
const BLOCK: usize = 64;

/// The words of a text and the colons of addresses in it, a block at a time.
pub(super) struct Starts<'t> {
    bytes: &'t [u8],
    /// Where the block begins that was read last, if one was.
    block: Option<usize>,
    /// A bit for each of its bytes that is a word's.
    words: u64,
    /// A bit for each colon in it that may be an address's, and for the last byte of what isn't ASCII.
    others: u64,
}

impl<'t> Starts<'t> {
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        Self { bytes, block: None, words: 0, others: 0 }
    }

    /// The first word from `from` on that may begin or contain something: one that isn't `ordinary` by itself, or follows
    /// the start of an escape or a color. A colon of a possible address, and the last byte of a non-ASCII character, are
    /// words of length 0. The part of a word before `from` is left out.
    pub(super) fn next_but(
        &mut self,
        from: usize,
        ordinary: impl Fn(&[u8], Range<usize>) -> bool,
    ) -> Option<Range<usize>> {
        let bytes = self.bytes;
        let mut at = from;
        while at < bytes.len() {
            let block = at - at % BLOCK;
            if self.block != Some(block) {
                self.read(block);
            }
            let words = self.words;
            let mut left = (words | self.others) & u64::MAX << (at - block);
            at = block + BLOCK;
            while left != 0 {
                let place = left.trailing_zeros();
                let start = block + place as usize;
                let length = (words >> place).trailing_ones();
                if length == 0 {
                    return Some(start..start);
                }
                let mut end = start + length as usize;
                if place + length == BLOCK as u32 {
                    (end, left) = (end_of_word(bytes, end), 0);
                    at = end;
                } else {
                    left &= u64::MAX << (place + length);
                }
                let escapes = start > 0 && ESCAPES[usize::from(bytes[start - 1])];
                if escapes || !ordinary(bytes, start..end) {
                    return Some(start..end);
                }
            }
        }
        None
    }

    fn read(&mut self, block: usize) {
        let rest = &self.bytes[block..];
        let (words, colons, high) = if let Some(all) = rest.first_chunk() {
            signs(all)
        } else {
            let mut all = [0; BLOCK];
            all[..rest.len()].copy_from_slice(rest);
            signs(&all)
        };
        // Behind the last byte is ASCII.
        let next = rest.get(BLOCK).is_some_and(|byte| !byte.is_ascii());
        let mut others = high & !(high >> 1 | u64::from(next) << (BLOCK - 1));
        for at in places(colons) {
            if matches!(rest.get(at + 1), Some(b'/' | b'\\')) {
                others |= 1 << at;
            }
        }
        (self.block, self.words, self.others) = (Some(block), words, others);
    }
}

/// A bit for each byte that is a word's, for each that is a colon, and for each that isn't ASCII.
fn signs(block: &[u8; BLOCK]) -> (u64, u64, u64) {
    let words = bits(block, |eight| {
        let letters = eight.folded().within(b'a', b'z').or(eight.within(b'0', b'9'));
        letters.or(eight.are(b'_')).or(eight.are(b'-')).and(eight.ascii())
    });
    let colons = bits(block, |eight| eight.are(b':').and(eight.ascii()));
    (words, colons, bits(block, |eight| eight.ascii().not()))
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

    #[test]
    fn every_byte_is_told_wherever_it_stands() {
        for (at, byte) in (0..BLOCK).flat_map(|at| (0..=255u8).map(move |byte| (at, byte))) {
            for around in [0, b' ', b'a', b':', 0x7f, 0xff] {
                let mut block = [around; BLOCK];
                block[at] = byte;
                let bits = |is: &dyn Fn(u8) -> bool| {
                    block.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(is(*byte)))
                };
                let told = (
                    bits(&|byte| Class::Word.has(byte)),
                    bits(&|byte| byte == b':'),
                    bits(&|byte| !byte.is_ascii()),
                );
                assert_eq!(signs(&block), told, "{byte} at {at} in {around}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_beginning_is_passed_over(
            text in r"([a-fnrtmux0-9_:\\%\[; é\x1b-]|\\x1b\[|\\u00|%3D|033\[3|://|[a-z]{20}){0,60}",
            cut in 0usize..60,
        ) {
            let bytes = text.as_bytes();
            let mut starts = Starts::of(bytes);
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
                } else if let Some(next) = starts.next_but(at, |_, _| false) {
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
