//! Lists of words, written as words; for the crates of this workspace.

/// The words of a text with one space between two, as an array.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($text:expr) => {
        const {
            const TEXT: &str = $text;
            $crate::word_list::split::<{ $crate::word_list::count(TEXT) }>(TEXT)
        }
    };
}
pub use words;

/// How many words there are.
pub const fn count(text: &str) -> usize {
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
pub const fn split<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
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
