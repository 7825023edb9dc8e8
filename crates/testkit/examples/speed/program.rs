//! What the built program costs beside its work, and a vocabulary.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use epitome::count::counter;
use epitome::transcript::Role;
use epitome::{Format, wire};
use testkit::bulk;

use crate::measure::{another, least, timed};
use crate::{Asked, Failed, Page};

/// Starts of a program, of which the quickest counts.
const STARTS: usize = 9;

pub(crate) fn measure(page: &mut Page, asked: &Asked, folder: &Path) -> Result<(), Failed> {
    let count = |which: &str| -> Result<f64, Failed> {
        let count = another(&["--count", which])?;
        let least = least(STARTS, || {
            let mut same = Command::new(count.get_program());
            same.args(count.get_args());
            same
        })?;
        Ok(least.seconds)
    };
    // The least of each: one noisy second count would be all of a difference.
    let load = count("first")? - count("second")?;
    page.goal(
        "loading a vocabulary: the first count of a process beside its second",
        "25 ms",
        format!("{:.2} ms", load * 1e3),
        load <= 0.025,
    );
    let Some(program) = &asked.program else { return Ok(()) };
    let file = folder.join("recording.jsonl");
    let recording = recording(asked.messages * 57 / 100)?;
    fs::write(&file, &recording)?;
    let run = |starts: usize, program: &Path, arguments: &[&str]| -> Result<f64, Failed> {
        let mut least = f64::INFINITY;
        for _ in 0..starts {
            let start = Instant::now();
            let done = Command::new(program).args(arguments).output()?;
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            least = least.min(start.elapsed().as_secs_f64());
        }
        Ok(least)
    };
    let clock = |starts: usize, arguments: &[&str]| run(starts, program, arguments);
    let version = clock(STARTS, &["--version"])?;
    let stats = clock(3, &["stats", &file.to_string_lossy()])?;
    let size = fs::metadata(program)?.len() as f64 / 1e6;
    let megabytes = recording.len() as f64 / 1e6;
    writeln!(
        page.details,
        "\n## The program\n\nBy the clock. The recording is one of Claude Code's, {megabytes:.0} MB; the program has all vocabularies that it \
         offers."
    )?;
    let allowed = 1.5 * megabytes / 50.0;
    page.goal(
        "`stats` on a recording, by its size",
        "1.5 s for 50 MB",
        format!("{stats:.2} s for {megabytes:.0} MB, which may take {allowed:.2}"),
        stats <= allowed,
    );
    page.goal("`--version`", "20 ms", format!("{:.1} ms", version * 1e3), version <= 0.02);
    page.goal("the program, stripped", "25 MB", format!("{size:.1} MB"), size <= 25.0);
    Ok(())
}

/// A session of so many messages, as Claude Code writes it down.
fn recording(messages: usize) -> Result<String, Failed> {
    let source = Arc::new(bulk::generate(11, bulk::Size::entries(Format::Anthropic, messages)));
    let request = wire::parse(Format::Anthropic, source)?;
    let mut rows = String::new();
    for entry in request.transcript.entries() {
        let kind = if entry.role() == Role::Assistant { "assistant" } else { "user" };
        let parent = match entry.index {
            0 => "null".to_owned(),
            at => format!("\"row-{}\"", at - 1),
        };
        writeln!(
            rows,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/repo\",\"sessionId\":\"s\",\
             \"version\":\"2.0.76\",\"type\":\"{kind}\",\"message\":{},\"uuid\":\"row-{}\",\"timestamp\":\"2026-01-02T14:21:21.207Z\"}}",
            entry.raw(),
            entry.index
        )?;
    }
    Ok(rows)
}

/// What the first or the second count of this process takes.
pub(crate) fn count(which: &str) -> Result<ExitCode, Failed> {
    let words = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let once = || -> Result<f64, Failed> {
        let (seconds, done) = timed(|| counter("o200k").map(|counter| counter.text(&words)));
        done?;
        Ok(seconds)
    };
    let (first, second) = (once()?, once()?);
    println!("{} 0", if which == "first" { first } else { second });
    Ok(ExitCode::SUCCESS)
}
