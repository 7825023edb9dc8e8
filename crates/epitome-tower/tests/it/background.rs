//! A model that summarizes beside the agent's calls: in time, too late, and never.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use epitome::engine::Stop;
use epitome::session::{AtLimit, ChainKey, Committed, Landing, Recipient, SessionOptions};
use epitome::strategy::{Named, Pipeline, RecentOptions, Setting};
use epitome::summarize::{Brief, FailureKind, Summaries, SummarizeError, Summary, from_fn};
use epitome::trigger::{Measurements, Trigger, When};
use epitome::{Options, Tail, Target};
use epitome_tower::{CompactionLayer, Event};
use tokio::sync::{Notify, Semaphore, mpsc};

use crate::agent::{Agent, Provider, call};

const WINDOW: u64 = 24_000;
const SUMMARY: &str = "The work goes on step by step, and each result was looked at.";

/// A layer whose summarizer answers as often as it is let.
struct Slow {
    layer: CompactionLayer,
    /// It is asked.
    asked: Arc<Notify>,
    /// Answers that it may give.
    answers: Arc<Semaphore>,
    /// The hard trigger fired.
    due: Arc<Notify>,
    /// A compaction was begun.
    is_begun: Arc<AtomicBool>,
    /// How compactions ended.
    ended: mpsc::UnboundedReceiver<Committed>,
}

fn slow(at_limit: AtLimit, says: Result<&'static str, FailureKind>) -> Slow {
    let trigger = |when: When| -> Arc<dyn Trigger> { Arc::new(when.build().expect("in range")) };
    let (asked, answers) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (tell, may) = (Arc::clone(&asked), Arc::clone(&answers));
    let model = from_fn("model", move |_| {
        tell.notify_one();
        let may = Arc::clone(&may);
        async move {
            may.acquire_owned().await.expect("it stays open").forget();
            says.map(Summary::new).map_err(|kind| SummarizeError::new(kind, "it is down"))
        }
    });
    let brief = Brief { sections: Some(Vec::new()), ..Brief::default() };
    let summaries = Summaries { chain: vec![model], brief, ..Summaries::default() };
    let recent = RecentOptions { keep: Tail::Steps(3) };
    let strategies = Pipeline::List(vec![Named::Recent(Setting::On(recent))]);
    let folding = Options { strategies, stop: Stop::AtEnd, ..Options::default() };
    let compactor = testkit::compactor(folding, "claude");
    let compactor = compactor.with_summaries(summaries).expect("in range");
    let due = Arc::new(Notify::new());
    let (hard, fired) = (trigger(When::Share(0.8)), Arc::clone(&due));
    let hard =
        move |measurements: &Measurements| hard.fires(measurements).inspect(|_| fired.notify_one());
    let options = SessionOptions {
        soft: Some(trigger(When::Share(0.5))),
        at_limit,
        landing: Landing::Target(Target::Percent(100)),
        ..SessionOptions::new(hard.boxed(), ChainKey([1, 2, 3, 4]))
    };
    let is_begun = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&is_begun);
    let (end, ended) = mpsc::unbounded_channel();
    let layer = CompactionLayer::new(compactor, options).expect("in range");
    let layer = layer.to(Recipient::from(Some(WINDOW))).observed_by(move |event| match event {
        Event::Sent { stats, .. } => {
            begun.fetch_or(stats.triggered, Ordering::Relaxed);
        }
        // At the end of a test nobody listens.
        Event::Compacted { committed, .. } => drop(end.send(committed.clone())),
        _ => {}
    });
    Slow { layer, asked, answers, due, is_begun, ended }
}

impl Slow {
    /// One step of the agent, through the layer; what was sent.
    async fn step(&self, agent: &mut Agent, provider: &Provider) -> String {
        let reply = call(&mut provider.wrapped(&self.layer), agent.request()).await;
        agent.take(&reply, 25);
        provider.sent().last().expect("a request").clone()
    }

    /// Works until the summarizer is asked, each step answered meanwhile.
    async fn until_asked(&self, agent: &mut Agent, provider: &Provider) -> String {
        loop {
            let sent = self.step(agent, provider).await;
            assert!(!sent.contains(SUMMARY));
            if self.is_begun.load(Ordering::Relaxed) {
                self.asked.notified().await;
                return sent;
            }
        }
    }
}

fn provider() -> (Provider, Agent) {
    (Provider::new(WINDOW, 2), Agent::new())
}

#[tokio::test]
async fn what_is_prepared_in_time_holds_no_reply_back_and_is_swapped_in() {
    let ((provider, mut agent), mut slow) = (provider(), slow(AtLimit::Wait, Ok(SUMMARY)));
    slow.until_asked(&mut agent, &provider).await;
    let whole = slow.step(&mut agent, &provider).await;
    assert!(!whole.contains(SUMMARY), "it isn't there yet");
    slow.answers.add_permits(1);
    let committed = slow.ended.recv().await.expect("it ends");
    assert!(matches!(committed, Committed::Adopted { .. }), "{committed:?}");
    let sent = slow.step(&mut agent, &provider).await;
    assert!(sent.contains(SUMMARY) && sent.len() < whole.len(), "{sent}");
}

#[tokio::test]
async fn near_the_limit_a_request_waits_for_the_summary_as_the_policy_says() {
    let ((provider, mut agent), slow) = (provider(), slow(AtLimit::Wait, Ok(SUMMARY)));
    slow.until_asked(&mut agent, &provider).await;
    let sent = loop {
        let mut calling = pin!(slow.step(&mut agent, &provider));
        let is_there = tokio::select! {
            biased;
            sent = &mut calling => Some(sent),
            () = slow.due.notified() => None,
        };
        let Some(sent) = is_there else {
            slow.answers.add_permits(1);
            break calling.await;
        };
        assert!(!sent.contains(SUMMARY));
    };
    assert!(sent.contains(SUMMARY), "{sent}");
}

#[tokio::test]
async fn at_the_limit_an_extractive_view_replaces_a_late_summary() {
    let ((provider, mut agent), mut slow) = (provider(), slow(AtLimit::Extractive, Ok(SUMMARY)));
    let mut longest = slow.until_asked(&mut agent, &provider).await.len();
    // No answer of the summarizer's is ever waited for.
    let sent = loop {
        let sent = slow.step(&mut agent, &provider).await;
        if sent.len() < longest {
            break sent;
        }
        longest = sent.len();
    };
    assert!(!sent.contains(SUMMARY));
    let committed = slow.ended.recv().await.expect("it ends");
    assert!(matches!(committed, Committed::Adopted { .. }), "{committed:?}");
    slow.answers.add_permits(1);
    assert_eq!(slow.ended.recv().await, Some(Committed::Overtaken));
    let next = slow.step(&mut agent, &provider).await;
    assert!(!next.contains(SUMMARY), "the view in force stays");
}

#[tokio::test]
async fn a_summarizer_that_fails_in_the_background_leaves_the_extractive_view() {
    let down = Err(FailureKind::Upstream);
    let ((provider, mut agent), mut slow) = (provider(), slow(AtLimit::Wait, down));
    let whole = slow.until_asked(&mut agent, &provider).await;
    slow.answers.add_permits(9);
    let committed = slow.ended.recv().await.expect("it ends");
    assert!(matches!(committed, Committed::Adopted { .. }), "{committed:?}");
    let sent = slow.step(&mut agent, &provider).await;
    assert!(!sent.contains(SUMMARY) && sent.len() < whole.len());
}
