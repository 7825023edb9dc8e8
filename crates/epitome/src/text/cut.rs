//! Cutting text where a reader can bear it: never inside a `char`, nor between a base character and
//! what combines with it where that is cheap to see, nor between the two bytes of a line end.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::specifics;

/// How many joined characters a cut moves back over before it gives up and takes any `char`
/// boundary.
const MAX_JOINED: usize = 16;

/// The greatest good place for a cut at or before byte `at`.
pub fn floor(text: &str, at: usize) -> usize {
    let plain = text.floor_char_boundary(at);
    let mut at = plain;
    for _ in 0..MAX_JOINED {
        let (Some(before), Some(after)) =
            (text[..at].chars().next_back(), text[at..].chars().next())
        else {
            return at;
        };
        if !sticks(before, after) {
            return at;
        }
        at -= before.len_utf8();
    }
    plain
}

/// The least good place for a cut at or after byte `at`.
pub fn ceil(text: &str, at: usize) -> usize {
    let plain = text.ceil_char_boundary(at);
    let mut at = plain;
    for _ in 0..MAX_JOINED {
        let (Some(before), Some(after)) =
            (text[..at].chars().next_back(), text[at..].chars().next())
        else {
            return at;
        };
        if !sticks(before, after) {
            return at;
        }
        at += after.len_utf8();
    }
    plain
}

/// The longest good prefix of at most `max` bytes.
pub fn head(text: &str, max: usize) -> &str {
    &text[..floor(text, max)]
}

/// The longest good suffix of at most `max` bytes.
pub fn tail(text: &str, max: usize) -> &str {
    &text[ceil(text, text.len().saturating_sub(max))..]
}

/// Where a part of `text` begins in it.
pub(crate) fn place_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// `text` on one line of at most `max_chars` characters, ending in `…` if something was cut.
///
/// Terminal escapes, control characters and characters that reorder or hide text are left out; runs
/// of white space become one space.
pub fn one_line(text: &str, max_chars: usize) -> String {
    if text.len() <= max_chars && is_plain(text.as_bytes()) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(max_chars));
    let mut length = 0;
    // Where the text goes if the next character turns out to be one too many.
    let mut last_fit = 0;
    let mut gap = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars = behind_escape(chars.as_str()).chars();
        } else if c.is_whitespace() {
            gap = !out.is_empty();
        } else if !is_unseen(c) {
            let wanted = 1 + usize::from(gap);
            if length + wanted > max_chars {
                out.truncate(if length < max_chars { out.len() } else { last_fit });
                if max_chars > 0 {
                    out.push('…');
                }
                return out;
            }
            if gap {
                out.push(' ');
                gap = false;
            }
            last_fit = out.len();
            out.push(c);
            length += wanted;
        }
    }
    out
}

/// The same, cut only between words and names.
pub fn whole_words(text: &str, max_chars: usize) -> String {
    let line = one_line(text, usize::MAX);
    if line.chars().count() <= max_chars {
        return line;
    }
    let room = max_chars.saturating_sub(2);
    let end = line.char_indices().nth(room).map_or(line.len(), |(at, _)| at);
    let head = line[..specifics::floor(&line, end)].trim_end();
    match (max_chars, head.is_empty()) {
        (0, _) => String::new(),
        (1, _) | (_, true) => "…".to_owned(),
        _ => format!("{head} …"),
    }
}

/// `text` without terminal escapes, control characters and characters that reorder or hide text; lines and tabs stay.
/// An overwritten line becomes a line of its own.
pub fn visible(text: &str) -> Cow<'_, str> {
    let leaves = |c: char| !matches!(c, ' '..='~' | '\n' | '\t') && is_unseen(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(leaves) {
        out.push_str(&rest[..at]);
        let mut behind = rest[at..].chars();
        let left = behind.next();
        rest = behind.as_str();
        if left == Some('\u{1b}') {
            rest = behind_escape(rest);
        } else if left == Some('\r') && !rest.is_empty() && !rest.starts_with(['\r', '\n']) {
            out.push('\n');
        }
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a text is one clean line already. Most are, so this comes first.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    // None may stand at the beginning, either.
    let mut before = b' ';
    for byte in text {
        if !matches!(byte, b' '..=b'~') || *byte == b' ' && before == b' ' {
            return false;
        }
        before = *byte;
    }
    before != b' ' || text.is_empty()
}

/// Whether the character is invisible, or moves other text.
pub fn is_unseen(c: char) -> bool {
    // Signs around numbers are seen, and words and emoji are joined and chosen by what isn't.
    let is_needed = matches!(u32::from(c), 0x600..=0x605 | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2
        | 0x200c..=0x200d | 0xfe00..=0xfe0f | 0x110bd | 0x110cd);
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_format(c) && !is_needed
}

/// Whether the character is of the general category *Format* or *default ignorable*.
pub fn is_format(c: char) -> bool {
    let place = |(first, last): &(char, char)| {
        if c < *first {
            Ordering::Greater
        } else if c > *last {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    };
    !c.is_ascii() && FORMATS.binary_search_by(place).is_ok()
}

/// Directions, joiners, fillers, tags, variation selectors. From Unicode 16.0, `DerivedGeneralCategory.txt` and
/// `DerivedCoreProperties.txt`; a test of the command line reads both anew.
const FORMATS: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The bytes behind an escape: a CSI sequence up to its final byte, an OSC string up to its end, or one character. `rest` doesn't
/// hold the ESC.
fn behind_escape(rest: &str) -> &str {
    match rest.as_bytes().first() {
        Some(b'[') => {
            let rest = rest[1..].trim_start_matches(|c| matches!(c, ' '..='?'));
            rest.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(rest)
        }
        Some(b']') => rest.trim_start_matches(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')),
        Some(b'(' | b')') => {
            let mut chars = rest.chars();
            chars.nth(1);
            chars.as_str()
        }
        _ => rest,
    }
}

/// Whether a cut between the two characters would tear something a reader sees as one.
fn sticks(before: char, after: char) -> bool {
    if before.is_ascii() && after.is_ascii() {
        return before == '\r' && after == '\n';
    }
    before == '\u{200d}' || combines(after)
}

/// Combining marks, joiners, variation selectors and skin tones: the blocks, not the whole Unicode
/// table.
fn combines(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}'
        | '\u{64b}'..='\u{65f}' | '\u{93a}'..='\u{94d}' | '\u{e31}' | '\u{e34}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200d}'
        | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_nobody_sees_goes_and_lines_stay() {
        assert_eq!(visible("a\n\tb é🎉"), Cow::Borrowed("a\n\tb é🎉"));
        assert_eq!(visible("1%\r50%\r\r\n"), "1%\n50%\n");
        assert_eq!(visible("a\u{0}\u{1b}[31mred\u{1b}[0m\r\n\u{202e}b\u{feff}"), "ared\nb");
    }

    #[test]
    fn what_hides_text_is_unseen_and_what_joins_it_stays() {
        let unseen = "\u{61c}\u{ad}\u{180e}\u{115f}\u{3164}\u{200b}\u{202e}\u{2066}\u{feff}\u{e0061}\u{e0100}\u{e01ef}\u{2029}";
        assert_eq!(visible(&format!("a{unseen}b")), "ab");
        for text in
            ["👩\u{200d}🔬 ❤\u{fe0f}", "می\u{200c}خواهم", "\u{6dd}٣", "\u{2800}⠁", "é\u{301} 日"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn cuts_keep_what_belongs_together() {
        assert_eq!(head("naïve", 3), "na");
        assert_eq!(head("e\u{301}x", 1), "");
        assert_eq!(head("a\r\nb", 2), "a");
        assert_eq!(tail("a\r\nb", 2), "b");
        assert_eq!(head("👩\u{200d}🔬!", 8), "");
        assert_eq!(tail("x👍🏽", 5), "");
        assert_eq!(head("日本", 4), "日");
    }

    #[test]
    fn one_line_is_one_clean_line() {
        assert_eq!(one_line("  a\n\tb\u{1b}[31mred\u{1b}[0m \u{202e}c\u{7} ", 80), "a bred c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdef", 5), "abcd…");
        assert_eq!(one_line("abc def", 4), "abc…");
        assert_eq!(one_line("abc def", 5), "abc …");
        assert_eq!(one_line("abc", 0), "");
    }

    proptest! {
        #[test]
        fn any_cut_is_within_bounds(text: String, at in 0_usize..80) {
            prop_assert!(floor(&text, at) <= at);
            prop_assert!(ceil(&text, at) >= at.min(text.len()));
            prop_assert!(tail(&text, at).len() <= at);
            prop_assert!(head(&text, at).len() <= at);
        }

        #[test]
        fn a_plain_line_is_left_as_it_is(text in "[ab ]{0,20}[ab é\n~\x7f]{0,3}[ab ]{0,20}") {
            let is_shown = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            let spaced = text.contains("  ") || text.starts_with(' ') || text.ends_with(' ');
            prop_assert_eq!(is_plain(text.as_bytes()), is_shown && !spaced);
        }

        #[test]
        fn any_line_is_within_bounds(text: String, max in 0_usize..60) {
            let line = one_line(&text, max);
            prop_assert!(line.chars().count() <= max, "{line:?}");
            prop_assert!(!line.chars().any(|c| is_unseen(c) || (c.is_whitespace() && c != ' ')));
            prop_assert_eq!(one_line(&line, max), line);
        }
    }
}
