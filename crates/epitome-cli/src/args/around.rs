//! Commands that have a say in a compaction.

use clap::Args;

use crate::values::Line;

/// Commands before and after a compaction.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct AroundArgs {
    /// A command that is asked before anything is compacted (may be repeated).
    #[arg(
        long,
        value_name = "CMD",
        value_parser = Line::read,
        long_help = "\
A command that is asked before anything is compacted (may be repeated). It is given JSON on stdin ({\"version\":1, \
\"event\":\"before\", \"reason\", \"tokens\", \"target\", \"format\", \"model\", \"instructions\", \"folds\", \"request\"}: \
folds are the messages that would be summed up, by position) and writes {\"version\":1}, with any of
\"veto\":\"why\"            nothing is compacted this time (3)
\"summary\":\"…\"           instead of what a summarizer would write; the same checks hold
\"instructions\":[\"…\"]    for whoever sums up
\"pins\":[\"words\", 12]    messages that stay: by words as --pin, or by position
\"metadata\":{\"a\":\"b\"}   what the receipt is to say of it
What fails is named in the receipt, and the compaction goes on without it."
    )]
    pub(crate) hook_before: Vec<Line>,

    /// A command that is told of the compaction once it is done: JSON on stdin, with the receipt (may be repeated).
    #[arg(long, value_name = "CMD", value_parser = Line::read)]
    pub(crate) hook_after: Vec<Line>,
}
