//! Sets of words, as digests: what subjects are compared by.

/// A word's digest (FNV-1a, 64 bits): the same on every run and every machine.
pub(super) fn digest(word: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    word.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Words of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms(Vec<u64>);

impl Terms {
    pub(super) fn push(&mut self, word: u64) {
        if let Err(at) = self.0.binary_search(&word) {
            self.0.insert(at, word);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, word: u64) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// How many are in `other` too.
    pub(super) fn shared(&self, other: &Self) -> usize {
        self.iter().filter(|word| other.has(*word)).count()
    }

    /// Those that aren't in `other`.
    pub(super) fn without(&self, other: &Self) -> impl Iterator<Item = u64> {
        self.iter().filter(|word| !other.has(*word))
    }
}
