//! One entry of a rendering: a value with its note. The value is written as it is where it can be
//! read back as it is, and as a JSON string otherwise.

use super::note::{Runs, is_note};
use crate::json::{Scanner, Span, quote, unquote};

/// How an entry is read: its value and its note.
pub(super) type Reader = dyn Fn(&str) -> Option<(String, String)>;

/// A value with its note (which brings its own separator), quoted if it would be read as something
/// else.
pub(super) fn entry_text(value: &str, note: &str, reader: &Reader) -> String {
    let plain = format!("{value}{note}");
    let read =
        if read_more(&plain).is_none() && !value.starts_with('"') { reader(&plain) } else { None };
    let same = read.is_some_and(|(read, noted)| read == value && noted == note);
    if same && !value.is_empty() { plain } else { format!("{}{note}", quote(value)) }
}

/// As [`entry_text`], for entries that share a line.
pub(super) fn row_text(value: &str, note: &str, reader: &Reader) -> String {
    if value.contains(", ") || value.contains("=\"") || value.ends_with(',') {
        format!("{}{note}", quote(value))
    } else {
        entry_text(value, note, reader)
    }
}

/// The entries of a row: split at commas outside of quotes.
pub(super) fn row(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let value = start + label_length(&text[start..]);
        let from = value + quoted_length(&text[value..]).unwrap_or(0);
        let end = text[from..].find(", ").map_or(text.len(), |at| from + at);
        entries.push(&text[start..end]);
        start = end + 2;
    }
    entries
}

/// The length of `label=` before a quoted value.
fn label_length(entry: &str) -> usize {
    let name =
        entry.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    if name > 0 && entry[name..].starts_with("=\"") { name + 1 } else { 0 }
}

/// The length of the JSON string at the start of `text`.
fn quoted_length(text: &str) -> Option<usize> {
    text.starts_with('"').then(|| Scanner::new(text).string().ok().map(Span::len))?
}

/// Reads `value`, or the same quoted; the rest is its note.
fn read_quoted(entry: &str) -> Option<(String, String)> {
    let length = quoted_length(entry)?;
    Some((unquote(&entry[..length]).into_owned(), entry[length..].to_owned()))
}

pub(super) fn read_plain(entry: &str) -> Option<(String, String)> {
    read_quoted(entry).or_else(|| Some((entry.to_owned(), String::new())))
}

/// Reads `value (note)`.
pub(super) fn read_noted(entry: &str) -> Option<(String, String)> {
    read_quoted(entry).or_else(|| {
        let at = entry
            .strip_suffix(')')
            .and_then(|_| entry.rfind(" ("))
            .filter(|&at| is_note(&entry[at..]));
        let at = at.unwrap_or(entry.len());
        Some((entry[..at].to_owned(), entry[at..].to_owned()))
    })
}

/// Reads `command → how it went`.
pub(super) fn read_run(entry: &str) -> Option<(String, String)> {
    read_quoted(entry).or_else(|| {
        let at = entry
            .rfind(" → ")
            .filter(|&at| Runs::read(&entry[at..]).is_some())
            .unwrap_or(entry.len());
        Some((entry[..at].to_owned(), entry[at..].to_owned()))
    })
}

/// Reads `+12 more`.
pub(super) fn read_more(entry: &str) -> Option<u32> {
    entry.strip_prefix('+')?.strip_suffix(" more")?.parse().ok()
}
