//! What most words are told by that begin no secret: two bytes at either end.

use std::sync::LazyLock;

use super::names::may_end_named;
use super::{BY_FIRST, LEAST_LONG, LEAST_NUMBER};

/// A secret may begin with the pair.
const BEGINS: u8 = 1;
/// A number may begin with the pair, and no shape.
const NUMBER: u8 = 2;
/// The name of a secret may end with the pair.
const NAMES: u8 = 4;

/// By its first two bytes and its last two what a word may be.
pub(super) static WORD_ENDS: LazyLock<Ends> = LazyLock::new(|| {
    let mut pairs = [0; 1 << 14];
    for first in 0..128 {
        for second in 0..128 {
            let begins = match first {
                _ if BY_FIRST.has(first, second) => BEGINS,
                b'0'..=b'9' => NUMBER,
                b'-' | b'B' | b'b' => BEGINS,
                _ => 0,
            };
            let names = if may_end_named(first, second) { NAMES } else { 0 };
            pairs[place(first, second)] = begins | names;
        }
    }
    Ends { pairs }
});

pub(super) struct Ends {
    /// What each pair of bytes of a word may be, which are ASCII.
    pairs: [u8; 1 << 14],
}

#[inline]
fn place(first: u8, second: u8) -> usize {
    (usize::from(first) << 7 | usize::from(second)) & 0x3fff
}

impl Ends {
    /// What the word between `from` and `to` may be, as far as its ends tell.
    #[inline]
    pub(super) fn tell(&self, bytes: &[u8], from: usize, to: usize) -> Told {
        let word = &bytes[from..to];
        if matches!(bytes.get(to), Some(b'+' | b'/' | b'~')) {
            return Told::Anything;
        }
        match (word, word) {
            ([first, second, ..], [.., before, last]) if word.len() < LEAST_LONG => {
                let begins = self.pairs[place(*first, *second)] & !NAMES;
                let ends = self.pairs[place(*before, *last)] & NAMES;
                match begins | ends {
                    // Most words.
                    0 => Told::Nothing,
                    told if told & BEGINS != 0 => Told::Anything,
                    told if told & NUMBER != 0
                        && (word.len() >= LEAST_NUMBER || bytes.get(to) == Some(&b':')) =>
                    {
                        Told::Anything
                    }
                    told if told & NAMES != 0 => Told::Name,
                    _ => Told::Nothing,
                }
            }
            // A hash's kind stands between two signs.
            ([only], _) if *only != b'-' && bytes.get(to) != Some(&b'$') => Told::Nothing,
            _ => Told::Anything,
        }
    }
}

/// What a word's ends tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It begins no secret for sure.
    Nothing,
    /// It may be what one is called, and begins none otherwise.
    Name,
    /// It may begin one.
    Anything,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the table says, rule by rule.
    fn of_word(word: &[u8], behind: &str) -> Told {
        match word {
            [only] if *only != b'-' && !behind.starts_with('$') => Told::Nothing,
            [first, second, ..] => {
                let most = match first {
                    b'0'..=b'9' if behind.starts_with(':') => 0,
                    b'0'..=b'9' => LEAST_NUMBER,
                    _ => LEAST_LONG,
                };
                let begins = matches!(first, b'-' | b'B' | b'b') || BY_FIRST.has(*first, *second);
                match may_end_named(word[word.len() - 2], word[word.len() - 1]) {
                    _ if begins || word.len() >= most => Told::Anything,
                    true => Told::Name,
                    false => Told::Nothing,
                }
            }
            _ => Told::Anything,
        }
    }

    proptest! {
        #[test]
        fn the_table_is_what_the_rules_look_at(
            before in "[-_ a-z]{0,3}",
            word in "(-|[a-z]|[A-Z]|[0-9]|_){0,2}([-_A-Za-z0-9]{0,16}|[a-z]{0,4})(key|token|pass|word)?",
            behind in "([ +/:$a-z].{0,3})?",
        ) {
            let text = format!("{before}{word}{behind}");
            let (from, to) = (before.len(), before.len() + word.len());
            let goes_on = behind.starts_with(['+', '/']);
            let told = WORD_ENDS.tell(text.as_bytes(), from, to);
            prop_assert_eq!(told, if goes_on { Told::Anything } else { of_word(word.as_bytes(), &behind) });
        }
    }
}
