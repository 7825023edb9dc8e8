//! Ranking texts: by a question (BM25) and by what they have in common (LexRank).
//!
//! Sums run in a fixed order, so scores are the same on every run; ties go to the lower index.

use super::words::{is_stop_word, words};

/// One document that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its index among the documents.
    pub index: usize,
    /// How well it answers; only comparable within one search.
    pub score: f64,
}

/// Documents indexed for BM25.
///
/// Postings are one sorted list of word digests: no map, and about 16 bytes for each different word
/// of a document.
#[derive(Debug, Clone, Default)]
pub struct Bm25 {
    postings: Vec<Posting>,
    lengths: Vec<u32>,
    mean: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    word: u64,
    document: u32,
    count: u32,
}

/// How soon further occurrences of a word stop counting.
const SATURATION: f64 = 1.2;
/// How much long documents are held back.
const LENGTH: f64 = 0.75;

impl Bm25 {
    /// Indexes documents.
    pub fn new<'a>(documents: impl IntoIterator<Item = &'a str>) -> Self {
        let mut postings = Vec::new();
        let mut lengths = Vec::new();
        let mut own: Vec<u64> = Vec::new();
        for document in documents {
            own.clear();
            own.extend(digests(document));
            own.sort_unstable();
            let index = lengths.len() as u32;
            lengths.push(own.len() as u32);
            postings.extend(own.chunk_by(|a, b| a == b).map(|same| Posting {
                word: same[0],
                document: index,
                count: same.len() as u32,
            }));
        }
        postings.sort_unstable();
        let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let mean = total as f64 / lengths.len().max(1) as f64;
        Self { postings, lengths, mean: mean.max(1.0) }
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is nothing to search.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The documents that share a word with `query`, best first, at most `limit`.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut asked: Vec<u64> = digests(query).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut scores = vec![0.0; self.lengths.len()];
        for word in asked {
            let start = self.postings.partition_point(|posting| posting.word < word);
            let found = &self.postings[start..];
            let found = &found[..found.partition_point(|posting| posting.word == word)];
            let (holders, all) = (found.len() as f64, self.lengths.len() as f64);
            let rarity = rarity(holders, all);
            for posting in found {
                let count = f64::from(posting.count);
                let length = f64::from(self.lengths[posting.document as usize]) / self.mean;
                scores[posting.document as usize] += rarity * weight(count, length);
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter(|&(_, score)| score > 0.0)
            .map(|(index, score)| Hit { index, score })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        hits.truncate(limit);
        hits
    }
}

/// How much a word tells that so many of all documents have.
pub fn rarity(holders: f64, all: f64) -> f64 {
    ((all - holders + 0.5).max(0.0) / (holders + 0.5)).ln_1p()
}

/// What a word weighs in a document that has it so often and is so long, where 1 is the mean; at most
/// [`MOST_WEIGHT`].
pub fn weight(count: f64, length: f64) -> f64 {
    count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * length))
}

/// What no word of a document weighs more than.
pub const MOST_WEIGHT: f64 = SATURATION + 1.0;

/// Steps of the power iteration; more change no order that matters.
const STEPS: usize = 24;
/// The chance that a reader goes on to any sentence instead of a similar one.
const JUMP: f64 = 0.15;
/// Sentences less alike than this have nothing in common.
const ALIKE: f32 = 0.08;

/// How central each sentence is among all, by shared words (LexRank): one number each, 1 on
/// average.
///
/// Every pair is compared, so at most `cap` sentences are, evenly spread; the others get 0.
pub fn lexrank(sentences: &[&str], cap: usize) -> Vec<f64> {
    let count = sentences.len().min(cap);
    let chosen: Vec<usize> = (0..count).map(|at| at * sentences.len() / count).collect();
    let vectors = vectors(chosen.iter().map(|&at| sentences[at]));
    let links: Vec<Vec<(usize, f64)>> = links(&vectors);
    let mut ranks = vec![1.0; count];
    for _ in 0..STEPS {
        let mut next = vec![0.0; count];
        // A sentence that is like no other gives its rank to all.
        let loose: f64 = (0..count).filter(|&at| links[at].is_empty()).map(|at| ranks[at]).sum();
        for (at, links) in links.iter().enumerate() {
            for &(to, share) in links {
                next[to] += ranks[at] * share;
            }
        }
        let everywhere = JUMP + (1.0 - JUMP) * loose / count as f64;
        ranks = next.into_iter().map(|rank| everywhere + (1.0 - JUMP) * rank).collect();
    }
    let mut all = vec![0.0; sentences.len()];
    for (rank, at) in ranks.into_iter().zip(chosen) {
        all[at] = rank;
    }
    all
}

/// For each vector, those it is like, with shares that sum to 1.
fn links(vectors: &[Vector]) -> Vec<Vec<(usize, f64)>> {
    let mut links: Vec<Vec<(usize, f64)>> = vec![Vec::new(); vectors.len()];
    for (at, vector) in vectors.iter().enumerate() {
        for (before, other) in vectors[..at].iter().enumerate() {
            let likeness = vector.likeness(other);
            if likeness > ALIKE {
                links[at].push((before, f64::from(likeness)));
                links[before].push((at, f64::from(likeness)));
            }
        }
    }
    for links in &mut links {
        let total: f64 = links.iter().map(|(_, share)| share).sum();
        for (_, share) in links.iter_mut() {
            *share /= total;
        }
    }
    links
}

/// The words of a text as a vector of length 1, rare words weighing more.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    /// Sorted by word.
    weights: Vec<(u64, f32)>,
}

impl Vector {
    /// The cosine of the angle between the two: 0 for nothing in common, 1 for the same words.
    pub(crate) fn likeness(&self, other: &Self) -> f32 {
        let (mut a, mut b) = (self.weights.iter().peekable(), other.weights.iter().peekable());
        let mut sum = 0.0;
        while let (Some(&&(word_a, weight_a)), Some(&&(word_b, weight_b))) = (a.peek(), b.peek()) {
            match word_a.cmp(&word_b) {
                std::cmp::Ordering::Less => _ = a.next(),
                std::cmp::Ordering::Greater => _ = b.next(),
                std::cmp::Ordering::Equal => {
                    sum += weight_a * weight_b;
                    a.next();
                    b.next();
                }
            }
        }
        sum
    }
}

/// The vectors of texts, words weighed by how few of the texts hold them.
pub(crate) fn vectors<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Vector> {
    let mut counted: Vec<Vec<(u64, f32)>> = Vec::new();
    let mut held: Vec<u64> = Vec::new();
    for text in texts {
        let mut own: Vec<u64> = digests(text).collect();
        own.sort_unstable();
        let counts: Vec<(u64, f32)> =
            own.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f32)).collect();
        held.extend(counts.iter().map(|&(word, _)| word));
        counted.push(counts);
    }
    held.sort_unstable();
    let all = counted.len() as f32;
    for counts in &mut counted {
        for (word, weight) in counts.iter_mut() {
            let start = held.partition_point(|other| other < word);
            let holders = held[start..].partition_point(|other| other == word) as f32;
            *weight *= (1.0 + all / holders).ln();
        }
        let length = counts.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        for (_, weight) in counts.iter_mut() {
            *weight /= length;
        }
    }
    counted.into_iter().map(|weights| Vector { weights }).collect()
}

/// The words that tell texts apart, each as a digest. Only compared within one run, so the function
/// is free to change.
fn digests(text: &str) -> impl Iterator<Item = u64> {
    words(text).filter(|word| !is_stop_word(word)).map(|word| {
        word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_search_finds_the_rare_word_first() {
        let documents = [
            "the parser reads the config file",
            "fn parse_config(path: &Path) -> Config",
            "weather is fine",
            "config config config everywhere in this long text about config and other things",
        ];
        let index = Bm25::new(documents);
        let found: Vec<usize> =
            index.search("parse_config", 10).iter().map(|hit| hit.index).collect();
        assert_eq!(found[0], 1);
        assert!(!found.contains(&2));
        assert_eq!(index.search("weather", 10).len(), 1);
        assert_eq!(index.search("the of", 10), []);
        assert_eq!((index.len(), index.is_empty()), (4, false));
    }

    #[test]
    fn equal_documents_come_in_order() {
        let index = Bm25::new(["same words", "same words", "other", "same words"]);
        let found: Vec<usize> = index.search("words", 2).iter().map(|hit| hit.index).collect();
        assert_eq!(found, [0, 1]);
    }

    #[test]
    fn the_central_sentence_ranks_highest() {
        let sentences = [
            "The cache was stale after the deploy",
            "Lunch is at noon",
            "Clearing the stale cache fixed the deploy",
            "The deploy failed because the cache was stale",
        ];
        let ranks = lexrank(&sentences, 400);
        assert!(ranks[3] > ranks[1] && ranks[2] > ranks[1], "{ranks:?}");
        let total: f64 = ranks.iter().sum();
        assert!((total - 4.0).abs() < 1e-6);
    }

    #[test]
    fn a_cap_spreads_evenly() {
        let sentences: Vec<String> =
            (0..1_000).map(|at| format!("sentence number {at} of the cache")).collect();
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        let ranks = lexrank(&sentences, 100);
        assert_eq!(ranks.iter().filter(|&&rank| rank > 0.0).count(), 100);
        assert!(ranks[0] > 0.0 && ranks[10] > 0.0 && ranks[990] > 0.0);
        assert_eq!(lexrank(&[], 10), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn ranks_are_finite_and_the_same_again(texts in prop::collection::vec("[a-d ]{0,12}", 0..30), cap in 0_usize..40) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let ranks = lexrank(&texts, cap);
            prop_assert!(ranks.iter().all(|rank| rank.is_finite() && *rank >= 0.0));
            prop_assert_eq!(lexrank(&texts, cap), ranks);
            let hits = Bm25::new(texts.iter().copied()).search("a bb ccc", 8);
            prop_assert!(hits.iter().all(|hit| hit.score.is_finite()));
        }
    }
}
