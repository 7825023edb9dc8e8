//! What everything costs, beside Python's `json` and the goals, in one run:
//! `cargo run --release -p testkit --example speed -- [--messages N] [--program FILE]`
//!
//! Transcripts of N messages (100,000), the same in every run, in each format that is compacted. Times are
//! processor time, the best of several rounds, so that other work on the machine hardly matters: trust the
//! ratios. `whole` and Python's load and dump are processes of their own, from file to file. With the built
//! program also what starting it costs.

mod known;
mod measure;
mod program;
mod whole;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use epitome::Format;

type Failed = Box<dyn Error>;

/// What was asked for.
struct Asked {
    messages: usize,
    program: Option<PathBuf>,
}

/// One goal, and how it is met.
struct Goal {
    what: &'static str,
    limit: &'static str,
    measured: String,
    is_met: bool,
}

/// The page while it is written.
#[derive(Default)]
struct Page {
    goals: Vec<Goal>,
    details: String,
}

impl Page {
    fn goal(&mut self, what: &'static str, limit: &'static str, measured: String, is_met: bool) {
        self.goals.push(Goal { what, limit, measured, is_met });
    }

    fn written(&self, asked: &Asked) -> Result<String, std::fmt::Error> {
        let mut out = format!(
            "Transcripts of {} messages, processor time of one thread, the best of {} rounds. Of the formats the worst one \
             counts.\n\n\
             | what | goal | measured | met |\n|---|---|---|---|\n",
            asked.messages,
            measure::ROUNDS
        );
        if let Ok(load) = fs::read_to_string("/proc/loadavg") {
            let load = load.split(' ').next().unwrap_or_default();
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let told = format!("On {cores} cores, at a load of {load}.\n\n| what |");
            out = out.replacen("| what |", &told, 1);
        }
        for Goal { what, limit, measured, is_met } in &self.goals {
            let met = if *is_met { "yes" } else { "**no**" };
            writeln!(out, "| {what} | {limit} | {measured} | {met} |")?;
        }
        Ok(out + &self.details)
    }
}

fn main() -> Result<ExitCode, Failed> {
    let mut asked = Asked { messages: 100_000, program: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or("a flag lacks its value");
        match word.as_str() {
            // Processes of their own.
            "--once" => return whole::once(next()?.parse()?, Path::new(&next()?)),
            "--observe" => return known::once(next()?.parse()?),
            "--count" => return program::count(&next()?),
            "--messages" => asked.messages = next()?.parse()?,
            "--program" => asked.program = Some(next()?.into()),
            _ => {
                eprintln!("usage: speed [--messages N] [--program FILE]");
                return Ok(ExitCode::from(2));
            }
        }
    }
    let folder = std::env::temp_dir().join(format!("epitome-speed-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let mut page = Page::default();
    let measured = whole::measure(&mut page, &asked, &folder)
        .and_then(|()| known::measure(&mut page, &asked))
        .and_then(|()| program::measure(&mut page, &asked, &folder));
    fs::remove_dir_all(&folder)?;
    measured?;
    print!("{}", page.written(&asked)?);
    Ok(ExitCode::SUCCESS)
}

/// The formats that are compacted.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Bedrock)
}
