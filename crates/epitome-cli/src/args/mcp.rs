//! Arguments of `mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::lookup::transcript;

use super::ReadingArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  claude mcp add epitome -- epitome mcp --archive ~/store
  codex mcp add epitome -- epitome mcp --archive ~/store
  epitome mcp session.jsonl
  epitome mcp --archive ~/store --listen 127.0.0.1:8808

Over HTTP, requests must name this machine as their Host, and must not come from a web page (Origin). Slow or idle connections are closed. Tools: recall_search, recall_get, context_stats. Nothing is written.";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("memory").required(true).multiple(false))]
pub(crate) struct McpArgs {
    /// The recording (or its session id) or request to search.
    #[arg(value_name = "FILE|ID", value_hint = ValueHint::FilePath, group = "memory", value_parser = transcript())]
    pub(crate) file: Option<PathBuf>,

    /// The archive to search.
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath, group = "memory")]
    pub(crate) archive: Option<PathBuf>,

    /// The project folder: `recall_search` finds only its conversations, unless asked for all [default: this folder].
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "file")]
    pub(crate) project: Option<PathBuf>,

    /// Serve over streamable HTTP here instead, at `/mcp`: an address of this machine, since callers are not
    /// authenticated; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}
