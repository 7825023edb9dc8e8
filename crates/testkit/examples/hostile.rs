//! How long texts take that were made to take long, beside prose:
//! `cargo run --release -p testkit --example hostile -- [--size BYTES]`
//!
//! Each text, a megabyte if nothing else is said, stands in the words of a human, in a result and in a reply, and goes
//! the whole way: parse, check, count with a counter that has seen nothing, compact to 30 %, render. A ratio is time per
//! byte of text against that of prose (the papers of this repository) at the same place; processor time, the best of some rounds.
//! Exits with 1 if one is over five.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use cpu_time::ThreadTime;
use epitome::count::counter;
use epitome::{Compactor, Format, Options, Target, wire};
use testkit::hostile::{PLACES, filled, request, texts};

/// At most this often the time of prose.
const LIMIT: f64 = 5.0;
/// Rounds at first, and at most, while a ratio is over the limit.
const ROUNDS: (usize, usize) = (2, 7);
const COUNTERS: [&str; 2] = ["o200k", "claude"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let size = match words[..] {
        [] => 1 << 20,
        ["--size", size] => size.parse()?,
        _ => {
            eprintln!("usage: hostile [--size BYTES]");
            return Ok(ExitCode::from(2));
        }
    };
    let prose = filled(&prose()?, size);
    let texts: Vec<(&str, String)> =
        texts().into_iter().map(|(name, text)| (name, filled(&text, size))).collect();
    let mut worst = 0.0_f64;
    for name in COUNTERS {
        worst = worst.max(report(name, &prose, &texts)?);
    }
    let is_within = worst <= LIMIT;
    let verdict = if is_within { "within" } else { "OVER" };
    println!("largest ratio: {worst:.1}, {verdict} the limit of {LIMIT}");
    Ok(if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures and prints one counter; its largest ratio.
fn report(name: &str, prose: &str, texts: &[(&str, String)]) -> Result<f64, Box<dyn Error>> {
    print!("{name:<24}");
    for place in PLACES {
        print!("{place:>14}{:>6}", "×");
    }
    println!();
    let mut usual = [f64::INFINITY; PLACES.len()];
    for (place, usual) in usual.iter_mut().enumerate() {
        *usual = best(name, place, prose, 0.0)?;
    }
    let mut worst = 0.0_f64;
    for (what, text) in std::iter::once(&("prose", prose.to_owned())).chain(texts) {
        print!("{what:<24}");
        for (place, usual) in usual.iter().enumerate() {
            let time = best(name, place, text, usual * LIMIT)?;
            let ratio = time / usual;
            worst = worst.max(ratio);
            print!("{time:>8.2} ms/MB{ratio:>6.2}");
        }
        println!();
    }
    Ok(worst)
}

/// Milliseconds a megabyte, the best of as many rounds as it takes to be under `enough`.
fn best(name: &str, place: usize, text: &str, enough: f64) -> Result<f64, Box<dyn Error>> {
    let source = Arc::new(request(place, text));
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && (best <= enough || enough <= 0.0) {
            break;
        }
        let begun = ThreadTime::now();
        black_box(whole(name, &source)?);
        best = best.min(begun.elapsed().as_secs_f64() * 1e9 / text.len() as f64);
    }
    Ok(best)
}

/// From bytes to bytes, nothing known before.
fn whole(name: &str, source: &Arc<String>) -> Result<usize, Box<dyn Error>> {
    let request = wire::parse(Format::OpenaiChat, Arc::clone(source))?;
    let findings = wire::check(&request);
    assert!(findings.is_empty(), "{findings:?}");
    let options = Options { target: Target::Percent(30), ..Options::default() };
    let outcome = Compactor::new(options, counter(name)?)?.compact(&request)?;
    Ok(outcome.rendered().len())
}

/// What people wrote: the papers of this repository.
fn prose() -> Result<String, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let papers =
        ["DESIGN.md", "ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/PROVIDERS.md"];
    let mut prose = String::new();
    for paper in papers {
        prose += &std::fs::read_to_string(root.join(paper))?;
    }
    Ok(prose)
}
