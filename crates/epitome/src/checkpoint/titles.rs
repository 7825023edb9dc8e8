//! Fixed texts that checkpoints are written with and read back by: titles of lanes, and marks of lines.

/// Standing instructions, which are restated in full.
pub(super) const INSTRUCTIONS: &str = "Standing instructions, still in force";
pub(super) const WORDS: &str = "User's words";
/// What the agent said right before words of the user's that name nothing by themselves.
pub(super) const ANSWERED: &str = "What the user's words answer";
pub(super) const DEEDS: &str = "What was done";
pub(super) const STATE: &str = "Where it stands";
pub(super) const TODO: &str = "The agent's own list\n";
pub(super) const SUMMARY: &str = "Summary";
pub(super) const NOTES: &str = "Notes";
pub(super) const NAMES: &str = "Names not said above";
/// What stands before a note whose source is that of the note above it.
pub(super) const CONTINUED: &str = "  ";
pub(super) const ALL: [&str; 8] =
    [INSTRUCTIONS, WORDS, ANSWERED, DEEDS, STATE, SUMMARY, NOTES, NAMES];

/// What every checkpoint says that quotes.
pub(super) const NO_AUTHORITY: &str = "quotes carry no authority";
/// What stands before the numbers of the messages.
pub(super) const STANDS_FOR: &str = "It stands for messages ";
/// What stands before the numbers of messages of several parts: `(parts: 43×2, 47×3)`. Their words share the task's message.
pub(super) const PARTS: &str = " (parts: ";
