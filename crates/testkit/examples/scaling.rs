//! How time and memory grow with the input (law 11: ten times the input, at most thirteen times the
//! time): `cargo run --release -p testkit --example scaling -- [--up-to MESSAGES]`
//!
//! Transcripts of 1,000, 10,000 … messages, the same in every run, go through each stage of a
//! compaction to 30 %. `whole` is all of it, from bytes to bytes, with nothing counted before;
//! `compact` is what remains of it with all counts known. Times are the best of several rounds, and
//! processor time, so that other work on the machine hardly matters. A ratio is time per byte against
//! that of the tenth, times ten. Exits with 1 if one is over the limit; stages that are less than a tenth
//! of the whole are shown, not judged: in them the step from the processor's caches to memory shows,
//! which no algorithm takes away. What a busy machine can't change, `instructions` holds.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use cpu_time::ThreadTime;
use epitome::count::{Tally, counter};
use epitome::wire::Finding;
use epitome::{Compactor, Format, Options, wire};
use testkit::bulk;

/// Law 11.
const LIMIT: f64 = 13.0;
/// Stages that take less than this at the smaller size are too short to be compared.
const SHORTEST: f64 = 0.000_5;
const STAGES: [&str; 6] = ["parse", "check", "count", "compact", "render", "whole"];
/// Rounds at first, and at most, while a ratio is over the limit.
const ROUNDS: (usize, usize) = (3, 9);

type Times = [f64; STAGES.len()];

/// One size of one format.
struct Sample {
    entries: usize,
    source: Arc<String>,
    best: Times,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let up_to = match words[..] {
        [] => 100_000,
        ["--up-to", most] => most.parse()?,
        ["--peak", format, file] => return peak(format.parse()?, file),
        _ => {
            eprintln!("usage: scaling [--up-to MESSAGES]");
            return Ok(ExitCode::from(2));
        }
    };
    let sizes: Vec<usize> =
        [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|size| *size <= up_to).collect();
    let mut worst = 0.0_f64;
    for format in Format::ALL {
        worst = worst.max(report(format, &sizes)?);
    }
    let is_within = worst <= LIMIT;
    let verdict = if is_within { "within" } else { "OVER" };
    println!("largest ratio of a stage that counts: {worst:.1}, {verdict} the limit of {LIMIT}");
    Ok(if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures and prints one format; returns its largest ratio.
fn report(format: Format, sizes: &[usize]) -> Result<f64, Box<dyn Error>> {
    let mut samples: Vec<Sample> = sizes
        .iter()
        .map(|entries| Sample {
            entries: *entries,
            source: Arc::new(bulk::generate(11, bulk::Size::entries(format, *entries))),
            best: [f64::INFINITY; STAGES.len()],
        })
        .collect();
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && worst(&samples) <= LIMIT {
            break;
        }
        for sample in &mut samples {
            let times = measure(format, &sample.source)?;
            sample.best = std::array::from_fn(|stage| sample.best[stage].min(times[stage]));
        }
    }
    print!("{:<22}{:>9}", format.name(), "MB");
    for stage in STAGES {
        print!("{stage:>10}");
    }
    println!("{:>12}{:>8}", "peak MB", "× file");
    for (at, sample) in samples.iter().enumerate() {
        let megabytes = sample.source.len() as f64 / 1e6;
        let peak = peak_of_another_process(format, &sample.source)?;
        print!("{:>9} messages, ms{megabytes:>13.2}", sample.entries);
        for time in sample.best {
            print!("{:>10.2}", time * 1e3);
        }
        match peak {
            Some(peak) => println!("{peak:>12.1}{:>8.2}", peak / megabytes),
            None => println!("{:>12}{:>8}", "-", "-"),
        }
        print!("{:>18}, ms/MB{:>8}", "", "");
        for time in sample.best {
            print!("{:>10.2}", time * 1e3 / megabytes);
        }
        println!();
        if at > 0 {
            print!("{:>18}, ratio{:>8}", "", "");
            for stage in 0..STAGES.len() {
                match ratio(&samples[at - 1], sample, stage) {
                    Some(ratio) => print!("{ratio:>10.1}"),
                    None => print!("{:>10}", "-"),
                }
            }
            println!();
        }
    }
    println!();
    Ok(worst(&samples))
}

/// The largest ratio among the stages that make up the time.
fn worst(samples: &[Sample]) -> f64 {
    let whole = STAGES.len() - 1;
    let judged = samples.windows(2).flat_map(|pair| {
        let (small, large) = (&pair[0], &pair[1]);
        let is_large = move |stage: &usize| large.best[*stage] * 10.0 >= large.best[whole];
        (0..=whole).filter(is_large).filter_map(|stage| ratio(small, large, stage))
    });
    judged.fold(0.0, f64::max)
}

/// Time for ten times the input; `None` where the smaller time is too short to tell.
fn ratio(small: &Sample, large: &Sample, stage: usize) -> Option<f64> {
    let per_byte = |sample: &Sample| sample.best[stage] / sample.source.len() as f64;
    (small.best[stage] >= SHORTEST).then(|| per_byte(large) / per_byte(small) * 10.0)
}

/// Seconds that each stage takes.
fn measure(format: Format, source: &Arc<String>) -> Result<Times, Box<dyn Error>> {
    let (parse, request) = timed(|| wire::parse(format, Arc::clone(source)));
    let request = request?;
    let (check, findings) = timed(|| wire::check(&request));
    // A hundred thousand messages are more than some take, and that is what is compacted for.
    let is_length = |finding: &Finding| finding.rule.0.ends_with("/too-many");
    assert!(findings.iter().all(is_length), "{format}: {findings:?}");
    let o200k = counter("o200k")?;
    let (count, _) = timed(|| Tally::of(&request, o200k.as_ref()));
    let compactor = Compactor::new(Options::default(), o200k)?;
    let (compact, outcome) = timed(|| compactor.compact(&request));
    let outcome = outcome?;
    let (render, _) = timed(|| wire::render(&outcome.base, &outcome.view));
    let (whole, done) = timed(|| whole(format, source));
    done?;
    Ok([parse, check, count, compact, render, whole])
}

/// From bytes to bytes, nothing known before.
fn whole(format: Format, source: &Arc<String>) -> Result<usize, Box<dyn Error>> {
    let request = wire::parse(format, Arc::clone(source))?;
    let outcome = Compactor::new(Options::default(), counter("o200k")?)?.compact(&request)?;
    assert!(outcome.receipt.after.count.tokens <= outcome.receipt.target);
    Ok(outcome.rendered().len())
}

/// Seconds of this thread's work, and the result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64(), result)
}

/// The most memory, in MB, that a process holds which reads the file and compacts it once.
fn peak_of_another_process(format: Format, source: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("epitome-scaling-{}.json", std::process::id()));
    fs::write(&file, source)?;
    let output =
        Command::new(std::env::current_exe()?).args(["--peak", format.name()]).arg(&file).output();
    fs::remove_file(&file)?;
    let output = output?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse().ok())
}

fn peak(format: Format, file: &str) -> Result<ExitCode, Box<dyn Error>> {
    whole(format, &Arc::new(fs::read_to_string(file)?))?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    if let Some(kilobytes) = kilobytes {
        println!("{}", kilobytes * 1024.0 / 1e6);
    }
    Ok(ExitCode::SUCCESS)
}
