//! What was touched, with the exact bytes of before.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Result;
use epitome::transcript::ContentId;
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::failure::Failure;
use crate::folders;
use crate::output;
use crate::quoting::{name, operand};

const VERSION: u32 = 1;

/// Files that were touched for an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    version: u32,
    pub(crate) files: Vec<Touched>,
}

/// A file, before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Touched {
    pub(crate) path: PathBuf,
    /// What it was; nothing if it wasn't there.
    pub(crate) before: Option<String>,
    /// The digest of what it became.
    pub(crate) after: ContentId,
    pub(crate) entries: Vec<Entry>,
}

impl Journal {
    /// One of these files.
    pub(crate) fn new(files: Vec<Touched>) -> Self {
        Journal { version: VERSION, files }
    }

    /// The archive that what was put in names.
    pub(crate) fn archive(&self) -> Option<PathBuf> {
        let mut entries = self.files.iter().flat_map(|touched| &touched.entries);
        entries.find_map(|entry| entry.server()?.archive())
    }

    /// Where it is kept.
    ///
    /// # Errors
    /// There is no home folder.
    pub(crate) fn path(agent: &str) -> Result<PathBuf> {
        let base = folders::data()
            .ok_or_else(|| Failure::usage("neither XDG_DATA_HOME nor HOME is set"))?;
        Ok(base.join("installed").join(format!("{agent}.json")))
    }

    /// The one of an agent, if something was touched for it.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn read(agent: &str) -> Result<Option<Self>> {
        let path = Journal::path(agent)?;
        let text = match super::text(&path) {
            // An earlier version, killed before it wrote.
            Ok(text) if text.is_empty() => return Ok(None),
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        let journal: Journal =
            serde_json::from_str(&text).map_err(|error| unreadable(&path, &error.to_string()))?;
        if journal.version != VERSION {
            return Err(unreadable(&path, &format!("its version is {}", journal.version)));
        }
        Ok(Some(journal))
    }

    /// Keeps others from installing for an agent, and from uninstalling, as long as what comes back is held.
    ///
    /// # Errors
    /// Somebody is at it.
    pub(crate) fn lock(agent: &str) -> Result<File> {
        let path = Journal::path(agent)?.with_extension("lock");
        make_folder_of(&path)?;
        let failed = |error: std::io::Error| cant(&path, &error);
        let lock = File::options().create(true).append(true).open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => {
                let what = format!("another process is installing or uninstalling for {agent}");
                Err(Failure::again(what).hint("try the same again").into())
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Writes it, for its owner alone: settings may hold keys.
    pub(crate) fn write(&self, agent: &str) -> Result<()> {
        let path = Journal::path(agent)?;
        make_folder_of(&path)?;
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        output::deliver_private(&path, text.as_bytes())
    }

    /// Forgets it.
    pub(crate) fn remove(agent: &str) -> Result<()> {
        let path = Journal::path(agent)?;
        fs::remove_file(&path).map_err(|error| {
            let what = format!("{} can't be removed: {error}", name(&path));
            Failure::other(what).hint(format!("rm {}", operand(&path))).into()
        })
    }
}

/// Makes the folder that a file of ours is in, for its owner alone.
fn make_folder_of(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let folder = path.parent().expect("it is in a folder");
    builder.create(folder).map_err(|error| cant(path, &error))
}

fn cant(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let folder = path.parent().unwrap_or(path);
    Failure::other(format!("{} can't be written: {error}", name(path)))
        .hint(format!("ls -ld {}", operand(folder)))
        .into()
}

fn unreadable(path: &Path, why: &str) -> anyhow::Error {
    let what = format!("{}, which says what was installed, can't be read: {why}", name(path));
    Failure::other(what).hint(format!("look at it: less {}", operand(path))).into()
}
