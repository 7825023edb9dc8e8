//! What the layer does to the calls of an agent, and what it leaves alone.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use epitome::engine::Stop;
use epitome::session::{ChainKey, Committed, Landing, Recipient, SessionOptions};
use epitome::strategy::{Edit, Pipeline, Strategy, StrategyContext};
use epitome::trigger::{Cause, Measurements, Trigger, When};
use epitome::{Options, Target};
use epitome_tower::{Carrier, CompactionLayer, Event, LayerError, Prompt, WithCompaction};
use http::{Request, Response};
use testkit::server::Fault;
use tower::{ServiceExt, service_fn};

use crate::agent::{Agent, MODEL, Provider, call};

pub(crate) fn layer(window: u64, soft: Option<When>) -> CompactionLayer {
    let trigger = |when: When| -> Arc<dyn Trigger> { Arc::new(when.build().expect("in range")) };
    let compactor = testkit::compactor(Options::default(), "claude");
    let options = SessionOptions {
        soft: soft.map(trigger),
        ..SessionOptions::new(trigger(When::Share(0.8)), ChainKey([1, 2, 3, 4]))
    };
    CompactionLayer::new(compactor, options).expect("in range").to(Recipient::from(Some(window)))
}

/// The layer, and how many of its compactions were adopted.
pub(crate) fn counted(layer: CompactionLayer) -> (CompactionLayer, Arc<AtomicUsize>) {
    let adopted = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&adopted);
    let layer = layer.observed_by(move |event| {
        if let Event::Compacted { committed: Committed::Adopted { .. }, .. } = event {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    (layer, adopted)
}

#[tokio::test]
async fn below_the_trigger_not_a_byte_is_touched() {
    let provider = Provider::new(200_000, 2);
    let mut client = provider.wrapped(&layer(200_000, None));
    let mut agent = Agent::new();
    let mut written = Vec::new();
    for _ in 0..6 {
        let request = agent.request();
        written.push(request.body().clone());
        let reply = call(&mut client, request).await;
        agent.take(&reply, 20);
    }
    assert_eq!(*provider.sent(), written);
}

#[tokio::test]
async fn a_long_session_stays_inside_and_nothing_is_compacted_twice() {
    for soft in [None, Some(When::Share(0.5))] {
        let (layer, adopted) = counted(layer(24_000, soft));
        let provider = Provider::new(24_000, 2);
        let mut client = provider.wrapped(&layer);
        let mut agent = Agent::new();
        agent.work(&mut client, 60, 25).await;
        let adopted = adopted.load(Ordering::Relaxed);
        assert!((2..30).contains(&adopted), "{adopted}");
        // Each request goes on with the one before, except after a compaction.
        let sent = provider.sent();
        let messages = |body: &String| -> Vec<serde_json::Value> {
            let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
            body["messages"].as_array().expect("a list").clone()
        };
        let breaks = sent.windows(2).filter(|pair| {
            let (before, after) = (messages(&pair[0]), messages(&pair[1]));
            after.get(..before.len()) != Some(&before[..])
        });
        // The last one may be adopted behind the last request, or told of behind it.
        let breaks = breaks.count();
        assert!(breaks.abs_diff(adopted) < 2, "{breaks} breaks, {adopted} adopted");
    }
}

#[tokio::test]
async fn what_is_refused_again_is_the_callers() {
    let provider = Provider::refusing(200_000, vec![Fault::Overflow; 2]);
    let (layer, adopted) = counted(layer(200_000, None));
    let mut client = provider.wrapped(&layer);
    let agent = worked(8).await;
    let reply = call(&mut client, agent.request()).await;
    assert_eq!(reply.status(), 400, "{}", reply.body());
    let sent = provider.sent().clone();
    assert_eq!((sent.len(), adopted.load(Ordering::Relaxed)), (2, 1));
    assert!(sent[1].len() < sent[0].len());
}

#[tokio::test]
async fn other_refusals_are_the_callers_at_once() {
    for fault in [Fault::RateLimited { retry_after: None }, Fault::Overloaded, Fault::Internal] {
        let provider = Provider::refusing(200_000, [fault]);
        let mut client = provider.wrapped(&layer(200_000, None));
        let reply = call(&mut client, Agent::new().request()).await;
        assert!(!reply.status().is_success());
        assert_eq!(provider.sent().len(), 1);
    }
}

/// An agent with so much history, made with a provider of its own.
pub(crate) async fn worked(steps: usize) -> Agent {
    let mut agent = Agent::new();
    agent.work(&mut Provider::new(200_000, 2), steps, 25).await;
    agent
}

/// The same with strategies that find nothing to do.
fn idle_layer(window: u64) -> CompactionLayer {
    let options =
        Options { strategies: Pipeline::List(Vec::new()), stop: Stop::AtEnd, ..Options::default() };
    let compactor = testkit::compactor(options, "claude");
    let trigger = When::Tokens(1_000).build().expect("in range");
    let options = SessionOptions::new(Arc::new(trigger), ChainKey([1, 2, 3, 4]));
    let layer = CompactionLayer::new(compactor, options).expect("in range");
    layer.to(Recipient::from(Some(window)))
}

#[tokio::test]
async fn a_compaction_for_nothing_fails_no_call_that_fits() {
    let agent = worked(8).await;
    let provider = Provider::new(100_000, 2);
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ended);
    let layer = idle_layer(100_000).observed_by(move |event| {
        if let Event::Compacted { committed, .. } = event {
            assert!(!matches!(committed, Committed::Adopted { .. }), "{committed:?}");
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut client = provider.wrapped(&layer);
    for _ in 0..3 {
        let request = agent.request();
        let written = request.body().clone();
        let reply = call(&mut client, request).await;
        assert_eq!(reply.status(), 200, "{}", reply.body());
        assert_eq!(provider.sent().last(), Some(&written), "byte for byte");
    }
    // It was tried, and not again for the same.
    assert_eq!(ended.load(Ordering::Relaxed), 1);
}

#[derive(Debug)]
struct Where(Arc<Mutex<HashSet<ThreadId>>>);

impl Where {
    fn note(&self) {
        self.0.lock().expect("nobody panicked").insert(thread::current().id());
    }
}

impl Trigger for Where {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        self.note();
        (measurements.items > 20).then(|| Cause::Custom("many".to_owned()))
    }
}

impl Strategy for Where {
    fn name(&self) -> &'static str {
        "where"
    }

    fn propose(&self, _: &StrategyContext<'_>) -> Vec<Edit> {
        self.note();
        Vec::new()
    }
}

/// What takes long is done on other threads than the caller's; what is short isn't worth one.
#[tokio::test]
async fn a_long_request_does_not_hold_the_callers_thread() {
    let seen: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let options = SessionOptions {
        landing: Landing::Target(Target::Tokens(500)),
        ..SessionOptions::new(Arc::new(Where(Arc::clone(&seen))), ChainKey([1, 2, 3, 4]))
    };
    let compactor = testkit::compactor(Options::default(), "claude");
    let compactor = compactor.with_strategies(vec![Arc::new(Where(Arc::clone(&seen)))]);
    let layer = CompactionLayer::new(compactor, options).expect("in range");
    let layer = layer.to(Recipient::from(Some(1_000_000)));
    let mut client = Provider::new(1_000_000, 2).wrapped(&layer);

    let here = thread::current().id();
    let threads = || std::mem::take(&mut *seen.lock().expect("nobody panicked"));
    let short = worked(1).await.request();
    assert!(short.body().len() < 10_000, "{}", short.body().len());
    call(&mut client, short).await;
    assert_eq!(threads(), HashSet::from([here]));
    let long = worked(40).await.request();
    assert!(long.body().len() > 20_000, "{}", long.body().len());
    call(&mut client, long).await;
    let elsewhere = threads();
    assert!(!elsewhere.is_empty() && !elsewhere.contains(&here), "{elsewhere:?}");
}

#[derive(Debug)]
struct Panicking;

impl Strategy for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn propose(&self, _: &StrategyContext<'_>) -> Vec<Edit> {
        panic!("this strategy has a bug")
    }
}

/// A panic of a strategy, a trigger or an observer is a compaction that failed.
#[tokio::test]
async fn code_that_panics_fails_no_call_that_fits() {
    let agent = worked(8).await;
    let options = |trigger: Arc<dyn Trigger>| SessionOptions {
        landing: Landing::Target(Target::Tokens(500)),
        ..SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]))
    };
    let compactor = || testkit::compactor(Options::default(), "claude");
    let full: Arc<dyn Trigger> = Arc::new(When::Tokens(1_000).build().expect("in range"));
    let by_strategy = compactor().with_strategies(vec![Arc::new(Panicking)]);
    let by_trigger = |_: &Measurements| -> Option<Cause> { panic!("this trigger has a bug") };
    let layers = [
        (CompactionLayer::new(by_strategy, options(full)), "this strategy has a bug"),
        (CompactionLayer::new(compactor(), options(by_trigger.boxed())), "this trigger has a bug"),
    ];
    for (layer, words) in layers {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let book = Arc::clone(&told);
        let layer = layer.expect("in range").to(Recipient::from(Some(100_000)));
        let layer = layer.observed_by(move |event| {
            let said = match event {
                Event::Compacted { receipt, committed, .. } => {
                    assert_eq!(*committed, Committed::Failed);
                    receipt.as_ref().expect_err("it failed").to_string()
                }
                Event::Panicked { what } => what.clone(),
                _ => return,
            };
            book.lock().expect("nobody panicked").push(said);
            panic!("this observer has a bug, too");
        });
        let provider = Provider::new(100_000, 2);
        let mut client = provider.wrapped(&layer);
        for _ in 0..3 {
            let request = agent.request();
            let written = request.body().clone();
            let reply = call(&mut client, request).await;
            assert_eq!(reply.status(), 200, "{}", reply.body());
            assert_eq!(provider.sent().last(), Some(&written), "byte for byte");
        }
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!told.is_empty() && told.iter().all(|said| said.contains(words)), "{told:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_made_to_whatever_the_strategies_find() {
    let agent = worked(24).await;
    let provider = Provider::new(12_000, 2);
    let mut client = provider.wrapped(&idle_layer(12_000));
    let reply = call(&mut client, agent.request()).await;
    assert_eq!(reply.status(), 200, "{}", reply.body());
    let sent = provider.sent().clone();
    assert!(sent.len() == 1 && sent[0].len() < agent.request().body().len() / 2);
}

#[tokio::test]
async fn where_nothing_fits_the_caller_hears_the_providers_own_words() {
    let provider = Provider::new(4_000, 2);
    let mut client = provider.wrapped(&layer(4_000, None));
    for _ in 0..3 {
        let request = worked(4).await.request();
        let rules = "Obey the rules of this house. ".repeat(1_000);
        let (parts, body) = request.into_parts();
        let body = body.replace("You fix builds.", &rules);
        let reply = call(&mut client, Request::from_parts(parts, body)).await;
        assert_eq!(reply.status(), 400);
        assert!(reply.body().contains("prompt is too long"), "{}", reply.body());
    }
    // The first is tried once more, smaller; then it is known.
    assert!(provider.sent().len() <= 6, "{}", provider.sent().len());
}

#[tokio::test]
async fn bare_prompts_need_no_http() {
    let body = Agent::new().request().into_body();
    let prompt = Prompt { format: epitome::Format::Anthropic, body };
    let inner = service_fn(|prompt: Prompt| {
        std::future::ready(Ok::<_, std::io::Error>(Response::new(prompt.body)))
    });
    let layer = CompactionLayer::for_model(MODEL).expect("a known model");
    let reply = inner.with_compaction(layer).oneshot(prompt.clone()).await.expect("an answer");
    assert_eq!(*reply.body(), prompt.body);
}

/// A prompt whose tenant only the caller's task knows.
struct Tasks(Prompt);

tokio::task_local! { static TENANT: &'static str; }

impl Carrier for Tasks {
    fn body(&self) -> Option<&str> {
        self.0.body()
    }

    fn with_body(self, body: String) -> Self {
        Tasks(self.0.with_body(body))
    }

    fn again(&self) -> Option<Self> {
        self.0.again().map(Tasks)
    }

    fn format(&self) -> Option<epitome::Format> {
        self.0.format()
    }

    fn tenant(&self) -> String {
        TENANT.with(|tenant| (*tenant).to_owned())
    }
}

#[tokio::test]
async fn tenants_are_asked_for_in_the_callers_task() {
    let body = worked(30).await.request().into_body();
    assert!(body.len() > 1 << 16, "it is looked at on another thread");
    let inner = service_fn(|prompt: Tasks| {
        std::future::ready(Ok::<_, std::io::Error>(Response::new(prompt.0.body)))
    });
    let panics = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&panics);
    let layer = layer(200_000, None).observed_by(move |event| {
        seen.fetch_add(usize::from(matches!(event, Event::Panicked { .. })), Ordering::Relaxed);
    });
    let prompt = Tasks(Prompt { format: epitome::Format::Anthropic, body: body.clone() });
    let call = inner.with_compaction(layer).oneshot(prompt);
    let reply = TENANT.scope("acme", call).await.expect("an answer");
    assert_eq!((reply.body(), panics.load(Ordering::Relaxed)), (&body, 0));
}

#[test]
fn models_that_are_not_known_are_told_at_once() {
    let error = CompactionLayer::for_model("claude-opsu-5-5").expect_err("no such model");
    assert!(matches!(&error, LayerError::Model(unknown) if !unknown.nearest.is_empty()));
    assert!(error.to_string().contains("claude-opsu-5-5"), "{error}");
}
