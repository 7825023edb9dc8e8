//! What a person sees: untrusted text made harmless, widths, bars, colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{Ansi256Color, AnsiColor, Style};
use epitome::text::cut;
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What matters in a line.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is there for completeness.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What should be looked at.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Colour `index` of the 256.
pub(crate) const fn colour(index: u8) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi256(Ansi256Color(index))))
}

/// `text` in a style; streams that aren't terminals strip it.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The first words of an untrusted text: one line, at most `width` columns, nothing in it that moves
/// the cursor, changes colours, or reorders or hides text.
pub(crate) fn line(text: &str, width: usize) -> String {
    let clean = cut::one_line(text, width);
    if clean.width() <= width {
        return clean;
    }
    let mut out = String::new();
    let mut used = 0;
    for c in clean.chars() {
        used += c.width().unwrap_or(0);
        if used >= width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Untrusted text that may have lines, with nothing in it that a terminal obeys or a reader can't see.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c != '\n' && cut::is_unseen(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect())
}

/// A report as JSON, with every character escaped that a terminal could obey.
pub(crate) fn json(report: &impl Serialize) -> String {
    let plain = serde_json::to_string_pretty(report).expect("reports have string keys");
    let risky = |c: char| c != '\n' && cut::is_unseen(c);
    if !plain.contains(risky) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        if risky(c) {
            // Beyond the first plane JSON writes two halves.
            for half in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{half:04x}").expect("a string takes all");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` filled up to `width` columns.
pub(crate) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// `text` moved to the right edge of `width` columns.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// A count with its thousands apart.
pub(crate) fn count(count: impl TryInto<usize>) -> String {
    epitome::text::figure::grouped(count.try_into().unwrap_or(usize::MAX))
}

/// A size in bytes.
pub(crate) fn size(bytes: usize) -> String {
    epitome::text::figure::size(bytes)
}

/// A share in percent with one digit behind the point.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0.0 %".to_owned();
    }
    let thousandths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// A bar of `part` in `whole`, at most `width` columns, to an eighth of a column.
pub(crate) fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    // Long names can leave a bar no room.
    if whole == 0 || part == 0 || width == 0 {
        return String::new();
    }
    let eighths = u128::from(part) * width as u128 * 8 / u128::from(whole);
    let eighths = usize::try_from(eighths).unwrap_or(usize::MAX).clamp(1, width * 8);
    let mut out = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        out.push(EIGHTHS[eighths % 8]);
    }
    out
}

/// Columns of the terminal on stdout; 100 where there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout())
        .map_or(100, |(width, _)| usize::from(width.0).clamp(48, 140))
}

/// A path on a command line, quoted where a shell would need it.
pub(crate) fn shell(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:,@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_harmless() {
        let evil = "\u{1b}[2J\u{1b}]0;title\u{7}a\r\nb\u{9b}31m\u{202e}c\u{200b}d";
        assert_eq!(line(evil, 40), "a b31mcd");
        assert!(!lines(evil).contains(['\u{1b}', '\r', '\u{9b}', '\u{202e}']));
        let written = json(&evil);
        assert!(written.is_ascii(), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).expect("its own JSON"), evil);
    }

    #[test]
    fn lines_fit_their_columns() {
        assert_eq!(line("日本語テキスト", 7), "日本語…");
        assert_eq!(line("日本", 4), "日本");
        assert_eq!(left("日本", 6), "日本  ");
    }

    #[test]
    fn bars_are_never_longer_than_their_room() {
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(1, 2, 0), "");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(9, 3, 4), "████");
        assert_eq!(bar(0, 3, 4), "");
        assert_eq!(percent(1, 3), "33.3 %");
    }

    #[test]
    fn shells_read_quoted_paths() {
        assert_eq!(shell("a/b-1.json"), "a/b-1.json");
        assert_eq!(shell("it's here"), r"'it'\''s here'");
    }
}
