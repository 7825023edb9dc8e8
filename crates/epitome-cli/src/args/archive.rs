//! What can be asked of archives.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::OutputArg;
use crate::folders::usual_archive;
use crate::values::{age, count, size};

pub(super) const RESTORE: &str = "\
Examples:
  epitome compact session.jsonl --archive store -o smaller.json
  epitome restore smaller.json --archive store -o again.jsonl

All of it: where what was compacted went on from an earlier compaction, the input of the first one; what a later one was \
made from is had by the name of its view (SESSION.2). What was compacted may be longer by now; its receipt, or the name that \
the receipt gives it, will do too. Behind `compact --apply` the recording itself is named twice, and comes back in one go:
  epitome restore session.jsonl -o session.jsonl
What was said in it since then is kept in the archive first.";

pub(super) const RECALL: &str = "\
Examples:
  epitome recall 'which port' --archive store
  epitome recall connection refused --archive store --json | jq -r '.hits[].text'
  epitome recall 3f2a9c1b7d20 --archive store

An id gives all that was said under it. With --json it prints `hits`, a list, best first, of objects with `id` and `text`.

Exits with 4 if nothing is found.";

pub(super) const UNDO: &str = "\
Examples:
  epitome undo smaller.json --archive store -o smaller.json
  epitome undo 3fe1b6bc2f10 --archive store -o smaller.json
  epitome undo 3fe1b6bc2f10.2 --archive store -o smaller.json

The newest compaction of the session that is in force is undone, whichever of its files names the session; a view that is \
named (SESSION.2; SESSION.0 for all as it was said) is put in force. `epitome sessions SESSION` lists the views. What was said \
since the view that is in force again stands behind it.";

pub(super) const REDO: &str = "\
Examples:
  epitome redo smaller.json --archive store -o smaller.json
  epitome redo 3fe1b6bc2f10.3 --archive store -o smaller.json

The view of the session that was undone last is put in force again, whichever of its files names the session; a view that is \
named (SESSION.3) is put in force itself.";

pub(super) const FORGET: &str = "\
Examples:
  epitome forget 3fe1b6bc2f10 --archive store
  epitome forget --older-than 30d --archive store
  epitome forget --over 500mb --archive store";

/// An archive that has to be there.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct ArchiveArg {
    /// The archive, a folder or a PostgreSQL database that `compact --archive` made [default: `epitome/archive` in the XDG data folder,
    /// where `compact --apply` keeps originals].
    #[arg(long = "archive", value_name = "STORE", value_hint = ValueHint::DirPath)]
    #[arg(default_value = usual(), hide_default_value = true)]
    pub(crate) store: PathBuf,
}

/// An archive to keep originals in.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct KeepArgs {
    /// Keep what is compacted in this archive, a folder that is made if it isn't there or a PostgreSQL
    /// database (`postgres://user@host/database`, password in `PGPASSWORD`, `?sslmode=` and `sslrootcert=` as ever), before anything is written; its pins stay, and its checkpoints are continued [default with --apply: `epitome/archive` in the
    /// XDG data folder].
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath, conflicts_with = "to", group = "kept")]
    pub(crate) archive: Option<PathBuf>,

    /// Keep it with its secrets masked: what `restore` gives then isn't the same bytes, and says so.
    #[arg(long, requires = "kept")]
    pub(crate) redact_archive: bool,

    /// Tell the model in the checkpoint how it can have back what it isn't shown: by running
    /// `epitome recall`, or by the tools of `epitome mcp`.
    #[arg(long, value_name = "shell|mcp", requires = "kept")]
    pub(crate) recall: Option<Channel>,
}

/// The usual archive, as the default of an option.
fn usual() -> Resettable<clap::builder::OsStr> {
    usual_archive().map(clap::builder::OsStr::from).into()
}

/// A way in which a model can search an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channel {
    /// It may run commands.
    Shell,
    /// It has the tools of the MCP server.
    Mcp,
}

/// What is on this machine.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionsArgs {
    /// List the views of this session of the archive: its name, what `compact` wrote, or a receipt.
    #[arg(value_name = "SESSION", value_hint = ValueHint::FilePath)]
    pub(crate) session: Option<PathBuf>,

    /// The most sessions, the newest first.
    #[arg(long, value_name = "N", default_value_t = SHOWN, value_parser = count)]
    pub(crate) limit: usize,

    /// List what is in this archive instead.
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub(crate) archive: Option<PathBuf>,
}

/// Sessions that are listed where nothing else is asked.
const SHOWN: usize = 20;

impl Default for SessionsArgs {
    fn default() -> Self {
        SessionsArgs { session: None, limit: SHOWN, archive: None }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to look for: words, any of which may occur, or the id of a hit.
    #[arg(value_name = "WORDS|ID", required = true)]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,

    /// Search this session only.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The most hits.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count)]
    pub(crate) limit: usize,

    /// The most tokens of all texts together.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) tokens: u64,
}

#[derive(Debug, Args)]
pub(crate) struct GoArgs {
    /// What `compact` wrote, its receipt, or the name of a session or of a view of it (`SESSION.2`, with `SESSION.0` all as
    /// it was said); of `restore` also the digest of what came in; `-` reads stdin.
    #[arg(value_name = "OUT|ID|-", value_hint = ValueHint::FilePath)]
    pub(crate) what: PathBuf,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,

    #[command(flatten)]
    pub(crate) output: OutputArg,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(false))]
pub(crate) struct ForgetArgs {
    /// The session: its name, what `compact` wrote, or a receipt.
    #[arg(value_name = "SESSION", group = "which")]
    pub(crate) what: Option<PathBuf>,

    /// All sessions that weren't written to for so long: `30d`, `12h`, `90min`.
    #[arg(long, value_name = "AGE", value_parser = age, group = "which")]
    pub(crate) older_than: Option<Duration>,

    /// The oldest sessions, until the contents take no more than this: `500mb`, `2gb`.
    #[arg(long, value_name = "SIZE", value_parser = size, group = "which")]
    pub(crate) over: Option<u64>,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,
}

#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PinCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinCommand {
    /// Pin a text: messages that say it stay verbatim.
    Add {
        /// The text.
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        #[command(flatten)]
        archive: PinArchive,
    },
    /// List what is pinned.
    List {
        #[command(flatten)]
        archive: ArchiveArg,
    },
    /// Unpin a text, by itself or by its number.
    Rm {
        /// The text, or its number in the list.
        #[arg(value_name = "TEXT|N", allow_hyphen_values = true)]
        pin: String,
        #[command(flatten)]
        archive: ArchiveArg,
    },
}

/// An archive that is made if it isn't there.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct PinArchive {
    /// The archive: a folder, which is made if it isn't there, or a PostgreSQL database [default: `epitome/archive` in the
    /// XDG data folder].
    #[arg(long = "archive", value_name = "STORE", value_hint = ValueHint::DirPath)]
    #[arg(default_value = usual(), hide_default_value = true)]
    pub(crate) store: PathBuf,
}
