//! How fast a store is: appends in batches, gets, searches for a rare and for a common word.
//!
//! `cargo run --release -p epitome-store --example store_speed -- 100000`: so many entries of 1 kB.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use epitome::archive::{About, Archive as _, Original};
use epitome::transcript::{ContentId, Origin, Role};
use epitome::wire;
use epitome_store::{Access, Chain, Document, Session, Store};

const BATCH: usize = 256;
const ASKED: usize = 200;

/// Words as prose and logs have them: few are common, most are rare.
const COMMON: [&str; 24] = [
    "the", "file", "test", "error", "in", "line", "and", "src", "of", "to", "value", "returned",
    "from", "module", "build", "is", "not", "expected", "found", "run", "with", "path", "at",
    "for",
];

/// Those of them that a question may ask for.
const ASKED_FOR: [&str; 12] = [
    "file", "test", "error", "line", "src", "value", "returned", "module", "build", "expected",
    "found", "path",
];

/// A word of letters alone, which is one word and no more.
fn rare(number: usize) -> String {
    let letter = |place: u32| char::from(b'a' + (number / 26_usize.pow(place) % 26) as u8);
    std::iter::once('q').chain((0..4).map(letter)).collect()
}

fn entry(at: usize) -> Original {
    let mut words = format!("entry{at} ");
    let mut next = at as u64 * 2_654_435_761 + 97;
    while words.len() < 980 {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (next >> 33) as usize;
        if drawn.is_multiple_of(5) {
            words.push_str(&rare(drawn % 60_000));
            words.push(' ');
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
        about: About {
            role: Role::User,
            origin: Origin::Human,
            turn: at,
            tool: None,
            at: None,
            recalled: Vec::new(),
        },
        words,
    }
}

/// A conversation of so many messages.
fn chain(entries: usize) -> String {
    let mut body = String::from("{\"messages\":[");
    for at in 0..entries {
        let (comma, role) =
            (if at == 0 { "" } else { "," }, if at % 2 == 0 { "user" } else { "assistant" });
        write!(body, "{comma}{{\"role\":\"{role}\",\"content\":\"said {at}\"}}")
            .expect("a string takes all");
    }
    body.push_str("]}");
    body
}

fn taken_in(store: &Store, body: &str) -> Result<Session, Box<dyn std::error::Error>> {
    let request = wire::detect(body.to_owned())?;
    Ok(store.take_in(&Document { raw: body.as_bytes(), request: &request, source: "" })?)
}

/// The 50th and the 95th percentile of how long calls take, in milliseconds.
fn timed(
    mut work: impl FnMut(usize) -> Result<usize, Box<dyn std::error::Error>>,
) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    for at in 0..ASKED {
        let begun = Instant::now();
        assert!(work(at)? > 0, "it is there");
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[ASKED / 2], times[ASKED * 95 / 100]))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all: usize = std::env::args().nth(1).map_or(Ok(20_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(&folder.path().join("store"), Access::Write)?;
    let session = taken_in(&store, r#"{"messages":[{"role":"user","content":"speed"}]}"#)?;
    let mut spent = Duration::ZERO;
    let mut last = Duration::ZERO;
    let mut ids = Vec::new();
    for from in (0..all).step_by(BATCH) {
        let batch: Vec<Original> = (from..(from + BATCH).min(all)).map(entry).collect();
        ids.extend(batch.iter().map(|original| original.id));
        let begun = Instant::now();
        session.put(&batch)?;
        spent += begun.elapsed();
        if from >= all - all / 10 {
            last += begun.elapsed();
        }
    }
    let rate = |count: usize, time: Duration| count as f64 / time.as_secs_f64();
    println!("| {all} entries of 1 kB, {} MB of text | median | 95th percentile |", all / 1000);
    println!("|---|---|---|");
    println!(
        "| append, in batches of {BATCH} | {:.0} a second | the last tenth: {:.0} |",
        rate(all, spent),
        rate(all / 10, last)
    );
    let row = |what: &str, (median, p95): (f64, f64)| {
        println!("| {what} | {median:.2} ms | {p95:.2} ms |");
    };
    row("get", timed(|at| Ok(usize::from(session.get(ids[at * 7919 % ids.len()])?.is_some())))?);
    let asked =
        |question: &dyn Fn(usize) -> String| timed(|at| Ok(store.search(&question(at), 10)?.len()));
    let holders = store.search(&rare(31), usize::MAX)?.len();
    row(&format!("search: a word that about {holders} entries have"), asked(&|at| rare(at * 31))?);
    let common = |at: usize| ASKED_FOR[at % ASKED_FOR.len()];
    row(
        "search: such a word and three that all have",
        asked(&|at| {
            format!("{} {} {} {}", rare(at * 31), common(at), common(at + 7), common(at + 9))
        })?,
    );
    row(
        "search: eight such words",
        asked(&|at| (0..8).map(|n| rare(at * 31 + n * 40) + " ").collect())?,
    );
    row("search: a word that all have", asked(&|at| common(at).to_owned())?);
    row(
        "search: three words that all have",
        asked(&|at| format!("{} {} {}", common(at), common(at + 7), common(at + 9)))?,
    );
    let long = chain(10_000);
    let name = taken_in(&store, &long)?.name().to_owned();
    let chain = Chain::of(&wire::detect(long)?);
    let found = timed(|_| {
        let found = store.going_on(&chain)?;
        Ok(usize::from(found.is_some_and(|session| session.name() == name)))
    })?;
    row("a session by its transcript of 10,000 entries, once they are digested", found);
    let stored = store.stored()?;
    println!(
        "\n{} MB of contents in {} MB of {} entries",
        stored.bytes / 1_000_000,
        stored.packed / 1_000_000,
        stored.originals
    );
    let on_disk: u64 = std::fs::read_dir(folder.path().join("store"))?
        .map(|file| file.and_then(|file| file.metadata()).map_or(0, |meta| meta.len()))
        .sum();
    println!("{} MB on the disk", on_disk / 1_000_000);
    Ok(())
}
