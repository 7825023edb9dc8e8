//! Arguments of commands that only read a transcript.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::lookup::transcript;

use super::{CounterArg, CountingArgs, HowArgs, InputArgs, OutputArg, ReadingArgs};

/// The input, and its counter.
#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,

    /// Write a page with the picture: one self-contained file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Write only the picture.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
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

    /// The compacted transcript; without it, A is compacted in memory.
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

The page is one self-contained file: no script, no network. Secrets in its quotes are masked.";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,

    /// Write a page: context over time, what each compaction did, tools, cost.
    #[arg(long, help_heading = "Output")]
    pub(crate) html: bool,

    /// Show secrets unmasked.
    #[arg(long, help_heading = "Output")]
    pub(crate) unmasked: bool,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}
