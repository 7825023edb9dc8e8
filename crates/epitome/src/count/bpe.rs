//! Exact counts for the encodings o200k_base and cl100k_base.
//!
//! Text is cut into pieces ([`super::pretokenize`]); most pieces are one token, and most that aren't
//! were met before. Names of special tokens that occur in text, such as `<|endoftext|>`, count as
//! the ordinary text that they are.

use std::sync::{Arc, Mutex};

use super::merge::Merge;
use super::probe::{self, Key, SHORT, short_key};
use super::vocabulary::{self, Vocabulary};
use super::{Basis, Count, TokenCounter, media, pretokenize};

/// Counter for one encoding. Clones share their working memory; any number of threads may count.
#[derive(Clone)]
pub struct Bpe {
    encoding: Encoding,
    /// Working memory that no thread is using just now.
    idle: Arc<Mutex<Vec<Scratch>>>,
}

#[derive(Clone, Copy, Debug)]
enum Encoding {
    #[cfg(feature = "o200k")]
    O200k,
    #[cfg(feature = "cl100k")]
    Cl100k,
}

impl Bpe {
    /// The encoding of GPT-4o, o1 and later OpenAI models.
    #[cfg(feature = "o200k")]
    pub fn o200k() -> Self {
        Self { encoding: Encoding::O200k, idle: Arc::default() }
    }

    /// The encoding of GPT-4 and GPT-3.5.
    #[cfg(feature = "cl100k")]
    pub fn cl100k() -> Self {
        Self { encoding: Encoding::Cl100k, idle: Arc::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl TokenCounter for Bpe {
    fn name(&self) -> &'static str {
        match self.encoding {
            #[cfg(feature = "o200k")]
            Encoding::O200k => "o200k",
            #[cfg(feature = "cl100k")]
            Encoding::Cl100k => "cl100k",
        }
    }

    /// Exact, unless a run without a break is so odd that it had to be cut (none that is known is).
    fn text(&self, text: &str) -> Count {
        let mut scratch = self.lock().pop().unwrap_or_default();
        let total = match self.encoding {
            #[cfg(feature = "o200k")]
            Encoding::O200k => scratch.count(&vocabulary::O200K, pretokenize::o200k, text),
            #[cfg(feature = "cl100k")]
            Encoding::Cl100k => scratch.count(&vocabulary::CL100K, pretokenize::cl100k, text),
        };
        self.lock().push(scratch);
        total
    }

    fn media_rule(&self) -> media::MediaRule {
        media::MediaRule::OpenAi
    }
}

impl std::fmt::Debug for Bpe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Bpe").field(&self.encoding).finish()
    }
}

/// Working memory of one count: about 256 KiB, whatever is counted.
struct Scratch {
    /// Short pieces met before, each where its hash puts it; the bits of [`TOKENS`] say how many
    /// tokens it is. An empty place has length 0, as no piece has.
    pieces: Box<[Key; PIECES]>,
    merge: Merge,
}

/// Places for short pieces.
const PIECES: usize = 1 << 14;

/// Bits of a key that are always 0, so that a number up to [`SHORT`] can be kept there.
const TOKENS: u32 = 124;

impl Default for Scratch {
    fn default() -> Self {
        let pieces = vec![0; PIECES].into_boxed_slice();
        Self { pieces: pieces.try_into().expect("as many"), merge: Merge::default() }
    }
}

impl Scratch {
    #[inline]
    fn count(
        &mut self,
        vocabulary: &Vocabulary,
        piece_end: impl Fn(&str, usize) -> usize,
        text: &str,
    ) -> Count {
        let mut tokens = 0;
        let mut cuts = 0;
        let mut at = 0;
        while at < text.len() {
            let end = piece_end(text, at);
            if end - at <= SHORT {
                tokens += self.short(vocabulary, text.as_bytes(), at, end);
            } else {
                let piece = &text.as_bytes()[at..end];
                if vocabulary.has_long(piece) {
                    tokens += 1;
                } else {
                    let encoded = self.merge.encode(vocabulary, piece);
                    tokens += encoded.tokens;
                    cuts += encoded.cuts;
                }
            }
            at = end;
        }
        let basis = if cuts == 0 { Basis::Exact } else { Basis::Estimated };
        Count { tokens, upper: tokens + cuts, basis }
    }

    /// Tokens of a piece of at most [`SHORT`] bytes.
    #[inline]
    fn short(&mut self, vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
        let word = text[start..].first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; SHORT + 1];
            word[..end - start].copy_from_slice(&text[start..end]);
            word
        });
        let key = short_key(u128::from_le_bytes(word), end - start);
        let place = probe::scale(probe::short_hash(key), PIECES);
        let known = self.pieces[place];
        if known & !(0xF << TOKENS) == key {
            return (known >> TOKENS) as u64;
        }
        let tokens = if vocabulary.has_short(key) {
            1
        } else {
            self.merge.encode(vocabulary, &text[start..end]).tokens
        };
        self.pieces[place] = key | Key::from(tokens) << TOKENS;
        tokens
    }
}
