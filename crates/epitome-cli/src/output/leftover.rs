//! What is left of a run that was killed while it put a file in another's place.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::delivery::{PREFIX, SUFFIX};

/// Whoever is still at it is through long before.
const LONG_AGO: Duration = Duration::from_mins(1);

/// The files in a folder that a run left there. One of them may be the only place where something stands that an agent
/// wrote in the moment of the kill.
pub(crate) fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        // A clock that went back makes it look new for a while, no more.
        let is_old = || {
            fs::symlink_metadata(path)
                .and_then(|meta| meta.modified())
                .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LONG_AGO))
        };
        is_ours && is_old()
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_one).collect();
    found.sort();
    found
}
