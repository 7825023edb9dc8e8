//! Arguments for the input.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::formats;
use crate::lookup::transcript;
use crate::values::format_names;

/// What to read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// The transcript: a file, or a session id from `epitome sessions`, or its beginning; `-` or nothing reads stdin.
    #[arg(value_name = "FILE|ID|-", value_hint = ValueHint::FilePath, help_heading = None, value_parser = transcript())]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How to read it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadingArgs {
    /// The input's format, if it can't be detected.
    #[arg(long, value_name = "FMT", value_parser = format_names(), hide_possible_values = true)]
    #[arg(long_help = format!("The input's format, if it can't be detected: {}.", formats::list()))]
    pub(crate) from: Option<String>,

    /// Read a recording across its earlier compactions.
    #[arg(long)]
    pub(crate) whole: bool,

    /// Read this sub-agent of a recording instead of the main line.
    #[arg(long, value_name = "ID")]
    pub(crate) sidechain: Option<String>,

    /// Read this run, from 1, of a file with several.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<usize>,
}
