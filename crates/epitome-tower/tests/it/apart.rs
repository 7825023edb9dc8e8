//! Conversations get in each other's way neither by a lock nor by threads; and what a host may ask of a layer beside its calls.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};

use epitome::count::{Count, TokenCounter};
use epitome::engine::delegate::JobContext;
use epitome::session::{ChainKey, Committed, Recipient, SessionId, SessionOptions};
use epitome::trigger::{Asker, Cause, Demand, When};
use epitome::{Compactor, Options};
use epitome_tower::{CompactionLayer, Event};

use crate::agent::{Agent, Provider, call};
use crate::wrapped::layer;

const STUCK: &str = "Find out why the build is stuck.";

/// Notes the threads that it counts on. What is stuck is counted once it may be.
#[derive(Debug, Default)]
struct Watched {
    threads: Mutex<HashSet<ThreadId>>,
    is_open: Mutex<bool>,
    opened: Condvar,
    /// Whether somebody is stuck.
    is_stuck: Mutex<bool>,
}

impl Watched {
    fn open(&self) {
        *self.is_open.lock().expect("nobody panics") = true;
        self.opened.notify_all();
    }
}

impl TokenCounter for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn text(&self, text: &str) -> Count {
        self.threads.lock().expect("nobody panics").insert(thread::current().id());
        if text.contains(STUCK) {
            *self.is_stuck.lock().expect("nobody panics") = true;
            let is_open = self.is_open.lock().expect("nobody panics");
            drop(self.opened.wait_while(is_open, |is_open| !*is_open).expect("nobody panics"));
        }
        Count::exact(text.len() as u64 / 4)
    }
}

fn watched(counter: &Arc<Watched>) -> CompactionLayer {
    let compactor = Compactor::new(Options::default(), Arc::clone(counter) as _);
    let trigger = Arc::new(When::Share(0.8).build().expect("in range"));
    let options = SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]));
    let layer = CompactionLayer::new(compactor.expect("in range"), options).expect("in range");
    layer.to(Recipient::from(Some(1 << 30)))
}

/// Of a task, and long enough that it is looked at aside.
fn long(task: &str) -> Agent {
    let mut agent = Agent::new();
    agent.0.history[0]["content"] = format!("{task} {}", "The log follows. ".repeat(2_000)).into();
    agent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_waits_for_no_other_conversation() {
    let counter = Arc::new(Watched::default());
    let layer = watched(&counter);
    let provider = Provider::new(1 << 30, 2);
    let stuck = tokio::spawn(call(&mut provider.wrapped(&layer), long(STUCK).request()));
    while !*counter.is_stuck.lock().expect("nobody panics") {
        tokio::task::yield_now().await;
    }
    // One is short and one is long: both are sent while that one is still counted.
    for agent in [Agent::new(), long("Find out why the tests fail.")] {
        let reply = call(&mut provider.wrapped(&layer), agent.request()).await;
        assert_eq!(reply.status(), 200, "{}", reply.body());
    }
    assert!(!stuck.is_finished());
    counter.open();
    assert_eq!(stuck.await.expect("it goes on").status(), 200);
}

#[test]
fn calls_share_the_threads_that_their_runtime_keeps() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let counter = Arc::new(Watched::default());
    let layer = watched(&counter);
    runtime.block_on(async {
        let provider = Provider::new(1 << 30, 2);
        let mut calls = tokio::task::JoinSet::new();
        for nth in 0..24 {
            let agent = long(&format!("Task {nth}."));
            calls.spawn(call(&mut provider.wrapped(&layer), agent.request()));
        }
        assert!(calls.join_all().await.iter().all(|reply| reply.status() == 200));
    });
    let threads = counter.threads.lock().expect("nobody panics").len();
    assert!((1..=2).contains(&threads), "{threads}");
}

/// What a layer tells, in short.
#[derive(Debug, PartialEq)]
enum Told {
    Sent(SessionId),
    Begun(SessionId, &'static str),
    Compacted(bool, Option<String>),
}

#[tokio::test]
async fn a_host_asks_for_a_compaction_and_reads_what_it_hid() {
    let told: Arc<Mutex<Vec<Told>>> = Arc::default();
    let notes = Arc::clone(&told);
    let layer = layer(200_000, None).observed_by(move |event| {
        notes.lock().expect("nobody panics").push(match event {
            Event::Sent { session, .. } => Told::Sent(*session),
            Event::Begun { session, cause } => Told::Begun(*session, Cause::name(cause)),
            Event::Compacted { committed, receipt, .. } => {
                let receipt = receipt.as_ref().expect("a view");
                let is_adopted = matches!(committed, Committed::Adopted { .. });
                Told::Compacted(is_adopted, receipt.about.session.clone())
            }
            event => panic!("{event:?}"),
        });
    });
    let provider = Provider::new(200_000, 2);
    let mut client = provider.wrapped(&layer);
    let mut agent = Agent::new();
    assert!(layer.current(&agent.request()).await.is_none(), "nobody knows it");
    agent.work(&mut client, 12, 25).await;
    let Some(Told::Sent(session)) = told.lock().expect("nobody panics").pop() else {
        panic!("it was sent")
    };
    let before = layer.current(&agent.request()).await.expect("it is known");
    assert!(before.view.is_whole() && (before.session, before.epoch) == (session, 0));
    told.lock().expect("nobody panics").clear();

    assert!(layer.demand(session, Demand::new(Asker::Host, "a pause")).await);
    let mut request = agent.request();
    let about = JobContext { session: Some("s1".to_owned()), ..JobContext::default() };
    request.extensions_mut().insert(about);
    call(&mut client, request).await;
    let heard = std::mem::take(&mut *told.lock().expect("nobody panics"));
    let wanted = [
        Told::Begun(session, "asked"),
        Told::Compacted(true, Some("s1".to_owned())),
        Told::Sent(session),
    ];
    assert_eq!(heard, wanted);

    let now = layer.current(&agent.request()).await.expect("it is known");
    assert!(!now.view.is_whole() && (now.session, now.epoch) == (session, 1));
    assert_eq!(now.shown().source().as_str(), provider.sent().last().expect("it was sent"));
    // Page by page, newest first, everything before what is kept.
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = now.page(cursor, 4);
        pages.push(page.entries);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let read: Vec<usize> = pages.into_iter().rev().flatten().collect();
    assert_eq!(read, (0..now.view.first_kept()).collect::<Vec<_>>());
    assert!(told.lock().expect("nobody panics").is_empty(), "to look is no call");
}
