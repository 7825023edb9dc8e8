//! What survives five compactions of long real sessions, as a page:
//! `cargo run --release -p epitome-cli --example survival -- docs/survival.md`
//!
//! Without a file the tables go to stdout; `--json` prints the figures instead, `--misses` what was lost of
//! all but the held-out phrasings; `--everything` judges what keeps everything. `--before FILE` puts earlier figures, as `--json` printed them, first on the page.
//!
//! `--summarized` prints what is left with scripted summarizers (a good one, one that lies, one that writes nonsense, one
//! that says nothing), and fails if that is less than without any.
//!
//! `--phrasings FILE` measures the phrasings of a file in place of the project's. `--recognised` prints what the
//! ledger makes of each phrasing said by itself, with `--misses` the words of those that it doesn't list as
//! what they are; it takes a moment, not minutes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use epitome::count::counter;
use epitome::summarize::Summarizer;
use epitome_recordings::{Kind, Options, Reach, open};
use testkit::survival::page::{goals, tables};
use testkit::survival::report::BUDGETS;
use testkit::survival::scripted::{Summarized, summarizers};
use testkit::survival::stream::LONG;
use testkit::survival::{
    Book, Epitome, Everything, Miss, Report, Set, Speaker, Stream, Study, alone, crowd, run,
    shipped,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: survival [--seeds N] [--set open|held-out|all] [--phrasings FILE] [--session NAME] \
                     [--before FILE] [--everything] [--summarized] [--recognised] [--json | --misses | FILE]";

/// The seeds of the page.
const SEEDS: u64 = 25;

/// The sessions: a name, and which recordings in a row.
const SESSIONS: [(&str, &[Kind]); 4] = [
    ("claude-code", &[Kind::ClaudeCode]),
    ("codex", &[Kind::Codex]),
    ("pi", &[Kind::Pi]),
    ("tau-bench and swe-agent", &[Kind::TauBench, Kind::SweAgent]),
];

const HEAD: &str = "\
# Survival

What is left of rules, decisions, facts, preferences, goals, tasks and open questions after five compactions, without any model. \
The page is made by

```sh
cargo run --release -p epitome-cli --example survival -- --seeds 4 --before crates/epitome-bench/data/survival/before.json docs/survival.md
```

**What is planted.** Real sessions of [`examples`](../examples), in a row and over again until they are long, get items of seven kinds at random places: as messages of a person, \
in what the model says, in tools' results (these two say more than half). At least eight phrasings of each kind and of each state of a task, \
in plain words, without markers; some are changed later (the subject named as before, in other words, or not at all: \"make that 40\"), and \
some have a twin of the same shape (staging port, production port). The phrasings are data: \
[open ones](../crates/epitome-bench/data/survival/open.json), and *held-out* ones in other people's voices, which are opened only to measure.

**What is done.** Five ninths of a session are compacted to 5, 10 or 20 % of their tokens; then each further ninth is appended to what came out, and \
that is compacted to the same size, with the earlier checkpoint continued (`Compactor::knowing`, as `--continue` does). Default settings, tokens of `o200k`.

**How it is judged.** After each compaction, every item that holds at that time: its exact value, its subject, and what makes it what it is (\"never\", \"done\", the \
reason of a decision) must stand together, in one line of a lane or within two lines of what somebody wrote. *Former value stated*: some lane says the \
old value, and the line neither names the new one nor says that the old one is past. *Former value alone*: the old value is there and the new one isn't. *Missed*: \
either of these, or the ledger has a line for the old value that doesn't name the new one. *Mixed up*: a line gives one twin's value to the other. Brackets hold 95 % \
Wilson intervals; items of one session aren't independent, so that they are somewhat too narrow. \
What keeps everything scores 100 % (`--everything`): what is lost below was lost by compaction, not by the judge.

**Goals**, for held-out phrasings: 95, 99 and 100 % present at 5, 10 and 20 %; no former value stated, nothing mixed up; at most 10 % of supersessions missed.

Bad input (code blocks, quotes, sarcasm, forged ledgers and fences, instructions aimed at whoever summarises …) is no matter of shares: \
[80 cases](../crates/testkit/data/survival/bad-input.json) are compacted in four formats by a [test](../crates/testkit/tests/it/survival.rs).

";

/// What is asked for.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Asked {
    seeds: Option<u64>,
    sets: Vec<Set>,
    phrasings: Option<PathBuf>,
    recognised: bool,
    summarized: bool,
    session: Option<String>,
    before: Option<PathBuf>,
    everything: bool,
    json: bool,
    misses: bool,
    file: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let Some(asked) = asked(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    let books = books(&asked)?;
    if asked.recognised {
        for (set, book) in &books {
            let misses = asked.misses && *set != Set::HeldOut;
            recognised(*set, book, misses);
            among_others(*set, book, misses);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let study = Study {
        streams: streams(asked.session.as_deref())?,
        books,
        seeds: asked.seeds.unwrap_or(SEEDS),
        counter: counter("o200k")?,
    };
    if asked.summarized {
        return summarized(&study);
    }
    let told = |miss: Miss<'_>| {
        if asked.misses {
            println!("{miss}");
        }
    };
    let report = if asked.everything {
        run(&study, || Everything, told)
    } else {
        run(&study, || Epitome::new(study.counter.clone()), told)
    };
    let report = report.map_err(|broken| broken.to_string())?;
    if asked.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    if asked.misses {
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = String::from(HEAD);
    if let Some(before) = &asked.before {
        let before: Report = serde_json::from_str(&fs::read_to_string(before)?)?;
        write!(
            page,
            "## Before: without a ledger\n\n{} seeds; kept as [figures](../crates/epitome-bench/data/survival/before.json).\n\n{}\n",
            before.seeds,
            tables(&before)
        )?;
    }
    write!(page, "## Now\n\n{} seeds.\n\n{}{}", report.seeds, goals(&report), tables(&report))?;
    match &asked.file {
        Some(file) => fs::write(file, page)?,
        None => print!("{page}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left with scripted summarizers, after all compactions.
fn summarized(study: &Study) -> Result<ExitCode> {
    let measured = |by: Option<&Arc<dyn Summarizer>>| -> Result<Report> {
        let contender = || Summarized::by(Epitome::new(study.counter.clone()), by.cloned());
        run(study, contender, |_| {}).map_err(|broken| broken.to_string().into())
    };
    let without = measured(None)?;
    println!("| summarizer | phrasings | size | present | without any |\n|---|---|--:|--:|--:|");
    let mut is_less = false;
    for (name, by) in summarizers(&study.streams) {
        let with = measured(Some(&by))?;
        for (set, _) in &study.books {
            for budget in BUDGETS {
                let (with, without) = (with.present(*set, budget), without.present(*set, budget));
                is_less |= with.of < without.of;
                let (all, name) = (with.all, (name, set.name()));
                println!(
                    "| {} | {} | {budget} % | {} of {all} | {} of {all} |",
                    name.0, name.1, with.of, without.of
                );
            }
        }
    }
    Ok(if is_less { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The phrasings of a file, or the project's.
fn books(asked: &Asked) -> Result<Vec<(Set, Cow<'static, Book>)>> {
    if let Some(file) = &asked.phrasings {
        let book = Book::read(&fs::read_to_string(file)?).map_err(|broken| broken.to_string())?;
        return Ok(vec![(Set::Given, Cow::Owned(book))]);
    }
    let wanted = |set: &Set| asked.sets.is_empty() || asked.sets.contains(set);
    let books = shipped().into_iter().filter(|(set, _)| wanted(set));
    Ok(books.map(|(set, book)| (set, Cow::Borrowed(book))).collect())
}

/// What the ledger makes of phrasings said by themselves.
fn recognised(set: Set, book: &Book, misses: bool) {
    for (title, rows) in
        [("phrasing", alone::phrasings(book)), ("correction", alone::corrections(book))]
    {
        let mut sums: BTreeMap<(&str, Speaker), [usize; 4]> = BTreeMap::new();
        for row in &rows {
            for of in [row.of.as_str(), "~ all"] {
                let sum = sums.entry((of, row.speaker)).or_default();
                let counts = [row.said, row.listed, row.right, row.mixed];
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            if let Some(example) = row.example.as_ref().filter(|_| misses) {
                println!(
                    "{} by {}: {} said, {} listed, {} right, {} mixed up\n    {example}",
                    row.id, row.speaker, row.said, row.listed, row.right, row.mixed
                );
            }
        }
        println!("\n| {}: {title} | by | said | listed | right | mixed up |", set.name());
        println!("|---|---|--:|--:|--:|--:|");
        for ((of, by), [said, listed, right, mixed]) in sums {
            let percent = |of: usize| of as f64 * 100.0 / said.max(1) as f64;
            println!(
                "| {of} | {by} | {said} | {:.1} % | {:.1} % | {mixed} |",
                percent(listed),
                percent(right)
            );
        }
    }
}

/// What the ledger makes of corrections among all that a book speaks of.
fn among_others(set: Set, book: &Book, misses: bool) {
    let mut sums: BTreeMap<(&str, Speaker), [usize; 5]> = BTreeMap::new();
    let rows = crowd::corrections(book);
    for row in &rows {
        for of in [row.shape.words(), "~ all"] {
            let sum = sums.entry((of, row.speaker)).or_default();
            let counts = [row.said, row.listed, row.stated, row.missed, row.mixed];
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        for example in row.examples.iter().filter(|_| misses) {
            println!(
                "{} by {}: {} said, {} listed, {} stated, {} missed, {} mixed up\n    {example}",
                row.id, row.speaker, row.said, row.listed, row.stated, row.missed, row.mixed
            );
        }
    }
    println!(
        "\n| {}: among others | by | said | listed | former stated | missed | mixed up |",
        set.name()
    );
    println!("|---|---|--:|--:|--:|--:|--:|");
    for ((of, by), [said, listed, stated, missed, mixed]) in sums {
        let percent = |of: usize| of as f64 * 100.0 / said.max(1) as f64;
        println!(
            "| {of} | {by} | {said} | {:.1} % | {:.1} % | {:.1} % | {mixed} |",
            percent(listed),
            percent(stated),
            percent(missed)
        );
    }
}

fn asked(mut words: impl Iterator<Item = String>) -> Option<Asked> {
    let mut asked = Asked::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seeds" => asked.seeds = Some(words.next()?.parse().ok().filter(|seeds| *seeds > 0)?),
            "--set" => {
                let name = words.next()?;
                let sets = shipped().map(|(set, _)| set).into_iter();
                asked.sets = sets.filter(|set| set.name() == name).collect();
                if asked.sets.is_empty() && name != "all" {
                    return None;
                }
            }
            "--phrasings" => asked.phrasings = Some(words.next()?.into()),
            "--summarized" => asked.summarized = true,
            "--recognised" => asked.recognised = true,
            "--session" => asked.session = Some(words.next()?),
            "--before" => asked.before = Some(words.next()?.into()),
            "--everything" => asked.everything = true,
            "--json" => asked.json = true,
            "--misses" => asked.misses = true,
            file if !file.starts_with('-') && asked.file.is_none() => {
                asked.file = Some(file.into());
            }
            _ => return None,
        }
    }
    let outputs = [asked.json, asked.misses, asked.file.is_some()];
    (outputs.into_iter().filter(|is| *is).count() <= 1).then_some(asked)
}

/// The sessions, or the one of that name.
fn streams(only: Option<&str>) -> Result<Vec<Stream>> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut streams = Vec::new();
    for (name, kinds) in SESSIONS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for kind in kinds {
            for entry in fs::read_dir(examples.join(kind.name()))? {
                files.push(entry?.path());
            }
        }
        let is_session =
            |ending: &std::ffi::OsStr| ["jsonl", "json", "traj"].iter().any(|e| ending == *e);
        files.retain(|file| file.extension().is_some_and(is_session));
        files.sort();
        let mut sessions = Vec::new();
        for file in files {
            let options = Options { reach: Reach::SinceLastCompaction, ..Options::default() };
            sessions.push(open(fs::read(file)?, None, options)?.request().clone());
        }
        streams.push(Stream::long(name, sessions, LONG));
    }
    if streams.is_empty() {
        return Err("there is no session of that name".into());
    }
    Ok(streams)
}
