//! The rows of a JSON Lines file, also of one that was re-indented.

use epitome::wire::json::Scanner;
use memchr::{memchr_iter, memmem};

/// A row that may or may not be JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRow<'a> {
    /// The line it starts on, from 1.
    pub(crate) line: usize,
    /// Its text, without the line's end.
    pub(crate) text: &'a str,
    /// Whether nothing but white space follows.
    pub(crate) is_last: bool,
}

/// How many times its length is looked at of a broken row, to find rows in it.
const SEARCH: usize = 16;

impl<'a> RawRow<'a> {
    /// The pieces of a broken row that holds whole rows: a crash cuts a row off, or leaves NUL bytes, and the next one is
    /// put behind it on the same line. `None` if there is nothing to tell apart.
    pub(crate) fn pieces(self) -> Option<Vec<RawRow<'a>>> {
        let mut pieces = Vec::new();
        let mut rest = self.text;
        while let Some(end) = whole(rest).or_else(|| first_whole(rest)) {
            let (piece, behind) = rest.split_at(end);
            pieces.push(RawRow { text: piece, is_last: false, ..self });
            rest = behind.trim_start();
            if rest.is_empty() {
                break;
            }
        }
        if !rest.is_empty() {
            pieces.push(RawRow { text: rest, ..self });
        }
        (pieces.len() > 1).then_some(pieces)
    }
}

/// Where a row ends that the text begins with; nothing but another row, or what no text has, stands behind it.
fn whole(text: &str) -> Option<usize> {
    if !text.starts_with('{') {
        return None;
    }
    let end = Scanner::new(text).value().ok()?.end as usize;
    let behind = text[end..].trim_start();
    (behind.is_empty() || behind.starts_with(['{', '\0'])).then_some(end)
}

/// Where the first whole row begins in a broken one. What stands where a value may is a part of the broken row.
fn first_whole(text: &str) -> Option<usize> {
    let mut left = SEARCH * text.len();
    for at in memmem::find_iter(text.as_bytes(), b"{\"").skip_while(|at| *at == 0) {
        if text[..at].trim_end().ends_with([':', ',', '[']) {
            continue;
        }
        let read = Scanner::new(&text[at..]).value();
        if whole(&text[at..]).is_some() {
            return Some(at);
        }
        left = left.checked_sub(read.map_or_else(|error| error.at, |value| value.end as usize))?;
    }
    None
}

/// The rows of a text, blank lines left out.
pub(crate) fn rows(source: &str) -> Rows<'_> {
    let rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    let layout = if spans_lines(rest) { Layout::Values } else { Layout::Lines };
    Rows { rest, line: 1, layout }
}

/// Whether the first row is whole only with the lines that follow it, or ends before its line does:
/// files without a line's end, one put behind the other.
fn spans_lines(text: &str) -> bool {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or("");
    if !text.starts_with('{') {
        return false;
    }
    let mut scanner = Scanner::new(line);
    match scanner.value() {
        Ok(_) => scanner.peek() == Some(b'{'),
        Err(_) => Scanner::new(text).value().is_ok(),
    }
}

/// How rows are told apart. A line's end is the safer mark, since it survives a broken row.
enum Layout {
    Lines,
    Values,
}

pub(crate) struct Rows<'a> {
    rest: &'a str,
    line: usize,
    layout: Layout,
}

impl<'a> Iterator for Rows<'a> {
    type Item = RawRow<'a>;

    fn next(&mut self) -> Option<RawRow<'a>> {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.advance(blank);
        if self.rest.is_empty() {
            return None;
        }
        let end = match self.layout {
            Layout::Lines => line_end(self.rest, 0),
            Layout::Values => match Scanner::new(self.rest).value() {
                Ok(span) => span.end as usize,
                // Rows start at the start of a line; go on behind the break.
                Err(error) => line_end(self.rest, floor(self.rest, error.at)),
            },
        };
        let row = RawRow {
            line: self.line,
            text: without_comma(&self.rest[..end]),
            is_last: self.rest[end..].trim_start().is_empty(),
        };
        self.advance(end);
        Some(row)
    }
}

impl Rows<'_> {
    fn advance(&mut self, by: usize) {
        let (gone, rest) = self.rest.split_at(by);
        self.line += memchr_iter(b'\n', gone.as_bytes()).count();
        self.rest = rest;
    }
}

/// A row of a list that was laid out a row a line has a comma behind it.
fn without_comma(row: &str) -> &str {
    let is_object = row.starts_with('{');
    row.trim_end().strip_suffix(',').filter(|_| is_object).unwrap_or(row)
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at)
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(source: &str) -> Vec<(usize, &str)> {
        rows(source).map(|row| (row.line, row.text.trim_end())).collect()
    }

    #[test]
    fn lines_are_rows_whatever_is_in_them() {
        assert_eq!(
            split("\u{feff}\n{\"a\":1}\r\n\n{\"a\":\n[\n7"),
            [(2, "{\"a\":1}"), (4, "{\"a\":"), (5, "["), (6, "7")]
        );
        assert!(split(" \n\t\n").is_empty());
    }

    #[test]
    fn rows_on_one_line_are_told_apart() {
        for (line, pieces) in [
            ("{\"a\":1}{\"a\":2}", vec!["{\"a\":1}", "{\"a\":2}"]),
            ("{\"a\":1}\0\0", vec!["{\"a\":1}", "\0\0"]),
            ("\0\0{\"a\":1}\0{\"b\":1}", vec!["\0\0", "{\"a\":1}", "\0", "{\"b\":1}"]),
            (
                "{\"a\":{\"b\":\"x{\"a\":{\"b\":2}}{\"a\":3",
                vec!["{\"a\":{\"b\":\"x", "{\"a\":{\"b\":2}}", "{\"a\":3"],
            ),
            ("{\"a\":{\"b\":1}", vec![]),
            ("{\"a\":1} x", vec![]),
        ] {
            let row = RawRow { line: 1, text: line, is_last: true };
            let found: Vec<&str> =
                row.pieces().into_iter().flatten().map(|piece| piece.text).collect();
            assert_eq!(found, pieces, "{line}");
        }
    }

    #[test]
    fn rows_of_a_list_have_no_commas() {
        assert_eq!(
            split("[\n{\"a\":1},\n{\"b\":[\n{\"c\":1}\n]"),
            [(1, "["), (2, "{\"a\":1}"), (3, "{\"b\":["), (4, "{\"c\":1}"), (5, "]"),]
        );
    }

    #[test]
    fn rows_that_were_indented_are_found_again() {
        assert_eq!(
            split("{\n \"a\": 1\n}\n{\n \"b\": 2\n}\n"),
            [(1, "{\n \"a\": 1\n}"), (4, "{\n \"b\": 2\n}")]
        );
    }

    #[test]
    fn a_break_costs_no_row_behind_it() {
        let found = split("{\n\"a\": 1\n}\n{\n\"b\": }\n{\n\"c\": 3\n}\n");
        assert_eq!(found[0], (1, "{\n\"a\": 1\n}"));
        assert_eq!(found.last(), Some(&(6, "{\n\"c\": 3\n}")));
    }
}
