//! What most words are told by that begin no secret: two bytes at either end.

use std::sync::LazyLock;

use super::called::may_end_called;
use super::{BY_FIRST, LEAST_LONG, LEAST_NUMBER};

/// By its first two bytes and its last two what a word may be.
pub(super) static ENDS: LazyLock<Ends> = LazyLock::new(|| {
    let mut ends = Ends { begins: [0; 1 << 10], ends: [0; 1 << 10] };
    for pair in 0..=u16::MAX {
        let [first, second] = pair.to_be_bytes();
        // No word has other bytes.
        if !first.is_ascii() || !second.is_ascii() {
            continue;
        }
        let is_digit = first.is_ascii_digit();
        if is_digit || matches!(first, b'-' | b'B' | b'b') || BY_FIRST.has(first, second) {
            ends.begins[usize::from(pair >> 6)] |= 1 << (pair & 63);
        }
        if may_end_called(first, second) {
            ends.ends[usize::from(pair >> 6)] |= 1 << (pair & 63);
        }
    }
    ends
});

pub(super) struct Ends {
    /// A bit for each pair with which a secret may begin, or a number.
    begins: [u64; 1 << 10],
    /// A bit for each pair with which a name of one may end.
    ends: [u64; 1 << 10],
}

impl Ends {
    /// Whether the word between `from` and `to` begins none for sure, as far as its ends tell.
    #[inline]
    pub(super) fn tell(&self, bytes: &[u8], from: usize, to: usize) -> bool {
        let has = |set: &[u64; 1 << 10], pair: [u8; 2]| {
            let pair = usize::from(u16::from_be_bytes(pair));
            set[pair >> 6] & 1 << (pair & 63) != 0
        };
        if matches!(bytes.get(to), Some(b'+' | b'/')) {
            return false;
        }
        match to - from {
            0 => false,
            1 => bytes[from] != b'-',
            length @ 2..LEAST_LONG => {
                let pair = [bytes[from], bytes[from + 1]];
                let is_short = length < LEAST_NUMBER && pair[0].is_ascii_digit();
                (is_short && !BY_FIRST.has(pair[0], pair[1]) || !has(&self.begins, pair))
                    && !has(&self.ends, [bytes[to - 2], bytes[to - 1]])
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the table says, rule by rule.
    fn is_plain(word: &[u8]) -> bool {
        match word {
            [only] => *only != b'-',
            [first, second, ..] => {
                let most = if first.is_ascii_digit() { LEAST_NUMBER } else { LEAST_LONG };
                word.len() < most
                    && !matches!(first, b'-' | b'B' | b'b')
                    && !may_end_called(word[word.len() - 2], word[word.len() - 1])
                    && !BY_FIRST.has(*first, *second)
            }
            [] => false,
        }
    }

    proptest! {
        #[test]
        fn the_table_is_what_the_rules_look_at(
            before in "[-_ a-z]{0,3}",
            word in "(-|[a-z]|[A-Z]|[0-9]|_){0,2}([-_A-Za-z0-9]{0,16}|[a-z]{0,4})(key|token|pass|word)?",
            behind in "([ +/:a-z].{0,3})?",
        ) {
            let text = format!("{before}{word}{behind}");
            let (from, to) = (before.len(), before.len() + word.len());
            let goes_on = behind.starts_with(['+', '/']);
            let told = ENDS.tell(text.as_bytes(), from, to);
            prop_assert_eq!(told, !goes_on && is_plain(word.as_bytes()));
        }
    }
}
