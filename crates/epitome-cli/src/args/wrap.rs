//! Arguments of `wrap`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use super::ProxyArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  epitome wrap claude
  epitome wrap claude -- --resume
  epitome wrap codex --window 200k -- exec 'Fix the build.'
  epitome wrap gemini --upstream gemini=https://gateway.example

The proxy is private: it listens on a free port of this machine and ends with the agent. `wrap` exits with the agent's exit code. No \
file is written. If the environment names another address of a provider (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, \
GOOGLE_GEMINI_BASE_URL), requests go there, unless --upstream says otherwise. See docs/proxy.md for the settings that each agent gets.";

#[derive(Debug, Args)]
pub(crate) struct WrapArgs {
    /// The agent.
    #[arg(value_name = "AGENT", value_enum)]
    pub(crate) agent: WrappedAgent,

    /// The agent's arguments.
    #[arg(value_name = "ARGS", last = true)]
    pub(crate) words: Vec<OsString>,

    #[command(flatten)]
    pub(crate) proxy: ProxyArgs,
}

/// An agent that can use another address for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WrappedAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// pi.
    Pi,
}
