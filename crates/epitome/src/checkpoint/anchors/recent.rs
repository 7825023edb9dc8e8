//! What was changed lately: what stands between a failure and the run that went well names what mended it.

use std::collections::VecDeque;

use super::note::{Fix, is_plain};

/// Changes that are known; and characters of one that are worth to be repeated.
const MOST: usize = 24;
const MAX_CHANGE: usize = 48;
/// Files that are named together.
const MAX_FILES: usize = 2;

/// Words of commands that look how things are and change nothing that another one depends on.
const CHECKS: [&str; 10] =
    ["test", "build", "check", "lint", "clippy", "fmt", "tsc", "commit", "status", "run"];

/// The newest changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Recent {
    /// Each with its entry, oldest first.
    changes: VecDeque<(u32, Change)>,
    /// Up to here some may be missing.
    known_from: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    File(Box<str>),
    /// A command that went well.
    Command(Box<str>),
}

impl Recent {
    pub(super) fn file(&mut self, at: u32, path: &str) {
        self.push(at, Change::File(path.into()));
    }

    /// Takes back a change that failed.
    pub(super) fn not_file(&mut self, path: &str) {
        let found = self
            .changes
            .iter()
            .rposition(|(_, change)| matches!(change, Change::File(known) if **known == *path));
        found.map(|found| self.changes.remove(found));
    }

    pub(super) fn command(&mut self, at: u32, name: &str) {
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        if !words.any(|word| CHECKS.contains(&word)) {
            self.push(at, Change::Command(name.into()));
        }
    }

    fn push(&mut self, at: u32, change: Change) {
        if self.changes.len() == MOST
            && let Some((gone, _)) = self.changes.pop_front()
        {
            self.known_from = gone + 1;
        }
        self.changes.push_back((at, change));
    }

    /// What mended `name`, which failed at entry `from` and went well later; said only where nothing else was between.
    pub(super) fn fix(&self, from: Option<u32>, name: &str) -> Fix {
        let Some(from) = from.filter(|from| *from >= self.known_from) else { return Fix::Done };
        let between = self.changes.iter().filter(|(at, _)| *at > from).map(|(_, change)| change);
        let (mut files, mut commands): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for change in between {
            let (named, text) = match change {
                Change::File(path) => (&mut files, path),
                Change::Command(other) if **other == *name => continue,
                Change::Command(other) => (&mut commands, other),
            };
            if !named.contains(&&**text) {
                named.push(text);
            }
        }
        let what = match (files.as_slice(), commands.as_slice()) {
            ([], [command]) => (*command).to_owned(),
            (files @ [_, ..], []) if files.len() <= MAX_FILES => {
                format!("editing {}", files.join(", "))
            }
            _ => return Fix::Done,
        };
        let is_short = what.len() <= MAX_CHANGE * files.len().max(1) && is_plain(&what);
        if is_short { Fix::After(what.into()) } else { Fix::Done }
    }
}
