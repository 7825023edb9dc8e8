//! Callers that wait for a compaction of their conversation that another caller runs.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use epitome::engine::hook::{Heeding, Hook, Hooks, Proposal, Wish};
use epitome::session::{ChainKey, Landing, Recipient, SessionOptions};
use epitome::trigger::When;
use epitome::{Options, Target};
use epitome_tower::CompactionLayer;
use tokio::sync::Semaphore;

use crate::agent::{Agent, Provider, call};
use crate::wrapped::{counted, layer, worked};

#[tokio::test]
async fn one_compaction_serves_all_who_send_the_same_history() {
    let provider = Provider::new(60_000, 2);
    let agent = worked(24).await;
    let (layer, adopted) = counted(layer(24_000, None));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        calls.spawn(call(&mut provider.wrapped(&layer), agent.request()));
    }
    let before = provider.sent().len();
    for reply in calls.join_all().await {
        assert_eq!(reply.status(), 200, "{}", reply.body());
    }
    assert_eq!(adopted.load(Ordering::Relaxed), 1);
    let sent = provider.sent().split_off(before);
    assert!(sent.len() == 8 && sent.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_caller_who_goes_away_leaves_nobody_waiting() {
    let provider = Provider::new(60_000, 2);
    let agent = worked(24).await;
    let (layer, adopted) = counted(layer(24_000, None));
    {
        let mut gone = pin!(call(&mut provider.wrapped(&layer), agent.request()));
        let polled = gone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "a compaction takes more than one step");
    }
    let reply = call(&mut provider.wrapped(&layer), agent.request()).await;
    assert_eq!((reply.status().as_u16(), adopted.load(Ordering::Relaxed)), (200, 1));
}

/// Asked before each compaction: it says nothing, and that only once it may.
#[derive(Debug)]
struct Gate(Semaphore);

impl Hook for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn before(self: Arc<Self>, proposal: Arc<Proposal>) -> Heeding {
        Box::pin(async move {
            let is_own = proposal.request.source().contains(OWN);
            if is_own {
                self.0.acquire().await.expect("nobody closes it").forget();
            }
            Ok(Wish::default())
        })
    }
}

const OWN: &str = "Find out why the build fails.";

/// So short that a caller asks the machine in place: what happens between two polls doesn't depend on threads.
async fn brief(task: &str) -> Agent {
    let mut agent = Agent::new();
    agent.0.history[0]["content"] = task.into();
    agent.work(&mut Provider::new(60_000, 2), 6, 10).await;
    assert!(agent.request().body().len() < 16 << 10, "{}", agent.request().body().len());
    agent
}

/// A compaction of another conversation doesn't end the wait. The compaction goes on while its caller isn't polled. If
/// that caller goes away, a waiting caller runs it.
#[tokio::test]
async fn a_caller_waits_for_the_compaction_of_its_own_conversation() {
    for goes_away in [false, true] {
        let provider = Provider::new(60_000, 2);
        let own = brief(OWN).await;
        let other = brief("Find out why the tests fail.").await;
        let gate = Arc::new(Gate(Semaphore::new(0)));
        let full = Arc::new(When::Tokens(1_000).build().expect("in range"));
        let options = SessionOptions {
            landing: Landing::Target(Target::Tokens(600)),
            ..SessionOptions::new(full, ChainKey([1, 2, 3, 4]))
        };
        let compactor = testkit::compactor(Options::default(), "claude");
        let hooks = Hooks { chain: vec![Arc::clone(&gate) as _] };
        let compactor = compactor.with_hooks(hooks);
        let layer = CompactionLayer::new(compactor, options).expect("in range");
        let (layer, adopted) = counted(layer.to(Recipient::from(Some(24_000))));
        let before = provider.sent().len();
        let [mut one, mut two] = [provider.wrapped(&layer), provider.wrapped(&layer)];
        let mut first = Box::pin(call(&mut one, own.request()));
        let mut second = pin!(call(&mut two, own.request()));
        let context = &mut Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(context).is_pending(), "it runs a compaction");
        assert!(second.as_mut().poll(context).is_pending(), "it waits for that");
        call(&mut provider.wrapped(&layer), other.request()).await;
        assert_eq!(adopted.load(Ordering::Relaxed), 1);
        assert!(second.as_mut().poll(context).is_pending(), "that was another conversation's");
        let first = (!goes_away).then_some(first);
        gate.0.add_permits(2);
        second.await;
        assert_eq!(adopted.load(Ordering::Relaxed), 2);
        if let Some(first) = first {
            first.await;
        }
        let sent = provider.sent().split_off(before);
        assert_eq!((sent.len(), adopted.load(Ordering::Relaxed)), (3 - usize::from(goes_away), 2));
        let (last, whole) = (sent.last().expect("some"), own.request());
        assert!(last.len() < whole.body().len() && (goes_away || *last == sent[1]));
    }
}
