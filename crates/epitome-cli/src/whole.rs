//! The content of a file that an archive stores: all messages, whatever the model is shown of them, and those of
//! sub-agents.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Result;
use epitome::Request;
use epitome::archive::FoundOriginal;
use epitome::archive::{Archive, ArchiveError, EntryContext, KeptView, Original, Redacted, Shown};
use epitome::transcript::ContentId;
use epitome_recordings::Input;
use epitome_store::{Chain, Document, Session, Store};
use serde_json::Value;

use crate::args::{ArchiveArg, ReadingArgs};
use crate::input;
use crate::output;
use crate::project;
use crate::quoting::name;

/// All that was said in a file.
#[derive(Debug)]
pub(crate) struct Whole {
    /// All messages across compactions, without those that compactions put into the recording.
    pub(crate) request: Request,
    /// The project that it is about.
    project: String,
    /// How many compactions there were.
    compactions: usize,
    /// The main line, where this is a sub-agent's.
    main: Option<Request>,
    parts: Vec<Part>,
}

/// What a sub-agent said.
#[derive(Debug)]
struct Part {
    source: String,
    raw: Vec<u8>,
    request: Request,
}

/// What becomes of secrets in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    Kept,
    Masked,
}

impl Whole {
    /// Reads it out of the bytes of a file, and of the files that its agent wrote beside it.
    ///
    /// # Errors
    /// They can't be read so.
    pub(crate) fn read(raw: &[u8], file: Option<&Path>, how: &ReadingArgs) -> Result<Self> {
        let how = ReadingArgs { whole: true, ..how.clone() };
        let project = project::of(raw);
        let recording = match input::all(raw.to_vec(), file, &how)? {
            Input::Recording(recording) => recording,
            Input::Request(request) => {
                let request = input::unclaimed(request);
                return Ok(Whole {
                    request,
                    project,
                    compactions: 0,
                    main: None,
                    parts: Vec::new(),
                });
            }
        };
        let compactions = recording.compactions;
        let mut sides = recording.sidechains.into_iter();
        if let Some(id) = &how.sidechain {
            let side = sides.find(|side| side.id == *id).map(|side| side.request);
            let (request, main) = match side {
                Some(side) => (side, Some(recording.request)),
                None => (recording.request, None),
            };
            return Ok(Whole { request, project, compactions, main, parts: Vec::new() });
        }
        let named = file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        let part = |side: epitome_recordings::Sidechain| Part {
            source: format!("{named} (sub-agent {})", side.id),
            raw: side.request.source().as_bytes().to_vec(),
            request: side.request,
        };
        let mut parts: Vec<Part> = sides.map(part).collect();
        if let ("claude-code", Some(file)) = (recording.reader, file)
            && file.as_os_str() != "-"
        {
            parts.extend(beside(file, raw));
        }
        Ok(Whole { request: recording.request, project, compactions, main: None, parts })
    }

    /// Takes all of it in, sub-agents as sessions of their own; that of the main line.
    ///
    /// # Errors
    /// What the archive says.
    pub(crate) fn keep(
        &self,
        raw: &[u8],
        source: &str,
        (archive, store): (&ArchiveArg, &Store),
        secrets: Secrets,
    ) -> Result<Session> {
        let take_in = |document: &Document<'_>| match secrets {
            Secrets::Kept => store.take_in(document).map_err(archive.failed()),
            Secrets::Masked => store.take_in_redacted(document).map_err(archive.failed()),
        };
        let project = self.project.as_str();
        let session = take_in(&Document { raw, request: &self.request, source, project })?;
        if let Some(main) = &self.main
            && let Some(main) = store.going_on(&Chain::of(main)).map_err(archive.failed())?
        {
            store.belongs(&session, &main).map_err(archive.failed())?;
        }
        for Part { source, raw, request } in &self.parts {
            let part = take_in(&Document { raw, request, source, project })?;
            store.belongs(&part, &session).map_err(archive.failed())?;
            let said = Original::of(request, |_| true);
            into(part, secrets).put(&said).map_err(archive.refused())?;
        }
        Ok(session)
    }

    /// A session of it, into which originals go as they stand in the whole, but for messages that the archive made itself.
    pub(crate) fn placed(
        &self,
        session: Session,
        secrets: Secrets,
        own: HashSet<ContentId>,
    ) -> Placed {
        let mut places = HashMap::new();
        if self.compactions > 0 {
            for original in Original::of(&self.request, |_| true) {
                places.entry(original.id).or_insert((original.entry, original.about));
            }
        }
        Placed { archive: into(session, secrets), places, own }
    }
}

fn into(session: Session, secrets: Secrets) -> Box<dyn Archive> {
    match secrets {
        Secrets::Kept => Box::new(session),
        Secrets::Masked => Box::new(Redacted(session)),
    }
}

/// The files that Claude Code writes for the sub-agents of a session: beside it, or in a folder of its name.
fn beside(file: &Path, raw: &[u8]) -> Vec<Part> {
    let is_agents = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    let Some(session) = raw.split(|byte| *byte == b'\n').find_map(session_of) else {
        return Vec::new();
    };
    let (Some(folder), false) = (file.parent(), is_agents(file)) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let own = folder.join(file.file_stem().unwrap_or_default()).join("subagents");
    let mut files: Vec<PathBuf> = [folder, &own]
        .into_iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| is_agents(path) && path.is_file())
        .collect();
    files.sort();
    files.retain(|path| {
        let first = File::open(path).ok().map(BufReader::new);
        let lines = first.into_iter().flat_map(|file| file.split(b'\n').map_while(Result::ok));
        lines.take(LOOKED_AT).find_map(|line| session_of(&line)).as_ref() == Some(&session)
    });
    files.iter().filter_map(|path| part(path)).collect()
}

/// Rows of a sub-agent's file that may say nothing of its session.
const LOOKED_AT: usize = 20;

/// The session that a row is of.
fn session_of(row: &[u8]) -> Option<String> {
    let row: Value = serde_json::from_slice(row).ok()?;
    Some(row.get("sessionId")?.as_str()?.to_owned())
}

fn part(path: &Path) -> Option<Part> {
    let how = ReadingArgs { whole: true, ..ReadingArgs::default() };
    let read = input::bytes(Some(path)).and_then(|raw| {
        let input = input::all(raw.clone(), Some(path), &how)?;
        let request = input.request().clone();
        Ok(Part { source: path.to_string_lossy().into_owned(), raw, request })
    });
    read.map_err(|error| output::warn(&format!("{} isn't archived: {error:#}", name(path)))).ok()
}

/// A session for originals of a part of the conversation, at their places in the whole. Products of earlier compactions
/// (checkpoints, stubs) were never messages, and stay in their views.
#[derive(Debug)]
pub(crate) struct Placed {
    archive: Box<dyn Archive>,
    places: HashMap<ContentId, (usize, EntryContext)>,
    /// Messages that are checkpoints of the archive, in whatever form an agent put them.
    own: HashSet<ContentId>,
}

impl Placed {
    fn keeps(&self, original: &Original) -> Result<bool, ArchiveError> {
        let is_kept = |id| Ok(self.archive.get(id)?.is_some());
        Ok(is_kept(original.id)? || is_kept(original.redacted().id)?)
    }
}

impl Archive for Placed {
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        let mut placed = Vec::with_capacity(originals.len());
        for original in originals {
            if let Some((entry, about)) = self.places.get(&original.id) {
                let (entry, about) = (*entry, about.clone());
                placed.push(Original { entry, about, ..original.clone() });
                continue;
            }
            let is_made = self.own.contains(&original.id)
                || !self.places.is_empty() && self.keeps(original)?;
            if !is_made {
                placed.push(original.clone());
            }
        }
        self.archive.put(&placed)
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        self.archive.commit(parent, shown)
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        self.archive.get(id)
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundOriginal>, ArchiveError> {
        self.archive.search(words, limit)
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        self.archive.head()
    }

    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError> {
        self.archive.go(from, to)
    }

    fn view(&self, number: u64) -> Result<Option<KeptView>, ArchiveError> {
        self.archive.view(number)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        self.archive.history()
    }
}
