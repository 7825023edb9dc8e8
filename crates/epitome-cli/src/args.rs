//! The command line.

mod agents;
mod archive;
mod around;
mod bench;
mod brief;
mod compact;
mod looks;
#[cfg(feature = "mcp")]
mod mcp;
mod program;
mod reading;
#[cfg(feature = "proxy")]
mod serve;
#[cfg(feature = "grpc")]
mod sidecar;
mod summary;
#[cfg(feature = "proxy")]
mod wrap;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueHint};
use epitome::engine::{Counting, Stop};
use epitome::strategy::Pipeline;
use epitome::wire::RuleId;
use epitome::{Tail, Target};

use crate::output::Report;
use crate::values::{
    Purpose, counter_names, counting, rule, stop, strategies, strategies_help, task, trigger,
    window,
};

pub(crate) use agents::{HookArgs, HookEvent, InstallArgs, UninstallArgs};
pub(crate) use archive::{
    ArchiveArg, Channel, ForgetArgs, GoArgs, KeepArgs, PinArgs, PinCommand, RecallArgs,
    SessionsArgs,
};
pub(crate) use around::AroundArgs;
pub(crate) use bench::{BenchCommand, ForesightArgs, RoundsArgs};
pub(crate) use brief::command;
pub(crate) use compact::{CompactArgs, ConvertArgs};
#[cfg(feature = "view")]
pub(crate) use looks::LookArgs;
pub(crate) use looks::{DiffArgs, PlanArgs, ReportArgs, StatsArgs};
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpArgs;
pub(crate) use program::{ConfigCommand, DoctorArgs, FilesArgs, ModelsArgs, SchemaArgs};
pub(crate) use reading::{InputArgs, ReadingArgs};
#[cfg(feature = "proxy")]
pub(crate) use serve::{ListenAt, LogForm, ProxyArgs, ServeArgs};
#[cfg(feature = "grpc")]
pub(crate) use sidecar::SidecarArgs;
pub(crate) use summary::SummaryArgs;
#[cfg(feature = "proxy")]
pub(crate) use wrap::{WrapArgs, WrappedAgent};

const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 failure, 2 usage, 3 a check found something, the target can't be reached or the \
output breaks a rule (`epitome check` says which), 4 nothing was found, 65 bad input, \
69 upstream failed, 75 try again, 130 interrupted.";

const CONFIGURATION: &str = "\
Settings can also be in a TOML file: `--config FILE`, else the nearest `epitome.toml` in this \
folder or above it, then `epitome/config.toml` in the XDG configuration folder. Keys: target, \
tail (--keep-recent), task, trigger, preset, strategies (--strategy), stop, counting, pins, preserved-tools, read-only, counter, model, window, models, summarizer (--summarizer, and --then: a list), on-failure, timeout, spend; \
summarizer and spend are not allowed in a project's own `epitome.toml`. The environment variables \
are EPITOME_TARGET and so on; EPITOME_PINS holds one pin per line, EPITOME_PRESERVED_TOOLS and EPITOME_READ_ONLY are split at \
commas. Flags override the environment, which overrides the project's file, which overrides your own.";

/// Sees, checks, counts and compacts the transcripts of LLM agents.
///
/// Reads a request body, or a list or lines of messages (OpenAI Chat or Responses, Anthropic, Gemini, Gemini Interactions, Bedrock).
/// Also reads recordings (Claude Code, Codex, Gemini CLI, Kimi CLI, opencode, OpenHands, pi, Cline and Roo Code, tau-bench, SWE-agent).
/// Nothing is sent anywhere, except to a summarizer that you name.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(infer_subcommands = false)]
pub(crate) struct Cli {
    /// What to do; without it, `sessions`.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Print reports as JSON (each has a "version").
    #[arg(long, global = true)]
    json: bool,
}

impl Cli {
    /// The form of reports.
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

    /// Check a transcript against the provider's rules, and repair it.
    #[command(after_help = "\
Examples:
  epitome check request.json
  epitome check request.json --repair -o mended.json
  epitome check request.json --for anthropic:claude-opus-5-5

Exits with 3 if a breach is found (with --repair: if one is left).")]
    Check(CheckArgs),

    /// Count tokens.
    #[command(after_help = "\
Examples:
  epitome count session.jsonl
  epitome count request.json --counter o200k --counter claude --json")]
    Count(CountArgs),

    /// Show what `compact` would do, without doing it.
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
    /// window, so that the reply and the next steps fit. With --trigger it compacts only if the trigger fires.
    #[command(after_help = compact::help())]
    Compact(Box<CompactArgs>),

    /// Show what a compaction does to each entry, or how two transcripts differ.
    #[command(after_help = format!("\
Examples:
  epitome diff session.jsonl --target 20%
  epitome diff session.jsonl smaller.json

{CONFIGURATION}"))]
    Diff(DiffArgs),

    /// Report how a session used its context: what filled it, when it was compacted, what was lost.
    #[command(after_help = looks::REPORT)]
    Report(ReportArgs),

    #[cfg(feature = "view")]
    /// Browse a session on the terminal: its turns and their tokens, what each compaction hid.
    ///
    /// A turn opens to its messages. The pane beside them shows a message in full, with secrets masked. `c` goes to the next
    /// compaction, `/` finds words, `y` copies the id by which `epitome recall` finds a message.
    #[command(after_help = "\
Example:
  epitome view session.jsonl")]
    View(LookArgs),

    /// Replay a session request by request, and show when it would be compacted.
    ///
    /// Each model call in the recording becomes a request with everything said before it. When
    /// the trigger fires (--trigger, else the preset's, else 80% of the window) the request is compacted, and later requests use that view. A request whose
    /// counted tokens exceed the window is an overflow. The cost of replies is not included.
    /// Each request is read whole, as it would be sent: a session twice as long takes four times as long.
    #[command(after_help = "\
Examples:
  epitome simulate session.jsonl --whole --window 100k
  epitome simulate session.jsonl --window 200k --trigger 70% --target 30k
  epitome simulate session.jsonl --window 100k --preset planck
  epitome simulate session.jsonl --window 100k --json | jq '.compactions, .overflows'

Exits with 3 if a request overflows.")]
    Simulate(PlanArgs),

    /// Write a transcript as a request body.
    ///
    /// A recording becomes a request in its wire format; a request is converted to another format. In the same format
    /// it stays byte for byte. Content that the other format can't express is left out and listed on stderr.
    #[command(after_help = "\
Examples:
  epitome convert session.jsonl --to anthropic -o request.json
  epitome convert request.json --to gemini > gemini.json
  epitome convert rollout.jsonl --to anthropic:claude-opus-5-5 -o request.json

Exits with 3, having written it, if it breaks a rule of the format that can't be repaired automatically.")]
    Convert(ConvertArgs),

    /// List the recordings on this machine, or the sessions of an archive.
    ///
    /// Lists recordings of Claude Code, Codex, Gemini CLI and pi, the newest first. Each line has the first words of a person, the
    /// model, and the cost so far. Tokens are those of the next request (as the provider reported, with `~`
    /// an estimate), with their share of the window. Every command takes an id, or its beginning, in place of a file.
    /// CLAUDE_CONFIG_DIR, CODEX_HOME and PI_CODING_AGENT_DIR name the folders, if they are not in the home folder. The
    /// sessions of the usual archive follow.
    /// With SESSION, lists the views of an archived session: the input and the result of each, and which is in force.
    Sessions(SessionsArgs),

    /// Write the original bytes of a compaction, from its archive.
    #[command(after_help = archive::RESTORE)]
    Restore(GoArgs),

    /// Find removed content in an archive, by words or by an id.
    #[command(after_help = archive::RECALL)]
    Recall(RecallArgs),

    #[cfg(feature = "mcp")]
    /// Let an agent search removed content: an MCP server on stdin and stdout, or over HTTP.
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(McpArgs),

    #[cfg(feature = "proxy")]
    /// Keep any agent inside its model's window: a proxy between it and its provider.
    ///
    /// Give the agent the proxy's address instead of the provider's. Below the trigger, bytes pass unchanged both ways,
    /// and streams piece by piece. Above it, the compacted view is sent, and later requests of the conversation continue it. The proxy reads OpenAI
    /// Chat and Responses, Anthropic Messages, Gemini and its Interactions; everything else passes. No model writes summaries unless `--summarizer` names one.
    #[command(after_help = serve::EXAMPLES)]
    Serve(ServeArgs),

    #[cfg(feature = "proxy")]
    /// Run an agent behind a private proxy, and leave nothing behind.
    #[command(after_help = wrap::EXAMPLES)]
    Wrap(WrapArgs),

    #[cfg(feature = "grpc")]
    /// Serve the built-in engine to other programs over gRPC, as the compactor `epitome`.
    ///
    /// They name it by `--summarizer grpc:http://127.0.0.1:50051#epitome`. If EPITOME_RPC_TOKEN is set (or
    /// EPITOME_RPC_TOKEN_FILE names a file with the token), callers must send it. --tls-cert and --tls-key turn on TLS.
    /// The health and reflection services are also served. It runs until it is stopped.
    Sidecar(SidecarArgs),

    /// Undo the last compaction, and write the view before it.
    #[command(after_help = archive::UNDO)]
    Undo(GoArgs),

    /// Redo the last undone compaction, and write the view.
    #[command(after_help = archive::REDO)]
    Redo(GoArgs),

    /// Erase sessions from an archive, to the last byte.
    #[command(after_help = archive::FORGET)]
    Forget(ForgetArgs),

    /// Pin a text for all compactions that use this archive.
    Pin(PinArgs),

    /// Put hooks, the MCP server and a status line into an agent's settings.
    #[command(after_help = agents::INSTALL)]
    Install(InstallArgs),

    /// Undo `install`: each settings file gets its exact bytes back.
    ///
    /// If a file was changed since, only the additions of `install` are removed. The archive stays.
    Uninstall(UninstallArgs),

    /// The hook that agents run around their own compactions.
    #[command(after_help = agents::HOOK)]
    Hook(HookArgs),

    /// Measure what compactions lose.
    #[command(arg_required_else_help = true)]
    Bench {
        /// What to measure.
        #[command(subcommand)]
        command: BenchCommand,
    },

    /// Show facts about models: windows, prices, prompt caches, and their sources.
    #[command(after_help = "\
Examples:
  epitome models
  epitome models claude-opus-5-5
  epitome models gemini --json | jq '.models[] | {id, input, price}'

Add your own facts to `epitome/models.json` in the XDG configuration folder, or to the file named by \
--models or the setting `models`: {\"models\": {\"claude-opus-5-5\": {\"input\": 200000}}}. \
--json shows all keys.")]
    Models(ModelsArgs),

    /// Show the settings and their sources.
    #[command(arg_required_else_help = true)]
    Config {
        /// What to show.
        #[command(subcommand)]
        command: ConfigCommand,
    },

    /// Check the setup: settings, models, summarizers and their keys, counters, terminal, agents (hooks,
    /// MCP server), archive, recordings.
    #[command(after_help = program::DOCTOR)]
    Doctor(DoctorArgs),

    /// Print the JSON Schema of a report, or list the reports.
    #[command(after_help = program::SCHEMA)]
    Schema(SchemaArgs),

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
        /// The command; without it, the page of `epitome`.
        command: Option<String>,
    },
}

/// How to count.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CountingArgs {
    /// The model that will read it: sets counter, window and prices (`epitome models` lists the models).
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// Read settings from this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Read facts about models from this file; they override the built-in ones.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) models: Option<PathBuf>,
}

/// What to count with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CounterArg {
    /// The token counter: o200k, cl100k, claude, gemini, deepseek, llama, mistral, qwen, other, chars4 or bytes4.
    #[arg(long, value_name = "NAME", value_parser = counter_names(), hide_possible_values = true)]
    pub(crate) counter: Option<String>,
}

/// How to compact.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct ShapeArgs {
    /// Where to land: tokens (`20000`, `20k`) or a share of the input (`25%`) [default: 30%].
    #[arg(long, value_name = "N|P%", allow_negative_numbers = true)]
    pub(crate) target: Option<Target>,

    /// When to compact: `80%` of the window, `120k` tokens, `100items`, `8steps`, `4turns`, `500000chars`,
    /// `window-16k`; several are joined by a comma (any) or a plus (all). If it doesn't fire, the
    /// request passes unchanged.
    #[arg(long, value_name = "WHEN", value_parser = trigger, allow_negative_numbers = true)]
    pub(crate) trigger: Option<epitome::trigger::When>,

    /// The context window in tokens [default: the model's]; the default target is at most half of it.
    #[arg(long, value_name = "N", value_parser = window, allow_negative_numbers = true)]
    pub(crate) window: Option<u64>,

    /// Compact as this system does; explicit options override it.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(epitome::preset::NAMES))]
    pub(crate) preset: Option<String>,

    /// The strategies, in order: names, `ladder` (all, cheapest loss first) or `none`.
    #[arg(long, value_name = "LIST", value_parser = strategies, long_help = strategies_help())]
    pub(crate) strategy: Option<Pipeline>,

    /// When to stop: at the target, or after every strategy is exhausted [default: at-target].
    #[arg(long, value_name = "at-target|at-end", value_parser = stop)]
    pub(crate) stop: Option<Stop>,

    /// How the trigger counts an input of 5 MB or more: whole, or a sample of it [default: whole].
    #[arg(long, value_name = "whole|sampled", value_parser = counting)]
    pub(crate) counting: Option<Counting>,

    /// The newest content that stays verbatim: `10items`, `4units`, `5steps`, `2turns` or `8000tokens`.
    #[arg(long, value_name = "N[UNIT]", allow_negative_numbers = true)]
    pub(crate) keep_recent: Option<Tail>,

    /// Keep user and system messages that contain TEXT; otherwise the newest other message that does (may be repeated).
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) pin: Vec<String>,

    /// Keep the message at this position, from 0, as in `stats` and receipts (may be repeated).
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) pin_message: Vec<usize>,

    /// Keep the calls of this tool, with their results (may be repeated).
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) preserve_tool: Vec<String>,

    /// A tool whose calls change nothing (may be repeated). Tools named like `read`, `get`, `list` or `search` are known
    /// to change nothing; calls of other tools are listed in the checkpoint under "What was done".
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) read_only: Vec<String>,

    /// Warn if the checkpoint of this earlier receipt is gone or changed (may be repeated). An unchanged checkpoint is
    /// continued in any case.
    #[arg(long = "continue", value_name = "RECEIPT", value_hint = ValueHint::FilePath)]
    pub(crate) receipts: Vec<PathBuf>,

    /// Whether to keep the first human message, or let it be folded [default: keep].
    #[arg(long, value_name = "keep|fold", value_parser = task)]
    pub(crate) task: Option<epitome::Task>,
}

/// How to compact, and how to count what is compacted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HowArgs {
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

impl HowArgs {
    /// Where nothing is compacted.
    pub(crate) fn counting(counting: &CountingArgs, counter: Option<&String>) -> Self {
        let counter = CounterArg { counter: counter.cloned() };
        HowArgs { shape: ShapeArgs::default(), counting: counting.clone(), counter }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Write the request, repaired by the smallest changes.
    #[arg(long, help_heading = "Output")]
    pub(crate) repair: bool,

    /// Check it for this model, or convert it to another format first and check that.
    #[arg(long = "for", value_name = "FORMAT[:MODEL]", conflicts_with = "repair")]
    pub(crate) purpose: Option<Purpose>,

    /// Skip this rule, for a less strict provider or gateway (may be repeated).
    #[arg(long, value_name = "RULE", value_parser = rule(), hide_possible_values = true)]
    pub(crate) except: Vec<RuleId>,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArg,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}

#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) counting: CountingArgs,

    /// A token counter, as for `compact --counter` (may be repeated).
    #[arg(long, value_name = "NAME", value_parser = counter_names(), hide_possible_values = true)]
    #[arg(help_heading = "Counting")]
    pub(crate) counter: Vec<String>,
}

/// Where to write.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArg {
    /// Write to this file instead of stdout; it is replaced atomically.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}
