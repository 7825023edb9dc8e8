//! The session machine: each decision at its boundary, and the laws in every state.

mod arrivals;
mod bound;
mod breaks;
mod cleared;
mod counted;
mod decisions;
mod kept;
mod learning;
mod limits;
mod loops;
mod paging;
mod simulated;

use std::sync::Arc;
use std::time::Duration;

use epitome::count::counter;
use epitome::engine::{Outcome, Step, Stop};
use epitome::session::{
    Begun, ChainKey, Committed, Handling, Outgoing, Sent, SessionOptions, Sessions,
};
use epitome::strategy::{Named, Pipeline, RecentOptions, Setting};
use epitome::trigger::{Trigger, When};
use epitome::wire::Format;
use epitome::{CompactError, Compactor, Options, Request, Tail, Target};

const START: Duration = Duration::from_secs(100);

fn trigger(when: When) -> Arc<dyn Trigger> {
    Arc::new(when.build().expect("in range"))
}

/// Lands at so many tokens, when `when`.
fn options(when: When, target: Target) -> SessionOptions {
    SessionOptions {
        landing: epitome::session::Landing::Target(target),
        ..SessionOptions::new(trigger(when), ChainKey([1, 2, 3, 4]))
    }
}

fn compactor(options: Options) -> Compactor {
    testkit::compactor(options, "o200k")
}

/// Keeps the newest three steps, and folds the rest.
fn folding(when: When) -> Sessions {
    let recent = RecentOptions { keep: Tail::Steps(3) };
    let strategies = Pipeline::List(vec![Named::Recent(Setting::On(recent))]);
    let compactor = compactor(Options { strategies, stop: Stop::AtEnd, ..Options::default() });
    Sessions::new(options(when, Target::Percent(100)), compactor).expect("in range")
}

fn sessions(options: SessionOptions) -> Sessions {
    Sessions::new(options, compactor(Options::default())).expect("in range")
}

/// A task and so many steps after it, each of two messages and about 450 tokens.
fn steps(steps: std::ops::Range<usize>) -> String {
    let task = if steps.start == 0 { "sys  You fix builds.\nuser Fix the build.\n" } else { "" };
    let step = r#"asst Step #. | call c# Read {"file_path":"src/f#.rs"}
res  c# = {code 40}"#;
    let steps = testkit::steps(steps, step);
    format!("{task}{steps}")
}

fn chat(notation: &str) -> Request {
    testkit::parse(Format::OpenaiChat, notation)
}

/// A task with so many steps.
fn after(many: usize) -> Request {
    chat(&steps(0..many))
}

/// The messages of a request, each as it is written.
fn messages(request: &Request) -> Vec<String> {
    request.transcript.entries().map(|entry| entry.raw().to_owned()).collect()
}

fn run(begun: Begun) -> Result<Box<Outcome>, CompactError> {
    let mut compaction = begun.compaction;
    loop {
        if let Step::Done(done) = compaction.step() {
            return done;
        }
    }
}

/// What is handed back with what the provider says of it.
fn sent(answer: Handling) -> Sent {
    match answer.send {
        Outgoing::AsItCame(sent) | Outgoing::View(_, sent) => sent,
        Outgoing::After(_) => panic!("it waits: {}", answer.stats.reason),
    }
}

/// Runs what an answer began, and brings it back.
fn adopt(sessions: &mut Sessions, answer: &mut Handling, now: Duration) -> Committed {
    let begun = *answer.begun.take().expect("a compaction was begun");
    let ticket = begun.ticket;
    let outcome = run(begun);
    sessions.commit(answer.session, ticket, outcome.as_deref(), now)
}
