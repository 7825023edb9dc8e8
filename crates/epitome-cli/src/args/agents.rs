//! What can be asked of the agents on this machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::integration::Agent;

pub(super) const INSTALL: &str = "\
Examples:
  epitome install claude-code --dry-run
  epitome install codex

Claude Code: hooks and a status line in settings.json, the MCP server in .claude.json (CLAUDE_CONFIG_DIR moves both). \
Codex: hooks in hooks.json, the MCP server in config.toml (CODEX_HOME moves both); Codex asks before it runs new \
hooks. What is there already stays. The exact bytes of each file are noted first, for `epitome uninstall`.";

pub(super) const HOOK: &str = "\
Before a compaction (`pre-compact`) the transcript is archived, and what a summary is to keep is printed: pins, and what \
holds. After it (`session-start`, by `compact`) they are printed again, with the ids by which the rest can be had back. \
Whatever goes wrong is said on stderr, and the exit code is 0.";

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Agent,

    /// Show what would be changed, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Where to archive, a folder that is made if it isn't there [default: `epitome/archive` in the XDG data folder].
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
    /// What happens; the agent says on stdin, as JSON, where its transcript is.
    #[arg(value_name = "EVENT")]
    pub(crate) event: HookEvent,

    /// Where to archive [default: `epitome/archive` in the XDG data folder].
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub(crate) archive: Option<PathBuf>,
}

/// What happens in an agent.
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
