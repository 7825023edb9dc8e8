//! The sentences of a text by where they stand. Lines end sentences, too.

use std::ops::Range;

/// The sentences in order, without white space around them. What stands between two of them is white space.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut at = 0;
    let mut push = |from: usize, to: usize| {
        let piece = &text[from..to];
        let lead = piece.len() - piece.trim_start().len();
        let piece = piece.trim();
        if !piece.is_empty() {
            found.push(from + lead..from + lead + piece.len());
        }
    };
    while at < bytes.len() {
        let ends = match bytes[at] {
            b'\n' => true,
            b'.' | b'!' | b'?' => {
                let next = &bytes[at + 1..];
                let is_spaced = next.first().is_some_and(|b| matches!(b, b' ' | b'\t'));
                is_spaced
                    && next.iter().find(|b| !matches!(b, b' ' | b'\t')).is_some_and(|b| begins(*b))
            }
            // 。！？
            0xe3 if bytes[at..].starts_with("。".as_bytes()) => {
                at += 2;
                true
            }
            0xef if bytes[at..].starts_with("！".as_bytes())
                || bytes[at..].starts_with("？".as_bytes()) =>
            {
                at += 2;
                true
            }
            _ => false,
        };
        at += 1;
        if ends {
            push(start, at);
            start = at;
        }
    }
    push(start, bytes.len());
    found
}

/// Whether a sentence may begin with this byte.
fn begins(byte: u8) -> bool {
    !byte.is_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_end_where_a_reader_says() {
        let text = "Use v1.2 of it. Don't push! See a.rs, e.g. this one.\n- One\n\n二つ。三つ";
        let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
        let expected = [
            "Use v1.2 of it.",
            "Don't push!",
            "See a.rs, e.g. this one.",
            "- One",
            "二つ。",
            "三つ",
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn between_sentences_is_white_space(text in "[a-zA-Z.!? \n。！é]{0,80}") {
            let mut end = 0;
            for range in sentences(&text) {
                prop_assert!(text[end..range.start].trim().is_empty());
                end = range.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
