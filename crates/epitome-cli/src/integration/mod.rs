//! What an agent's own settings say of Epitome: hooks, the MCP server, a status line; put in and taken out.
//!
//! Every file is noted with its exact bytes before it is touched, so that all of it can be undone. Where
//! somebody changed a file since, only what was put in leaves it.

mod agent;
mod journal;
mod json;
mod toml;

pub(crate) use agent::Agent;
pub(crate) use journal::{Journal, Touched};
pub(crate) use json::Likeness;

use crate::failure::Failure;
use crate::quoting::name;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The longest file of settings that is read: Claude Code's holds what was asked in every project.
const LONGEST: u64 = 64 << 20;

/// The text of a file of settings.
///
/// # Errors
/// It can't be read; it isn't a regular file, which may have no end; or it is longer than any settings.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let refused = |kind, why: &str| Err(io::Error::new(kind, why));
    // A pipe would be waited for, even to open it.
    if !path.metadata()?.is_file() {
        return refused(ErrorKind::InvalidInput, "it isn't a regular file");
    }
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return refused(ErrorKind::FileTooLarge, "it is longer than 64 MiB");
    }
    Ok(text)
}

/// Something that is put into a file of settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "put")]
pub(crate) enum Entry {
    /// An element at the end of the list that these members lead to.
    Element {
        path: Vec<String>,
        /// The element, as JSON.
        value: String,
    },
    /// A member of the object that these members lead to, unless it is there; the last one is its name.
    Member {
        path: Vec<String>,
        /// Its value, as JSON.
        value: String,
    },
    /// A table at the end of a TOML file, unless it is there.
    Table {
        path: Vec<String>,
        /// The table, its head included.
        text: String,
    },
}

/// How an agent starts an MCP server.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct McpServer {
    pub(crate) command: PathBuf,
    args: Vec<PathBuf>,
}

impl McpServer {
    fn in_toml(text: &str, path: &[String]) -> Option<Self> {
        let whole: ::toml::Value = text.parse::<::toml::Table>().ok()?.into();
        let at = path.iter().try_fold(&whole, |at, name| at.get(name))?;
        at.clone().try_into().ok()
    }

    /// The archive that it searches, if it says so.
    pub(crate) fn archive(&self) -> Option<PathBuf> {
        let at = self.args.iter().position(|arg| arg.as_os_str() == "--archive")?;
        self.args.get(at + 1).cloned()
    }
}

impl Entry {
    /// The text with the entry in it; `None` if something stands in its place.
    fn put(&self, text: &str) -> Result<Option<String>, String> {
        match self {
            // Ours from another time would be run twice.
            Entry::Element { .. } if self.is_there(text) => Ok(None),
            Entry::Element { path, value } => json::append(text, path, value).map(Some),
            Entry::Member { path, value } => json::set(text, path, value),
            Entry::Table { path, text: table } => toml::append(text, path, table),
        }
    }

    /// The text without the entry; `None` if it isn't there as it was put in.
    fn take(&self, text: &str, likeness: Likeness) -> Option<String> {
        match self {
            Entry::Element { path, value } => json::take_element(text, path, value, likeness),
            Entry::Member { path, value } => json::take_member(text, path, value, likeness),
            Entry::Table { text: table, .. } => toml::take(text, table),
        }
    }

    /// Whether it is there, or what somebody made of it.
    fn is_there(&self, text: &str) -> bool {
        match self {
            Entry::Element { path, value } => json::has_like(text, path, value),
            Entry::Member { path, .. } => json::has(text, path),
            Entry::Table { path, .. } => toml::has(text, path),
        }
    }

    /// Whether the setting in its place runs this program, at any path.
    pub(crate) fn is_ours(&self, text: &str) -> bool {
        match self {
            Entry::Element { path, value } => json::has_like(text, path, value),
            Entry::Member { path, value } => json::is_like(text, path, value),
            Entry::Table { path, .. } => toml::has(text, path),
        }
    }

    /// The programs of its settings, if they may have moved since.
    pub(crate) fn programs(&self, text: &str) -> Vec<String> {
        match self {
            Entry::Element { path, value } | Entry::Member { path, value } => {
                json::programs(text, path, value)
            }
            Entry::Table { .. } => Vec::new(),
        }
    }

    /// The MCP server that it registers, if it does.
    fn server(&self) -> Option<McpServer> {
        match self {
            Entry::Member { value, .. } => serde_json::from_str(value).ok(),
            Entry::Table { path, text } => McpServer::in_toml(text, path),
            Entry::Element { .. } => None,
        }
    }

    /// The MCP server that stands in its place in the text of a file.
    pub(crate) fn registered(&self, text: &str) -> Option<McpServer> {
        match self {
            Entry::Member { path, .. } => {
                let whole: serde_json::Value = serde_json::from_str(text).ok()?;
                let at = path.iter().try_fold(&whole, |at, name| at.get(name))?;
                serde_json::from_value(at.clone()).ok()
            }
            Entry::Table { path, .. } => McpServer::in_toml(text, path),
            Entry::Element { .. } => None,
        }
    }

    /// What it is, for a reader.
    pub(crate) fn path(&self) -> &[String] {
        match self {
            Entry::Element { path, .. }
            | Entry::Member { path, .. }
            | Entry::Table { path, .. } => path,
        }
    }
}

/// A text with entries put in, those that went in, and what stood in the place of others.
pub(crate) struct Changed {
    pub(crate) text: String,
    pub(crate) entries: Vec<Entry>,
    pub(crate) taken: Vec<String>,
}

/// Puts entries into the text of a file.
///
/// # Errors
/// It can't be read as what it should be.
pub(crate) fn put_all(file: &Path, text: &str, entries: Vec<Entry>) -> Result<Changed> {
    let mut changed = Changed { text: text.to_owned(), entries: Vec::new(), taken: Vec::new() };
    for entry in entries {
        let put = entry.put(&changed.text).map_err(|why| {
            let what = format!("{} can't be added to: {why}; nothing was changed", name(file));
            Failure::other(what).hint("fix it, or move it away, and try again")
        })?;
        match put {
            Some(text) => {
                changed.text = text;
                changed.entries.push(entry);
            }
            None => changed.taken.push(entry.path().join(".")),
        }
    }
    Ok(changed)
}

/// Takes entries out of the text of a file; with those that somebody made something else of.
pub(crate) fn take_all(text: &str, entries: &[Entry], likeness: Likeness) -> (String, Vec<Entry>) {
    let (mut text, mut left) = (text.to_owned(), Vec::new());
    // The last one first, as if each were undone.
    for entry in entries.iter().rev() {
        match entry.take(&text, likeness) {
            Some(without) => text = without,
            None if entry.is_there(&text) => left.push(entry.clone()),
            // Somebody took it out.
            None => {}
        }
    }
    left.reverse();
    (text, left)
}
