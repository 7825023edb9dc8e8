//! How a byte string finds its slot in a vocabulary's hash table.
//!
//! Shared with `build.rs`, which lays the tables out: both sides must agree on every bit.

/// Longest string that a [`Key`] holds.
pub(super) const SHORT: usize = 15;

/// Bits of a slot that hold the rank; the rest hold a piece of the hash.
pub(super) const RANK_BITS: u32 = 18;

/// A slot that holds no token. No rank comes near `RANK_MASK`.
pub(super) const EMPTY: u32 = u32::MAX;

/// The part of a slot that is the rank.
pub(super) const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

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

/// Where the search for a hash starts in a table of `1 << bits` slots.
#[inline]
pub(super) fn home(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// The slot's content for a hash and a rank.
#[inline]
pub(super) fn slot(hash: u64, rank: u32) -> u32 {
    ((hash as u32) << RANK_BITS) | rank
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}
