//! `install` and `uninstall`: Epitome in an agent's own settings, and out of them.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Result;
use epitome::text::secrets::masked;
use epitome::transcript::ContentId;
use epitome_store::Access;
use serde_json::{Value, json};

use crate::archive;
use crate::args::{InstallArgs, UninstallArgs};
use crate::failure::{Exit, Failure};
use crate::integration::{self, Agent, Journal, Touched};
use crate::output::{self, Parcel, Place, Report};
use crate::quoting::{name, operand};
use crate::terminal;

/// What becomes of a file.
struct Change {
    path: PathBuf,
    before: Option<String>,
    /// Nothing where it goes.
    after: Option<String>,
    notes: Vec<String>,
}

/// Puts hooks, the MCP server and a status line into an agent's settings.
pub(crate) fn install(args: &InstallArgs, report: Report) -> Result<Exit> {
    let agent = args.agent;
    if Journal::read(agent.name())?.is_some() {
        let what = format!("it is installed for {} already; nothing was changed", agent.name());
        let hint =
            format!("to do it anew: epitome uninstall {0} && epitome install {0}", agent.name());
        return Err(Failure::usage(what).hint(hint).into());
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::other(format!("this program's own file isn't known: {error}")))?;
    let folder = std::path::absolute(archive::named_or_usual(args.archive.as_deref())?)?;
    let mut changes = Vec::new();
    let mut touched = Vec::new();
    for (path, entries) in agent.wanted(&program, &folder)? {
        let path = followed(path);
        let before = read(&path)?;
        let put = integration::put_all(&path, before.as_deref().unwrap_or_default(), entries)?;
        let notes =
            put.taken.iter().map(|taken| format!("{taken} is there already and stays as it is"));
        let notes = notes.collect();
        if put.entries.is_empty() {
            changes.push(Change { path, after: before.clone(), before, notes });
            continue;
        }
        let after = ContentId::of_bytes(put.text.as_bytes());
        let entries = put.entries;
        touched.push(Touched { path: path.clone(), before: before.clone(), after, entries });
        changes.push(Change { path, before, after: Some(put.text), notes });
    }
    if !args.dry_run {
        archive::make(&folder)?;
        drop(archive::open(&folder, Access::Write)?);
        // Whatever happens next can be undone.
        Journal::new(touched).write(agent.name())?;
        if let Err(error) = apply(&changes) {
            // What wasn't begun needn't be undone.
            let is_as_it_was =
                |change: &Change| read(&change.path).is_ok_and(|now| now == change.before);
            if changes.iter().all(is_as_it_was) {
                Journal::remove(agent.name())?;
            }
            return Err(error);
        }
    }
    tell(agent, "install", args.dry_run, &changes, report)?;
    if report == Report::Words && !args.dry_run {
        let more = match agent {
            Agent::ClaudeCode => "start Claude Code anew",
            Agent::Codex => "start Codex anew, and allow the hooks there: /hooks",
        };
        output::tell(&format!("{more}; it archives to {}", name(&folder)));
    }
    Ok(Exit::Ok)
}

/// Takes all of it out again.
pub(crate) fn uninstall(args: &UninstallArgs, report: Report) -> Result<Exit> {
    let agent = args.agent;
    let Some(journal) = Journal::read(agent.name())? else {
        let what = format!("nothing was installed for {}", agent.name());
        return Err(Failure::usage(what).hint(format!("epitome install {}", agent.name())).into());
    };
    let mut changes = Vec::new();
    let mut left = Vec::new();
    // Files with something of it left in them, to be gone on with.
    let mut remaining = Vec::new();
    for Touched { path, before, after, entries } in journal.files {
        let now = read(&path)?;
        let mut notes = Vec::new();
        let then = match &now {
            // As it was left, or as it was before an installation that was interrupted.
            Some(text) if ContentId::of_bytes(text.as_bytes()) == after => before.clone(),
            _ if now == before => before.clone(),
            None => {
                notes.push("it is gone, and stays so".to_owned());
                None
            }
            Some(text) => {
                let (without, gone) = integration::take_all(text, &entries);
                notes.push("somebody changed it since: only what was put in leaves it".to_owned());
                if !gone.is_empty() {
                    let path = path.clone();
                    remaining.push(Touched { path, before: before.clone(), after, entries });
                }
                for gone in gone {
                    notes.push(format!("{gone} isn't there as it was put in: look yourself"));
                    left.push(gone);
                }
                Some(without)
            }
        };
        changes.push(Change { path, before: now, after: then, notes });
    }
    if !args.dry_run {
        apply(&changes)?;
        if remaining.is_empty() {
            Journal::remove(agent.name())?;
        } else {
            Journal::new(remaining).write(agent.name())?;
        }
    }
    tell(agent, "uninstall", args.dry_run, &changes, report)?;
    Ok(if left.is_empty() { Exit::Ok } else { Exit::Found })
}

/// The file that links lead to, which is what is replaced.
fn followed(path: PathBuf) -> PathBuf {
    let to = || Some(path.parent()?.join(fs::read_link(&path).ok()?));
    // What a link leads to need not be there yet.
    fs::canonicalize(&path).ok().or_else(to).unwrap_or(path)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let what = format!("{} can't be read: {error}; nothing was changed", name(path));
            Err(Failure::other(what).hint(format!("ls -ld {}", operand(path))).into())
        }
    }
}

fn apply(changes: &[Change]) -> Result<()> {
    for change in changes.iter().filter(|change| change.before != change.after) {
        let failed = |error: std::io::Error| {
            let what = format!("{} can't be changed: {error}", name(&change.path));
            Failure::other(what).hint(format!("ls -ld {}", operand(&change.path)))
        };
        match &change.after {
            None => fs::remove_file(&change.path).map_err(failed)?,
            Some(text) => {
                if let Some(folder) = change.path.parent() {
                    fs::create_dir_all(folder).map_err(failed)?;
                }
                let place = Place::wanted("install", &change.path)?;
                output::deliver(&[Parcel { place: &place, text: text.as_bytes() }])?;
            }
        }
    }
    Ok(())
}

fn tell(agent: Agent, did: &str, dry: bool, changes: &[Change], report: Report) -> Result<()> {
    if report == Report::Json {
        let file = |change: &Change| -> Value {
            json!({
                "path": change.path,
                "state": state(change),
                "notes": change.notes,
            })
        };
        let files: Vec<Value> = changes.iter().map(file).collect();
        return output::json(&json!({
            "version": 1, "agent": agent.name(), "command": did, "dry_run": dry, "files": files,
        }));
    }
    let mut out = String::new();
    for change in changes {
        let would = if dry { "would be " } else { "" };
        let state = match state(change) {
            "unchanged" => "unchanged".to_owned(),
            state => format!("{would}{state}"),
        };
        writeln!(out, "{}: {state}", name(&change.path)).expect("a string takes all");
        for note in &change.notes {
            writeln!(out, "  note: {}", terminal::one(note)).expect("a string takes all");
        }
        if dry {
            out.push_str(&difference(
                change.before.as_deref().unwrap_or_default(),
                change.after.as_deref().unwrap_or_default(),
            ));
        }
    }
    output::words(&out)
}

fn state(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (before, after) if before == after => "unchanged",
        (None, _) => "made",
        (_, None) => "removed",
        _ => "changed",
    }
}

/// The lines that differ, and nothing of the others: settings may hold keys.
fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take(rest).take_while(|(one, other)| one == other).count();
    let mut out = String::new();
    for (mark, lines) in [('-', &old[head..old.len() - tail]), ('+', &new[head..new.len() - tail])]
    {
        for line in lines {
            let line = masked(line);
            writeln!(out, "  {mark} {}", terminal::one(&line)).expect("a string takes all");
        }
    }
    out
}
