//! Commands that have a say in a compaction.

use clap::Args;
use serde::{Deserialize, Deserializer, de};

use crate::summarizers;

/// Commands before and after a compaction.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct AroundArgs {
    /// A command that is asked before anything is compacted (may be repeated).
    #[arg(
        long,
        value_name = "CMD",
        conflicts_with = "to",
        value_parser = Line::read,
        long_help = "\
A command that is asked before anything is compacted (may be repeated). It is given JSON on stdin ({\"version\":1, \
\"event\":\"before\", \"reason\", \"tokens\", \"target\", \"format\", \"model\", \"instructions\", \"folds\", \"request\"}: \
folds are the messages that would be summed up, by position) and writes {\"version\":1}, with any of
\"veto\":\"why\"            nothing is compacted this time (3)
\"summary\":\"…\"           instead of what a summarizer would write; the same checks hold
\"instructions\":[\"…\"]    for whoever sums up
\"pins\":[\"words\", 12]    messages that stay: by words as --pin, or by position
What fails is named in the receipt, and the compaction goes on without it."
    )]
    pub(crate) hook_before: Vec<Line>,

    /// A command that is told of the compaction once it is done: JSON on stdin, with the receipt (may be repeated).
    #[arg(long, value_name = "CMD", conflicts_with = "to", value_parser = Line::read)]
    pub(crate) hook_after: Vec<Line>,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<String>);

impl Line {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        summarizers::line(text).map(Line)
    }

    /// As it would be written.
    pub(crate) fn written(&self) -> String {
        shlex::try_join(self.0.iter().map(String::as_str)).expect("an argument holds no NUL")
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text: String = Deserialize::deserialize(from)?;
        Line::read(&text).map_err(|error| de::Error::custom(format!("{text}: {error}")))
    }
}
