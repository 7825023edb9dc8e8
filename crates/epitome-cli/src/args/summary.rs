//! Who writes the narrative of a checkpoint, if not the program itself.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use epitome::summarize::OnFailure;

use crate::summarizers::Spec;

/// How to sum up what a checkpoint stands for.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Summary")]
pub(crate) struct SummaryArgs {
    /// Who sums up what is folded: `extractive` (code, no model), or `cmd:PROG` [default: extractive].
    // What is converted may be compacted several times, each time anew.
    #[arg(
        long,
        value_name = "WHO",
        conflicts_with = "to",
        long_help = "\
Who sums up what is folded: `extractive` (code, no model; the default), or `cmd:PROG ARGUMENTS`, which is \
given JSON on stdin ({\"version\":1, \"instruction\", \"transcript\", \"ledger\", \"max_tokens\"}) and writes \
{\"version\":1, \"summary\":\"…\"}. A summary is admitted only after checks; everything else in a checkpoint is as \
it is without one."
    )]
    pub(crate) summarizer: Option<Spec>,

    /// Who is asked next where that gives no summary that can be used (may be repeated).
    #[arg(long, value_name = "WHO", requires = "summarizer")]
    pub(crate) then: Vec<Spec>,

    /// What happens where nobody gives one: the checkpoint without a summary, no compaction, or a failure
    /// (69) [default: extractive].
    #[arg(long, value_name = "extractive|skip|error", value_parser = on_failure, requires = "summarizer")]
    pub(crate) on_failure: Option<OnFailure>,

    /// What the summary is to look at most.
    #[arg(long, value_name = "TEXT", requires = "summarizer")]
    pub(crate) focus: Option<String>,

    /// Ask with the instruction in this file instead of the usual one; no sections are demanded then.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "summarizer")]
    pub(crate) prompt: Option<PathBuf>,

    /// The longest that one answer may take, in seconds.
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "120", requires = "summarizer")]
    pub(crate) timeout: Duration,
}

fn on_failure(text: &str) -> Result<OnFailure, String> {
    match text {
        "extractive" => Ok(OnFailure::Extractive),
        "skip" => Ok(OnFailure::Skip),
        "error" => Ok(OnFailure::Error),
        _ => Err("not `extractive`, `skip` or `error`".to_owned()),
    }
}

/// A positive number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| *time >= Duration::from_millis(1))
        .ok_or_else(|| "not a positive number of seconds (120, 2.5)".to_owned())
}
