//! Hook commands.

use clap::Args;

use crate::values::Line;

/// Commands before and after a compaction.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct AroundArgs {
    /// A command to run before a compaction, which may forbid it (may be repeated).
    #[arg(
        long,
        value_name = "CMD",
        value_parser = Line::read,
        long_help = "\
A command to run before a compaction, which may forbid it (may be repeated). It reads JSON from stdin ({\"version\":1, \
\"event\":\"before\", \"reason\", \"tokens\", \"target\", \"format\", \"model\", \"instructions\", \"folds\", \"request\"}: \
folds are the positions of the messages to summarize) and writes {\"version\":1}, with any of
\"veto\":\"why\"            compact nothing this time (exit code 3)
\"summary\":\"…\"           use this summary; the same checks apply
\"instructions\":[\"…\"]    instructions for the summarizer
\"pins\":[\"words\", 12]    messages to keep: by words as --pin, or by position
\"metadata\":{\"a\":\"b\"}   values to put into the receipt
If it fails, the receipt says so, and the compaction goes on without it."
    )]
    pub(crate) hook_before: Vec<Line>,

    /// A command to run after a compaction; it reads JSON with the receipt from stdin (may be repeated).
    #[arg(long, value_name = "CMD", value_parser = Line::read)]
    pub(crate) hook_after: Vec<Line>,
}
