//! What `--fix` does.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::commands::install;
use crate::integration::Agent;
use crate::quoting::name;

/// Something that can be mended without asking what is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nobody else is let into an archive.
    Close(PathBuf),
    /// What `install` put in is put in anew.
    Reinstall(Agent),
}

/// What was mended, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Mended {
    pub(super) what: String,
    /// Why it failed.
    pub(super) error: Option<String>,
}

impl Repair {
    /// Repairs it, or says what the repair would be.
    pub(super) fn mended(&self, is_dry: bool) -> Mended {
        let would = if is_dry { "would be " } else { "" };
        let what = match self {
            Repair::Close(folder) => format!("{} {would}closed to other users", name(folder)),
            Repair::Reinstall(agent) => format!("{} {would}installed anew", agent.name()),
        };
        let done = if is_dry { Ok(()) } else { self.done() };
        Mended { what, error: done.err().map(|error| format!("{error:#}")) }
    }

    fn done(&self) -> Result<()> {
        match self {
            Repair::Close(folder) => {
                for entry in fs::read_dir(folder)?.flatten() {
                    if entry.file_type()?.is_file() {
                        close(&entry.path())?;
                    }
                }
                close(folder)
            }
            Repair::Reinstall(agent) => install::reinstall(*agent),
        }
    }
}

#[cfg(unix)]
fn close(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode() & 0o700;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

#[cfg(not(unix))]
fn close(_: &Path) -> Result<()> {
    Ok(())
}
