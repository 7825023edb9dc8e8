//! What can be asked about a compaction that isn't written.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{HowArgs, InputArgs, ReadingArgs};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The transcript; `-` reads stdin.
    #[arg(value_name = "A|-", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// What became of it; without it, A is compacted in memory.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) compacted: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}
