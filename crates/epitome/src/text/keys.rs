//! Short texts by their hashes, to compare many of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A text by its hash: two that differ and have one hash are not expected in any session.
pub(crate) type Key = u64;

/// The key of a text.
pub(crate) fn key(text: &str) -> Key {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = text.len() as u64 ^ FACTOR;
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    let mut mix = |value: u64| {
        let wide = u128::from(hash ^ value).wrapping_mul(u128::from(FACTOR | 1) << 1 | 1);
        hash = (wide as u64).rotate_left(23) ^ (wide >> 64) as u64;
    };
    for eight in eights {
        mix(u64::from_le_bytes(*eight));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last));
    mix(FACTOR);
    hash
}

/// Keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map by keys.
pub(crate) type ByKey<T> = HashMap<Key, T, BuildHasherDefault<AsItIs>>;
