//! Agents of every API at once, before a provider that fails, cuts and dawdles by dice: `EPITOME_REQUESTS` says how many requests.

use std::time::Duration;

use epitome::model::overflow::{AnswerKind, classify, classify_event};
use epitome_proxy::{ProxyOptions, RecallSource};
use http_body_util::BodyExt as _;
use serde_json::json;
use testkit::agent::Agent;
use testkit::dice::Dice;
use testkit::server::script::{Broken, Script as _, Seen};
use testkit::server::shell::Running;
use testkit::server::{Api, Fault, Loop, Next, Reply};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::stage::{Stage, before};
use crate::works::{APIS, provider, request};

/// What becomes of requests.
#[derive(Debug, Default)]
struct Counts {
    asked: u64,
    answered: u64,
    failed: u64,
    cut: u64,
    left: u64,
}

fn fault(dice: &mut Dice) -> Fault {
    match dice.below(4) {
        0 => Fault::RateLimited { retry_after: None },
        1 => Fault::Overloaded,
        2 => Fault::Internal,
        _ => Fault::Overflow,
    }
}

/// Works, and now and then does what providers do.
fn play(running: &Running, seed: u64, recall: RecallSource) {
    let mut dice = Dice::new(seed);
    let mut work = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
    running.server().play(move |seen: &Seen<'_>| {
        let next = work.next(seen);
        let Next::Reply(mut reply) = next else { return next };
        match dice.below(20) {
            0 => return Next::Fault(fault(&mut dice)),
            1 | 2 => {
                let fault = (dice.below(2) == 0).then(|| fault(&mut dice));
                // What came before a cut is on its way then.
                reply.pace = Duration::from_millis(dice.below(3) as u64);
                reply.broken = Some(Broken { after: dice.below(14), fault });
            }
            3 => reply.wait = Duration::from_millis(dice.below(20) as u64),
            4 => reply.pace = Duration::from_millis(1),
            5 | 6 if recall == RecallSource::Offered => {
                let query = json!({"query": "error warning build"});
                return Next::Reply(Reply::call("recall_search", query).thinking("What was it?"));
            }
            _ => {}
        }
        Next::Reply(reply)
    });
}

/// Whether a stream, or a whole reply, says that it failed.
fn has_failed(text: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    let data = text.split("\n\n").filter(|event| !event.trim().is_empty());
    data.into_iter()
        .any(|event| classify_event(event).is_some_and(|kind| kind != AnswerKind::CutShort))
}

/// An agent that works, forks, goes back and leaves, for so many requests.
async fn work(stage: &Stage, api: Api, seed: u64, requests: u64) -> Counts {
    let mut dice = Dice::new(seed);
    let mut counts = Counts::default();
    let mut agent = Agent::new(api, dice.below(2) == 0);
    // Lengths of its history at which it may ask.
    let mut ends = vec![1];
    while counts.asked < requests {
        match dice.below(30) {
            0 => {
                ends.truncate(1 + dice.below(ends.len()));
                agent.history.truncate(ends[ends.len() - 1]);
            }
            1 => agent.is_streaming = !agent.is_streaming,
            _ if ends.len() > 40 => {
                agent = Agent::new(api, dice.below(2) == 0);
                ends = vec![1];
            }
            _ => {}
        }
        counts.asked += 1;
        let reply = stage.send(request(stage, &agent)).await;
        let status = reply.status();
        if dice.below(20) == 0 {
            counts.left += 1;
            continue;
        }
        let Ok(body) = reply.into_body().collect().await else {
            counts.cut += 1;
            continue;
        };
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        assert!(!text.trim().is_empty(), "{api} {seed}: an empty {status}");
        assert!(!text.contains("recall_search"), "{api} {seed}: {text}");
        if status == 400 {
            let kind = classify(400, &text);
            assert!(
                matches!(kind, AnswerKind::Overflow(_)),
                "{api} {seed} {}: {text}",
                counts.asked
            );
        }
        if status != 200 || has_failed(&text) {
            counts.failed += 1;
            continue;
        }
        counts.answered += 1;
        assert_eq!(agent.take(&text, 10 + dice.below(20)), 2, "{api} {seed}");
        ends.push(agent.history.len());
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_nothing_is_empty_invalid_or_out_of_order() {
    let all: u64 =
        std::env::var("EPITOME_REQUESTS").map_or(1_000, |all| all.parse().expect("a number"));
    let (mut asked, mut round) = (0, 0);
    let mut sum = Counts::default();
    while asked < all {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let running = provider(12_000).await;
        let recall = if round % 2 == 0 { RecallSource::Offered } else { RecallSource::None };
        play(&running, round, recall);
        let stage =
            Stage::new(&ProxyOptions { recall, ..before(&running.url, Some(12_000)) }).await;
        let stage = std::sync::Arc::new(stage);
        let mut works = JoinSet::new();
        for (nth, api) in (0..).zip(APIS) {
            for twin in 0..2 {
                let stage = std::sync::Arc::clone(&stage);
                let seed = round * 100 + nth * 10 + twin;
                works.spawn(async move { work(&stage, api, seed, 60).await });
            }
        }
        while let Some(done) = works.join_next().await {
            let done = done.expect("it didn't panic");
            sum.asked += done.asked;
            sum.answered += done.answered;
            sum.failed += done.failed;
            sum.cut += done.cut;
            sum.left += done.left;
        }
        asked = sum.asked;
        assert_eq!(stage.meter("panics", &[]).await, 0);
        let stage = std::sync::Arc::into_inner(stage).expect("all are done");
        stage.ended().await;
        drop(running);
        // What is under way for clients that left ends by itself.
        let mut looks = 0;
        while Handle::current().metrics().num_alive_tasks() > tasks {
            looks += 1;
            assert!(
                looks < 3_000,
                "{} tasks are left",
                Handle::current().metrics().num_alive_tasks() - tasks
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        round += 1;
    }
    println!("{sum:?}");
    assert!(sum.answered > sum.asked / 2 && sum.cut > 0, "{sum:?}");
}
