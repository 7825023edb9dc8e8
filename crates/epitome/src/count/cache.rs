//! Counts of texts seen before, found by a keyed hash of the text.
//!
//! Exact counting costs about a hundred times what hashing does, so a second pass over a known
//! history should count nothing.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use highway::{HighwayHash, HighwayHasher, Key};

use super::{Count, TokenCounter, media};

/// The hash key. Who doesn't know it can't make two texts share a count, so where texts come from
/// strangers it should be drawn at random; results don't depend on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CacheKey(pub [u64; 4]);

impl CacheKey {
    fn hash(self, text: &[u8]) -> u128 {
        let [low, high] = HighwayHasher::new(Key(self.0)).hash128(text);
        u128::from(high) << 64 | u128::from(low)
    }
}

impl std::fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CacheKey(..)")
    }
}

/// Counts by text, for one counter, in bounded memory.
///
/// Texts are told apart by a 128-bit keyed hash and not kept. The older half is forgotten when the
/// cache is full, by order of last use in coarse steps, so the same calls forget the same texts.
#[derive(Debug)]
pub struct CountCache {
    key: CacheKey,
    /// Entries in one generation.
    half: usize,
    young: Generation,
    old: Generation,
}

type Generation = ByHash<u128, Count>;

/// The count for a number that is a keyed hash already.
pub(crate) type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<Hashed>>;

impl CountCache {
    /// A cache of at most `capacity` texts, each of which takes about 64 bytes. Memory is only allocated when needed.
    pub fn new(capacity: usize, key: CacheKey) -> Self {
        Self { key, half: capacity / 2, young: Generation::default(), old: Generation::default() }
    }

    /// The cached count of a text, or that of `count`, which is then cached.
    ///
    /// `text` may be in any form, such as the raw bytes of a JSON string, but always in the same form for one counter.
    pub fn get_or_count(&mut self, text: &[u8], count: impl FnOnce() -> Count) -> Count {
        let hash = self.key.hash(text);
        self.get(hash).unwrap_or_else(|| {
            let counted = count();
            self.keep(hash, counted);
            counted
        })
    }

    fn get(&mut self, hash: u128) -> Option<Count> {
        if let Some(known) = self.young.get(&hash) {
            return Some(*known);
        }
        let known = self.old.get(&hash).copied()?;
        self.keep(hash, known);
        Some(known)
    }

    fn keep(&mut self, hash: u128, count: Count) {
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        if self.half > 0 {
            self.young.insert(hash, count);
        }
    }

    /// How many counts are held.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Uses a part of a number that is a hash already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole numbers are hashed");
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A counter that counts each text once: a second pass over a known history costs a hash a text.
#[derive(Debug)]
pub struct Cached {
    counter: Arc<dyn TokenCounter>,
    key: CacheKey,
    cache: Mutex<CountCache>,
}

/// Shorter texts are counted faster than they are looked up.
const LEAST_BYTES: usize = 64;

impl Cached {
    /// `counter`, remembering at most `capacity` texts.
    pub fn new(counter: Arc<dyn TokenCounter>, capacity: usize, key: CacheKey) -> Self {
        Cached { counter, key, cache: Mutex::new(CountCache::new(capacity, key)) }
    }

    fn lock(&self) -> MutexGuard<'_, CountCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenCounter for Cached {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn text(&self, text: &str) -> Count {
        if text.len() < LEAST_BYTES {
            return self.counter.text(text);
        }
        let hash = self.key.hash(text.as_bytes());
        let known = self.lock().get(hash);
        // Others may look up while this one counts.
        known.unwrap_or_else(|| {
            let counted = self.counter.text(text);
            self.lock().keep(hash, counted);
            counted
        })
    }

    fn media_rule(&self) -> media::MediaRule {
        self.counter.media_rule()
    }

    fn media(&self, image: &media::Image) -> Count {
        self.counter.media(image)
    }

    fn document(&self, document: &media::Document) -> Count {
        self.counter.document(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Tolled(std::sync::atomic::AtomicUsize);

    impl TokenCounter for Tolled {
        fn name(&self) -> &'static str {
            "tolled"
        }

        fn text(&self, text: &str) -> Count {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Count::exact(text.len() as u64)
        }
    }

    #[test]
    fn a_known_text_is_not_counted_again() {
        let tolled = Arc::new(Tolled::default());
        let cached =
            Cached::new(Arc::clone(&tolled) as Arc<dyn TokenCounter>, 16, CacheKey([7; 4]));
        let long = "word ".repeat(100);
        for _ in 0..3 {
            assert_eq!(cached.text(&long), Count::exact(500));
        }
        assert_eq!(tolled.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    const KEY: CacheKey = CacheKey([1, 2, 3, 4]);

    /// Looks the texts up in turn; upper case in the answer means that it had to be counted.
    fn misses(capacity: usize, texts: &str) -> String {
        let mut cache = CountCache::new(capacity, KEY);
        let mut shown = String::new();
        for text in texts.chars() {
            let mut missed = false;
            let count = cache.get_or_count(text.to_string().as_bytes(), || {
                missed = true;
                Count::exact(u64::from(text))
            });
            assert_eq!(count, Count::exact(u64::from(text)));
            assert!(cache.len() <= capacity);
            shown.push(if missed { text.to_ascii_uppercase() } else { text });
        }
        shown
    }

    #[test]
    fn a_text_is_counted_once() {
        assert_eq!(misses(100, "abcabc"), "ABCabc");
    }

    #[test]
    fn what_was_not_used_lately_goes_first() {
        assert_eq!(misses(4, "abcdeaecd"), "ABCDEAecD");
    }

    #[test]
    fn without_capacity_nothing_is_kept() {
        assert_eq!(misses(0, "aa"), "AA");
    }
}
