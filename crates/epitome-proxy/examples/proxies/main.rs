//! What a proxy adds to a request of a conversation that it knows, beside nginx as a proxy that does nothing, and beside none.
//!
//! `cargo run --release -p epitome-proxy --example proxies -- [--epitome PATH] [--streams N] [--seconds N]
//! [NAME=HOST:PORT…]`
//!
//! It begins an upstream that reads a body and answers at once, `epitome serve` (of the folder above its own, where no PATH
//! is given), and nginx if there is one. Other proxies that go to the upstream's address (127.0.0.1:7499) are named. For three
//! sizes, whole and streamed, each request is sent directly and through each proxy in turn, so that all meet the same
//! machine. Then sixteen clients at a time ask each in turn as often as they can, and in the end many clients read a stream of
//! one event a second each through the proxy. All sockets are of this machine. Tables have time until the reply begins less what it takes
//! without a proxy, and CPU a request.

mod asking;
mod standing;
mod streams;
mod upstream;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use asking::Client;
use standing::Standing;

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Where the upstream is.
const UPSTREAM: &str = "127.0.0.1:7499";
/// Requests of each size, and of each conversation, of which the first isn't timed: it isn't known yet.
const REQUESTS: usize = 600;
const STEPS: usize = 20;
/// Clients that ask at a time, the bytes of what each says, and how long each proxy is asked, how often.
const CLIENTS: usize = 16;
const SAID: usize = 20_000;
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;

/// What it was told to do.
struct Wanted {
    program: PathBuf,
    streams: usize,
    length: Duration,
    others: Vec<(String, String)>,
}

fn wanted() -> Result<Wanted, Failed> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).ok_or("it stands nowhere")?;
    let mut wanted = Wanted {
        program: folder.join("epitome"),
        streams: 1_000,
        length: Duration::from_mins(5),
        others: vec![],
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--epitome" => wanted.program = value()?.into(),
            "--streams" => wanted.streams = value()?.parse()?,
            "--seconds" => wanted.length = Duration::from_secs(value()?.parse()?),
            other => {
                let (name, at) = other.split_once('=').ok_or("a proxy is NAME=HOST:PORT")?;
                wanted.others.push((name.to_owned(), at.to_owned()));
            }
        }
    }
    Ok(wanted)
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let wanted = wanted()?;
    upstream::serve(UPSTREAM).await?;
    let mut all = vec![Standing::none(UPSTREAM)];
    all.extend(Standing::nginx(UPSTREAM).await?);
    let begun = Instant::now();
    let own = all.len();
    all.push(Standing::epitome(&wanted.program, UPSTREAM).await?);
    let took = begun.elapsed();
    let idle = all[own].resident();
    all.extend(wanted.others.iter().map(|(name, at)| Standing::other(name, at)));
    println!("epitome serves after {} ms, with {} kB\n", took.as_millis(), idle / 1_000);

    println!("| body | reply | proxy | added p50 | added p99 | CPU a request |");
    println!("|--:|---|---|--:|--:|--:|");
    for bytes in [20_000, 200_000, 2_000_000] {
        for (reply, stream) in [("whole", false), ("streamed", true)] {
            latency(&all, bytes, reply, stream).await?;
        }
    }
    println!("\n| proxy | requests a second, {CLIENTS} clients, {} kB |", SAID / 1_000);
    println!("|---|--:|");
    rate(&all).await?;
    if wanted.streams > 0 {
        println!("\n{} streams", wanted.streams);
        streams::read(&all[own], wanted.streams, wanted.length).await?;
    }
    Ok(())
}

/// One conversation, asked for in turn.
async fn latency(all: &[Standing], bytes: usize, reply: &str, stream: bool) -> Result<(), Failed> {
    let mut clients = Vec::new();
    for it in all {
        clients.push(Client::connected(&it.at).await?);
    }
    let mut times = vec![Vec::new(); all.len()];
    let before: Vec<Duration> = all.iter().map(Standing::cpu).collect();
    for nth in 0..REQUESTS {
        let name = format!("{bytes} {stream} {}", nth / STEPS);
        let body = asking::conversation(&name, bytes, nth % STEPS, stream);
        for (client, times) in clients.iter_mut().zip(&mut times) {
            let took = client.asked(&body).await?;
            if nth % STEPS > 0 {
                times.push(took);
            }
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    let at = |nth: usize, share: usize| times[nth][(times[nth].len() - 1) * share / 100];
    for (nth, it) in all.iter().enumerate() {
        let added = |share| match nth {
            0 => at(0, share),
            _ => at(nth, share).saturating_sub(at(0, share)),
        };
        let cpu = it.cpu().saturating_sub(before[nth]) / REQUESTS as u32;
        println!(
            "| {} kB | {reply} | {} | {} µs | {} µs | {} |",
            bytes / 1_000,
            it.name,
            added(50).as_micros(),
            added(99).as_micros(),
            if it.is_seen() { format!("{} µs", cpu.as_micros()) } else { String::new() },
        );
    }
    Ok(())
}

/// As often as they can.
async fn rate(all: &[Standing]) -> Result<(), Failed> {
    let mut done = vec![0; all.len()];
    for round in 0..ROUNDS {
        for (done, it) in done.iter_mut().zip(all) {
            let until = Instant::now() + ROUND;
            let asking = (0..CLIENTS).map(|nth| {
                let (at, own) = (it.at.clone(), format!("{} {round} {nth}", it.name));
                tokio::spawn(async move {
                    let mut client = Client::connected(&at).await?;
                    let mut steps = 0;
                    while Instant::now() < until {
                        let name = format!("{own} {}", steps / STEPS);
                        let body = asking::conversation(&name, SAID, steps % STEPS, false);
                        client.asked(&body).await?;
                        steps += 1;
                    }
                    Ok::<usize, Failed>(steps)
                })
            });
            for one in asking.collect::<Vec<_>>() {
                *done += one.await??;
            }
        }
    }
    for (done, it) in done.iter().zip(all) {
        println!("| {} | {:.0} |", it.name, *done as f64 / (ROUND * ROUNDS as u32).as_secs_f64());
    }
    Ok(())
}
