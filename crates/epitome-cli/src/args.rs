//! What can be asked on the command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueHint};
use epitome::{Tail, Target};

use crate::formats;
use crate::output::Report;

const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 failure, 2 usage, 3 a check found something or a target can't be reached,
65 bad input, 69 upstream failed, 75 try again.";

const CONFIGURATION: &str = "\
Settings may also stand in a TOML file: `--config FILE`, else the nearest `epitome.toml` of this \
folder and those above it, then `epitome/config.toml` in the XDG configuration folder. Keys: target, \
tail (--keep-recent), task, pins, preserved-tools, counter, model, window. In the environment they \
are EPITOME_TARGET and so on; EPITOME_PINS holds one a line, EPITOME_PRESERVED_TOOLS is split at \
commas. A flag goes before the environment, that before the project's file, that before your own.";

/// Sees, checks, counts and compacts the transcripts of LLM agents.
///
/// Reads a request body (OpenAI Chat, Anthropic Messages), a list or lines of messages, or a
/// recording (Claude Code, tau-bench, SWE-agent). Nothing is sent anywhere.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(arg_required_else_help = true, infer_subcommands = false)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print reports as JSON (each says its "version").
    #[arg(long, global = true)]
    json: bool,
}

impl Cli {
    /// In which form reports are wanted.
    pub(crate) fn report(&self) -> Report {
        if self.json { Report::Json } else { Report::Words }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what fills a transcript: by kind, by tool, by step.
    #[command(after_help = "\
Examples:
  epitome stats session.jsonl
  epitome stats session.jsonl --html stats.html
  epitome stats session.jsonl --json | jq '.kinds[] | {kind, tokens}'")]
    Stats(StatsArgs),

    /// Check a transcript against the provider's rules, and mend it.
    #[command(after_help = "\
Examples:
  epitome check request.json
  epitome check request.json --repair -o mended.json

Exits with 3 if something was found (with --repair: if something is left).")]
    Check(CheckArgs),

    /// Count tokens.
    #[command(after_help = "\
Examples:
  epitome count session.jsonl
  epitome count request.json --counter o200k --counter claude --json")]
    Count(CountArgs),

    /// Show what `compact` would do, and do nothing.
    #[command(after_help = format!("\
Example:
  epitome plan session.jsonl --target 20%

{CONFIGURATION}

Exits with 3 if the target can't be reached."))]
    Plan(PlanArgs),

    /// Make a transcript smaller.
    ///
    /// Writes the compacted request to stdout (or OUT) and the receipt, in words, to stderr. Without
    /// a target it lands at 30 % of the input; with --window, also at no more than half of the
    /// window, so that the reply and the next steps fit.
    #[command(after_help = format!("\
Examples:
  epitome compact session.jsonl --target 20k > smaller.json
  epitome compact request.json --target 25% --keep-recent 3turns --pin 'never push to main'
  epitome compact request.json -o request.json --receipt receipt.json
  epitome compact --window 200k < request.json | curl --data-binary @- https://…

With --json the receipt is JSON: on stderr, or on stdout if -o takes the request.

{CONFIGURATION}

Exits with 3, having written the best that can be had, if the target can't be reached."))]
    Compact(CompactArgs),

    /// Show what a compaction does to each entry, or how two transcripts differ.
    #[command(after_help = format!("\
Examples:
  epitome diff session.jsonl --target 20%
  epitome diff session.jsonl smaller.json

{CONFIGURATION}"))]
    Diff(DiffArgs),

    /// Write a transcript as a request body.
    ///
    /// A recording becomes a request of its wire format; a request comes out as it went in. Formats
    /// are not yet converted into each other.
    #[command(after_help = "\
Example:
  epitome convert session.jsonl --to anthropic -o request.json")]
    Convert(ConvertArgs),

    /// Print a completion script for a shell.
    #[command(after_help = "\
Examples:
  epitome completions bash > ~/.local/share/bash-completion/completions/epitome
  epitome completions fish > ~/.config/fish/completions/epitome.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },

    /// Print a manual page.
    #[command(after_help = "\
Examples:
  epitome man | man -l -
  epitome man compact > epitome-compact.1")]
    Man {
        /// The command whose page is wanted; without it, the page of `epitome`.
        command: Option<String>,
    },
}

/// What to read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// The transcript; `-` or nothing reads stdin.
    #[arg(value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How to read it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadingArgs {
    /// The input's format, where its content doesn't show it.
    #[arg(long, value_name = "FMT", value_parser = format_names(), hide_possible_values = true)]
    #[arg(long_help = format!("The input's format, where its content doesn't show it: {}.", formats::list()))]
    pub(crate) from: Option<String>,

    /// Read a recording across its earlier compactions.
    #[arg(long)]
    pub(crate) whole: bool,

    /// Read this sub-agent of a recording instead of the main line.
    #[arg(long, value_name = "ID")]
    pub(crate) sidechain: Option<String>,

    /// Read this run, from 1, of a file that holds several.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<usize>,
}

/// How to count.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CountingArgs {
    /// The model that will read it; chooses the counter.
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// Read settings from this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// What to count with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CounterArg {
    /// The token counter: o200k, cl100k, claude, gemini, chars4 or bytes4.
    #[arg(long, value_name = "NAME", value_parser = counter_names(), hide_possible_values = true)]
    pub(crate) counter: Option<String>,
}

/// How to compact.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct ShapeArgs {
    /// Where to land: tokens (`20000`, `20k`) or a share of the input (`25%`) [default: 30%].
    #[arg(long, value_name = "N|P%")]
    pub(crate) target: Option<Target>,

    /// The model's context window, in tokens; the default target is at most half of it.
    #[arg(long, value_name = "N", value_parser = window)]
    pub(crate) window: Option<u64>,

    /// The newest content that stays verbatim: `10items`, `5steps`, `2turns` or `8000tokens`.
    #[arg(long, value_name = "N[UNIT]")]
    pub(crate) keep_recent: Option<Tail>,

    /// Keep the messages that say this (may be repeated).
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) pin: Vec<String>,

    /// Keep the calls of this tool, with their results (may be repeated).
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) preserve_tool: Vec<String>,

    /// Whether the first human message stays or may be folded [default: keep].
    #[arg(long, value_name = "keep|fold", value_parser = task)]
    pub(crate) task: Option<epitome::Task>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,

    /// Write a page with the picture: one file that needs nothing else.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the picture alone.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Write the request with every breach mended the least way.
    #[arg(long)]
    pub(crate) repair: bool,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}

#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,

    /// A token counter (may be repeated): o200k, cl100k, claude, gemini, chars4 or bytes4.
    #[arg(long, value_name = "NAME", value_parser = counter_names(), hide_possible_values = true)]
    #[arg(help_heading = "Counting")]
    pub(crate) counter: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
    #[command(flatten)]
    pub(crate) to: ToArg,
    #[command(flatten)]
    pub(crate) output: OutputArg,

    /// Write the receipt, as JSON, to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) receipt: Option<PathBuf>,
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
    pub(crate) shape: ShapeArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// The format to write.
    #[arg(long, value_name = "FMT", value_parser = format_names(), hide_possible_values = true)]
    #[arg(long_help = format!("The format to write: {}.", formats::list()), help_heading = "Output")]
    pub(crate) to: String,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}

/// The format to write.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ToArg {
    /// The format to write; so far only the input's own.
    #[arg(long, value_name = "FMT", value_parser = format_names(), hide_possible_values = true)]
    pub(crate) to: Option<String>,
}

/// Where to write.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArg {
    /// Write to this file instead of stdout; it is replaced in one go, and may be the input.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::NAMES)
}

fn counter_names() -> PossibleValuesParser {
    PossibleValuesParser::new(epitome::count::NAMES)
}

/// A number of tokens, as [`Target`] reads it.
pub(crate) fn window(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Target::Tokens(tokens)) => Ok(tokens),
        _ => Err("not a number of tokens (200000, 200k)".to_owned()),
    }
}

/// `keep` or `fold`.
pub(crate) fn task(text: &str) -> Result<epitome::Task, String> {
    match text {
        "keep" => Ok(epitome::Task::Keep),
        "fold" => Ok(epitome::Task::Fold),
        _ => Err("not `keep` or `fold`".to_owned()),
    }
}
