//! What can go wrong, and what to do then.

use std::fmt;

use epitome::wire::{Format, WireError};
use memchr::{memchr_iter, memrchr};

use crate::notes::Notes;
use crate::skipped::Why;

/// The article before a reader's name.
fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Why a recording can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text isn't JSON.
    #[error(
        "not {} {reader} recording: not valid JSON: {what} (line {line}, column {column})",
        article(reader)
    )]
    Json {
        /// The name of its reader.
        reader: &'static str,
        /// 1-based line.
        line: usize,
        /// 1-based column, in bytes.
        column: usize,
        /// What was wrong there.
        what: &'static str,
    },
    /// The JSON has another shape.
    #[error("not {} {reader} recording: {what}", article(reader))]
    Shape {
        /// The name of its reader.
        reader: &'static str,
        /// What was expected and not found.
        what: &'static str,
    },
    /// Most of its rows are broken.
    #[error(
        "{broken} of the {rows} rows of this {reader} recording can't be read (row {first}: {why})"
    )]
    Rows {
        /// The name of its reader.
        reader: &'static str,
        /// How many rows are broken.
        broken: usize,
        /// How many there are.
        rows: usize,
        /// The line of the first broken one, from 1.
        first: usize,
        /// What is wrong with it.
        why: Why,
    },
    /// Nothing in it is a message.
    #[error("no message in this {reader} recording, only {}", list(found))]
    NoMessages {
        /// The name of its reader.
        reader: &'static str,
        /// What was found instead, and how often.
        found: Vec<(String, usize)>,
    },
    /// It holds several runs and none was chosen.
    #[error("this {reader} file holds {runs} runs; choose one of them by its number, from 1")]
    SeveralRuns {
        /// The name of its reader.
        reader: &'static str,
        /// How many there are.
        runs: usize,
    },
    /// There is no such run.
    #[error("this {reader} file holds {runs} runs, so there is no run {run}")]
    NoSuchRun {
        /// The name of its reader.
        reader: &'static str,
        /// How many there are.
        runs: usize,
        /// Which one was asked for.
        run: usize,
    },
    /// Offsets are 32 bits wide.
    #[error("the {reader} recording is {bytes} bytes; at most 4 GiB can be read")]
    TooLarge {
        /// The name of its reader.
        reader: &'static str,
        /// Its size.
        bytes: usize,
    },
}

fn list(found: &[(String, usize)]) -> String {
    let words: Vec<String> =
        found.iter().map(|(what, count)| format!("{count} × {what}")).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

impl ReadError {
    pub(crate) fn no_messages(reader: &'static str, notes: Notes) -> Self {
        ReadError::NoMessages { reader, found: notes.types.into_iter().collect() }
    }

    pub(crate) fn json(
        reader: &'static str,
        source: &str,
        error: epitome::wire::json::JsonError,
    ) -> Self {
        let before = &source.as_bytes()[..error.at.min(source.len())];
        let line = memchr_iter(b'\n', before).count() + 1;
        let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        ReadError::Json { reader, line, column: before.len() - start + 1, what: error.what }
    }
}

/// Why a view can't be written into a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Nothing is known of how the agent goes on from a compaction.
    #[error("{reader} recordings can't be compacted in place")]
    Unsupported {
        /// What was read.
        reader: &'static str,
    },
    /// The recording can't be read, or what was written can't.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Read again it would be another conversation.
    #[error("messages[{entry}] of the view can't be written in the agent's format: {what}")]
    Differs {
        /// The entry of the view.
        entry: usize,
        /// What is lost.
        what: &'static str,
    },
}

/// A format that was tried, and why the input isn't one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The format's name.
    pub name: &'static str,
    /// What it lacks.
    pub why: String,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

/// Why an input can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing but white space.
    #[error("the input is empty")]
    Empty,
    /// The bytes are a file of another kind.
    #[error("the input is {looks_like}, not text{}", if *packed { "; unpack it first" } else { "" })]
    Binary {
        /// What the first bytes show.
        looks_like: &'static str,
        /// Whether the text may be inside.
        packed: bool,
    },
    /// The text has another encoding.
    #[error("the input is {encoding}; convert it to UTF-8 first")]
    Encoding {
        /// Its encoding.
        encoding: &'static str,
    },
    /// The bytes aren't UTF-8.
    #[error("the input is not UTF-8: byte {at} (line {line}) starts no character")]
    NotUtf8 {
        /// Offset of the first wrong byte.
        at: usize,
        /// 1-based line of it.
        line: usize,
    },
    /// There is a NUL in the text, which no JSON has.
    #[error("the input has a NUL byte at offset {at}, so it is damaged or not text")]
    Nul {
        /// Offset of the first one.
        at: usize,
    },
    /// What can be read stands inside of something else.
    #[error("the input is {what}, which is not extracted")]
    Wrapped {
        /// What it is.
        what: String,
        /// What takes it out; FILE stands for the input.
        instead: String,
    },
    /// It is a format of others, for which there is no reader.
    #[error("the input is {what}, which isn't supported")]
    Foreign {
        /// What it is.
        what: &'static str,
        /// What can be read instead: a command, with `FILE` for the input, or what else to do.
        instead: &'static str,
    },
    /// No such format.
    #[error("there is no format {name:?}; the readable formats are {}", readable.join(", "))]
    NoSuchFormat {
        /// What was asked for.
        name: String,
        /// The formats that can be read.
        readable: Vec<&'static str>,
    },
    /// No line of it is a JSON object or list.
    #[error("the input isn't a JSON object or list: it begins with {begins:?}")]
    NoJson {
        /// Its first words.
        begins: String,
    },
    /// No format fits.
    #[error("the input is in no known format: {}", shown(begins, tried))]
    Unknown {
        /// Its first words.
        begins: String,
        /// All formats, each with what speaks against it.
        tried: Vec<Tried>,
    },
    /// Entries of what looks like a request have a shape that its format doesn't know.
    #[error(
        "the input looks like {format}, but {odd} of its {entries} messages {} not valid in {format} (the first: {first})",
        if *odd == 1 { "is" } else { "are" }
    )]
    Shape {
        /// The format that it looks like.
        format: Format,
        /// The first such entry, from 1.
        first: usize,
        /// The member that it has not got, or not as the format has it, where it is about one.
        lacks: Option<&'static str>,
        /// How many there are.
        odd: usize,
        /// How many entries there are.
        entries: usize,
    },
    /// It is a request, but a broken one.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It is a recording, but a broken one.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The error in the JSON, if it isn't valid; else how it begins.
fn shown(begins: &str, tried: &[Tried]) -> String {
    match tried.iter().find(|one| one.why.starts_with("not valid JSON")) {
        Some(Tried { why, .. }) => why.clone(),
        None => format!("it begins with {begins:?}"),
    }
}
