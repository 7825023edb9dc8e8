//! Words for searching: identifiers as a whole and in their pieces.
//!
//! `getUserDetails`, `get_user_details` and `src/foo/bar.rs` give themselves and what they are made
//! of, so that a question in plain words finds an identifier and an exact identifier finds itself
//! first. Text without spaces between words (Chinese, Japanese, Korean) gives pairs of characters.

use crate::word_list::words;
use std::borrow::Cow;

/// A whole identifier longer than this is given in its pieces only.
const MAX_WHOLE: usize = 96;
/// A segment that falls into more pieces than this is a hash or the like, and is not taken apart.
const MAX_PIECES: usize = 6;

/// The lower-cased words of `text`, in order; each identifier before its pieces.
pub fn words(text: &str) -> Words<'_> {
    Words { text, at: 0, pending: Vec::new() }
}

/// Whether an English word is too common to tell texts apart. Expects lower case.
pub fn is_stop_word(word: &str) -> bool {
    match word.as_bytes().first() {
        Some(first @ b'a'..=b'z') => {
            let letter = usize::from(first - b'a');
            STOP_WORDS[STARTS[letter]..STARTS[letter + 1]].contains(&word)
        }
        _ => false,
    }
}

/// Where the stop words of each letter begin, and where the last one ends.
const STARTS: [usize; 27] = {
    let mut starts = [STOP_WORDS.len(); 27];
    let mut at = STOP_WORDS.len();
    while at > 0 {
        at -= 1;
        starts[(STOP_WORDS[at].as_bytes()[0] - b'a') as usize] = at;
    }
    // A letter that begins none ends where the next one begins.
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        if starts[letter] == STOP_WORDS.len() {
            starts[letter] = starts[letter + 1];
        }
    }
    starts
};

/// See [`is_stop_word`]; sorted.
pub(crate) const STOP_WORDS: [&str; 118] = words!(
    "a about after all also am an and any are as at be because been but by can could did do does \
     doing don each for from get got had has have having he her here his how i if in into is it \
     its just let like ll may me might more most much must my no nor not now of off ok on one only \
     or other our out over own re s same shall she should so some such t than that the their them \
     then there these they this those to too up us ve very was we were what when where which while \
     who why will with would yes yet you your yours"
);

/// See [`words`].
#[derive(Debug, Clone)]
pub struct Words<'a> {
    text: &'a str,
    at: usize,
    /// What the last run still gives, last first.
    pending: Vec<&'a str>,
}

impl<'a> Iterator for Words<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(word) = self.pending.pop() {
                return Some(lower(word));
            }
            let bytes = self.text.as_bytes();
            let rest = &bytes[self.at..];
            self.at += rest.iter().take_while(|byte| kind(**byte) == CharKind::Between).count();
            let from = self.at;
            if let Some(length) = plain(&bytes[from..]) {
                self.at += length;
                return Some(lower(&self.text[from..from + length]));
            }
            self.step()?;
        }
    }
}

/// What an ASCII character is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Lower,
    Upper,
    Digit,
    Joint,
    /// In no word.
    Between,
    /// Not ASCII: only the whole character says.
    Wide,
}

fn kind(byte: u8) -> CharKind {
    KINDS[usize::from(byte)]
}

const KINDS: [CharKind; 256] = {
    let mut kinds = [CharKind::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' => CharKind::Lower,
            b'A'..=b'Z' => CharKind::Upper,
            b'0'..=b'9' => CharKind::Digit,
            byte if is_joint(byte as char) => CharKind::Joint,
            _ => CharKind::Between,
        };
        byte += 1;
    }
    kinds
};

/// The length of a word that is a whole run and doesn't split further: small letters, maybe with a capital first, or
/// digits. Most words are such; [`Words::step`] handles the others.
fn plain(bytes: &[u8]) -> Option<usize> {
    let rest = match kind(*bytes.first()?) {
        CharKind::Lower | CharKind::Upper => CharKind::Lower,
        CharKind::Digit => CharKind::Digit,
        _ => return None,
    };
    let length = 1 + bytes[1..].iter().take_while(|byte| kind(**byte) == rest).count();
    let kind_at = |at: usize| bytes.get(at).map_or(CharKind::Between, |byte| kind(*byte));
    // What joins nothing ends the word.
    let ends = match kind_at(length) {
        CharKind::Joint => kind_at(length + 1) == CharKind::Between,
        kind => kind == CharKind::Between,
    };
    (ends && length <= MAX_WHOLE).then_some(length)
}

impl Words<'_> {
    /// Takes what begins here; `None` at the end.
    fn step(&mut self) -> Option<()> {
        let c = self.text[self.at..].chars().next()?;
        if is_cjk(c) {
            self.take_cjk();
        } else if c.is_alphanumeric() {
            self.take_run();
        } else {
            self.at += c.len_utf8();
        }
        Some(())
    }

    /// A run of letters, digits and what joins them.
    fn take_run(&mut self) {
        let rest = &self.text[self.at..];
        let end = run_length(rest);
        self.at += end;
        let run = &rest[..end];
        if run.len() <= MAX_WHOLE {
            self.pending.push(run);
        }
        for segment in run.split(is_joint).filter(|segment| !segment.is_empty()) {
            let from = self.pending.len();
            split_segment(segment, &mut self.pending);
            if self.pending.len() - from > MAX_PIECES {
                self.pending.truncate(from);
                self.pending.push(segment);
            }
        }
        // A run of one piece is that piece; pieces of one letter find nothing.
        let first = usize::from(run.len() <= MAX_WHOLE);
        let mut index = 0;
        self.pending.retain(|piece| {
            index += 1;
            index <= first || (piece.len() > 1 && piece.len() < run.len())
        });
        self.pending.reverse();
    }

    /// A run of characters that are words or parts of words themselves.
    fn take_cjk(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !is_cjk(c)).unwrap_or(rest.len());
        let run = &rest[..length];
        self.at += length;
        let starts = run.char_indices().map(|(at, _)| at);
        let ends = run.char_indices().skip(2).map(|(at, _)| at).chain([run.len()]);
        self.pending.extend(starts.zip(ends).map(|(start, end)| &run[start..end]));
        self.pending.reverse();
    }
}

/// The length of a run: alphanumerics, and joints (also `::`) between them.
fn run_length(text: &str) -> usize {
    let mut end = 0;
    let mut joints = 0;
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() && !is_cjk(c) {
            end = at + c.len_utf8();
            joints = 0;
        } else if is_joint(c)
            && joints < 2
            && (c != ':' || joints == 1 || text[at + 1..].starts_with(':'))
        {
            joints += 1;
        } else {
            break;
        }
    }
    end
}

const fn is_joint(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | ':' | '@')
}

/// `HTTPServer2` into `HTTP`, `Server`, `2`.
fn split_segment<'a>(segment: &'a str, pieces: &mut Vec<&'a str>) {
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = segment.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let boundary = before.is_some_and(|before| {
            (before.is_lowercase() && c.is_uppercase())
                || (before.is_uppercase() && c.is_uppercase() && next_is_lower)
                || before.is_numeric() != c.is_numeric()
        });
        if boundary {
            pieces.push(&segment[start..at]);
            start = at;
        }
        before = Some(c);
    }
    pieces.push(&segment[start..]);
}

fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(words(text).collect::<Vec<_>>().join(" "), expected, "{text}");
    }

    #[test]
    fn identifiers_come_whole_and_in_pieces() {
        check("getUserDetails()", "getuserdetails get user details");
        check("get_user_details", "get_user_details get user details");
        check("see src/foo/bar.rs.", "see src/foo/bar.rs src foo bar rs");
        check("HTTPServer2", "httpserver2 http server");
        check("std::fmt::Write", "std::fmt::write std fmt write");
        check("a well-known x", "a well-known well known x");
        check("commit 3f2a9c1b7d", "commit 3f2a9c1b7d");
        check("Größe ÄNDERN", "größe ändern");
        check("", "");
    }

    #[test]
    fn text_without_spaces_comes_in_pairs() {
        check("日本語のtext", "日本 本語 語の text");
        check("猫 cat", "猫 cat");
    }

    #[test]
    fn stop_words_are_sorted_and_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        for other in ["", "cache", "quite", "jus", "zebra", "becauses", "0", "é"] {
            assert!(!is_stop_word(other), "{other}");
        }
    }

    /// Every run as if it were an odd one.
    fn one_by_one(text: &str) -> Vec<Cow<'_, str>> {
        let mut words = Words { text, at: 0, pending: Vec::new() };
        let mut all = Vec::new();
        while words.step().is_some() {
            all.extend(words.pending.drain(..).rev().map(lower));
        }
        all
    }

    #[test]
    fn plain_words_end_where_runs_do() {
        for text in [
            "a. b", "a.b", "a..b", "a...b", "a: b", "a:b", "a::b", "Ab", "aB", "a1", "1a", "12.",
            "xé", "x.é", "x_",
        ] {
            assert_eq!(words(text).collect::<Vec<_>>(), one_by_one(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_words(text: String) {
            let found = words(&text).count();
            prop_assert!(found <= 2 * text.len() + 1);
        }

        #[test]
        fn plain_words_are_what_runs_are(text in "([a-zA-Z0-9_.:/@ -]|[é語İ½²]|\\PC){0,40}") {
            prop_assert_eq!(words(&text).collect::<Vec<_>>(), one_by_one(&text));
        }
    }
}
