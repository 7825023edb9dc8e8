//! Eight bytes at once, in a number: what is asked of each is answered by its highest bit, which no sum of lower ones
//! gets past.

use std::ops::Range;

/// Eight bytes of a text, the first one lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octets(u64);

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

impl Octets {
    pub(crate) const SIZE: usize = 8;

    #[inline]
    pub(crate) fn of(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    /// Letters small; of bytes that are no letters some are others then.
    #[inline]
    pub(crate) fn folded(self) -> Self {
        Self(self.0 | (0x20 * EACH))
    }

    /// Those of ASCII.
    #[inline]
    pub(crate) fn ascii(self) -> Told {
        Told(!self.0 & HIGH)
    }

    /// Those between two of ASCII, both among them. Of others it says nothing that holds.
    #[inline]
    pub(crate) fn within(self, first: u8, last: u8) -> Told {
        let low = self.0 & !HIGH;
        let from = |least: u8| low + (0x80 - u64::from(least)) * EACH;
        Told(from(first) & !from(last + 1) & HIGH)
    }

    /// Those that are this one of ASCII. Of others it says nothing that holds.
    #[inline]
    pub(crate) fn are(self, sign: u8) -> Told {
        let differs = ((self.0 & !HIGH) ^ (u64::from(sign) * EACH)) + 0x7f * EACH;
        Told(!differs & HIGH)
    }
}

/// For each of eight bytes whether something holds: its highest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told(u64);

impl Told {
    #[inline]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline]
    pub(crate) fn not(self) -> Self {
        Self(!self.0 & HIGH)
    }

    /// The same of the bytes before each; of the first one as `before` says.
    #[inline]
    pub(crate) fn behind(self, before: Self) -> Self {
        Self(self.0 << 8 | before.0 >> 56)
    }

    #[inline]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// Of all eight the same.
    #[inline]
    pub(crate) const fn all() -> Self {
        Self(HIGH)
    }

    /// A bit for each, the first one lowest.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        // Each goes to a place of its own in the highest byte.
        (self.0 >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
}

/// A bit for each of 64 bytes of which it holds, the first one lowest.
#[inline]
pub(crate) fn bits(block: &[u8; 64], holds: impl Fn(Octets) -> Told) -> u64 {
    let (eights, _) = block.as_chunks();
    let told = eights.iter().enumerate();
    told.fold(0, |bits, (nth, eight)| bits | holds(Octets::of(*eight)).bits() << (8 * nth))
}

const BLOCK: usize = 64;

/// The runs of bytes of which something holds, each as long as it can be, and whether one of its bytes is marked.
pub(crate) struct Runs<'t, H, M> {
    bytes: &'t [u8],
    holds: H,
    marks: M,
    /// Where the block begins that was read last, and a bit for each of its bytes.
    block: usize,
    held: u64,
    marked: u64,
    /// The run that was found last, and where the last of its bytes that are marked ends.
    run: Range<usize>,
    marks_end: usize,
}

impl<'t, H: Fn(Octets) -> Told, M: Fn(Octets) -> Told> Runs<'t, H, M> {
    pub(crate) fn of(bytes: &'t [u8], holds: H, marks: M) -> Self {
        Self { bytes, holds, marks, block: usize::MAX, held: 0, marked: 0, run: 0..0, marks_end: 0 }
    }

    /// What is told of the bytes from `at` on, as far as its block goes.
    #[inline]
    fn told(&mut self, at: usize) -> (u64, u64) {
        let within = at % BLOCK;
        if self.block != at - within {
            self.block = at - within;
            let rest = &self.bytes[self.block..];
            let padded = || {
                let mut all = [0; BLOCK];
                all[..rest.len()].copy_from_slice(rest);
                all
            };
            let all = rest.first_chunk().copied().unwrap_or_else(padded);
            // What isn't there is none.
            let there = if rest.len() < BLOCK { !(u64::MAX << rest.len()) } else { u64::MAX };
            (self.held, self.marked) = (bits(&all, &self.holds) & there, bits(&all, &self.marks));
        }
        (self.held >> within, self.marked >> within)
    }

    /// The first run from `at` on; of one that `at` stands in the rest.
    #[inline]
    pub(crate) fn next_from(&mut self, at: usize) -> Option<(Range<usize>, bool)> {
        // Who takes one apart doesn't look through all that is left of it each time.
        if !self.run.contains(&at) && !self.find_from(at) {
            return None;
        }
        let start = at.max(self.run.start);
        Some((start..self.run.end, start < self.marks_end))
    }

    /// Finds that run, if there is one.
    fn find_from(&mut self, mut at: usize) -> bool {
        while at < self.bytes.len() {
            let (held, marked) = self.told(at);
            if held == 0 {
                at += BLOCK - at % BLOCK;
                continue;
            }
            let gap = held.trailing_zeros();
            let length = (held >> gap).trailing_ones();
            // Where the last one that is marked of so many ends.
            let last = |marked: u64, length: u32| {
                let marked = marked & u64::MAX >> (BLOCK as u32 - length);
                BLOCK - marked.leading_zeros() as usize
            };
            let start = at + gap as usize;
            let mut marks_end = start + last(marked >> gap, length);
            let mut end = start + length as usize;
            while end.is_multiple_of(BLOCK) && end < self.bytes.len() {
                let (held, marked) = self.told(end);
                let more = held.trailing_ones();
                if more == 0 {
                    break;
                }
                if let behind @ 1.. = last(marked, more) {
                    marks_end = end + behind;
                }
                end += more as usize;
            }
            (self.run, self.marks_end) = (start..end, marks_end);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is told of each byte, where it is asked of one after the other.
    fn each(bytes: [u8; 8], holds: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(holds(*byte)))
    }

    proptest! {
        #[test]
        fn runs_are_as_long_as_they_can_be(text in "([ab]{0,80}[ .é]{0,70}){0,4}") {
            let is_one = |byte: u8| byte.is_ascii_lowercase() || byte >= 0x80;
            let told = |eight: Octets| eight.within(b'a', b'z').or(eight.ascii().not());
            let bytes = text.as_bytes();
            let mut known = Vec::new();
            let mut start = None;
            for (at, byte) in bytes.iter().chain([&b' ']).enumerate() {
                match (is_one(*byte), start) {
                    (true, None) => start = Some(at),
                    (false, Some(from)) => {
                        known.push(from..at);
                        start = None;
                    }
                    _ => {}
                }
            }
            let mut runs = Runs::of(bytes, told, |eight| eight.are(b'b').and(eight.ascii()));
            let (mut found, mut at) = (Vec::new(), 0);
            while let Some((run, is_marked)) = runs.next_from(at) {
                prop_assert_eq!(is_marked, bytes[run.clone()].contains(&b'b'));
                // Of one that is taken apart the rest.
                for from in run.clone() {
                    let is_marked = bytes[from..run.end].contains(&b'b');
                    prop_assert_eq!(runs.next_from(from), Some((from..run.end, is_marked)));
                }
                at = run.end;
                found.push(run);
            }
            prop_assert_eq!(found, known);
        }

        #[test]
        fn all_are_told_as_each_is(bytes: [u8; 8], first in 1u8..0x7f, length in 0u8..0x7f) {
            let (last, eight) = (first.saturating_add(length).min(0x7e), Octets::of(bytes));
            prop_assert_eq!(eight.ascii().bits(), each(bytes, |byte| byte.is_ascii()));
            let ascii = |told: Told| told.and(eight.ascii()).bits();
            if first <= last {
                let within = each(bytes, |byte| (first..=last).contains(&byte));
                prop_assert_eq!(ascii(eight.within(first, last)), within);
            }
            let sign = bytes[0] & 0x7f;
            prop_assert_eq!(ascii(eight.are(sign)), each(bytes, |byte| byte == sign));
            let letters = ascii(eight.folded().within(b'a', b'z'));
            prop_assert_eq!(letters, each(bytes, |byte| byte.is_ascii_alphabetic()));
            let (even, none) = (each(bytes, |byte| byte == sign), Told::all().not());
            prop_assert_eq!(eight.are(sign).and(eight.ascii()).behind(none).bits(), even << 1 & 0xff);
            prop_assert_eq!(eight.are(sign).not().and(eight.ascii()).behind(Told::all()).bits() & 1, 1);
        }
    }
}
