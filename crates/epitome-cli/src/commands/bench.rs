//! `bench`: compactions, measured on sessions.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use epitome::Request;
use epitome::count::TokenCounter;
use epitome_bench::{Broken, foresight, rounds};

use crate::args::{CounterArg, ForesightArgs, ReadingArgs, RoundsArgs};
use crate::counters;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{self, Report};
use crate::progress::Progress;
use crate::quoting::name;
use crate::terminal::{line, one};

/// What most measure with.
const COUNTER: &str = "o200k";
/// What the files of a folder are called that may be sessions.
const ENDINGS: [&str; 3] = ["jsonl", "json", "traj"];
/// The longest reason.
const WIDTH: usize = 400;

/// Measures what agents later needed, and prints it.
pub(crate) fn foresight(args: &ForesightArgs, report: Report) -> Result<Exit> {
    let study = foresight::Study {
        sessions: sessions(&args.sessions.files, report)?,
        budgets: budgets(&args.at),
        cuts: args.cuts,
        counter: counter(&args.counter)?,
    };
    let mut progress = Progress::new(report);
    let measured = foresight::run(&study, || progress.tick("compacting"));
    drop(progress);
    let figures = measured.map_err(failure)?;
    if figures.cuts.is_empty() {
        let what = format!("no session has a cut with {} needs or more", foresight::FEWEST);
        return Err(unfit(what));
    }
    match report {
        Report::Json => output::json(&figures)?,
        Report::Words => output::words(&clean(&foresight::page::tables(&figures)))?,
    }
    Ok(Exit::Ok)
}

/// Measures what outlasts five compactions, and prints it.
pub(crate) fn rounds(args: &RoundsArgs, report: Report) -> Result<Exit> {
    let study = rounds::Study {
        sessions: sessions(&args.sessions.files, report)?,
        budgets: budgets(&args.at),
        seed: args.seed,
        times: args.seeds,
        counter: counter(&args.counter)?,
    };
    let mut progress = Progress::new(report);
    let contender = rounds::Library(Arc::clone(&study.counter));
    let measured = rounds::run(&study, &contender, || progress.tick("compacting"));
    drop(progress);
    let figures = measured.map_err(failure)?;
    if figures.rows.is_empty() {
        return Err(unfit("in no session does the model speak often enough".to_owned()));
    }
    match report {
        Report::Json => output::json(&figures)?,
        Report::Words => output::words(&clean(&rounds::page::tables(&figures)))?,
    }
    Ok(Exit::Ok)
}

fn counter(named: &CounterArg) -> Result<Arc<dyn TokenCounter>> {
    let counter = counters::named(named.counter.as_deref().unwrap_or(COUNTER))?;
    Ok(counters::remembering(counter))
}

/// Each once, the smallest first.
fn budgets(wanted: &[u8]) -> Vec<u8> {
    let mut budgets = wanted.to_vec();
    budgets.sort_unstable();
    budgets.dedup();
    budgets
}

fn failure(broken: Broken) -> Failure {
    let Broken(why) = broken;
    let why = line(&why, WIDTH);
    Failure::input(format!("these sessions can't be measured: {why}")).hint("epitome check --help")
}

fn unfit(what: String) -> anyhow::Error {
    let hint = "take longer sessions: epitome sessions lists those of this machine";
    Failure::input(what).hint(hint).into()
}

/// Sessions with their names: files, and what is in folders.
fn sessions(paths: &[PathBuf], report: Report) -> Result<Vec<(String, Request)>> {
    let mut sessions = Vec::new();
    let mut read = |file: &Path| -> Result<()> {
        let session = input::read(Some(file), &ReadingArgs::default(), report)?.request;
        sessions.push((file.to_string_lossy().into_owned(), session));
        Ok(())
    };
    for path in paths {
        if !path.is_dir() {
            read(path)?;
            continue;
        }
        for file in files(path)? {
            if let Err(error) = read(&file) {
                let why = error.to_string();
                let first = why.lines().next().unwrap_or_default();
                output::warn(&format!("left out: {first}"));
            }
        }
    }
    Ok(sessions)
}

/// The files of a folder that may be sessions, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unread = |error: std::io::Error| {
        Failure::input(format!("{} can't be read: {error}", name(folder))).hint("name files")
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        files.push(entry.map_err(unread)?.path());
    }
    let is_session = |file: &PathBuf| {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending)) && file.is_file()
    };
    files.retain(is_session);
    files.sort();
    Ok(files)
}

/// Lines with names of foreign files, without terminal control characters.
fn clean(text: &str) -> String {
    text.lines().map(one).fold(String::new(), |all, line| all + &line + "\n")
}
