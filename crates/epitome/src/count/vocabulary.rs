//! The tokens of an encoding and the table that finds them, as `build.rs` laid them out.
//!
//! Everything is read in place from the binary: there is nothing to load, and what isn't asked for
//! isn't paged in.

use super::probe::{self, Key, SHORT};

/// One encoding's tokens. A token's number is its rank: of two possible merges the lower one is done.
pub(super) struct Vocabulary {
    /// All tokens in order of rank, then room to read a whole key at the last one.
    bytes: &'static [u8],
    /// Where each token starts in `bytes`, and where the last one ends.
    offsets: &'static [[u8; 4]],
    /// Open addressing with linear probing, at most half full.
    slots: &'static [[u8; 4]],
    /// Length of the longest token.
    pub(super) longest: usize,
}

macro_rules! vocabulary {
    ($name:literal, $longest:literal) => {
        Vocabulary {
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytes")),
            offsets: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".offsets")).as_chunks().0,
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")).as_chunks().0,
            longest: $longest,
        }
    };
}

#[cfg(feature = "o200k")]
pub(super) static O200K: Vocabulary = vocabulary!("o200k", 128);

#[cfg(feature = "cl100k")]
pub(super) static CL100K: Vocabulary = vocabulary!("cl100k", 128);

impl Vocabulary {
    /// The rank of a token of at most [`SHORT`] bytes.
    #[inline]
    pub(super) fn short_rank(&self, key: Key) -> Option<u32> {
        let hash = probe::short_hash(key);
        self.find(hash, |start, end| {
            let word = self.bytes[start..].first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
            end - start <= SHORT
                && word.is_some_and(|word| probe::short_key(word, end - start) == key)
        })
    }

    /// The rank of a token of more than [`SHORT`] bytes.
    #[inline]
    pub(super) fn long_rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest {
            return None;
        }
        self.find(probe::long_hash(bytes), |start, end| &self.bytes[start..end] == bytes)
    }

    /// The number of tokens.
    #[cfg(all(test, feature = "o200k", feature = "cl100k"))]
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The bytes of the token of a rank.
    #[cfg(all(test, feature = "o200k", feature = "cl100k"))]
    pub(super) fn token(&self, rank: usize) -> &'static [u8] {
        let at = |index: usize| u32::from_le_bytes(self.offsets[index]) as usize;
        &self.bytes[at(rank)..at(rank + 1)]
    }

    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(usize, usize) -> bool) -> Option<u32> {
        let mut at = probe::home(hash, self.slots.len().trailing_zeros());
        let tag = probe::slot(hash, 0);
        loop {
            let slot = u32::from_le_bytes(self.slots[at]);
            if slot == probe::EMPTY {
                return None;
            }
            if slot & !probe::RANK_MASK == tag {
                let rank = slot & probe::RANK_MASK;
                let start = u32::from_le_bytes(self.offsets[rank as usize]) as usize;
                let end = u32::from_le_bytes(self.offsets[rank as usize + 1]) as usize;
                if is_it(start, end) {
                    return Some(rank);
                }
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vocabulary")
            .field("tokens", &(self.offsets.len() - 1))
            .finish_non_exhaustive()
    }
}
