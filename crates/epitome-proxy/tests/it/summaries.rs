//! Summaries by a model, for which no request waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use epitome::summarize::{Brief, FailureKind, Summaries, SummarizeError, Summary, from_fn};
use epitome_proxy::{InternalErrors, ProxyLimits, ProxyOptions};
use serde_json::Value;
use testkit::agent::Agent;
use testkit::server::Api;
use tokio::sync::Semaphore;

use crate::stage::{Stage, before};
use crate::works::{entries, provider, request};

const SUMMARY: &str = "The build fails because of a missing file, and each result was looked at.";

/// A summarizer that answers once for each permit, and how often it was asked.
fn summaries(may: &Arc<Semaphore>, fails: bool) -> (Summaries, Arc<AtomicUsize>) {
    let asked = Arc::<AtomicUsize>::default();
    let (count, may) = (Arc::clone(&asked), Arc::clone(may));
    let model = from_fn("model", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        let may = Arc::clone(&may);
        async move {
            may.acquire_owned().await.expect("it stays open").forget();
            let down = || SummarizeError::new(FailureKind::Timeout, "it is down");
            if fails { Err(down()) } else { Ok(Summary::new(SUMMARY)) }
        }
    });
    let brief = Brief { sections: Some(Vec::new()), ..Brief::default() };
    (Summaries { chain: vec![model], brief, ..Summaries::default() }, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_is_prepared_in_the_background_or_code_does_it() {
    for (answers, fails) in [(1_000, false), (1_000, true), (0, false)] {
        let running = provider(12_000).await;
        let (summaries, asked) = summaries(&Arc::new(Semaphore::new(answers)), fails);
        let options = ProxyOptions { summaries, ..before(&running.url, Some(12_000)) };
        let stage = Stage::new(&options).await;
        let mut agent = Agent::new(Api::Chat, false);
        let is_summed_up = answers > 0 && !fails;
        let (mut summed, mut steps) = (0, 0);
        // Whoever never answers is never waited for: the window holds all the same.
        while stage.meter("compactions", &["adopted"]).await < 2 || is_summed_up && summed == 0 {
            steps += 1;
            assert!(steps < 300, "{answers} {fails}: {summed}");
            let reply = stage.call(request(&stage, &agent)).await;
            assert_eq!(reply.status(), 200);
            agent.take(&String::from_utf8_lossy(reply.body()), 15);
            let sent = entries(&running.posted().pop().expect("it was sent").body);
            summed += usize::from(sent.iter().any(|one| one.to_string().contains(SUMMARY)));
            // What is done in the background gets its turn.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(asked.load(Ordering::Relaxed) > 0);
        assert_eq!(stage.meter("fallbacks", &[]).await > 0, fails, "{answers}");
        assert_eq!(summed > 0, is_summed_up, "{answers} {fails}: {summed}");
    }
}

/// The tokens of the prompt, as the reply to it reports them.
pub(crate) fn used(reply: &str) -> u64 {
    let reply: Value = serde_json::from_str(reply).expect("JSON");
    let places = [
        "/usage/prompt_tokens",
        "/usage/input_tokens",
        "/usage/cache_read_input_tokens",
        "/usage/cache_creation_input_tokens",
        "/usageMetadata/promptTokenCount",
    ];
    places.iter().filter_map(|place| reply.pointer(place)?.as_u64()).sum()
}

/// Bytes of its next request: at 250,000 it is far above the trigger.
fn json_size(agent: &Agent) -> usize {
    agent.request().to_string().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_that_fails_sends_what_came_or_is_the_answer() {
    for (errors, api) in [
        (InternalErrors::Forward, Api::Chat),
        (InternalErrors::Refuse, Api::Chat),
        (InternalErrors::Refuse, Api::Anthropic),
        (InternalErrors::Refuse, Api::Gemini),
    ] {
        let running = provider(1_000_000).await;
        let fails = Arc::new(AtomicBool::new(true));
        let (may_fail, asked) = (Arc::clone(&fails), Arc::<AtomicUsize>::default());
        let count = Arc::clone(&asked);
        let model = from_fn("model", move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            assert!(!may_fail.load(Ordering::Relaxed), "it panics");
            std::future::ready(Ok(Summary::new(SUMMARY)))
        });
        let brief = Brief { sections: Some(Vec::new()), ..Brief::default() };
        let summaries = Summaries { chain: vec![model], brief, ..Summaries::default() };
        let trigger = "20k".parse().expect("a trigger");
        let options = ProxyOptions {
            summaries,
            trigger,
            internal_errors: errors,
            ..before(&running.url, Some(200_000))
        };
        let stage = Stage::new(&options).await;
        let mut agent = Agent::new(api, false);
        loop {
            let request = request(&stage, &agent);
            let (body, sent) = (request.body().clone(), running.posted().len());
            let reply = stage.call(request).await;
            let text = String::from_utf8_lossy(reply.body()).into_owned();
            if reply.status() != 200 {
                assert_eq!((reply.status().as_u16(), errors), (500, InternalErrors::Refuse));
                assert!(text.contains("(internal)") && text.contains("it panics"), "{text}");
                assert_eq!(text.contains("api_error"), api == Api::Anthropic, "{text}");
                assert_eq!(running.posted().len(), sent, "nothing was sent");
                break;
            }
            assert_eq!(running.posted().pop().expect("sent").body, body, "{errors:?} {api}");
            agent.take(&text, 15);
            // At seven eighths of the trigger it is begun in the background, and ends before the trigger itself fires.
            while used(&text) > 18_500 && asked.load(Ordering::Relaxed) == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            while asked.load(Ordering::Relaxed) > 0
                && stage.meter("compactions", &["failed"]).await == 0
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            if json_size(&agent) > 250_000 {
                assert_eq!(errors, InternalErrors::Forward);
                break;
            }
        }
        assert!(asked.load(Ordering::Relaxed) > 0);
        assert_eq!(
            stage.meter("requests", &["denied"]).await,
            u64::from(errors == InternalErrors::Refuse)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fail_closed_refuses_requests_without_room() {
    for (internal_errors, status) in [(InternalErrors::Forward, 200), (InternalErrors::Refuse, 500)]
    {
        let running = provider(100_000).await;
        let limits = ProxyLimits { held: 10, ..ProxyLimits::default() };
        let options = ProxyOptions { internal_errors, limits, ..before(&running.url, None) };
        let stage = Stage::new(&options).await;
        let reply =
            stage.call(request(&stage, &Agent::new(Api::Chat, false)).map(Bytes::from)).await;
        assert_eq!(reply.status(), status);
        assert_eq!(running.posted().len(), usize::from(status == 200));
    }
}
