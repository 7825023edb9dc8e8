//! What `mcp` takes.

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

Over HTTP, requests must name this machine as their Host, and come from no web page (Origin). Connections that are slow or idle are closed. Tools: recall_search, recall_get, context_stats. Nothing is written.";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("memory").required(true).multiple(false))]
pub(crate) struct McpArgs {
    /// A recording (or its session's id) or a request, all of which is searched.
    #[arg(value_name = "FILE|ID", value_hint = ValueHint::FilePath, group = "memory", value_parser = transcript())]
    pub(crate) file: Option<PathBuf>,

    /// The archive that is searched.
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath, group = "memory")]
    pub(crate) archive: Option<PathBuf>,

    /// The folder of the project whose conversations `recall_search` keeps to, unless it is asked for all [default: this one].
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "file")]
    pub(crate) project: Option<PathBuf>,

    /// Serve over streamable HTTP here instead, at `/mcp`: an address of this machine, since nobody is asked who
    /// they are; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}
