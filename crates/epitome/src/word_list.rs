//! Lists of words, written as words.

/// The words of a text with one space between two, as an array.
macro_rules! words {
    ($text:expr) => {{
        const TEXT: &str = $text;
        const WORDS: [&str; $crate::word_list::count(TEXT)] = $crate::word_list::split(TEXT);
        WORDS
    }};
}
pub(crate) use words;

/// How many words there are.
pub(crate) const fn count(text: &str) -> usize {
    let (mut count, mut at) = (1, 0);
    while at < text.len() {
        if text.as_bytes()[at] == b' ' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The words, of which there are so many.
pub(crate) const fn split<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let mut words = [""; COUNT];
    let (mut rest, mut at) = (text, 0);
    while at < COUNT {
        let mut end = 0;
        while end < rest.len() && rest.as_bytes()[end] != b' ' {
            end += 1;
        }
        let (word, behind) = rest.split_at(end);
        assert!(!word.is_empty(), "one space stands between two words");
        words[at] = word;
        rest = if behind.is_empty() { behind } else { behind.split_at(1).1 };
        at += 1;
    }
    words
}
