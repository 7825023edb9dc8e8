//! `sessions`: the recordings on this machine, and what is in an archive.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use epitome::count::{Basis, Count, Tally, counter};
use epitome::text::figure::counted;
use epitome_recordings::{self as recordings, Input, Options};
use serde::Serialize;
use serde_json::json;

use crate::agents::{File, Place, places};
use crate::archive::named_or_usual;
use crate::args::{ArchiveArg, SessionsArgs};
use crate::commands::stored;
use crate::failure::Exit;
use crate::folders::usual_archive;
use crate::output::{self, Report};
use crate::reader::of_format;
use crate::terminal::{FAINT, STRONG, count, left, line, paint, put, right, size};

/// Files are read side by side; most of the time goes into counting.
const READERS: usize = 4;

/// Files that are looked into at most, whatever is asked.
const MOST: usize = 10_000;

/// A recording, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Recorded {
    agent: &'static str,
    file: String,
    bytes: u64,
    /// Milliseconds since 1970 at which it was written last.
    modified: u64,
    /// Seconds since then.
    age: u64,
    #[serde(flatten)]
    content: Content,
}

/// What a recording says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content {
    Read {
        /// What the next request would hold.
        #[serde(flatten)]
        tokens: Count,
        entries: usize,
        compactions: usize,
        sidechains: usize,
        model: Option<String>,
    },
    Unreadable {
        error: String,
    },
}

/// Lists the newest recordings, or what is in an archive.
pub(crate) fn run(args: &SessionsArgs, report: Report) -> Result<Exit> {
    match (&args.session, &args.archive) {
        (Some(session), store) => {
            let store = named_or_usual(store.as_deref())?;
            stored::views(session, &ArchiveArg { store }, report)
        }
        (None, Some(store)) => {
            let archive = ArchiveArg { store: store.clone() };
            let list = stored::List::of(&archive, args.limit)?;
            match report {
                Report::Json => output::json(&list.json())?,
                Report::Words => list.tell()?,
            }
            Ok(Exit::Ok)
        }
        (None, None) => recorded(args.limit, report),
    }
}

/// What is in the usual archive, if there is one; what is wrong with it is told.
fn usual(limit: usize) -> Option<stored::List> {
    let store = PathBuf::from(usual_archive()?);
    if !store.exists() {
        return None;
    }
    let list = stored::List::of(&ArchiveArg { store }, limit);
    list.map_err(|error| output::warn(&format!("the usual archive isn't listed: {error:#}"))).ok()
}

fn recorded(limit: usize, report: Report) -> Result<Exit> {
    let mut files: Vec<File> = places().iter().flat_map(Place::files).collect();
    // Sub-agents of Claude Code have files of their own; their work is the session's.
    files.retain(|file| {
        !file.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
    });
    let modified = |file: &File| file.meta.modified().unwrap_or(UNIX_EPOCH);
    files.sort_by(|a, b| modified(b).cmp(&modified(a)).then_with(|| a.path.cmp(&b.path)));
    let all = files.len();
    let (sessions, looked) = newest(&files, limit);
    let own = usual(limit);
    match report {
        Report::Json => {
            let own = own.map(|list| list.json());
            output::json(&json!({ "version": 1, "sessions": sessions, "archive": own }))?;
        }
        Report::Words if sessions.is_empty() && own.as_ref().is_none_or(stored::List::is_empty) => {
            output::words(
                "no recordings of Claude Code, Codex, Gemini CLI or pi are on this machine\n",
            )?;
            output::note("epitome stats FILE reads any; epitome --help lists the commands");
        }
        Report::Words => {
            if !sessions.is_empty() {
                output::words(&table(&sessions))?;
            }
            let older = all - looked;
            if older > 0 {
                output::note(&format!("{} older, not shown (--limit)", counted(older, "file")));
            }
            if let Some(own) = own.filter(|own| !own.is_empty()) {
                own.head()?;
                own.tell()?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// The newest so many of the files that are recordings, and how many files were looked into.
fn newest(files: &[File], limit: usize) -> (Vec<Recorded>, usize) {
    let mut sessions = Vec::new();
    let mut looked = 0;
    // Files that are none are few, so that one or two rounds do.
    while sessions.len() < limit && looked < files.len().min(MOST) {
        let end = (looked + limit - sessions.len()).min(files.len());
        sessions.extend(all_read(&files[looked..end]).into_iter().flatten());
        looked = end;
    }
    (sessions, looked)
}

/// Reads all, side by side as far as the system has threads, in order.
fn all_read(files: &[File]) -> Vec<Option<Recorded>> {
    let next = AtomicUsize::new(0);
    let read: Mutex<Vec<Option<Recorded>>> = Mutex::new(files.iter().map(|_| None).collect());
    let read_on = || {
        while let Some((at, file)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            files.get(at).map(|file| (at, file))
        } {
            let recorded = looked_into(file);
            read.lock().unwrap_or_else(PoisonError::into_inner)[at] = recorded;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..READERS.min(files.len()) {
            if std::thread::Builder::new().spawn_scoped(scope, read_on).is_err() {
                break;
            }
        }
        read_on();
    });
    read.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a file says; `None` if it is no recording of its agent.
fn looked_into(file: &File) -> Option<Recorded> {
    let written = file.meta.modified().unwrap_or(UNIX_EPOCH);
    let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = SystemTime::now().duration_since(written).unwrap_or_default();
    Some(Recorded {
        agent: file.agent,
        file: file.path.to_string_lossy().into_owned(),
        bytes: file.meta.len(),
        modified: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        age: age.as_secs(),
        content: content(&file.path, file.agent)?,
    })
}

fn content(path: &Path, agent: &str) -> Option<Content> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Some(Content::Unreadable { error: error.to_string() }),
    };
    let opened = recordings::open(bytes, None, Options::default());
    let Ok(Input::Recording(recording)) = opened else { return None };
    if recording.reader != agent {
        return None;
    }
    let request = &recording.request;
    let newest = recording.usage.iter().rev().find(|reported| reported.usage.prompt() > 0);
    let counter = counter(of_format(request.format)).ok()?;
    let tokens = match newest {
        // What the provider counted, and what came after that.
        Some(reported) => {
            let known = reported.usage.prompt() + reported.usage.output;
            let since = request.transcript.entries().skip(reported.reply.end);
            since.fold(Count { basis: Basis::Reported, ..Count::exact(known) }, |sum, entry| {
                sum + epitome::count::entry_count(entry, request.format, counter.as_ref())
            })
        }
        None => Tally::of(request, counter.as_ref()).total(),
    };
    Some(Content::Read {
        tokens,
        entries: request.transcript.len(),
        compactions: recording.compactions,
        sidechains: recording.sidechains.len(),
        model: request.model(),
    })
}

/// How long ago, in the unit that tells it.
pub(super) fn ago(seconds: u64) -> String {
    let units = [(86_400 * 7, "w"), (86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let unit = units.iter().find(|(size, _)| seconds >= 2 * size).unwrap_or(&(1, "s"));
    format!("{} {}", seconds / unit.0, unit.1)
}

const HEAD: &str = "    ago agent            size      tokens compactions file";

fn table(sessions: &[Recorded]) -> String {
    let mut out = String::new();
    put!(out, "{}", paint(FAINT, HEAD));
    for session in sessions {
        let bytes = usize::try_from(session.bytes).unwrap_or(usize::MAX);
        let (tokens, compactions) = match &session.content {
            Content::Read { tokens, compactions, .. } => {
                let about = if tokens.basis == Basis::Estimated { "~" } else { "" };
                (format!("{about}{}", count(tokens.tokens)), count(*compactions))
            }
            Content::Unreadable { error } => (line(error, 11), String::new()),
        };
        put!(
            out,
            "{} {} {} {} {} {}",
            right(&ago(session.age), 7),
            left(session.agent, 11),
            right(&size(bytes), 9),
            paint(STRONG, right(&tokens, 11)),
            right(&compactions, 11),
            line(&session.file, 400)
        );
    }
    out
}
