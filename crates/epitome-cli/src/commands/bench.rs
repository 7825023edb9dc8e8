//! `bench`: what compactions lose, measured.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use epitome::Request;
use epitome_bench::foresight;
use epitome_bench::survival::page::tables;
use epitome_bench::survival::stream::LONG;
use epitome_bench::survival::{Book, Epitome, Set, Stream, Study, run, shipped};

use crate::args::{ForesightArgs, ReadingArgs, SurvivalArgs};
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
/// The longest line of a list.
const WIDTH: usize = 400;

/// Measures what survives, and prints it.
pub(crate) fn survival(args: &SurvivalArgs, report: Report) -> Result<Exit> {
    if args.misses && report == Report::Json {
        let what = "--misses are words, --json is figures";
        return Err(Failure::usage(what).hint("leave one of them out").into());
    }
    let study = Study {
        streams: args.sessions.iter().map(|path| stream(path, report)).collect::<Result<_>>()?,
        books: books(args)?,
        seeds: args.seeds,
        counter: counters::named(args.counter.counter.as_deref().unwrap_or(COUNTER))?,
    };
    let counter = counters::remembering(study.counter.clone());
    let mut missed = String::new();
    let mut progress = Progress::new(report);
    let contender = || {
        progress.tick("compacting");
        Epitome::new(counter.clone())
    };
    let measured = run(&study, contender, |miss| {
        if args.misses {
            writeln!(missed, "{miss}").expect("a string takes all");
        }
    });
    drop(progress);
    let figures = measured.map_err(|broken| {
        Failure::input(format!(
            "these sessions can't be measured: {}",
            line(&broken.to_string(), WIDTH)
        ))
        .hint("epitome check --help")
    })?;
    match report {
        Report::Json => output::json(&figures)?,
        Report::Words if args.misses => output::words(&clean(&missed))?,
        Report::Words => output::words(&clean(&tables(&figures)))?,
    }
    Ok(Exit::Ok)
}

/// Measures what agents later needed, and prints it.
pub(crate) fn foresight(args: &ForesightArgs, report: Report) -> Result<Exit> {
    let counter = counters::named(args.counter.counter.as_deref().unwrap_or(COUNTER))?;
    let mut budgets = args.at.clone();
    budgets.sort_unstable();
    budgets.dedup();
    let study = foresight::Study {
        sessions: sessions(&args.sessions, report)?,
        budgets,
        cuts: args.cuts.into(),
        counter: counters::remembering(counter),
    };
    let mut progress = Progress::new(report);
    let measured = foresight::run(&study, || progress.tick("compacting"));
    drop(progress);
    let figures = measured.map_err(|broken| {
        let why = line(&broken.to_string(), WIDTH);
        Failure::input(format!("these sessions can't be measured: {why}"))
            .hint("epitome check --help")
    })?;
    if figures.cuts.is_empty() {
        let what = format!("no session has a cut with {} needs or more", foresight::FEWEST);
        return Err(Failure::input(what)
            .hint("epitome sessions lists those of this machine; longer ones have more")
            .into());
    }
    match report {
        Report::Json => output::json(&figures)?,
        Report::Words => output::words(&clean(&foresight::page::tables(&figures)))?,
    }
    Ok(Exit::Ok)
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

/// The phrasings of a file, or the project's.
fn books(args: &SurvivalArgs) -> Result<Vec<(Set, Cow<'static, Book>)>> {
    let Some(file) = &args.phrasings else {
        let wanted = shipped().into_iter().filter(|(set, _)| args.set.holds(*set));
        return Ok(wanted.map(|(set, book)| (set, Cow::Borrowed(book))).collect());
    };
    let text = String::from_utf8(input::bytes(Some(file))?).map_err(|error| error.to_string());
    let book = text.and_then(|text| Book::read(&text).map_err(|broken| broken.to_string()));
    let book = book.map_err(|why| {
        Failure::input(format!("{} holds no phrasings: {}", name(file), line(&why, WIDTH)))
            .hint("epitome bench survival --help says where to see some")
    })?;
    Ok(vec![(Set::Given, Cow::Owned(book))])
}

/// A session, or those of a folder in a row; again and again until it is long.
fn stream(path: &Path, report: Report) -> Result<Stream> {
    let mut sessions: Vec<Request> = Vec::new();
    if path.is_dir() {
        for file in files(path)? {
            match input::read(Some(&file), &ReadingArgs::default(), report) {
                Ok(opened) => sessions.push(opened.request),
                Err(error) => {
                    let why = error.to_string();
                    let first = why.lines().next().unwrap_or_default();
                    output::warn(&format!("left out: {first}"));
                }
            }
        }
    } else {
        sessions.push(input::read(Some(path), &ReadingArgs::default(), report)?.request);
    }
    sessions.retain(|session| !session.transcript.is_empty());
    if sessions.is_empty() {
        let what = format!("{} holds no session", name(path));
        return Err(Failure::input(what)
            .hint("epitome sessions lists those of this machine")
            .into());
    }
    Ok(Stream::long(path.to_string_lossy(), sessions, LONG))
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

/// Lines in which names and phrasings of strangers stand, without what a terminal obeys.
fn clean(text: &str) -> String {
    text.lines().map(one).fold(String::new(), |all, line| all + &line + "\n")
}
