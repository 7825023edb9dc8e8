//! What the layer adds to a request below the trigger, in a session that it knows.
//!
//! `cargo run --release -p epitome-tower --example overhead` prints, for each format and sessions of several sizes, the
//! time of a call through the layer to a client that answers at once: the quickest and the middle one of 41 calls,
//! each of which says one step more than the one before. It fails where the quickest takes longer than it may.

use std::sync::Arc;
use std::time::{Duration, Instant};

use epitome::count::counter;
use epitome::session::{ChainKey, Recipient, SessionOptions};
use epitome::trigger::When;
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Request};
use epitome_tower::{CompactionLayer, Prompt};
use http::Response;
use testkit::bulk::{Size, generate};
use tower::{Layer as _, Service as _, ServiceExt as _, service_fn};

const CALLS: usize = 41;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| format | messages | bytes | quickest | middle | at most 50 µs + 1 ns a byte |");
    println!("|---|--:|--:|--:|--:|--:|");
    let mut is_slow = false;
    for format in Format::ALL {
        for entries in [10, 100, 1_000] {
            let (quickest, middle, bytes) = measure(format, entries).await?;
            let most = Duration::from_micros(50) + Duration::from_nanos(bytes as u64);
            is_slow |= quickest > most;
            println!(
                "| {format} | {entries} | {bytes} | {} µs | {} µs | {} µs |",
                quickest.as_micros(),
                middle.as_micros(),
                most.as_micros()
            );
        }
    }
    if is_slow { Err("it takes longer than it may".into()) } else { Ok(()) }
}

/// The quickest and the middle call, and the bytes of the last one.
async fn measure(
    format: Format,
    entries: usize,
) -> Result<(Duration, Duration, usize), Box<dyn std::error::Error>> {
    let all = wire::parse(format, generate(7, Size::entries(format, entries + 2 * CALLS)))?;
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
    let mut times = Vec::new();
    let mut bytes = 0;
    for call in 0..=CALLS {
        let prompt = Prompt { format, body: beginning(&all, entries + 2 * call) };
        bytes = prompt.body.len();
        let begun = Instant::now();
        client.ready().await?.call(prompt).await?;
        // The first one is of a session that isn't known.
        if call > 0 {
            times.push(begun.elapsed());
        }
    }
    times.sort_unstable();
    Ok((times[0], times[times.len() / 2], bytes))
}

/// The request with its first entries alone.
fn beginning(all: &Request, entries: usize) -> String {
    let list = all.frame.list.range();
    let first: Vec<&str> =
        all.transcript.entries().take(entries).map(|entry| entry.raw()).collect();
    let source = all.source();
    format!("{}[{}]{}", &source[..list.start], first.join(","), &source[list.end..])
}
