//! The tokens of an encoding and the tables that find them, as `build.rs` laid them out.
//!
//! Everything is read in place from the binary: there is nothing to load, and what isn't asked for
//! isn't paged in.

use super::probe::{self, Key, SHORT};

/// One encoding's tokens. A token's number is its rank: of two possible merges the lower one is done.
pub(super) struct Vocabulary {
    /// All tokens in order of rank, then room to read a whole key at the last one.
    bytes: &'static [u8],
    /// Where each token starts in `bytes`, and where the last one ends, counted from the first of its block.
    offsets: &'static [[u8; 2]],
    /// Where each block starts.
    blocks: &'static [[u8; 4]],
    /// Finds a token by its bytes.
    strings: Table<4>,
    /// Finds what two tokens merge to.
    pairs: Table<{ probe::PAIR_BYTES }>,
    /// For each byte, the token that it is.
    singles: &'static [[u8; 4]],
    /// Length of the longest token.
    pub(super) longest: usize,
}

/// A hash table without collisions; see [`probe`].
struct Table<const N: usize> {
    seeds: &'static [[u8; 2]],
    slots: &'static [[u8; N]],
}

macro_rules! vocabulary {
    ($name:literal, $longest:literal) => {
        Vocabulary {
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytes")),
            offsets: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".offsets")).as_chunks().0,
            blocks: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".blocks")).as_chunks().0,
            strings: Table {
                seeds: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".strings.seeds"))
                    .as_chunks()
                    .0,
                slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".strings"))
                    .as_chunks()
                    .0,
            },
            pairs: Table {
                seeds: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs.seeds"))
                    .as_chunks()
                    .0,
                slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")).as_chunks().0,
            },
            singles: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".singles")).as_chunks().0,
            longest: $longest,
        }
    };
}

#[cfg(feature = "o200k")]
pub(super) static O200K: Vocabulary = vocabulary!("o200k", 128);

#[cfg(feature = "cl100k")]
pub(super) static CL100K: Vocabulary = vocabulary!("cl100k", 128);

impl Vocabulary {
    /// Whether a string of at most [`SHORT`] bytes is a token.
    #[inline]
    pub(super) fn has_short(&self, key: Key) -> bool {
        let hash = probe::short_hash(key);
        self.has(hash, |start, end| {
            let word = self.bytes[start..].first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
            end - start <= SHORT
                && word.is_some_and(|word| probe::short_key(word, end - start) == key)
        })
    }

    /// Whether a string of more than [`SHORT`] bytes is a token.
    #[inline]
    pub(super) fn has_long(&self, bytes: &[u8]) -> bool {
        bytes.len() <= self.longest
            && self.has(probe::long_hash(bytes), |start, end| &self.bytes[start..end] == bytes)
    }

    /// The token that is this byte.
    #[inline]
    pub(super) fn single(&self, byte: u8) -> u32 {
        u32::from_le_bytes(self.singles[usize::from(byte)])
    }

    /// What two tokens merge to.
    #[inline]
    pub(super) fn merged(&self, left: u32, right: u32) -> Option<u32> {
        let key = probe::pair_key(left, right);
        let mut slot = [0; 8];
        slot[..probe::PAIR_BYTES].copy_from_slice(&self.pairs.slot(probe::pair_hash(key)));
        let slot = u64::from_le_bytes(slot);
        (slot >> probe::RANK_BITS == key).then_some(slot as u32 & probe::RANK_MASK)
    }

    /// The number of tokens.
    #[cfg(all(test, feature = "o200k", feature = "cl100k"))]
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The bytes of the token of a rank.
    #[cfg(all(test, feature = "o200k", feature = "cl100k"))]
    pub(super) fn token(&self, rank: usize) -> &'static [u8] {
        &self.bytes[self.offset(rank)..self.offset(rank + 1)]
    }

    #[inline]
    fn has(&self, hash: u64, is_it: impl Fn(usize, usize) -> bool) -> bool {
        let slot = u32::from_le_bytes(self.strings.slot(hash));
        let rank = slot & probe::RANK_MASK;
        slot == probe::string_slot(hash, rank)
            && slot != probe::NO_STRING
            && is_it(self.offset(rank as usize), self.offset(rank as usize + 1))
    }

    #[inline]
    fn offset(&self, rank: usize) -> usize {
        let block = u32::from_le_bytes(self.blocks[rank >> probe::BLOCK_BITS]);
        block as usize + usize::from(u16::from_le_bytes(self.offsets[rank]))
    }
}

impl<const N: usize> Table<N> {
    /// The only slot that an entry of this hash can be in.
    #[inline]
    fn slot(&self, hash: u64) -> [u8; N] {
        let seed = u16::from_le_bytes(self.seeds[probe::group(hash, self.seeds.len())]);
        self.slots[probe::place(hash, seed, self.slots.len())]
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vocabulary")
            .field("tokens", &(self.offsets.len() - 1))
            .finish_non_exhaustive()
    }
}
