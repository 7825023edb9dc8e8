//! `mcp`: what was removed, for agents, over the Model Context Protocol.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use epitome::archive::{Archive as _, ArchiveError, MemoryArchive, Original};
use epitome::count::counter;
use epitome::recall::Found;
use epitome_server::{Memory, Recalls, stdio};
use epitome_store::{Access, Store, StoreError};
use serde_json::{Value, json};

use crate::archive::open;
use crate::args::McpArgs;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::Report;

/// Serves on stdin and stdout until the client closes them.
pub(crate) fn run(args: &McpArgs) -> Result<Exit> {
    let memory: Arc<dyn Memory> = match (&args.archive, &args.file) {
        (Some(store), _) => Arc::new(Kept(open(store, Access::Read)?)),
        (None, Some(file)) => Arc::new(Said::read(file, args)?),
        (None, None) => unreachable!("one of them is required"),
    };
    let counter = counter("o200k")?;
    stdio(Recalls::new(memory, counter)).map_err(|error| {
        Failure::other(error.to_string())
            .hint("start it from an MCP client: command `epitome`, arguments `mcp --archive STORE`")
    })?;
    Ok(Exit::Ok)
}

/// What is in an archive.
#[derive(Debug)]
struct Kept(Store);

fn reading(error: &StoreError) -> ArchiveError {
    ArchiveError::Read { why: error.to_string() }
}

impl Memory for Kept {
    fn search(&self, words: &str, limit: usize) -> Result<Vec<(String, Found)>, ArchiveError> {
        self.0.search(words, limit).map_err(|error| reading(&error))
    }

    fn get(&self, id: &str) -> Result<Vec<(String, Found)>, ArchiveError> {
        self.0.recall(id, SAME).map_err(|error| reading(&error))
    }

    fn stats(&self) -> Result<Value, ArchiveError> {
        let stored = self.0.stored().map_err(|error| reading(&error))?;
        let sessions = self.0.sessions().map_err(|error| reading(&error))?;
        let compactions: u64 = sessions.iter().map(|session| session.views).sum();
        let newest = sessions.first().map(|newest| &newest.session);
        Ok(json!({
            "sessions": stored.sessions,
            "messages": stored.originals,
            "compactions": compactions,
            "bytes": stored.bytes,
            "newest_session": newest,
        }))
    }
}

/// Messages of one id that are given: several sessions may say the same.
const SAME: usize = 3;

/// What a recording says, all of it, whether or not the model still sees it.
#[derive(Debug)]
struct Said {
    archive: MemoryArchive,
    originals: Vec<Original>,
    name: String,
    compactions: usize,
}

impl Said {
    fn read(file: &Path, args: &McpArgs) -> Result<Self> {
        let mut reading = args.reading.clone();
        reading.whole = true;
        // Stdin and stdout are the client's.
        let opened = input::read(Some(file), &reading, Report::Json)?;
        let originals = Original::of(&opened.request, |_| true);
        let archive = MemoryArchive::default();
        archive.put(&originals)?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Ok(Said { archive, originals, name, compactions: opened.source.compactions })
    }
}

impl Memory for Said {
    fn search(&self, words: &str, limit: usize) -> Result<Vec<(String, Found)>, ArchiveError> {
        let found = self.archive.search(words, limit)?;
        Ok(found.into_iter().map(|found| (self.name.clone(), found)).collect())
    }

    fn get(&self, id: &str) -> Result<Vec<(String, Found)>, ArchiveError> {
        let meant = self
            .originals
            .iter()
            .filter(|original| id.len() >= 4 && original.id.to_string().starts_with(id));
        Ok(meant
            .take(SAME)
            .map(|original| (self.name.clone(), Found::new(original, 0.0)))
            .collect())
    }

    fn stats(&self) -> Result<Value, ArchiveError> {
        Ok(json!({
            "sessions": 1,
            "messages": self.originals.len(),
            "compactions": self.compactions,
            "newest_session": self.name,
        }))
    }
}
