//! What can be asked about a transcript that stays as it is.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::lookup::transcript;

use super::{CounterArg, CountingArgs, HowArgs, InputArgs, OutputArg, ReadingArgs};

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,

    /// Write a page with the picture: one file that needs nothing else.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Write the picture alone.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
}

#[cfg(feature = "view")]
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The transcript, or a session's id; `-` reads stdin.
    #[arg(value_name = "A|-", value_hint = ValueHint::FilePath, value_parser = transcript())]
    pub(crate) file: Option<PathBuf>,

    /// What became of it; without it, A is compacted in memory.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath, value_parser = transcript())]
    pub(crate) compacted: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

pub(super) const REPORT: &str = "\
Examples:
  epitome report session.jsonl
  epitome report session.jsonl --html -o report.html
  epitome report session.jsonl --json | jq '.compactions[] | {at, gone, human}'

The page is one file that needs nothing else: no script, no network. Secrets in what it quotes are masked.";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,

    /// Write a page: context over time, what each compaction did, tools, cost.
    #[arg(long, help_heading = "Output")]
    pub(crate) html: bool,

    /// Quote secrets as they stand in the transcript.
    #[arg(long, help_heading = "Output")]
    pub(crate) unmasked: bool,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}
