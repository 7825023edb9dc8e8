//! Occurrences of a string in a text, and the words around them.

use std::ops::Range;

use memchr::memmem::Finder;

/// How far the neighbourhood of a mention reaches in a long line, in bytes on each side.
const REACH: usize = 200;
/// Words on each side that are its neighbours.
const WORDS: usize = 3;

/// Where `text` has `string` as a whole: no letter, digit or `_` continues it at either end.
pub fn mentions<'t>(text: &'t str, string: &str) -> impl Iterator<Item = Range<usize>> + use<'t> {
    let (bytes, finder) = (text.as_bytes(), Finder::new(string).into_owned());
    let len = string.len();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let ends = |at: Option<usize>| at.and_then(|at| string.as_bytes().get(at)).is_some_and(is_part);
    let (first, last) = (ends(Some(0)), ends(len.checked_sub(1)));
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + finder.find(bytes.get(from..)?)?;
            from = at + len.max(1);
            let before = at.checked_sub(1).map(|at| &bytes[at]);
            let begins_before = first && before.is_some_and(is_part);
            let goes_on = last && bytes.get(at + len).is_some_and(is_part);
            if !begins_before && !goes_on {
                return Some(at..at + len);
            }
        }
    })
}

/// Whether `text` says `string` as a whole.
pub fn says(text: &str, string: &str) -> bool {
    mentions(text, string).next().is_some()
}

/// What stands before and behind a mention in its line, at most `REACH` bytes of each.
pub fn sides<'t>(text: &'t str, at: &Range<usize>) -> (&'t str, &'t str) {
    let line = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let mut start = at.start.saturating_sub(REACH).max(line);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut end = (at.end + REACH).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let behind = &text[at.end..end];
    (&text[start..at.start], behind.split('\n').next().unwrap_or(behind))
}

/// The neighbours of a mention: up to three words on each side in its line, in lower case.
pub fn neighbours(text: &str, at: &Range<usize>) -> Vec<String> {
    let (before, behind) = sides(text, at);
    let near = words(before).rev().take(WORDS).chain(words(behind).take(WORDS));
    let mut found: Vec<String> = near.map(str::to_lowercase).collect();
    found.sort();
    found.dedup();
    found
}

/// A mention with its neighbours.
pub fn excerpt<'t>(text: &'t str, at: &Range<usize>) -> &'t str {
    let (before, behind) = sides(text, at);
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let first = words(before).rev().take(WORDS).last().map_or(at.start, place);
    let last = words(behind).take(WORDS).last();
    let end = last.map_or(at.end, |word| place(word) + word.len());
    &text[first..end]
}

/// Words of two letters or digits or more, without what stands around them.
fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let trimmed =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(|word| word.chars().nth(1).is_some())
}

/// Whether the line of a mention says half of `neighbours` or more, the mention itself apart.
pub fn has_neighbours(text: &str, at: &Range<usize>, neighbours: &[String]) -> bool {
    let (before, behind) = sides(text, at);
    let (before, behind) = (before.to_lowercase(), behind.to_lowercase());
    let has = |word: &&String| before.contains(word.as_str()) || behind.contains(word.as_str());
    neighbours.iter().filter(has).count() * 2 >= neighbours.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_is_whole() {
        for (text, said) in [
            ("see 8442.", true),
            ("port=8442", true),
            ("18442", false),
            ("8442_a", false),
            ("84428442", false),
            ("18442 8442", true),
        ] {
            assert_eq!(says(text, "8442"), said, "{text}");
        }
        assert!(says("in /src/main.rs:12", "src/main.rs"));
        assert!(!says("", "x") && says("a--dry-run", "--dry-run"));
    }

    #[test]
    fn neighbours_are_words_of_the_same_line() {
        let text = "one two\nWe set the `port` to 8442 for all of staging, a test.\nthree";
        let at = mentions(text, "8442").next().expect("it is there");
        assert_eq!(neighbours(text, &at), ["all", "for", "of", "port", "the", "to"]);
        assert_eq!(excerpt(text, &at), "the `port` to 8442 for all of");
        let kept = "port: to 8442 (for staging)";
        let at = mentions(kept, "8442").next().expect("it is there");
        let wanted =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(has_neighbours(kept, &at, &wanted(&["all", "for", "port", "the"])));
        assert!(!has_neighbours(kept, &at, &wanted(&["all", "the", "port"])));
    }
}
