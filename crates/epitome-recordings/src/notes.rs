//! What a reader met and has no place for in a request.

use std::collections::BTreeMap;
use std::fmt;

use epitome::wire::json::JsonError;

use crate::rows::RawRow;
use crate::skipped::{Skipped, Why};

/// Something in a recording that isn't in the request, or is there in another form; told once,
/// however often it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub about: About,
    /// How often it occurs.
    pub times: usize,
    /// The row where it occurs first.
    pub first: usize,
}

/// What a note is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum About {
    /// Rows of a type that the reader doesn't know.
    UnknownRow {
        /// The type, as the rows say.
        kind: String,
    },
    /// What the agent added to a request; the recording tells that it did, not in which words.
    Unworded {
        /// The agent's name for it.
        kind: String,
    },
    /// The agent cleared old results here; which, or what stands for them, isn't recorded in a way that is read.
    Cleared,
    /// Replies that were shown to the user and aren't among what the model is sent.
    ShownOnly,
    /// Results of which the model was shown a shorter stand-in, as the request has them.
    ShortenedResult,
    /// Reasoning of another model than the one that is spoken to; it isn't sent on.
    ForeignReasoning,
    /// Reasoning that most models aren't sent again.
    UnsentReasoning,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::UnknownRow { kind } => write!(f, "rows of unknown type {kind:?}"),
            About::Unworded { kind } => write!(f, "{kind:?}, recorded without its wording"),
            About::Cleared => {
                f.write_str("old results cleared by the agent, which stand here in full")
            }
            About::ShownOnly => f.write_str("replies that were shown, but aren't in what is sent"),
            About::ForeignReasoning => f.write_str("reasoning of another model, not sent on"),
            About::UnsentReasoning => f.write_str("reasoning that isn't sent again"),
            About::ShortenedResult => f.write_str("results that the model saw shortened"),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} (first in row {})", self.times, self.about, self.first)
    }
}

/// Notes as they are taken.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    about: BTreeMap<About, (usize, usize)>,
    /// What was left out.
    pub(crate) skipped: Vec<Skipped>,
    /// How many rows of each type there were.
    pub(crate) types: BTreeMap<String, usize>,
}

impl Notes {
    /// Says why something in `row` was left out.
    pub(crate) fn skip(&mut self, row: usize, why: Why) {
        self.skipped.push(Skipped { row, why });
    }

    /// Counts a row of this type.
    pub(crate) fn count(&mut self, kind: &str) {
        match self.types.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.types.insert(kind.to_owned(), 1)),
        }
    }

    /// Leaves out a row that isn't JSON.
    pub(crate) fn broken(&mut self, raw: RawRow<'_>, error: JsonError) {
        self.count("not JSON");
        self.skip(raw.line, Why::broken(raw, error));
    }

    /// Leaves out a row that isn't one of this format's.
    pub(crate) fn foreign(&mut self, row: usize) {
        self.count("rows of another format");
        self.skip(row, Why::NotARow);
    }

    /// Takes a note of something in `row`.
    pub(crate) fn take(&mut self, row: usize, about: About) {
        let (times, first) = self.about.entry(about).or_insert((0, row));
        *times += 1;
        *first = (*first).min(row);
    }

    /// Takes a note of a row whose type isn't known.
    pub(crate) fn unknown(&mut self, row: usize, kind: &str) {
        self.take(row, About::UnknownRow { kind: kind.to_owned() });
    }

    /// What was left out, by its row, and all notes, in the order in which their subjects first occur.
    pub(crate) fn finish(self) -> (Vec<Skipped>, Vec<Note>) {
        let Notes { about, mut skipped, .. } = self;
        let notes = about.into_iter().map(|(about, (times, first))| Note { about, times, first });
        let mut notes: Vec<Note> = notes.collect();
        notes.sort_by_key(|note| note.first);
        skipped.sort_by_key(|skipped| skipped.row);
        (skipped, notes)
    }
}
