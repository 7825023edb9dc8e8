//! `install` and `uninstall`: Epitome in an agent's own settings, and out of them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use epitome::text::secrets::masked;
use epitome::transcript::ContentId;
use epitome_store::Access;
use serde_json::{Value, json};

use crate::archive;
use crate::args::{InstallArgs, UninstallArgs};
use crate::failure::{Exit, Failure};
use crate::integration::{self, Agent, Entry, Journal, Likeness, Touched};
use crate::output::{self, Parcel, Place, Report};
use crate::quoting::{name, operand};
use crate::terminal::{self, put};

/// What becomes of a file.
#[derive(Clone)]
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
    let (changes, folder) = put_in(args)?;
    tell(agent, "install", args.dry_run, &changes, report)?;
    if report == Report::Words && !args.dry_run {
        let more = match agent {
            Agent::ClaudeCode => "restart Claude Code",
            Agent::Codex => "restart Codex, and allow the hooks there: /hooks",
        };
        output::tell(&format!("{more}; it archives to {}", name(&folder)));
    }
    Ok(Exit::Ok)
}

/// Installs; what became of each file, and where it archives.
fn put_in(args: &InstallArgs) -> Result<(Vec<Change>, PathBuf)> {
    let agent = args.agent;
    // Looked at first, so that what is refused leaves nothing behind.
    let program = std::env::current_exe().map_err(|error| {
        Failure::other(format!("the path of this program isn't known: {error}"))
    })?;
    let folder = std::path::absolute(archive::named_or_usual(args.archive.as_deref())?)?;
    let wanted = agent.wanted(&program, &folder)?;
    let _held = lock(agent, args.dry_run)?;
    if Journal::read(agent.name())?.is_some() {
        let what = format!("it is installed for {} already; nothing was changed", agent.name());
        let hint =
            format!("to reinstall: epitome uninstall {0} && epitome install {0}", agent.name());
        bail!(Failure::usage(what).hint(hint));
    }
    let mut changes = Vec::new();
    let mut touched = Vec::new();
    for (path, entries) in wanted {
        let path = followed(path);
        let (change, put) = put_into(read(&path)?, &path, &entries)?;
        changes.push((change, entries));
        touched.push(put);
    }
    let noted = |touched: &[Option<Touched>]| {
        Journal::new(touched.iter().flatten().cloned().collect()).write(agent.name())
    };
    if !args.dry_run {
        archive::make(&folder)?;
        drop(archive::open(&folder, Access::Write)?);
        // Whatever happens next can be undone.
        noted(&touched)?;
        for at in 0..changes.len() {
            let (change, entries) = &changes[at];
            let (path, entries) = (change.path.clone(), entries.clone());
            let anew = |now: Option<String>| {
                // Somebody may have taken ours along in the moment in which it was there.
                let ours = touched[at].as_ref().map_or(&[][..], |touched| &touched.entries);
                let without =
                    now.as_deref().map(|now| integration::take_all(now, ours, Likeness::Exact).0);
                let (change, put) = put_into(without, &path, &entries)?;
                touched[at] = put;
                noted(&touched)?;
                Ok(Change { before: now, ..change })
            };
            match settled(changes[at].0.clone(), anew) {
                Ok(change) => changes[at].0 = change,
                Err(error) => {
                    // What wasn't begun needn't be undone.
                    let is_as_it_was =
                        |change: &Change| read(&change.path).is_ok_and(|now| now == change.before);
                    if changes.iter().all(|(change, _)| is_as_it_was(change)) {
                        Journal::remove(agent.name())?;
                    }
                    return Err(error);
                }
            }
        }
    }
    Ok((changes.into_iter().map(|(change, _)| change).collect(), folder))
}

/// Takes out what was installed and puts it in anew, with the same archive.
pub(crate) fn reinstall(agent: Agent) -> Result<()> {
    let archive = installed(agent)?.archive();
    let args = UninstallArgs { agent, dry_run: false };
    let (_, is_all) = take_out(&args, Likeness::SameCommands)?;
    if !is_all {
        let what = format!("the parts installed for {} were changed", agent.name());
        let hint = format!("check them yourself: epitome uninstall {}", agent.name());
        bail!(Failure::other(what).hint(hint));
    }
    put_in(&InstallArgs { agent, dry_run: false, archive }).map(drop)
}

/// Takes all of it out again.
pub(crate) fn uninstall(args: &UninstallArgs, report: Report) -> Result<Exit> {
    let (changes, is_all) = take_out(args, Likeness::Exact)?;
    tell(args.agent, "uninstall", args.dry_run, &changes, report)?;
    Ok(if is_all { Exit::Ok } else { Exit::Found })
}

/// Uninstalls; what became of each file, and whether nothing is left.
fn take_out(args: &UninstallArgs, likeness: Likeness) -> Result<(Vec<Change>, bool)> {
    let agent = args.agent;
    installed(agent)?;
    let _held = lock(agent, args.dry_run)?;
    // Somebody else may have taken it out in that moment.
    let journal = installed(agent)?;
    let mut changes = Vec::new();
    let mut remaining = Vec::new();
    for touched in &journal.files {
        let mut taken = take_from(read(&touched.path)?, touched, likeness);
        if !args.dry_run {
            let first = taken.0.clone();
            let anew = |now| {
                taken = take_from(now, touched, likeness);
                Ok(taken.0.clone())
            };
            settled(first, anew)?;
        }
        changes.push(taken.0);
        remaining.extend(taken.1);
    }
    let is_all = remaining.is_empty();
    if !args.dry_run {
        if is_all {
            Journal::remove(agent.name())?;
        } else {
            Journal::new(remaining).write(agent.name())?;
        }
    }
    Ok((changes, is_all))
}

/// What was touched for an agent.
fn installed(agent: Agent) -> Result<Journal> {
    Journal::read(agent.name())?.ok_or_else(|| {
        let what = format!("nothing was installed for {}", agent.name());
        Failure::usage(what).hint(format!("epitome install {}", agent.name())).into()
    })
}

/// What whoever changes something holds meanwhile.
fn lock(agent: Agent, is_dry: bool) -> Result<Option<fs::File>> {
    (!is_dry).then(|| Journal::lock(agent.name())).transpose()
}

/// The new content of a file that says `now`, and the journal entry; `None` if nothing is added.
fn put_into(
    now: Option<String>,
    path: &Path,
    entries: &[Entry],
) -> Result<(Change, Option<Touched>)> {
    let put = integration::put_all(path, now.as_deref().unwrap_or_default(), entries.to_vec())?;
    let notes =
        put.taken.iter().map(|taken| format!("{taken} is there already and stays as it is"));
    let notes = notes.collect();
    let path = path.to_owned();
    if put.entries.is_empty() {
        return Ok((Change { path, after: now.clone(), before: now, notes }, None));
    }
    let after = ContentId::of_bytes(put.text.as_bytes());
    let touched = Touched { path: path.clone(), before: now.clone(), after, entries: put.entries };
    Ok((Change { path, before: now, after: Some(put.text), notes }, Some(touched)))
}

/// The content of a file that says `now` without the additions of `install`, and which of them are left.
fn take_from(
    now: Option<String>,
    touched: &Touched,
    likeness: Likeness,
) -> (Change, Option<Touched>) {
    let Touched { path, before, after, entries } = touched;
    let (mut notes, mut remaining) = (Vec::new(), None);
    let then = match &now {
        // As it was left, or as it was before an installation that was interrupted.
        Some(text) if ContentId::of_bytes(text.as_bytes()) == *after => before.clone(),
        _ if now == *before => before.clone(),
        None => {
            notes.push("it is gone, and stays so".to_owned());
            None
        }
        Some(text) => {
            let (without, left) = integration::take_all(text, entries, likeness);
            notes.push(
                "it was changed since: only the additions of `install` are removed".to_owned(),
            );
            for entry in &left {
                let path = entry.path().join(".");
                notes.push(format!("{path} was changed since `install`: check it yourself"));
            }
            if !left.is_empty() {
                remaining = Some(Touched { entries: left, ..touched.clone() });
            }
            Some(without)
        }
    };
    (Change { path: path.clone(), before: now, after: then, notes }, remaining)
}

/// The file that links lead to, which is what is replaced.
fn followed(path: PathBuf) -> PathBuf {
    let to = || Some(path.parent()?.join(fs::read_link(&path).ok()?));
    // What a link leads to need not be there yet.
    fs::canonicalize(&path).ok().or_else(to).unwrap_or(path)
}

/// The text of a file of settings; nothing where there is none.
fn read(path: &Path) -> Result<Option<String>> {
    match integration::text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let what = format!("{} can't be read: {error}; nothing was changed", name(path));
            Err(Failure::other(what).hint(format!("ls -ld {}", operand(path))).into())
        }
    }
}

/// How often a file is changed anew because somebody wrote to it meanwhile.
const TRIES: usize = 8;

/// Changes a file; `anew` makes the new content if somebody wrote to it meanwhile.
fn settled(
    mut change: Change,
    mut anew: impl FnMut(Option<String>) -> Result<Change>,
) -> Result<Change> {
    for _ in 1..TRIES {
        match apply(&change) {
            Err(error) if Failure::is_again(&error) => change = anew(read(&change.path)?)?,
            ended => return ended.map(|()| change),
        }
    }
    apply(&change).map(|()| change)
}

fn apply(change: &Change) -> Result<()> {
    if change.before == change.after {
        return Ok(());
    }
    let path = &change.path;
    let still = |at: &Path| -> Result<()> {
        if read(at)? == change.before {
            return Ok(());
        }
        let what = format!("{} was written to meanwhile; it is left as it is", name(path));
        Err(Failure::again(what).hint("end the agent, then try the same again").into())
    };
    let Some(text) = &change.after else { return output::remove(path, &still) };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            let what = format!("{} can't be made: {error}", name(folder));
            Failure::other(what).hint(format!("ls -ld {}", operand(folder)))
        })?;
    }
    let place = Place::wanted("install", path)?;
    output::replace(&Parcel { place: &place, text: text.as_bytes() }, &still, &[])
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
        put!(out, "{}: {state}", name(&change.path));
        for note in &change.notes {
            put!(out, "  note: {}", terminal::one(note));
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
            put!(out, "  {mark} {}", terminal::one(&line));
        }
    }
    out
}
