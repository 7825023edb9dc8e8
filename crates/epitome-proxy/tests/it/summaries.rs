//! Summaries by a model, for which no request waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome::summarize::{Brief, FailureKind, Summaries, SummarizeError, Summary, from_fn};
use epitome_proxy::ProxyOptions;
use testkit::server::Api;
use tokio::sync::Semaphore;

use crate::agents::Agent;
use crate::stage::{Stage, before};
use crate::works::{entries, provider, request};

const SUMMARY: &str = "The build fails because of a missing file, and each result was looked at.";

/// Who answers as often as he is let, and how often he was asked.
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
            let sent = entries(&running.recorded().pop().expect("it was sent").body);
            summed += usize::from(sent.iter().any(|one| one.to_string().contains(SUMMARY)));
            // What is done in the background gets its turn.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(asked.load(Ordering::Relaxed) > 0);
        assert_eq!(summed > 0, is_summed_up, "{answers} {fails}: {summed}");
    }
}
