//! `mcp`: what was removed, for agents, over the Model Context Protocol.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use epitome::archive::FoundOriginal;
use epitome::archive::{Archive as _, ArchiveError, MemoryArchive, Original};
use epitome::count::counter;
use epitome_server::{ConnectionLimits, Memory, PATH, Recalls, SearchReach, http, stdio};
use epitome_store::{Access, Store, StoreError};
use serde_json::{Value, json};

use crate::archive::open;
use crate::args::McpArgs;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{self, Report};
use crate::project;

/// Serves on stdin and stdout until the client closes them, or over HTTP until it is ended.
pub(crate) fn run(args: &McpArgs, report: Report) -> Result<Exit> {
    let listener = args.listen.map(listener).transpose()?;
    let memory: Arc<dyn Memory> = match (&args.archive, &args.file) {
        (Some(store), _) => {
            let project = args.project.as_deref().map_or_else(project::own, project::at);
            Arc::new(Kept { store: open(store, Access::Read)?, project })
        }
        (None, Some(file)) => Arc::new(RecordingMemory::read(file, args)?),
        (None, None) => unreachable!("one of them is required"),
    };
    let recalls = Recalls::new(memory, counter("o200k")?);
    let Some(listener) = listener else {
        stdio(recalls).map_err(|error| {
            Failure::other(error.to_string()).hint(
                "start it from an MCP client: command `epitome`, arguments `mcp --archive STORE`",
            )
        })?;
        return Ok(Exit::Ok);
    };
    let url = format!("http://{}{PATH}", listener.local_addr().context("where it listens")?);
    match report {
        Report::Words => output::tell(&format!("serving {url}")),
        Report::Json => output::note(&json!({ "version": 1, "serving": url }).to_string()),
    }
    let limits = ConnectionLimits::default();
    http(recalls, listener, limits).map_err(|error| Failure::other(error.to_string()))?;
    Ok(Exit::Ok)
}

fn listener(at: SocketAddr) -> Result<TcpListener> {
    if !at.ip().is_loopback() {
        let what =
            format!("{at} can be reached from other machines, which could read conversations");
        bail!(Failure::usage(what).hint("--listen 127.0.0.1:0 takes a free port"));
    }
    TcpListener::bind(at).map_err(|error| {
        Failure::other(format!("can't listen on {at}: {error}"))
            .hint("--listen 127.0.0.1:0 takes a free port")
            .into()
    })
}

/// What is in an archive, for an agent that works on a project.
#[derive(Debug)]
struct Kept {
    store: Store,
    project: String,
}

fn reading(error: &StoreError) -> ArchiveError {
    ArchiveError::Read { why: error.to_string() }
}

impl Memory for Kept {
    fn search(
        &self,
        words: &str,
        limit: usize,
        reach: SearchReach,
    ) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let found = match reach {
            SearchReach::All => self.store.search(words, limit),
            SearchReach::Project => self.store.search_project(&self.project, words, limit),
        };
        found.map_err(|error| reading(&error))
    }

    fn project(&self) -> Option<&str> {
        Some(&self.project)
    }

    fn get(&self, id: &str) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        self.store.recall(id, SAME).map_err(|error| reading(&error))
    }

    fn stats(&self) -> Result<Value, ArchiveError> {
        let stored = self.store.stored().map_err(|error| reading(&error))?;
        let sessions = self.store.sessions().map_err(|error| reading(&error))?;
        let compactions: u64 = sessions.iter().map(|session| session.views).sum();
        let newest = sessions.first().map(|newest| &newest.session);
        let own = sessions.iter().filter(|session| session.project == self.project).count();
        Ok(json!({
            "project": self.project,
            "project_sessions": own,
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
struct RecordingMemory {
    archive: MemoryArchive,
    originals: Vec<Original>,
    name: String,
    compactions: usize,
}

impl RecordingMemory {
    fn read(file: &Path, args: &McpArgs) -> Result<Self> {
        let mut reading = args.reading.clone();
        reading.whole = true;
        // Stdin and stdout are the client's.
        let opened = input::read(Some(file), &reading, Report::Json)?;
        let originals = Original::of(&opened.request, |_| true);
        let archive = MemoryArchive::default();
        archive.put(&originals)?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Ok(RecordingMemory { archive, originals, name, compactions: opened.source.compactions })
    }
}

impl Memory for RecordingMemory {
    fn search(
        &self,
        words: &str,
        limit: usize,
        _: SearchReach,
    ) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let found = self.archive.search(words, limit)?;
        Ok(found.into_iter().map(|found| (self.name.clone(), found)).collect())
    }

    fn get(&self, id: &str) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let meant = self
            .originals
            .iter()
            .filter(|original| id.len() >= 4 && original.id.to_string().starts_with(id));
        Ok(meant
            .take(SAME)
            .map(|original| (self.name.clone(), FoundOriginal::new(original, 0.0)))
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
