//! Where agents on this machine keep their recordings.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The agent, a variable that moves its folder, the folder in the home folder, and where in it they are.
const KEPT: [(&str, &str, &str, &str); 4] = [
    ("claude-code", "CLAUDE_CONFIG_DIR", ".claude", "projects"),
    ("codex", "CODEX_HOME", ".codex", "sessions"),
    ("gemini-cli", "", ".gemini", "tmp"),
    ("pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
];

/// How deep the folders are in each other.
const DEPTH: usize = 5;

/// A folder in which an agent keeps its recordings.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The agent, as its kind of recording is called.
    pub(crate) agent: &'static str,
    /// The folder; it is there.
    pub(crate) folder: PathBuf,
}

/// A file that may be a recording.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) agent: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) meta: Metadata,
}

impl File {
    /// When it was written last.
    pub(crate) fn modified(&self) -> SystemTime {
        self.meta.modified().unwrap_or(UNIX_EPOCH)
    }
}

/// The folders that are there.
pub(crate) fn places() -> Vec<Place> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let there = KEPT.into_iter().filter_map(|(agent, variable, folder, inside)| {
        let moved = (!variable.is_empty()).then(|| std::env::var_os(variable)).flatten();
        let base = moved.map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(folder)))?;
        let folder = base.join(inside);
        folder.is_dir().then_some(Place { agent, folder })
    });
    there.collect()
}

impl Place {
    /// What may be a recording in it, in no order.
    pub(crate) fn files(&self) -> Vec<File> {
        let mut found = Vec::new();
        gather(self.agent, &self.folder, DEPTH, &mut found);
        found
    }
}

fn gather(agent: &'static str, folder: &Path, deep: usize, found: &mut Vec<File>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(meta) if meta.is_dir() && deep > 0 => gather(agent, &path, deep - 1, found),
            Ok(meta) if meta.is_file() && may_be_one(&path) => {
                found.push(File { agent, path, meta });
            }
            _ => {}
        }
    }
}

fn may_be_one(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl" || end == "json")
}
