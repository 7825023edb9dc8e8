//! `sessions`: the recordings on this machine, and what is in an archive.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use epitome::count::Basis;
use epitome::model::Registry;
use epitome::text::figure::counted;
use serde::Serialize;
use serde_json::json;

use crate::agents::File;
use crate::archive::named_or_usual;
use crate::args::{ArchiveArg, HowArgs, SessionsArgs};
use crate::commands::stored;
use crate::config::Settings;
use crate::failure::{Exit, Failure};
use crate::folders::usual_archive;
use crate::glance::Glance;
use crate::lookup::{found, id_of, recordings, shortened};
use crate::output::{self, Report};
use crate::reader::registry;
use crate::terminal::{
    self, FAINT, STRONG, WIDE, ago, count, left, line, paint, percent, put, right,
};

/// Files are read side by side; most of the time goes into counting.
const READERS: usize = 4;

/// Files that are looked into at most, whatever is asked.
const MOST: usize = 10_000;

/// A recording, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Recorded {
    /// By which every command takes it, as by the beginning of it.
    id: String,
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
    Read(Box<Glance>),
    Unreadable { error: String },
}

impl Recorded {
    /// Whether only its beginning and its end were read.
    fn is_of_ends(&self) -> bool {
        matches!(&self.content, Content::Read(glance) if glance.entries.is_none())
    }
}

/// Lists the newest recordings, or what is in an archive.
pub(crate) fn run(args: &SessionsArgs, report: Report) -> Result<Exit> {
    match (&args.session, &args.archive) {
        (Some(session), store) => one(session, store.as_deref(), report),
        (None, Some(store)) => {
            let archive = ArchiveArg { store: store.clone() };
            let list = stored::List::of(&archive, args.limit)?;
            match report {
                Report::Json => output::json(&list.json())?,
                Report::Words => list.tell()?,
            }
            Ok(Exit::Ok)
        }
        (None, None) => recorded(&recordings(), args.limit, usual(args.limit), report),
    }
}

/// The views of a session of an archive; of one that no archive is known to have, what its recording says.
fn one(session: &Path, named: Option<&Path>, report: Report) -> Result<Exit> {
    let is_there = named.is_some() || usual_archive().is_some_and(|it| Path::new(it).exists());
    let viewed = if is_there {
        let store = named_or_usual(named)?;
        stored::views(session, &ArchiveArg { store }, report)
    } else {
        let what = format!("there is no session {:?}", line(&session.to_string_lossy(), 80));
        Err(Failure::usage(what).hint("epitome sessions").into())
    };
    let Err(error) = viewed else { return viewed };
    match found(session).map_err(|error| Failure::usage(error.to_string()))? {
        Some(file) if named.is_none() => {
            let mut only = recordings();
            only.retain(|it| it.path == file);
            recorded(&only, 1, None, report)
        }
        _ => Err(error),
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

/// The known models; errors in the user's own facts are reported.
fn known() -> Cow<'static, Registry> {
    let known = Settings::resolve(&HowArgs::default()).and_then(|settings| registry(&settings));
    known.unwrap_or_else(|error| {
        output::warn(&format!("{error:#}"));
        Cow::Borrowed(Registry::built_in())
    })
}

fn recorded(
    files: &[File],
    limit: usize,
    own: Option<stored::List>,
    report: Report,
) -> Result<Exit> {
    let (sessions, looked) = newest(files, limit, &known());
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
                let ids: Vec<String> = files.iter().map(|file| id_of(&file.path)).collect();
                let short = ids.iter().cloned().zip(shortened(&ids)).collect();
                output::words(&table(&sessions, &short))?;
            }
            let older = files.len() - looked;
            if older > 0 {
                output::tell(&format!("{} older, not shown (--limit)", counted(older, "file")));
            }
            if sessions.iter().any(Recorded::is_of_ends) {
                output::tell(
                    "?: a long recording is read at its ends only; `epitome report ID` adds up its cost",
                );
            }
            if let Some(first) = sessions.first() {
                let id = line(&first.id, 80);
                output::tell(&format!("{}: epitome stats {id}", paint(FAINT, "more on one")));
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
fn newest(files: &[File], limit: usize, registry: &Registry) -> (Vec<Recorded>, usize) {
    let mut sessions = Vec::new();
    let mut looked = 0;
    // Files that are none are few, so that one or two rounds do.
    while sessions.len() < limit && looked < files.len().min(MOST) {
        let end = (looked + limit - sessions.len()).min(files.len());
        sessions.extend(all_read(&files[looked..end], registry).into_iter().flatten());
        looked = end;
    }
    (sessions, looked)
}

/// Reads all, side by side as far as the system has threads, in order.
fn all_read(files: &[File], registry: &Registry) -> Vec<Option<Recorded>> {
    let next = AtomicUsize::new(0);
    let read: Mutex<Vec<Option<Recorded>>> = Mutex::new(files.iter().map(|_| None).collect());
    let read_on = || {
        while let Some((at, file)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            files.get(at).map(|file| (at, file))
        } {
            let recorded = looked_into(file, registry);
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

/// The content of a file; `None` if it isn't a recording of its agent.
fn looked_into(file: &File, registry: &Registry) -> Option<Recorded> {
    let written = file.modified();
    let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = SystemTime::now().duration_since(written).unwrap_or_default();
    let content = match Glance::of(&file.path, file.agent, registry) {
        Ok(glance) => Content::Read(Box::new(glance?)),
        Err(error) => Content::Unreadable { error: error.to_string() },
    };
    Some(Recorded {
        id: id_of(&file.path),
        agent: file.agent,
        file: file.path.to_string_lossy().into_owned(),
        bytes: file.meta.len(),
        modified: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        age: age.as_secs(),
        content,
    })
}

/// A session as a list shows it.
struct Listed {
    age: String,
    id: String,
    agent: &'static str,
    model: String,
    /// Tokens, and the share that they are of the window.
    context: String,
    cost: String,
    title: String,
}

impl Listed {
    fn of(session: &Recorded, short: &BTreeMap<String, String>) -> Self {
        let id = short.get(&session.id).unwrap_or(&session.id);
        let (age, id, agent) = (ago(session.age), line(id, 24), session.agent);
        let glance = match &session.content {
            Content::Read(glance) => glance,
            Content::Unreadable { error } => {
                let title = format!("can't be read: {}", line(error, 200));
                let none = String::new;
                return Listed {
                    age,
                    id,
                    agent,
                    model: none(),
                    context: none(),
                    cost: none(),
                    title,
                };
            }
        };
        let about = if glance.tokens.basis >= Basis::Estimated { "~" } else { "" };
        let tokens = format!("{about}{}", count(glance.tokens.tokens));
        let context = match glance.window {
            Some(window) => {
                format!("{tokens} {}", right(&percent(glance.tokens.tokens, window), 7))
            }
            None => format!("{tokens}        "),
        };
        let cost = match glance.cost {
            Some(cost) => format!("${:.2}", cost.dollars()),
            None if session.is_of_ends() => "?".to_owned(),
            None => String::new(),
        };
        let title = glance.title.as_deref().unwrap_or("(nobody said anything)");
        Listed {
            age,
            id,
            agent,
            model: line(glance.model.as_deref().unwrap_or_default(), 20),
            context,
            cost,
            title: title.to_owned(),
        }
    }

    /// The title, and below it all else.
    fn narrow(&self, out: &mut String, width: usize) {
        let room = width.saturating_sub(self.id.chars().count() + 1);
        put!(out, "{} {}", paint(STRONG, &self.id), line(&self.title, room));
        let context: Vec<&str> = self.context.split_whitespace().collect();
        let context = match context[..] {
            [] => String::new(),
            [tokens] => format!("{tokens} tokens"),
            [tokens, ref share @ ..] => format!("{tokens} tokens, {}", share.join(" ")),
        };
        let age = format!("{} ago", self.age);
        let all = [self.agent, &self.model, &context, &self.cost, &age];
        let said: Vec<&str> = all.into_iter().filter(|it| !it.is_empty()).collect();
        put!(out, "  {}", paint(FAINT, said.join(" · ")));
    }
}

fn table(sessions: &[Recorded], short: &BTreeMap<String, String>) -> String {
    let listed: Vec<Listed> = sessions.iter().map(|session| Listed::of(session, short)).collect();
    let width = terminal::width();
    let mut out = String::new();
    if width < WIDE {
        for session in &listed {
            session.narrow(&mut out, width);
        }
        return out;
    }
    let widest = |of: fn(&Listed) -> &str, least: usize| {
        listed.iter().map(|session| of(session).chars().count()).max().unwrap_or(0).max(least)
    };
    let (id, model) = (widest(|it| &it.id, 2), widest(|it| &it.model, 5));
    let (context, cost) = (widest(|it| &it.context, 15), widest(|it| &it.cost, 4));
    let row = |cells: [&str; 6]| {
        let [age, name, agent, of, holds, paid] = cells;
        [
            right(age, 6),
            left(name, id),
            left(agent, 11),
            left(of, model),
            right(holds, context),
            right(paid, cost),
        ]
        .join(" ")
    };
    let head = row(["ago", "id", "agent", "model", "tokens   window", "cost"]);
    let room = width.saturating_sub(head.chars().count() + 1);
    put!(out, "{} {}", paint(FAINT, &head), paint(FAINT, "title"));
    for it in &listed {
        let cells = row([&it.age, &it.id, it.agent, &it.model, &it.context, &it.cost]);
        put!(out, "{cells} {}", paint(STRONG, line(&it.title, room)));
    }
    out
}
