//! What is in an archive: its sessions, and the views of one.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use epitome::text::figure::counted;
use epitome_store::{Access, Listed, Store, StoreError, Stored, Viewed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::archive::located;
use crate::args::ArchiveArg;
use crate::failure::Exit;
use crate::output::{self, Report};
use crate::terminal::{FAINT, STRONG, WIDE, ago, count, line, paint, put, right, size, width};

/// A session, and what is shown of it now.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    listed: Listed,
    /// Of the view in force, if one is; as it was made.
    tokens: Option<u64>,
    /// The same.
    bytes: Option<u64>,
}

impl Shown {
    fn of(listed: Listed, store: &Store) -> Result<Self, StoreError> {
        let view = match listed.head {
            0 => None,
            _ => store.session(&listed.session)?.in_force()?,
        };
        let after = view.as_ref().map(|view| Came::of(view).after);
        let (tokens, bytes) = (after.map(|after| after.tokens), after.map(|after| after.bytes));
        Ok(Shown { listed, tokens, bytes })
    }
}

/// Sessions of an archive, the newest first, each followed by those of its sub-agents.
#[derive(Debug)]
pub(super) struct List {
    store: PathBuf,
    sessions: Vec<Shown>,
    stored: Stored,
    /// Sessions that aren't shown.
    left_off: usize,
}

impl List {
    /// At most so many, besides sub-agents.
    pub(super) fn of(archive: &ArchiveArg, limit: usize) -> Result<Self> {
        let store = archive.open(Access::Read)?;
        let all = store.sessions().map_err(archive.failed())?;
        let stored = store.stored().map_err(archive.failed())?;
        let (parts, own): (Vec<Listed>, Vec<Listed>) =
            all.into_iter().partition(|session| session.part_of.is_some());
        let left_off = own.len().saturating_sub(limit);
        let mut sessions = Vec::new();
        for session in own.into_iter().take(limit) {
            let name = session.session.clone();
            sessions.push(Shown::of(session, &store).map_err(archive.failed())?);
            for part in parts.iter().filter(|part| part.part_of.as_ref() == Some(&name)) {
                sessions.push(Shown::of(part.clone(), &store).map_err(archive.failed())?);
            }
        }
        Ok(List { store: archive.store.clone(), sessions, stored, left_off })
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// As `--json` prints it.
    pub(super) fn json(&self) -> Value {
        let store = self.store.to_string_lossy();
        json!({ "version": 1, "store": store, "sessions": self.sessions, "stored": self.stored })
    }

    /// Writes a heading, for a list behind another one.
    pub(super) fn head(&self) -> Result<()> {
        let store = line(&self.store.to_string_lossy(), 200);
        output::words(&format!("\n{}\n", paint(FAINT, format!("archived in {store}"))))
    }

    /// In words.
    pub(super) fn tell(&self) -> Result<()> {
        let lines = self.sessions.iter().map(|shown| kept(&shown.listed, shown.tokens));
        output::words(&lines.collect::<String>())?;
        let bytes = |bytes: u64| size(usize::try_from(bytes).unwrap_or(usize::MAX));
        let older = match self.left_off {
            0 => String::new(),
            more => format!(" ({more} not shown: --limit)"),
        };
        output::tell(&format!(
            "{}{older}, {}, {} kept in {}",
            counted(usize::try_from(self.stored.sessions)?, "session"),
            counted(usize::try_from(self.stored.originals)?, "hidden message"),
            bytes(self.stored.bytes),
            bytes(self.stored.packed)
        ));
        Ok(())
    }
}

/// Seconds since a moment in milliseconds since 1970.
fn age(moment: i64) -> u64 {
    let moment = Duration::from_millis(u64::try_from(moment).unwrap_or(0));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(moment).as_secs()
}

fn kept(session: &Listed, tokens: Option<u64>) -> String {
    let tokens = tokens.map(|tokens| format!(", {} tokens", count(tokens)));
    let view = match session.head {
        0 => "none in force".to_owned(),
        head => format!("{head} in force"),
    };
    let fork = session.forked_from.as_ref().map(|from| format!(", fork of {from}"));
    if width() < WIDE {
        let source =
            line(&session.source, width().saturating_sub(session.session.len() + 1).max(8));
        let part = if session.part_of.is_some() { "sub-agent, " } else { "" };
        let messages = counted(usize::try_from(session.entries).unwrap_or(usize::MAX), "message");
        let views = counted(usize::try_from(session.views).unwrap_or(usize::MAX), "view");
        let said = format!(
            "{part}{messages}, {views} ({view}){}{}, {} ago",
            tokens.unwrap_or_default(),
            fork.unwrap_or_default(),
            ago(age(session.touched))
        );
        return format!("{} {source}\n  {}\n", paint(STRONG, &session.session), paint(FAINT, said));
    }
    let part = if session.part_of.is_some() { "  sub-agent " } else { "" };
    format!(
        "{} {part}{} {} messages, {} ({view}){}{} {}\n",
        right(&ago(age(session.touched)), 7),
        paint(STRONG, &session.session),
        right(&count(session.entries), 7),
        counted(usize::try_from(session.views).unwrap_or(usize::MAX), "view"),
        tokens.unwrap_or_default(),
        fork.unwrap_or_default(),
        paint(FAINT, line(&session.source, 200))
    )
}

/// What a receipt says of a view.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Came {
    before: Size,
    after: Size,
    outcome: String,
}

impl Came {
    /// What isn't known of a receipt is nothing.
    fn of(view: &Viewed) -> Self {
        serde_json::from_str(&view.receipt).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Size {
    tokens: u64,
    bytes: u64,
}

/// What stands above views.
const HEAD: &str = "   view  after     ago      tokens     came to  reached";

/// Lists the views of a session, and the sessions of its sub-agents.
pub(super) fn views(what: &Path, archive: &ArchiveArg, report: Report) -> Result<Exit> {
    let store = archive.open(Access::Read)?;
    let (session, _) = located(what, archive, &store)?;
    let all = store.sessions().map_err(archive.failed())?;
    let views = session.views().map_err(archive.failed())?;
    let is_part = |it: &&Listed| it.part_of.as_deref() == Some(session.name());
    let parts: Vec<&Listed> = all.iter().filter(is_part).collect();
    let Some(listed) = all.iter().find(|it| it.session == session.name()) else {
        return Ok(Exit::Ok);
    };
    match report {
        Report::Json => {
            let told = views.iter().map(|view| {
                let Came { before, after, outcome } = Came::of(view);
                let receipt: Value = serde_json::from_str(&view.receipt).unwrap_or(Value::Null);
                json!({
                    "view": view.view, "parent": view.parent, "entries": view.entries, "made": view.made,
                    "age": age(view.made), "before": before.tokens, "after": after.tokens,
                    "reached": outcome, "in_force": view.view == listed.head, "receipt": receipt,
                })
            });
            let told: Vec<Value> = told.collect();
            output::json(&json!({
                "version": 1, "session": listed, "views": told, "sub_agents": parts,
            }))?;
        }
        Report::Words => {
            let mut out = kept(listed, None);
            let is_wide = width() >= WIDE;
            if !views.is_empty() && is_wide {
                put!(out, "{}", paint(FAINT, HEAD));
            }
            for view in &views {
                let Came { before, after, outcome } = Came::of(view);
                if !is_wide {
                    let in_force = if view.view == listed.head { ", in force" } else { "" };
                    put!(
                        out,
                        "view {} after {}: {} → {} tokens, {}, {} ago{}",
                        view.view,
                        view.parent,
                        count(before.tokens),
                        paint(STRONG, count(after.tokens)),
                        line(&outcome, 20),
                        ago(age(view.made)),
                        paint(STRONG, in_force)
                    );
                    continue;
                }
                let in_force = if view.view == listed.head { "  in force" } else { "" };
                put!(
                    out,
                    "{} {} {} {} {}  {}{}",
                    right(&view.view.to_string(), 7),
                    right(&view.parent.to_string(), 6),
                    right(&ago(age(view.made)), 7),
                    right(&count(before.tokens), 11),
                    paint(STRONG, right(&count(after.tokens), 11)),
                    line(&outcome, 20),
                    paint(STRONG, in_force)
                );
            }
            out.extend(parts.into_iter().map(|part| kept(part, None)));
            output::words(&out)?;
        }
    }
    Ok(Exit::Ok)
}
