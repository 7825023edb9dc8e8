//! What holds across the workspace: which crate may know which, under which licences they stand,
//! what their source must not contain, and that the papers are true.

mod captures;
mod circles;
mod edges;
mod licences;
mod metadata;
mod papers;
mod source;
mod sources;

use std::path::{Path, PathBuf};

/// The folder that holds all crates.
fn root() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).expect("the kit is in crates/testkit").to_owned()
}

/// All files under `folder` (or itself) whose name ends in `ending`, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("can be listed").path()).collect();
    paths.sort();
    let is_wanted = |path: &Path| path.to_string_lossy().ends_with(ending);
    let inside = |path: PathBuf| {
        if path.is_dir() { files(&path, ending) } else { vec![path] }
    };
    paths.into_iter().flat_map(inside).filter(|path| is_wanted(path)).collect()
}

fn read(path: &Path) -> String {
    // Some fixtures are damaged on purpose.
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path as one would write it in the workspace.
fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Fails with every line of `found`, under what they break.
fn none(law: &str, found: &[String]) {
    assert!(found.is_empty(), "{law}:\n  {}\n", found.join("\n  "));
}
