//! Words as the index keeps them: as numbers, so that any word of any script is one of them, and how often
//! each occurs in an entry.

use epitome::archive::recall::asked;
use epitome::text::words::{is_stop_word, words};

/// Words of a question beyond these ask for nothing new.
const MOST_ASKED: usize = 64;

/// The number of a word: 40 bits. It is what stands in stores, so it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word(u64);

impl Word {
    fn of(word: &str) -> Self {
        // FNV-1a, and a finish that lets all of it speak in the upper bits.
        let mut hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        Word(hash >> 24)
    }

    /// What stands for it in PostgreSQL's index.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// What stands for it in SQLite's index.
    pub(crate) fn write(self, out: &mut String) {
        const DIGITS: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";
        for at in (0..8).rev() {
            out.push(char::from(DIGITS[(self.0 >> (at * 5)) as usize & 31]));
        }
    }

    /// As [`Counts`] knows it.
    fn short(self) -> u32 {
        (self.0 >> 16) as u32
    }
}

/// The words of a text, each once and in order, with how often they occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    words: Vec<(Word, u32)>,
    length: usize,
}

impl Terms {
    pub(crate) fn of(text: &str) -> Self {
        let all = words(text).filter(|word| !is_stop_word(word));
        let mut all: Vec<Word> = all.map(|word| Word::of(&word)).collect();
        all.sort_unstable();
        let same = all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32));
        Terms { words: same.collect(), length: all.len() }
    }

    /// Each word once.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> {
        self.words.iter().map(|(word, _)| *word)
    }

    /// How many words there are in all.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// As it is kept; [`Counts`] reads it.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let one = |&(word, count): &(Word, u32)| (word.short() << 8 | count.min(255)).to_le_bytes();
        self.words.iter().flat_map(one).collect()
    }
}

/// How often words occur in an entry: 24 bits of each word, which tell those of one entry apart, and its count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts<'a>(&'a [[u8; 4]]);

impl<'a> Counts<'a> {
    pub(crate) fn new(packed: &'a [u8]) -> Self {
        Counts(packed.as_chunks().0)
    }

    /// How often a word occurs; 255 stands for more, too.
    pub(crate) fn of(self, word: Word) -> u32 {
        let found = self.0.binary_search_by_key(&word.short(), |one| u32::from_le_bytes(*one) >> 8);
        found.map_or(0, |at| u32::from_le_bytes(self.0[at]) & 255)
    }
}

/// The words that a question asks for.
pub(crate) fn of_question(text: &str) -> Vec<Word> {
    let mut all: Vec<Word> =
        asked(text).iter().take(MOST_ASKED).map(|word| Word::of(word)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_says_how_often() {
        let terms = Terms::of("port port, the port of ParseConfig and the database");
        let packed = terms.packed();
        let count = |word: &str| Counts::new(&packed).of(Word::of(word));
        assert_eq!(
            ["port", "parseconfig", "parse", "config", "database"].map(count),
            [3, 1, 1, 1, 1]
        );
        assert_eq!(["the", "unsaid", ""].map(count), [0; 3]);
        assert_eq!((terms.length(), terms.words().count()), (7, 5));
        let much = Terms::of(&"word ".repeat(1000)).packed();
        assert_eq!(Counts::new(&much).of(Word::of("word")), 255);
    }

    #[test]
    fn numbers_are_as_they_were_in_the_first_store() {
        let mut token = String::new();
        Word::of("port").write(&mut token);
        Word::of("ß").write(&mut token);
        expect_test::expect!["5bavccnfmqsm6k33"].assert_eq(&token);
    }
}
