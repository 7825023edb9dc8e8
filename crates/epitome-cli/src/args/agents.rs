//! Arguments of commands about the agents on this machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::integration::Agent;

pub(super) const INSTALL: &str = "\
Examples:
  epitome install claude-code --dry-run
  epitome install codex

Claude Code: hooks and a status line in settings.json, the MCP server in .claude.json (CLAUDE_CONFIG_DIR moves both). \
Codex: hooks in hooks.json, the MCP server in config.toml (CODEX_HOME moves both); Codex asks before it runs new \
hooks. Existing settings stay. The exact bytes of each file are saved first, for `epitome uninstall`.";

pub(super) const HOOK: &str = "\
Before a compaction (`pre-compact`) the hook archives the transcript and prints what a summary must keep: pins, and rules in \
force. After it (`session-start`, caused by `compact`) it prints them again, with the ids for `epitome recall`. \
Errors go to stderr, and the exit code is 0.";

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Agent,

    /// Show what would be changed, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Where to archive: a folder, created if missing [default: `epitome/archive` in the XDG data folder].
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub(crate) archive: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Agent,

    /// Show what would be changed, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The event. The agent names its transcript on stdin, as JSON.
    #[arg(value_name = "EVENT")]
    pub(crate) event: HookEvent,

    /// Where to archive [default: `epitome/archive` in the XDG data folder].
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub(crate) archive: Option<PathBuf>,
}

/// An agent's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookEvent {
    /// It is about to compact.
    #[value(alias = "PreCompact")]
    PreCompact,
    /// A session starts, or goes on after a compaction.
    #[value(alias = "SessionStart")]
    SessionStart,
    /// It draws its status line.
    StatusLine,
}
