//! Sets of words, as digests: what subjects are compared by.

/// A word's digest (FNV-1a, 64 bits): the same on every run and every machine.
pub(super) fn digest(word: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    word.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Words of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Sorted.
    words: Vec<u64>,
    /// A bit for each: most words that aren't here are told by it.
    bits: u64,
}

/// The upper bits of a digest are as good as any.
pub(super) fn bit(word: u64) -> u64 {
    1 << (word >> 58)
}

impl Terms {
    pub(super) fn push(&mut self, word: u64) {
        if let Err(at) = self.words.binary_search(&word) {
            self.words.insert(at, word);
            self.bits |= bit(word);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn has(&self, word: u64) -> bool {
        // Hardly a sentence has so many that looking at each in turn would take longer than searching.
        self.bits & bit(word) != 0 && self.words.contains(&word)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }

    /// How many are in `other` too.
    pub(super) fn shared(&self, other: &Self) -> usize {
        if self.bits & other.bits == 0 {
            return 0;
        }
        // Both are sorted.
        let (own, theirs) = (&self.words[..], &other.words[..]);
        let (mut at, mut there, mut shared) = (0, 0, 0);
        while at < own.len() && there < theirs.len() {
            let (word, other) = (own[at], theirs[there]);
            shared += usize::from(word == other);
            at += usize::from(word <= other);
            there += usize::from(word >= other);
        }
        shared
    }

    /// Those that aren't in `other`.
    pub(super) fn without(&self, other: &Self) -> impl Iterator<Item = u64> {
        self.iter().filter(|word| !other.has(*word))
    }
}
