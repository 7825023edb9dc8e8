//! Byte pair encoding of one piece.
//!
//! The encoding is what is left when the neighbours whose merger has the lowest rank (the leftmost
//! of equals) have been merged again and again. Done over a whole long piece that is quadratic, so a
//! long piece is encoded window by window. That stays exact because every token of these
//! vocabularies encodes to itself: then two encodings may be joined if and only if the two tokens at
//! the seam, encoded together, stay as they are (source: the README of the `bpe` crate). Each seam
//! is put to this test, and a window that fails it is taken larger.

use super::vocabulary::Vocabulary;

/// Longest piece that is encoded in one go, and the size at which windows start.
const WINDOW: usize = 256;

/// Windows don't keep a size above this once the place that needed it is behind.
const WIDE: usize = 512;

/// Windows aren't taken larger than this.
const WIDEST: usize = 2048;

/// Bytes at a window's end whose tokens aren't kept: what follows may still change them.
const MARGIN: usize = 24;

/// What a piece came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Encoded {
    /// Tokens.
    pub(super) tokens: u64,
    /// Seams that could not be shown to be exact: each may be off by a token.
    pub(super) cuts: u64,
}

/// Room to work in, reused from piece to piece.
#[derive(Debug, Default)]
pub(super) struct Merge {
    window: Window,
    pair: Window,
}

/// Where a window starts: after a token of the encoding so far.
#[derive(Clone, Copy, Default)]
struct Seam {
    at: usize,
    /// Tokens before it.
    tokens: u64,
    /// Length of the last token before it.
    before: usize,
    /// Length of the token that followed in the window that ended here.
    after: usize,
}

impl Merge {
    /// Encodes a piece.
    pub(super) fn encode(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Encoded {
        if piece.len() <= WINDOW {
            return Encoded { tokens: self.window.encode(vocabulary, piece), cuts: 0 };
        }
        let mut cuts = 0;
        let mut seam = Seam::default();
        let mut size = WINDOW;
        let mut back = None;
        let mut encoded: &[u8] = &[];
        let mut tokens = 0;
        loop {
            let rest = &piece[seam.at..];
            let width = size.min(rest.len());
            // A run of one character, or of few in turn, is the same window again and again.
            if encoded != &rest[..width] {
                encoded = &rest[..width];
                tokens = self.window.encode(vocabulary, encoded);
            }
            let joins = self.joins(vocabulary, piece, seam);
            if !joins && let Some((earlier, its_size)) = back.take_if(|(_, size)| *size < WIDEST) {
                seam = earlier;
                size = its_size * 2;
                continue;
            }
            let next = self.window.last_seam(seam, width.saturating_sub(MARGIN));
            if width < rest.len() && next.at == seam.at {
                size *= 2;
                continue;
            }
            cuts += u64::from(!joins);
            if width == rest.len() {
                return Encoded { tokens: seam.tokens + tokens, cuts };
            }
            back = Some((seam, size));
            seam = next;
            if size > WIDE {
                size = WINDOW;
            }
        }
    }

    /// Whether the window's first token may follow the token before the seam.
    fn joins(&mut self, vocabulary: &Vocabulary, piece: &[u8], seam: Seam) -> bool {
        let first = self.window.token_len(0);
        if seam.at == 0 || first == seam.after {
            return true;
        }
        let pair = &piece[seam.at - seam.before..seam.at + first];
        self.pair.encode(vocabulary, pair) == 2 && self.pair.token_len(0) == seam.before
    }
}

/// The encoding of one window.
#[derive(Debug, Default)]
struct Window {
    /// At each token's first byte, the token.
    tokens: Vec<u32>,
    /// At each token's first byte, what merging it with the next token would be; else [`NEVER`].
    pairs: Vec<i32>,
    /// The least number of each block of `pairs`.
    least: Vec<i32>,
    /// At each token's first byte, where the next token starts, or the window's length.
    next: Vec<u16>,
    /// At each token's first byte, where the token before it starts.
    previous: Vec<u16>,
}

/// Positions that are searched for the least number together.
const BLOCK: usize = 16;

/// Bits of a pair's number that say where it starts. Its rank is above them, so that the least
/// number is the pair to merge.
const POSITION_BITS: u32 = 12;

/// The number of a pair that can't be merged.
const NEVER: i32 = i32::MAX;

impl Window {
    /// Encodes the window and returns how many tokens it has.
    fn encode(&mut self, vocabulary: &Vocabulary, window: &[u8]) -> u64 {
        let len = window.len();
        debug_assert!(len <= WIDEST);
        self.tokens.clear();
        self.tokens.extend(window.iter().map(|byte| vocabulary.single(*byte)));
        self.next.clear();
        self.next.extend(1..=len as u16);
        self.previous.clear();
        self.previous.extend((0..len as u16).map(|at| at.saturating_sub(1)));
        self.pairs.clear();
        self.pairs.extend(
            (0..len.saturating_sub(1))
                .map(|at| pair(vocabulary, self.tokens[at], self.tokens[at + 1], at)),
        );
        self.pairs.resize(len.next_multiple_of(BLOCK), NEVER);
        if len <= BLOCK {
            self.merge_block(vocabulary, len)
        } else {
            self.merge_blocks(vocabulary, len)
        }
    }

    /// Merges all that can be merged, in a window of one block.
    fn merge_block(&mut self, vocabulary: &Vocabulary, len: usize) -> u64 {
        let mut tokens = len as u64;
        loop {
            match self.pairs.as_chunks().0.first().map_or(NEVER, least) {
                NEVER => return tokens,
                least => self.merge(vocabulary, least, len),
            };
            tokens -= 1;
        }
    }

    /// Merges all that can be merged.
    fn merge_blocks(&mut self, vocabulary: &Vocabulary, len: usize) -> u64 {
        self.least.clear();
        self.least.extend(self.pairs.as_chunks().0.iter().map(least));
        self.least.resize(self.least.len().next_multiple_of(BLOCK), NEVER);
        let mut tokens = len as u64;
        loop {
            let leasts = self.least.as_chunks().0.iter().map(least);
            let least = leasts.fold(NEVER, i32::min);
            if least == NEVER {
                return tokens;
            }
            let [before, at, gone] = self.merge(vocabulary, least, len).map(|at| at / BLOCK);
            self.renew(at);
            if before != at {
                self.renew(before);
            }
            if gone != at {
                self.renew(gone);
            }
            tokens -= 1;
        }
    }

    /// Merges the pair of this number; returns the positions whose numbers changed.
    #[inline]
    fn merge(&mut self, vocabulary: &Vocabulary, number: i32, len: usize) -> [usize; 3] {
        let at = (number & ((1 << POSITION_BITS) - 1)) as usize;
        let token = (number >> POSITION_BITS).cast_unsigned();
        let gone = usize::from(self.next[at]);
        let end = usize::from(self.next[gone]);
        self.tokens[at] = token;
        self.next[at] = end as u16;
        self.pairs[gone] = NEVER;
        self.pairs[at] = if end < len {
            self.previous[end] = at as u16;
            pair(vocabulary, token, self.tokens[end], at)
        } else {
            NEVER
        };
        let before = usize::from(self.previous[at]);
        if at > 0 {
            self.pairs[before] = pair(vocabulary, self.tokens[before], token, before);
        }
        [before, at, gone]
    }

    /// Finds the least number of a block again.
    #[inline]
    fn renew(&mut self, block: usize) {
        self.least[block] = least(&self.pairs.as_chunks().0[block]);
    }

    /// Length of the token at a token's first byte.
    fn token_len(&self, at: usize) -> usize {
        usize::from(self.next[at]) - at
    }

    /// The last seam at or before `limit` in the window that starts at `start`, or `start` itself.
    fn last_seam(&self, start: Seam, limit: usize) -> Seam {
        let mut seam = start;
        let mut at = 0;
        let mut tokens = start.tokens;
        while usize::from(self.next[at]) <= limit {
            let before = self.token_len(at);
            at += before;
            tokens += 1;
            seam = Seam { at: start.at + at, tokens, before, after: self.token_len(at) };
        }
        seam
    }
}

#[inline]
fn least(numbers: &[i32; BLOCK]) -> i32 {
    numbers.iter().fold(NEVER, |least, number| least.min(*number))
}

/// The number of a pair of tokens that starts at `at`.
#[inline]
fn pair(vocabulary: &Vocabulary, left: u32, right: u32, at: usize) -> i32 {
    match vocabulary.merged(left, right) {
        Some(rank) => (rank << POSITION_BITS | at as u32).cast_signed(),
        None => NEVER,
    }
}

#[cfg(all(test, feature = "o200k", feature = "cl100k"))]
mod tests {
    use super::super::vocabulary::{CL100K, O200K};
    use super::*;

    #[test]
    fn every_token_encodes_to_itself() {
        let mut window = Window::default();
        for vocabulary in [&O200K, &CL100K] {
            for rank in 0..vocabulary.len() {
                assert_eq!(
                    window.encode(vocabulary, vocabulary.token(rank)),
                    1,
                    "{vocabulary:?} {rank}"
                );
            }
        }
    }

    #[test]
    fn windows_are_wider_than_any_token() {
        for vocabulary in [&O200K, &CL100K] {
            let longest = (0..vocabulary.len()).map(|rank| vocabulary.token(rank).len()).max();
            assert_eq!(longest, Some(vocabulary.longest));
            assert!(vocabulary.longest + MARGIN < WIDEST);
        }
    }
}
