//! What the layer adds to a request below the trigger, in a session that it knows, and how long it holds its caller's
//! thread at a time.
//!
//! `cargo run --release -p epitome-tower --example overhead` prints, for each format and sessions of several sizes, the
//! time of a call through the layer to a client that answers at once: the quickest and the middle one of the calls of some
//! sessions, each of which says one step more than the one before. Held is the longest time for which a call held its
//! thread without giving it back, the least and the middle one of all calls; the first call of a session, which isn't known
//! yet, has the least of its own. It fails where the quickest takes longer than it may.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use epitome::count::counter;
use epitome::session::{ChainKey, Recipient, SessionOptions};
use epitome::trigger::When;
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Request};
use epitome_tower::{CompactionLayer, Prompt};
use http::Response;
use testkit::bulk::{Size, beginning, generate};
use tower::{Layer as _, Service as _, ServiceExt as _, service_fn};

/// Calls in a session, the first one apart.
const CALLS: usize = 41;
/// Sessions of each size: the machine may have other work.
const SESSIONS: usize = 7;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| format | messages | bytes | quickest | middle | at most 50 µs + 1 ns a byte | held | held by the middle | held by the first |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut is_slow = false;
    for format in Format::ALL {
        for entries in [10, 100, 1_000, 10_000] {
            let all = parsed(format, entries + 2 * CALLS)?;
            let (mut times, mut held, mut firsts, mut bytes) = (vec![], vec![], vec![], 0);
            for _ in 0..SESSIONS {
                let measured = measure(&all, entries).await?;
                times.extend(measured.times);
                held.extend(measured.held);
                firsts.push(measured.first);
                bytes = measured.bytes;
            }
            for sorted in [&mut times, &mut held, &mut firsts] {
                sorted.sort_unstable();
            }
            let most = Duration::from_micros(50) + Duration::from_nanos(bytes as u64);
            is_slow |= times[0] > most;
            let middle = times.len() / 2;
            let all = [times[0], times[middle], most, held[0], held[middle], firsts[0]];
            let all = all.map(|time| format!("{} µs", time.as_micros())).join(" | ");
            println!("| {format} | {entries} | {bytes} | {all} |");
        }
    }
    if is_slow { Err("it takes longer than it may".into()) } else { Ok(()) }
}

/// Calls in a session that is known.
struct Measured {
    times: Vec<Duration>,
    /// How long each held its thread at a time.
    held: Vec<Duration>,
    /// How long the one held it by which the session became known.
    first: Duration,
    /// The length of the last one.
    bytes: usize,
}

fn parsed(format: Format, entries: usize) -> Result<Request, Box<dyn std::error::Error>> {
    Ok(wire::parse(format, generate(7, Size::entries(format, entries)))?)
}

async fn measure(all: &Request, entries: usize) -> Result<Measured, Box<dyn std::error::Error>> {
    let format = all.format;
    let compactor = Compactor::new(Options::default(), counter("claude")?)?;
    let trigger = Arc::new(When::Share(0.8).build()?);
    let options = SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]));
    let layer = CompactionLayer::new(compactor, options).map_err(|error| error.to_string())?;
    let layer = layer.to(Recipient::from(Some(1 << 40)));
    let bare = service_fn(|prompt: Prompt| async move {
        std::hint::black_box(&prompt);
        Ok::<_, std::convert::Infallible>(Response::new(String::from("{}")))
    });
    let mut client = layer.layer(bare);
    let (mut times, mut held, mut bytes) = (Vec::new(), Vec::new(), 0);
    for call in 0..=CALLS {
        let prompt = Prompt { format, body: beginning(all, entries + 2 * call) };
        bytes = prompt.body.len();
        let begun = Instant::now();
        let mut calling = pin!(client.ready().await?.call(prompt));
        let mut longest = Duration::ZERO;
        poll_fn(|context| {
            let polled = Instant::now();
            let poll = calling.as_mut().poll(context);
            longest = longest.max(polled.elapsed());
            poll
        })
        .await?;
        times.push(begun.elapsed());
        held.push(longest);
    }
    // The first one is of a session that isn't known.
    times.remove(0);
    let first = held.remove(0);
    Ok(Measured { times, held, first, bytes })
}
