//! How many calls a second go through one layer when many sessions are under way at the same time.
//!
//! `cargo run --release -p epitome-tower --example throughput` runs the same sessions one at a time, eight at a time and all
//! at a time, on two threads, with a client that answers at once; once through one layer, and once with a layer for each
//! session, which share nothing. Of the figures the ratios count: what two threads make of one, and how much of that a
//! shared layer leaves.

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
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::{Layer as _, Service as _, ServiceExt as _, service_fn};

/// Sessions, the messages with which each begins, and its calls; a call has two messages more than the one before.
const SESSIONS: usize = 64;
const MESSAGES: usize = 200;
const CALLS: usize = 20;
/// Runs of which the quickest counts: the machine may have other work.
const RUNS: usize = 3;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let format = Format::Anthropic;
    let session = |seed: usize| -> Result<Arc<[String]>, Failure> {
        let size = Size::entries(format, MESSAGES + 2 * CALLS);
        let all = wire::parse(format, generate(seed as u64 + 1, size))?;
        Ok((0..CALLS).map(|call| beginning(&all, MESSAGES + 2 * call)).collect())
    };
    let sessions = (0..SESSIONS).map(session).collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = sessions.iter().flat_map(|session| session.iter().map(String::len)).sum();
    println!("{SESSIONS} sessions of {CALLS} calls each, {} MB in all", bytes / 1_000_000);
    println!(
        "| at a time | calls a second | of one at a time | with a layer each | shared of that |"
    );
    println!("|--:|--:|--:|--:|--:|");
    let mut alone = None;
    for at_a_time in [1, 8, 64] {
        let (mut shared, mut apart) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            shared = shared.min(run(&sessions, at_a_time, &[layer()?]).await?);
            let layers = (0..SESSIONS).map(|_| layer()).collect::<Result<Vec<_>, _>>()?;
            apart = apart.min(run(&sessions, at_a_time, &layers).await?);
        }
        let calls = (SESSIONS * CALLS) as f64;
        let rate = calls / shared.as_secs_f64();
        println!(
            "| {at_a_time} | {rate:.0} | {:.2} | {:.0} | {:.2} |",
            rate / *alone.get_or_insert(rate),
            calls / apart.as_secs_f64(),
            apart.as_secs_f64() / shared.as_secs_f64(),
        );
    }
    Ok(())
}

fn layer() -> Result<CompactionLayer, Failure> {
    let compactor = Compactor::new(Options::default(), counter("claude")?)?;
    let trigger = Arc::new(When::Share(0.8).build()?);
    let options = SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]));
    let layer = CompactionLayer::new(compactor, options).map_err(|error| error.to_string())?;
    Ok(layer.to(Recipient::from(Some(1 << 40))))
}

/// How long all sessions take, so many of them under way at a time.
async fn run(
    sessions: &[Arc<[String]>],
    at_a_time: usize,
    layers: &[CompactionLayer],
) -> Result<Duration, Failure> {
    let turns = Arc::new(Semaphore::new(at_a_time));
    let mut all = JoinSet::new();
    let begun = Instant::now();
    for (nth, session) in sessions.iter().enumerate() {
        let (session, turns) = (Arc::clone(session), Arc::clone(&turns));
        let layer = layers[nth % layers.len()].clone();
        all.spawn(async move {
            let _turn = turns.acquire_owned().await?;
            let bare = service_fn(|prompt: Prompt| async move {
                std::hint::black_box(&prompt);
                Ok::<_, std::convert::Infallible>(Response::new(String::from("{}")))
            });
            let mut client = layer.layer(bare);
            for body in session.iter() {
                let prompt = Prompt { format: Format::Anthropic, body: body.clone() };
                client.ready().await?.call(prompt).await?;
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(done) = all.join_next().await {
        done??;
    }
    Ok(begun.elapsed())
}

/// The request with its first entries alone.
fn beginning(all: &Request, entries: usize) -> String {
    let list = all.frame.list.range();
    let first: Vec<&str> =
        all.transcript.entries().take(entries).map(|entry| entry.raw()).collect();
    let source = all.source();
    format!("{}[{}]{}", &source[..list.start], first.join(","), &source[list.end..])
}
