//! What was left out, and why.

use std::fmt;

use epitome::wire::json::JsonError;

use crate::rows::RawRow;

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The line, from 1; in formats that aren't lines, the position in the list of messages.
    pub row: usize,
    /// The reason.
    pub why: Why,
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The row isn't JSON.
    NotJson {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The file ends within the row: the agent was stopped while writing.
    CutOff,
    /// Bytes in it are no text: NUL, or not UTF-8.
    NoText,
    /// The row is JSON, but not an object with a `type` (or a `role`).
    NotARow,
    /// The row should hold a message and holds none.
    NoMessage,
    /// The message has no content that can be read.
    NoContent,
    /// A piece of the content isn't an object with a `type`.
    NotABlock {
        /// Its position in the content, from 1.
        position: usize,
    },
    /// The agent's own note about a failed request; the model never saw it.
    ApiError,
    /// A command to the agent, which the model never saw.
    Command,
    /// A reply that was broken off, or a result of its calls; the agent doesn't send it again.
    BrokenOff,
    /// It lies on a branch that was left.
    OtherBranch,
    /// A summary or a cut hides it; or it is such a mark, and the hidden rows are read.
    Condensed,
    /// It repeats another row.
    Repeats {
        /// The row that was read instead.
        row: usize,
    },
    /// Its call was already answered.
    AnsweredAgain,
}

impl Why {
    /// Why a row that isn't JSON can't be read.
    pub(crate) fn broken(row: RawRow<'_>, error: JsonError) -> Self {
        if row.text.contains('\0') {
            Why::NoText
        } else if row.is_last && error.at >= row.text.trim_end().len() {
            Why::CutOff
        } else {
            Why::NotJson { what: error.what }
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotJson { what } => write!(f, "not JSON: {what}"),
            Why::CutOff => f.write_str("the file ends within this row"),
            Why::NoText => f.write_str("bytes that are no text (NUL, or not UTF-8)"),
            Why::NotARow => f.write_str("not a row of this format"),
            Why::NoMessage => f.write_str("no message in it"),
            Why::NoContent => f.write_str("a message without content"),
            Why::NotABlock { position } => write!(f, "content element {position} is not a block"),
            Why::ApiError => {
                f.write_str("a note about a failed request, which the model never saw")
            }
            Why::Command => f.write_str("a command to the agent, which the model never saw"),
            Why::BrokenOff => f.write_str("part of a reply that was broken off, not sent again"),
            Why::OtherBranch => f.write_str("on a branch that was left"),
            Why::Condensed => f.write_str("hidden by a summary or a cut"),
            Why::Repeats { row } => write!(f, "repeats row {row}"),
            Why::AnsweredAgain => f.write_str("a second result for the same call"),
        }
    }
}
