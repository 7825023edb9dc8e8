//! Ranking texts by a question (BM25).
//!
//! Sums run in a fixed order, so scores are the same on every run; ties go to the lower index.

use super::words::{is_stop_word, words};

/// One document that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedDocument {
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
    pub fn search(&self, query: &str, limit: usize) -> Vec<RankedDocument> {
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
        let mut hits: Vec<RankedDocument> = scores
            .into_iter()
            .enumerate()
            .filter(|&(_, score)| score > 0.0)
            .map(|(index, score)| RankedDocument { index, score })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        hits.truncate(limit);
        hits
    }
}

/// The weight of a word that occurs in this share of all documents.
pub fn rarity(holders: f64, all: f64) -> f64 {
    ((all - holders + 0.5).max(0.0) / (holders + 0.5)).ln_1p()
}

/// The weight of a word in a document by its count and the document's length, where 1 is the mean; at most
/// [`MOST_WEIGHT`].
pub fn weight(count: f64, length: f64) -> f64 {
    count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * length))
}

/// What no word of a document weighs more than.
pub const MOST_WEIGHT: f64 = SATURATION + 1.0;

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

    proptest! {
        #[test]
        fn scores_are_finite(texts in prop::collection::vec("[a-d ]{0,12}", 0..30)) {
            let hits = Bm25::new(texts.iter().map(String::as_str)).search("a bb ccc", 8);
            prop_assert!(hits.iter().all(|hit| hit.score.is_finite()));
        }
    }
}
