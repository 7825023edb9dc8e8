//! What a person sees: untrusted text made harmless, widths, bars, colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{Ansi256Color, AnsiColor, Style};
use epitome::text::cut;
use epitome::text::secrets::masked;
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::unseen::{is_hidden, is_unseen};

/// Writes a line behind a text, as `writeln!` does: a string takes all.
macro_rules! put {
    ($out:expr $(, $($words:tt)+)?) => {{
        use std::fmt::Write as _;
        writeln!($out $(, $($words)+)?).expect("a string takes all");
    }};
}
pub(crate) use put;

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
/// the cursor, changes colours, or reorders or hides text. Secrets are masked.
pub(crate) fn line(text: &str, width: usize) -> String {
    // Before it is cut: half a secret has no shape.
    unmasked_line(&masked(text), width)
}

/// The same, with secrets as they stand there.
pub(crate) fn unmasked_line(text: &str, width: usize) -> String {
    // What is hidden takes no room, so it goes before the rest is cut.
    let shown: Cow<'_, str> = if text.contains(is_hidden) {
        Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect())
    } else {
        Cow::Borrowed(text)
    };
    let clean = cut::one_line(&shown, width);
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

/// Untrusted text as one line of any length. White space becomes a space; what else a terminal obeys
/// or a reader can't see is marked.
pub(crate) fn one(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mark = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if is_unseen(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(mark).collect())
}

/// Untrusted text that may have lines. All but the first are indented, so that none of them passes for
/// a line of ours.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, text) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if at > 0 && !text.starts_with(' ') {
            out.push_str("  ");
        }
        out.push_str(&one(text));
    }
    Cow::Owned(out)
}

/// A report as JSON, with every character escaped that a terminal could obey. Secrets are masked.
pub(crate) fn json(report: &impl Serialize) -> String {
    masked(&unmasked_json(report)).into_owned()
}

/// The same, with secrets as they stand there.
pub(crate) fn unmasked_json(report: &impl Serialize) -> String {
    let plain = serde_json::to_string_pretty(report).expect("reports have string keys");
    on_screen(&plain).into_owned()
}

/// JSON that means the same, with every character escaped that a terminal could obey or a reader can't
/// see. Outside of strings those can only be carriage returns.
pub(crate) fn on_screen(json: &str) -> Cow<'_, str> {
    let risky = |c: char| !matches!(c, '\n' | '\t') && is_unseen(c);
    if !json.contains(risky) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push(' '),
            c if risky(c) => {
                // Beyond the first plane JSON writes two halves.
                for half in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{half:04x}").expect("a string takes all");
                }
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
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

/// How long ago, in the unit that tells it.
pub(crate) fn ago(seconds: u64) -> String {
    let units = [(86_400 * 7, "w"), (86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let unit = units.iter().find(|(size, _)| seconds >= 2 * size).unwrap_or(&(1, "s"));
    format!("{} {}", seconds / unit.0, unit.1)
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
        .map_or(100, |(width, _)| usize::from(width.0).clamp(LEAST_WIDTH, 140))
}

/// The least columns in which an item of a list has one line.
pub(crate) const WIDE: usize = 100;

/// Columns that are drawn for where there are fewer.
const LEAST_WIDTH: usize = 32;

/// Lines of words broken where they are too long for a terminal, which would break them within a word.
/// Commands stay whole, to be copied.
pub(crate) fn fitted(text: &str, width: Option<u16>) -> Cow<'_, str> {
    let Some(width) = width.map(|width| usize::from(width).max(LEAST_WIDTH)) else {
        return text.into();
    };
    let is_long = |line: &str| textwrap::core::display_width(line) > width;
    if !text.lines().any(is_long) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        if is_long(body) && !body.contains("hint:") {
            let indent = " ".repeat(body.len() - body.trim_start().len() + 2);
            let options = textwrap::Options::new(width)
                .subsequent_indent(&indent)
                .break_words(false)
                .word_separator(textwrap::WordSeparator::AsciiSpace)
                .word_splitter(textwrap::WordSplitter::NoHyphenation)
                .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
            out.push_str(&textwrap::fill(body, options));
        } else {
            out.push_str(body);
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_harmless() {
        let evil =
            "\u{1b}[2J\u{1b}]0;title\u{7}a\r\nb\u{9b}31m\u{202e}c\u{200b}d\u{e0061}\u{3164}e";
        assert_eq!(line(evil, 40), "a b31mcde");
        assert!(!lines(evil).contains(|c| c != '\n' && is_unseen(c)));
        let written = json(&evil);
        assert!(written.is_ascii(), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).expect("its own JSON"), evil);
    }

    #[test]
    fn no_line_is_forged() {
        assert_eq!(lines("a\nhint: b\n  c\n"), "a\n  hint: b\n  c\n  ");
        assert_eq!(one("a\nhint:\tb\u{202e}"), "a hint: b\u{fffd}");
    }

    #[test]
    fn json_on_a_screen_means_the_same() {
        let data = "{\r\n\t\"a\":\r\"\u{9b}\u{7f}\u{202e}\u{e0061}é\"}";
        let shown = on_screen(data);
        assert_eq!(shown, "{\n\t\"a\": \"\\u009b\\u007f\\u202e\\udb40\\udc61é\"}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&shown), read(data));
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
    fn words_are_broken_between_words() {
        let long = paint(FAINT, "a".repeat(31));
        let text = format!("{long} b c\nhint: epitome check a/really/long/name.json\n");
        assert_eq!(fitted(&text, None), text);
        let want = format!("{long}\n  b c\nhint: epitome check a/really/long/name.json\n");
        assert_eq!(fitted(&text, Some(20)), want);
        assert_eq!(fitted("a\n\n  b\n", Some(80)), "a\n\n  b\n");
    }
}
