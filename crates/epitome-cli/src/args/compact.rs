//! Arguments of `compact` and `convert`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{AroundArgs, CONFIGURATION, HowArgs, InputArgs, KeepArgs, OutputArg, SummaryArgs};
use crate::values::Destination;

pub(super) fn help() -> String {
    format!("\
Examples:
  epitome compact session.jsonl --target 20k > smaller.json
  epitome compact request.json --target 25% --keep-recent 3turns --pin 'never push to main'
  epitome compact request.json -o request.json --receipt receipt.json
  epitome compact session.jsonl --summarizer 'cmd:python3 summarize.py' --focus 'the parser'
  epitome compact request.json --trigger 80% --model claude-opus-5-5 -o request.json
  epitome compact --window 200k < request.json | curl --data-binary @- https://…
  epitome compact ~/.claude/projects/PROJECT/SESSION.jsonl --target 30% --apply

The third can run again when the conversation has grown: it continues the earlier checkpoint. A checkpoint that was \
changed since it was written is plain text.

With --apply the recording stays, and the agent's own compaction mark and the kept messages are appended, \
atomically. A file that a process has open or has just written to is left alone (75): end the agent \
first. `epitome restore FILE -o FILE` puts the file back as it was.

With --json the receipt is JSON: on stderr, or on stdout if -o or --apply takes the request.

{CONFIGURATION}

Exits with 3, having written the nearest result, if the target can't be reached.")
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("kept").multiple(true))]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    #[command(flatten)]
    pub(crate) to: ToArg,
    #[command(flatten)]
    pub(crate) output: OutputArg,

    #[command(flatten)]
    pub(crate) archive: KeepArgs,

    /// Write the compaction into the recording (Claude Code, Codex, pi), in the agent's own form, so that the
    /// agent resumes from it. The original is archived first.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "to", "whole", "sidechain", "run"], group = "kept")]
    pub(crate) apply: bool,

    /// Write the receipt, as JSON, to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) receipt: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// The format to write: openai-chat, anthropic, gemini, gemini-interactions, openai-responses or
    /// bedrock; and optionally the target model.
    #[arg(long, value_name = "FORMAT[:MODEL]", help_heading = "Output")]
    pub(crate) to: Destination,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}

/// The format to write.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ToArg {
    /// The format to write, and the target model [default: the input's].
    #[arg(long, value_name = "FORMAT[:MODEL]")]
    pub(crate) to: Option<Destination>,
}
