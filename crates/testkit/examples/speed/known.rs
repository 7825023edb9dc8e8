//! What a request costs whose history is known, and what its last message adds to that.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use epitome::count::counter;
use epitome::session::{ChainKey, Outgoing, Recipient, SessionOptions, Sessions};
use epitome::trigger::When;
use epitome::{Compactor, Format, Options, Request};
use testkit::bulk;

use crate::measure::{ROUNDS, another, least, timed};
use crate::{Asked, Failed, Page};

const FORMAT: Format = Format::OpenaiChat;
/// Messages that come one after the other, for a mean: with all that was said before, and by themselves.
const APPENDED: usize = 20;
const HELD: usize = 1_000;

pub(crate) fn measure(page: &mut Page, asked: &Asked) -> Result<(), Failed> {
    let mut table = format!(
        "\n## A known history\n\nOpenAI Chat. `same` is the request again with one message of 600 bytes more, read and decided; `written anew` \
         has its keys in\nanother order; `decided` is the decision alone, after all of it was read (the mean of {APPENDED} messages). A host that \
         holds the\nconversation hands over the message alone: `held` is all of that, counting and decision included, the mean of {HELD} \
         messages\none after the other; `fresh` the first such message of a process.\n\n\
         | messages | MB | same, ms/MB | written anew, ms/MB | decided, µs | held, µs | fresh, µs |\n|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let (mut raw, mut large, mut canonical) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut decided_at = Vec::new();
    for messages in [1_000, 10_000, asked.messages] {
        let source = bulk::generate(11, bulk::Size::entries(FORMAT, messages));
        let megabytes = source.len() as f64 / 1e6;
        let mut bodies = vec![Arc::new(source)];
        for _ in 0..APPENDED {
            let longer = with_one_more(bodies.last().expect("the first one"))?;
            bodies.push(Arc::new(longer));
        }
        let anew: serde_json::Value = serde_json::from_str(&bodies[APPENDED])?;
        let anew = Arc::new(anew.to_string());
        let (mut same, mut mean, mut other) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            let mut known = watching()?;
            let request = read(&mut known, &bodies[0])?;
            decide(&mut known, &request);
            let mut decisions = 0.0;
            for body in &bodies[1..] {
                let (reading, request) = timed(|| read(&mut known, body));
                let request = request?;
                let (deciding, ()) = timed(|| decide(&mut known, &request));
                same = same.min(reading + deciding);
                decisions += deciding;
            }
            mean = mean.min(decisions / APPENDED as f64);
            let (time, done) = timed(|| {
                let request = read(&mut known, &anew)?;
                decide(&mut known, &request);
                Ok::<_, Failed>(())
            });
            done?;
            other = other.min(time);
            assert_eq!(known.len(), 1, "it is one conversation");
        }
        let held = held(&bodies[0])?;
        let at_first = another(&["--observe", &messages.to_string()])?;
        let fresh = least(ROUNDS, || {
            let mut same = std::process::Command::new(at_first.get_program());
            same.args(at_first.get_args());
            same
        })?;
        let [same, other] = [same, other].map(|time| time * 1e3 / megabytes);
        let [mean, held, fresh] = [mean, held, fresh.seconds].map(|time| time * 1e6);
        writeln!(
            table,
            "| {messages} | {megabytes:.1} | {same:.3} | {other:.2} | {mean:.1} | {held:.1} | {fresh:.1} |"
        )?;
        let worst = if megabytes <= 10.0 { &mut raw } else { &mut large };
        *worst = worst.max(same);
        canonical = canonical.max(other);
        decided_at.push((messages, held, fresh));
    }
    page.details += &table;
    let shown = |of: fn(&(usize, f64, f64)) -> f64| {
        let all = decided_at.iter().map(|all| format!("{:.0} µs at {}", of(all), all.0));
        all.collect::<Vec<_>>().join(", ")
    };
    page.goal(
        "one more message of 600 bytes in a held conversation, read, counted and decided; mean",
        "5 µs, whatever the length",
        shown(|all| all.1),
        decided_at.iter().all(|all| all.1 <= 5.0),
    );
    page.goal(
        "the same, the first one of a process",
        "10 µs, whatever the length",
        shown(|all| all.2),
        decided_at.iter().all(|all| all.2 <= 10.0),
    );
    page.goal(
        "known history in the same bytes, up to 10 MB",
        "0.15 ms/MB",
        format!("{raw:.3} ms/MB"),
        raw <= 0.15,
    );
    page.goal("the same, above", "0.2 ms/MB", format!("{large:.3} ms/MB"), large <= 0.2);
    page.goal(
        "known history, written anew",
        "1.0 ms/MB",
        format!("{canonical:.2} ms/MB"),
        canonical <= 1.0,
    );
    Ok(())
}

/// The first appended message of a process.
pub(crate) fn once(messages: usize) -> Result<ExitCode, Failed> {
    let source = bulk::generate(11, bulk::Size::entries(FORMAT, messages));
    let mut known = watching()?;
    let mut request = read(&mut known, &Arc::new(source))?;
    decide(&mut known, &request);
    let message = message();
    let (seconds, done) = timed(|| append(&mut known, &mut request, &message));
    done?;
    println!("{seconds} 0");
    Ok(ExitCode::SUCCESS)
}

/// The mean time of a message that comes by itself, in a conversation that goes on from `body`.
fn held(body: &Arc<String>) -> Result<f64, Failed> {
    let message = message();
    let mut mean = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut known = watching()?;
        // Nobody else holds it.
        let mut request = read(&mut known, &Arc::new(body.as_str().to_owned()))?;
        decide(&mut known, &request);
        let (time, done) = timed(|| {
            for turn in 0..HELD {
                // As a model answers, and a person asks.
                let role = if turn % 2 == 0 { "assistant" } else { "user" };
                append(&mut known, &mut request, &message.replacen("user", role, 1))?;
            }
            Ok::<_, Failed>(())
        });
        done?;
        mean = mean.min(time / HELD as f64);
    }
    Ok(mean)
}

fn append(known: &mut Sessions, request: &mut Request, message: &str) -> Result<(), Failed> {
    known.append("tenant", request, message)?;
    decide(known, request);
    Ok(())
}

/// A machine that never finds that anything is due.
fn watching() -> Result<Sessions, Failed> {
    let trigger = Arc::new(When::Tokens(1 << 40).build()?);
    let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
    let options = SessionOptions {
        most_known: 1 << 30,
        ..SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]))
    };
    Ok(Sessions::new(options, compactor)?)
}

fn read(known: &mut Sessions, body: &Arc<String>) -> Result<Request, Failed> {
    Ok(known.read("tenant", Some(FORMAT), Arc::clone(body))?)
}

fn decide(known: &mut Sessions, request: &Request) {
    let answer = known.observe("tenant", request, Recipient::default(), Duration::ZERO);
    assert!(matches!(answer.send, Outgoing::AsItCame(_)), "nothing is due");
}

fn with_one_more(source: &str) -> Result<String, Failed> {
    let end = source.rfind(']').ok_or("a body has messages")?;
    Ok(format!("{},{}{}", &source[..end], message(), &source[end..]))
}

fn message() -> String {
    let words = "Look at the next shelf. ".repeat(24);
    format!("{{\"role\":\"user\",\"content\":\"{words}\"}}")
}
