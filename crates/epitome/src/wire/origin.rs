//! Who speaks in a user-role text, inferred from how agents mark what they inject.

use crate::json::unquote;
use crate::transcript::{COMMANDS, Origin, injected_mark, may_begin_mark};

use super::rules::NO_BEGINNING;

/// Who speaks in a user-role text, given as a JSON literal.
pub(super) fn of_user_text(literal: &str) -> Origin {
    if begins_with_words(literal) {
        return Origin::Human;
    }
    // Enough for the longest mark, even if every letter is escaped.
    let mut cut = literal.len().min(600);
    while !literal.is_char_boundary(cut) {
        cut -= 1;
    }
    let closed;
    let head = if cut == literal.len() {
        unquote(literal)
    } else {
        closed = format!("{}\"", &literal[..cut]);
        unquote(&closed)
    };
    let head = head.trim_start();
    if COMMANDS.iter().any(|mark| head.starts_with(mark)) {
        // What follows the command's name was typed by a person.
        let text = unquote(literal);
        let after = text.split_once("<command-args>").map_or("", |(_, after)| after);
        let typed = after.split_once("</command-args>").map_or(after, |(typed, _)| typed);
        return if typed.trim().is_empty() { Origin::Injected } else { Origin::Human };
    }
    if head.starts_with(NO_BEGINNING) || injected_mark(head).is_some() {
        Origin::Injected
    } else {
        Origin::Human
    }
}

/// Whether its first letter tells that no mark begins there, as that of most texts does.
fn begins_with_words(literal: &str) -> bool {
    let Some(said) = literal.strip_prefix('"') else { return false };
    let first = said.bytes().find(|byte| *byte != b' ');
    // White space may be written in other ways.
    first.is_some_and(|first| {
        let may_be_space = !first.is_ascii_graphic() || first == b'\\';
        !may_be_space && !may_begin_mark(first) && !NO_BEGINNING.as_bytes().starts_with(&[first])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_raw_and_escaped() {
        for text in [
            r#""<system-reminder>\nx</system-reminder>""#,
            r#""\u003csystem-reminder\u003e""#,
            r#""\n  <environment_context>""#,
        ] {
            assert_eq!(of_user_text(text), Origin::Injected, "{text}");
        }
        for text in [r#""look at <system-reminder>""#, r#""""#, r#""  x""#, r#""\u2003x""#] {
            assert_eq!(of_user_text(text), Origin::Human, "{text}");
        }
        let wide = "\"\u{3000} <system-reminder>x</system-reminder>\"";
        assert_eq!(of_user_text(wide), Origin::Injected, "white space of another kind");
        let long = format!("\"\\u003csystem-reminder\\u003e{}\"", "é".repeat(1000));
        assert_eq!(of_user_text(&long), Origin::Injected);
        assert_eq!(of_user_text(&format!("\"{}\"", "é".repeat(1000))), Origin::Human);
    }

    #[test]
    fn a_commands_arguments_are_a_persons_words() {
        for (text, origin) in [
            (
                r#""<command-name>/clear</command-name>\n<command-args></command-args>""#,
                Origin::Injected,
            ),
            (r#""<command-name>/clear</command-name>""#, Origin::Injected),
            (
                r#""<command-message>x</command-message><command-args> \n</command-args>""#,
                Origin::Injected,
            ),
            (
                r#""<command-name>/fix</command-name>\n<command-args>the build</command-args>""#,
                Origin::Human,
            ),
            (r#""<command-message>x</command-message><command-args>it's cut""#, Origin::Human),
        ] {
            assert_eq!(of_user_text(text), origin, "{text}");
        }
        let long = "é".repeat(1000);
        let text = format!("\"<command-name>{long}</command-name><command-args>x</command-args>\"");
        assert_eq!(of_user_text(&text), Origin::Human);
    }
}
