//! How fast a store is: appends in batches, gets, searches for a rare and for a common word.
//!
//! `cargo run --release -p epitome-store --example store_speed -- 100000`: so many entries of 1 kB.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use epitome::archive::{About, Archive as _, Original};
use epitome::transcript::{ContentId, Origin, Role};
use epitome::wire;
use epitome_store::{Access, Document, Store};

const BATCH: usize = 256;
const ASKED: usize = 200;

/// Words as prose and logs have them: few are common, most are rare.
const COMMON: [&str; 24] = [
    "the", "file", "test", "error", "in", "line", "and", "src", "of", "to", "value", "returned",
    "from", "module", "build", "is", "not", "expected", "found", "run", "with", "path", "at",
    "for",
];

fn entry(at: usize) -> Original {
    let mut words = format!("entry{at} ");
    let mut next = at as u64 * 2_654_435_761 + 97;
    while words.len() < 980 {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (next >> 33) as usize;
        if drawn.is_multiple_of(5) {
            write!(words, "ident_{} ", drawn % 60_000).expect("a string takes all");
        } else {
            words.push_str(COMMON[drawn / 7 % COMMON.len()]);
            words.push(' ');
        }
    }
    let bytes = format!("{{\"role\":\"user\",\"content\":{}}}", epitome::json::quote(&words));
    Original {
        id: ContentId::of_text(&bytes),
        entry: at,
        bytes,
        about: About { role: Role::User, origin: Origin::Human, turn: at, tool: None },
        words,
    }
}

fn p95(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() * 95 / 100].as_secs_f64() * 1000.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all: usize = std::env::args().nth(1).map_or(Ok(20_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(&folder.path().join("store"), Access::Write)?;
    let body = r#"{"messages":[{"role":"user","content":"speed"}]}"#;
    let request = wire::detect(body.to_owned())?;
    let session =
        store.take_in(&Document { raw: body.as_bytes(), request: &request, source: "" })?;
    let mut spent = Duration::ZERO;
    let mut ids = Vec::new();
    for from in (0..all).step_by(BATCH) {
        let batch: Vec<Original> = (from..(from + BATCH).min(all)).map(entry).collect();
        ids.extend(batch.iter().map(|original| original.id));
        let begun = Instant::now();
        session.put(&batch)?;
        spent += begun.elapsed();
    }
    println!("append  {:>9.0} entries of 1 kB a second", all as f64 / spent.as_secs_f64());
    let timed = |work: &dyn Fn(usize) -> Result<usize, Box<dyn std::error::Error>>| {
        let once = |at| -> Result<Duration, Box<dyn std::error::Error>> {
            let begun = Instant::now();
            assert!(work(at)? > 0, "it is there");
            Ok(begun.elapsed())
        };
        (0..ASKED).map(once).collect::<Result<Vec<_>, _>>().map(p95)
    };
    let get = timed(&|at| Ok(usize::from(session.get(ids[at * 7919 % ids.len()])?.is_some())))?;
    println!("get     {get:>9.3} ms at the 95th percentile");
    let rare = timed(&|at| Ok(store.search(&format!("ident_{}", at * 31), 10)?.len()))?;
    println!("search  {rare:>9.3} ms for a rare identifier");
    let common = timed(&|at| Ok(store.search(COMMON[at % COMMON.len()], 10)?.len()))?;
    println!("search  {common:>9.3} ms for a common word");
    let stored = store.stored()?;
    println!("{} bytes in {} of {} entries", stored.bytes, stored.packed, stored.originals);
    Ok(())
}
