//! Messages of a request, one a line, of which some lines are broken: each costs itself, not the file.

use epitome::wire::{self, Format, Request};

use crate::notes::Notes;
use crate::object::Object;
use crate::recording::{Recording, Why};
use crate::rows::{RawRow, rows};

/// What every message has, whatever its format.
const MEMBERS: [&str; 3] = ["role", "type", "parts"];

/// The whole lines of a file with a message on each; `None` if none is broken, if fewer are whole than broken, or if these
/// aren't messages.
pub(crate) fn whole_rows(text: &str, format: Option<Format>) -> Option<Recording> {
    let mut found = Found::default();
    for raw in rows(text) {
        found.row(raw);
    }
    let Found { messages, notes, is_marked } = found;
    let skipped = notes.skipped.len();
    if skipped == 0 && !is_marked || messages.len() < skipped.max(2) {
        return None;
    }
    let lines = messages.join("\n");
    let request: Request = match format {
        Some(format) => wire::parse(format, lines),
        None => wire::detect(lines),
    }
    .ok()?;
    let name = request.format.name();
    Some(Recording::new(name, (request, Vec::new()), notes))
}

#[derive(Default)]
struct Found<'a> {
    messages: Vec<&'a str>,
    notes: Notes,
    /// Whether a row begins with a byte order mark, as files do that were joined.
    is_marked: bool,
}

impl<'a> Found<'a> {
    fn row(&mut self, raw: RawRow<'a>) {
        let text = raw.text.trim_start_matches('\u{feff}').trim();
        self.is_marked |= raw.text.starts_with('\u{feff}');
        match Object::read(text) {
            Ok(Some(row)) if row.has_any(&MEMBERS) => self.messages.push(text),
            Ok(_) => self.notes.skip(raw.line, Why::NotARow),
            Err(error) => match raw.pieces() {
                Some(pieces) => pieces.into_iter().for_each(|piece| self.row(piece)),
                None => {
                    self.notes.skip(raw.line, Why::broken(raw, error));
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"role":"user","content":"Go."}"#;
    const SAID: &str = r#"{"role":"assistant","content":"Done."}"#;
    const TORN: &str = r#"{"role":"assistant","content":"Do"#;

    fn read(rows: &[&str]) -> Option<(usize, Vec<usize>)> {
        let recording = whole_rows(&rows.join("\n"), None)?;
        let skipped = recording.skipped.iter().map(|skipped| skipped.row).collect();
        Some((recording.request.transcript.len(), skipped))
    }

    #[test]
    fn a_broken_row_costs_itself() {
        assert_eq!(read(&[USER, TORN, USER]), Some((2, vec![2])));
        assert_eq!(read(&[USER, SAID, TORN]), Some((2, vec![3])));
        assert_eq!(read(&[USER, &format!("{TORN}{USER}"), SAID]), Some((3, vec![2])), "glued");
        assert_eq!(read(&[USER, &format!("{USER}{TORN}"), SAID]), Some((3, vec![2])), "glued");
        assert_eq!(read(&[TORN, USER, SAID]), Some((2, vec![1])));
        assert_eq!(read(&[USER, &format!("\u{feff}{SAID}")]), Some((2, vec![])), "marked");
    }

    #[test]
    fn what_is_whole_or_hardly_is_read_elsewhere() {
        for rows in [
            &[USER, SAID][..],
            &[USER, TORN],
            &[USER, SAID, TORN, TORN, TORN],
            &["{", "\"messages\": [", USER],
        ] {
            assert_eq!(read(rows), None, "{rows:?}");
        }
    }
}
