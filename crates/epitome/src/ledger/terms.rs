//! Sets of words, as digests: what subjects are compared by.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A word's digest; the same on every run.
pub(super) fn digest(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
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
