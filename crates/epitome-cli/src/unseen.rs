//! Characters that a reader can't see, or that move what a reader sees.

use epitome::text::cut;

/// A pattern of Braille without a dot: a sign to Unicode, and nothing to a reader.
const NO_DOT: char = '\u{2800}';

/// Whether a character shows nothing of its own, so that a text with it isn't what it looks like.
pub(crate) fn is_hidden(c: char) -> bool {
    c == NO_DOT || cut::is_format(c)
}

/// Whether a terminal would obey the character, or a reader can't see it.
pub(crate) fn is_unseen(c: char) -> bool {
    cut::is_unseen(c) || is_hidden(c)
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
        let is_in = |c: char| class.ranges().iter().any(|r| (r.start()..=r.end()).contains(&c));
        for c in '\0'..=char::MAX {
            assert_eq!(cut::is_format(c), is_in(c), "{c:?}");
        }
    }

    #[test]
    fn what_is_read_is_seen() {
        assert!("aß日👩é \u{301}⠁".chars().all(|c| !is_unseen(c)));
        assert!("\u{1b}\n\u{7f}\u{9b}\u{2028}\u{200d}\u{fe0f}\u{e0061}".chars().all(is_unseen));
        assert!("\u{2800}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{180e}".chars().all(is_hidden));
    }
}
