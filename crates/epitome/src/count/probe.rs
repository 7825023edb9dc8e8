//! How strings and pairs of tokens find their slots in a vocabulary's hash tables.
//!
//! Shared with `build.rs`, which lays the tables out: both sides must agree on every bit. The hashing
//! is perfect: a table's seeds, one for each group of hashes, are chosen so that no two entries want
//! the same slot. So a search looks at one slot and branches on nothing that is hard to predict.

/// Longest string that a [`Key`] holds.
pub(super) const SHORT: usize = 15;

/// Bits that a rank takes in a slot.
pub(super) const RANK_BITS: u32 = 18;

/// The bits of a slot that are the rank. No rank has all of them set.
pub(super) const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

/// Bits that tell the tokens of a block apart.
pub(super) const BLOCK_BITS: u32 = 10;

/// A slot that holds no string.
pub(super) const NO_STRING: u32 = u32::MAX;

/// A slot that holds no pair.
#[allow(dead_code, reason = "only the build writes it: no pair of ranks looks like it")]
pub(super) const NO_PAIR: u64 = u64::MAX;

const MIX: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93];

/// A string of at most [`SHORT`] bytes as one number: its bytes from the low end, its length on top.
pub(super) type Key = u128;

/// The key of the `len` low bytes of `word`; the bytes above may be anything.
#[inline]
pub(super) fn short_key(word: u128, len: usize) -> Key {
    debug_assert!(len <= SHORT);
    (word & ((1 << (8 * len)) - 1)) | ((len as u128) << 120)
}

/// Hash of a string of at most [`SHORT`] bytes.
#[inline]
pub(super) fn short_hash(key: Key) -> u64 {
    fold((key as u64) ^ MIX[0], ((key >> 64) as u64) ^ MIX[1])
}

/// Hash of a string of more than [`SHORT`] bytes.
#[inline]
pub(super) fn long_hash(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word) ^ MIX[0], MIX[1]);
    }
    for &byte in tail {
        hash = fold(hash ^ u64::from(byte) ^ MIX[1], MIX[0]);
    }
    hash
}

/// The content of a string's slot, given its hash: a piece of the hash, and the rank.
#[inline]
pub(super) fn string_slot(hash: u64, rank: u32) -> u32 {
    ((hash as u32) << RANK_BITS) | rank
}

/// Two ranks as one number.
#[inline]
pub(super) fn pair_key(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

/// Hash of a pair.
#[inline]
pub(super) fn pair_hash(key: u64) -> u64 {
    key.wrapping_mul(MIX[0])
}

/// The content of a pair's slot: all of it, and the rank of its merger.
#[allow(dead_code, reason = "only the build needs it")]
pub(super) fn pair_slot(key: u64, rank: u32) -> u64 {
    key << RANK_BITS | u64::from(rank)
}

/// Bytes of a pair's slot: three ranks.
pub(super) const PAIR_BYTES: usize = 7;

/// Which of a table's seeds goes with a hash.
#[inline]
pub(super) fn group(hash: u64, seeds: usize) -> usize {
    scale(hash, seeds)
}

/// The slot for a hash, given its seed.
#[inline]
pub(super) fn place(hash: u64, seed: u16, slots: usize) -> usize {
    let spread = (hash ^ (hash >> 32)).wrapping_add(u64::from(seed).wrapping_mul(MIX[0]));
    scale(spread.wrapping_mul(MIX[1]), slots)
}

/// Maps a hash to a number below `bound`, by its upper half.
#[inline]
pub(super) fn scale(hash: u64, bound: usize) -> usize {
    (((hash >> 32) * bound as u64) >> 32) as usize
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}
