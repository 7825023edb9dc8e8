//! Characters that a reader can't see, or that move what a reader sees.

use std::cmp::Ordering;

/// Characters of the general category *Format* and those that are *default ignorable*: directions,
/// joiners, fillers, tags, variation selectors. From Unicode 16.0, `DerivedGeneralCategory.txt` and
/// `DerivedCoreProperties.txt`; the test reads both anew.
const RANGES: [(char, char); 25] = [
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

/// A pattern of Braille without a dot: a sign to Unicode, and nothing to a reader.
const NO_DOT: char = '\u{2800}';

/// Whether a character shows nothing of its own, so that a text with it isn't what it looks like.
pub(crate) fn is_hidden(c: char) -> bool {
    if c.is_ascii() || c == NO_DOT {
        return c == NO_DOT;
    }
    let place = |(first, last): &(char, char)| {
        if c < *first {
            Ordering::Greater
        } else if c > *last {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    };
    RANGES.binary_search_by(place).is_ok()
}

/// Whether a terminal would obey the character, or a reader can't see it.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_hidden(c)
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    #[test]
    fn the_table_is_unicodes() {
        let hir =
            regex_syntax::parse(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]").expect("a class");
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { panic!("{hir:?}") };
        let ranges: Vec<_> = class.ranges().iter().map(|r| (r.start(), r.end())).collect();
        assert_eq!(RANGES.to_vec(), ranges);
    }

    #[test]
    fn what_is_read_is_seen() {
        assert!("aß日👩é \u{301}⠁".chars().all(|c| !is_unseen(c)));
        assert!("\u{1b}\n\u{7f}\u{9b}\u{2028}\u{200d}\u{fe0f}\u{e0061}".chars().all(is_unseen));
        assert!("\u{2800}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{180e}".chars().all(is_hidden));
    }
}
