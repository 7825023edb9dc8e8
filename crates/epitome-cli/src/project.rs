//! The project that a conversation is about: a folder, or the repository that it is in.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Rows of a recording that may not say where its agent ran.
const LOOKED_AT: usize = 20;

/// The project that a transcript is about: that of the folder in which its agent ran, if that is on this machine; else the
/// one that this program runs in.
pub(crate) fn of(raw: &[u8]) -> String {
    let said = raw.split(|byte| *byte == b'\n').take(LOOKED_AT).find_map(folder_of);
    said.filter(|folder| folder.is_dir()).map_or_else(own, |folder| at(&folder))
}

/// The project that this program runs in.
pub(crate) fn own() -> String {
    env::current_dir().map_or_else(|_| String::new(), |folder| at(&folder))
}

/// The project of a folder.
pub(crate) fn at(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    root.to_string_lossy().into_owned()
}

/// The folder that a row says that its agent ran in.
fn folder_of(row: &[u8]) -> Option<PathBuf> {
    let row: Value = serde_json::from_slice(row).ok()?;
    let said = row.get("cwd").or_else(|| row.get("payload")?.get("cwd"))?;
    said.as_str().map(PathBuf::from).filter(|folder| folder.is_absolute())
}
