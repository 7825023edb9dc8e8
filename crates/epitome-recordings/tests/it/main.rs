//! Readers of recordings, against real files and hand-made ones.

mod applied;
mod captured;
mod codex;
mod conversion;
mod damage;
mod foreign;
mod gemini_cli;
mod laws;
mod machinery;
mod notation;
mod openai;
mod opencode;
mod openhands;
mod opening;
mod pi;
mod readers;
mod real_sessions;
mod strategies;
mod times;
mod told;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use epitome::Request;
use epitome_recordings::{Options, Reach, ReadError, Reader, Recording, Run, detect, read, reader};
use serde_json::Value;

const LAST: Options = Options { reach: Reach::SinceLastCompaction, run: Run::Only };
const WHOLE: Options = Options { reach: Reach::Whole, run: Run::Only };

/// A shipped session.
fn example(path: &str) -> String {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("examples are shipped")
}

fn read_as(
    name: &str,
    source: impl Into<Arc<String>>,
    options: Options,
) -> Result<Recording, ReadError> {
    read(reader(name).expect("a reader"), source, options)
}

fn recording(name: &str, source: String, options: Options) -> Recording {
    read_as(name, source, options).expect("a good recording")
}

/// The name of the reader that detects a text.
fn detected(source: &str) -> Option<&'static str> {
    detect(source).map(Reader::name)
}

/// What an agent sent while it wrote the shipped recording: requests' messages, by name.
fn sent(agent: &str) -> Value {
    let path = format!("{}/tests/sent/{agent}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("what was sent is kept");
    serde_json::from_str(&text).expect("JSON")
}

/// Holds every fixture to the laws by what `breaches` finds on one, on as many threads as there are cores.
fn hold(fixtures: &[(String, Request)], breaches: impl Fn(&Request) -> Vec<String> + Sync) {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, request)) = fixtures.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let why = breaches(request).into_iter().map(|why| format!("{name}: {why}"));
                    found.lock().expect("nobody panicked").extend(why);
                }
            });
        }
    });
    let mut found = found.into_inner().expect("nobody panicked");
    found.sort();
    assert!(found.is_empty(), "{} of them\n{}", found.len(), found.join("\n"));
}
