//! Arguments of commands about archives.

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

After several compactions, this is the input of the first one. Name a view (SESSION.2) for the input of a later one. \
The file may have grown since. Its receipt, or the session name in the receipt, also works. After `compact --apply`, \
name the recording twice; it is replaced atomically:
  epitome restore session.jsonl -o session.jsonl
Newer messages in it are archived first.";

pub(super) const RECALL: &str = "\
Examples:
  epitome recall 'which port' --archive store
  epitome recall connection refused --archive store --json | jq -r '.hits[].text'
  epitome recall 3f2a9c1b7d20 --archive store

An id prints its whole content. With --json it prints `hits`, a list, best first, of objects with `id` and `text`.

Exits with 4 if nothing is found.";

pub(super) const UNDO: &str = "\
Examples:
  epitome undo smaller.json --archive store -o smaller.json
  epitome undo 3fe1b6bc2f10 --archive store -o smaller.json
  epitome undo 3fe1b6bc2f10.2 --archive store -o smaller.json

Undoes the newest compaction in force, whichever file names the session. If you name a view (SESSION.2, or SESSION.0 for the \
original), that view is put in force. `epitome sessions SESSION` lists the views. Messages newer than the view follow it \
in the output.";

pub(super) const REDO: &str = "\
Examples:
  epitome redo smaller.json --archive store -o smaller.json
  epitome redo 3fe1b6bc2f10.3 --archive store -o smaller.json

Puts the last undone view in force again, whichever file names the session. If you name a view (SESSION.3), that view is \
put in force.";

pub(super) const FORGET: &str = "\
Examples:
  epitome forget 3fe1b6bc2f10 --archive store
  epitome forget --older-than 30d --archive store
  epitome forget --over 500mb --archive store";

/// An archive that must exist.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct ArchiveArg {
    /// The archive: a folder or a PostgreSQL database made by `compact --archive` [default: `epitome/archive` in the XDG data folder,
    /// where `compact --apply` keeps originals].
    #[arg(long = "archive", value_name = "STORE", value_hint = ValueHint::DirPath)]
    #[arg(default_value = usual(), hide_default_value = true)]
    pub(crate) store: PathBuf,
}

/// An archive to keep originals in.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct KeepArgs {
    /// Keep the originals in this archive: a folder, created if missing, or a PostgreSQL
    /// database (`postgres://user@host/database`, password in `PGPASSWORD`, `?sslmode=` and `sslrootcert=` as usual). They are stored before anything is written; the archive's pins apply, and its checkpoints are continued [default with --apply: `epitome/archive` in the
    /// XDG data folder].
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath, conflicts_with = "to", group = "kept")]
    pub(crate) archive: Option<PathBuf>,

    /// Mask secrets in the archive. `restore` then can't return the same bytes, and says so.
    #[arg(long, requires = "kept")]
    pub(crate) redact_archive: bool,

    /// Tell the model in the checkpoint how to find hidden content: by running `epitome recall`, or
    /// by the tools of `epitome mcp`.
    #[arg(long, value_name = "shell|mcp", requires = "kept")]
    pub(crate) recall: Option<Channel>,
}

/// The usual archive, as the default of an option.
fn usual() -> Resettable<clap::builder::OsStr> {
    usual_archive().map(clap::builder::OsStr::from).into()
}

/// How a model can search an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channel {
    /// It may run commands.
    Shell,
    /// It has the tools of the MCP server.
    Mcp,
}

/// Which sessions to list.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionsArgs {
    /// List the views of this archived session: its name, the output of `compact`, a receipt, or
    /// a recording that was compacted in place.
    #[arg(value_name = "SESSION", value_hint = ValueHint::FilePath)]
    pub(crate) session: Option<PathBuf>,

    /// The maximum number of sessions, the newest first.
    #[arg(long, value_name = "N", default_value_t = SHOWN, value_parser = count)]
    pub(crate) limit: usize,

    /// List the sessions of this archive instead.
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub(crate) archive: Option<PathBuf>,
}

/// The default limit.
const SHOWN: usize = 20;

impl Default for SessionsArgs {
    fn default() -> Self {
        SessionsArgs { session: None, limit: SHOWN, archive: None }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// Words to find, any of which may occur, or the id of a hit.
    #[arg(value_name = "WORDS|ID", required = true)]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,

    /// Search this session only.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The maximum number of hits.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count)]
    pub(crate) limit: usize,

    /// The maximum number of tokens of all hits together.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) tokens: u64,
}

#[derive(Debug, Args)]
pub(crate) struct GoArgs {
    /// The output of `compact`, its receipt, or the name of a session or of one of its views (`SESSION.2`; `SESSION.0` is the
    /// original); for `restore` also the digest of the input; `-` reads stdin.
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
    /// The session: its name, the output of `compact`, or a receipt.
    #[arg(value_name = "SESSION", group = "which")]
    pub(crate) what: Option<PathBuf>,

    /// All sessions not written to for this long: `30d`, `12h`, `90min`.
    #[arg(long, value_name = "AGE", value_parser = age, group = "which")]
    pub(crate) older_than: Option<Duration>,

    /// The oldest sessions, until the archive's contents fit this size: `500mb`, `2gb`.
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
    /// Pin a text: messages that contain it stay verbatim.
    Add {
        /// The text.
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        #[command(flatten)]
        archive: PinArchive,
    },
    /// List the pins.
    List {
        #[command(flatten)]
        archive: ArchiveArg,
    },
    /// Remove a pin, by its text or its number.
    Rm {
        /// The text, or its number in the list.
        #[arg(value_name = "TEXT|N", allow_hyphen_values = true)]
        pin: String,
        #[command(flatten)]
        archive: ArchiveArg,
    },
}

/// An archive that is created if missing.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Archive")]
pub(crate) struct PinArchive {
    /// The archive: a folder, created if missing, or a PostgreSQL database [default: `epitome/archive` in the XDG data
    /// folder].
    #[arg(long = "archive", value_name = "STORE", value_hint = ValueHint::DirPath)]
    #[arg(default_value = usual(), hide_default_value = true)]
    pub(crate) store: PathBuf,
}
