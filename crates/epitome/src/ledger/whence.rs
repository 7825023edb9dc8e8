//! In which of several transcripts something was said.

use crate::transcript::Numbering;

/// Where something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Whence {
    /// In this entry of what is compacted.
    Here(u32),
    /// In a message that an earlier checkpoint stands for, by its number.
    Before(u32),
}

impl Whence {
    /// The number of the message in the whole conversation.
    pub(crate) fn number(self, numbering: &Numbering) -> usize {
        match self {
            Whence::Here(entry) => numbering.of(entry as usize),
            Whence::Before(number) => number as usize,
        }
    }
}
