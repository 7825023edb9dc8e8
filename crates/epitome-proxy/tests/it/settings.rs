//! When and how a proxy compacts, and what it tells of the provider's cache.

use bytes::Bytes;
use epitome::Target;
use epitome::session::Landing;
use epitome_proxy::{Proxy, ProxyError, ProxyMode, ProxyOptions};
use http::StatusCode;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::{Api, Loop, Queue, Reply};

use crate::stage::{Stage, before};
use crate::works::{entries, provider, request};

async fn step(stage: &Stage, agent: &mut Agent) {
    let reply = stage.call(request(stage, agent)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{text}");
    assert_eq!(agent.take(&text, 25), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn off_all_passes() {
    let running = provider(6_000).await;
    let options = ProxyOptions { mode: ProxyMode::Off, ..before(&running.url, Some(6_000)) };
    let stage = Stage::new(&options).await;
    let mut agent = Agent::new(Api::Chat, false);
    let refused = loop {
        let request = request(&stage, &agent);
        let body = request.body().clone();
        let reply = stage.call(request).await;
        assert_eq!(running.posted().last().expect("it was sent").body, body);
        if reply.status() != StatusCode::OK {
            break reply.status();
        }
        agent.take(&String::from_utf8_lossy(reply.body()), 25);
    };
    assert_eq!(refused, StatusCode::BAD_REQUEST);
    let passed = stage.meter("passed", &["reason=\"off\""]).await;
    assert_eq!(passed, running.posted().len() as u64);
    assert_eq!(stage.meter("compactions", &[]).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_has_its_own_window() {
    let running = provider(12_000).await;
    let windows = vec![("claude-*".to_owned(), 12_000)];
    let options = ProxyOptions { windows, ..before(&running.url, None) };
    let stage = Stage::new(&options).await;
    let mut agent = Agent::new(Api::Anthropic, false);
    for _ in 0..30 {
        step(&stage, &mut agent).await;
    }
    assert!(stage.meter("compactions", &["cause=\"window\"", "adopted"]).await > 1);
    assert_eq!(stage.meter("overflows", &[]).await, 0);
}

#[test]
fn a_target_above_the_trigger_is_no_proxy() {
    let landing = Landing::Target(Target::Tokens(90_000));
    let options = ProxyOptions { landing, ..before("http://localhost:1", Some(100_000)) };
    let error = Proxy::new(&options).expect_err("it would compact in circles");
    assert!(matches!(error, ProxyError::Target { .. }), "{error:?}");
    assert!(error.to_string().contains("land at 90000 tokens and begin at 80000"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_the_window_cuts_is_asked_for_once_more_and_teaches_the_window() {
    for (is_streaming, words) in [(false, "Let me"), (true, "Let me"), (true, "")] {
        let running = provider(100_000).await;
        let stage = Stage::new(&before(&running.url, None)).await;
        let mut agent = Agent::new(Api::Anthropic, is_streaming);
        for _ in 0..6 {
            step(&stage, &mut agent).await;
        }
        let stop = Some("model_context_window_exceeded".to_owned());
        let cut = Reply { stop, ..Reply::text(words) };
        let then = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
        running.server().play(Queue::followed_by([cut.into()], then));
        let sent = running.posted().len();
        if is_streaming && !words.is_empty() {
            // Its words are out already.
            let reply = stage.call(request(&stage, &agent)).await;
            assert!(
                String::from_utf8_lossy(reply.body()).contains("model_context_window_exceeded")
            );
            assert_eq!(running.posted().len(), sent + 1);
        } else {
            step(&stage, &mut agent).await;
            let sizes: Vec<usize> =
                running.posted()[sent..].iter().map(|one| one.body.len()).collect();
            assert!(sizes.len() == 2 && sizes[1] < sizes[0], "{sizes:?}");
        }
        // What filled it then is never sent again.
        let most = running.posted()[sent].noted.usage.expect("it was answered").prompt;
        for _ in 0..6 {
            step(&stage, &mut agent).await;
            let last = running.posted().pop().and_then(|one| one.noted.usage);
            assert!(last.expect("it was answered").prompt < most);
        }
        assert!(stage.meter("compactions", &["adopted"]).await > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_is_kept_and_what_the_provider_says_of_it_agrees() {
    for (api, is_streaming) in [(Api::Chat, false), (Api::Anthropic, true), (Api::Anthropic, false)]
    {
        let running = provider(12_000).await;
        let stage = Stage::new(&before(&running.url, Some(12_000))).await;
        let mut agent = Agent::new(api, is_streaming);
        let mut read = 0;
        for _ in 0..30 {
            let mut body = agent.request();
            if api == Api::Anthropic {
                body["cache_control"] = json!({"type": "ephemeral"});
            }
            let request = request(&stage, &agent).map(|_| Bytes::from(body.to_string()));
            let reply = stage.call(request).await;
            assert_eq!(agent.take(&String::from_utf8_lossy(reply.body()), 25), 2);
            read += running.posted().pop().and_then(|one| one.noted.usage).expect("used").read;
        }
        let expected = stage.meter("cache_expected_tokens", &[]).await;
        let told = stage.meter("cache_read_tokens", &[]).await;
        assert!(expected > 10_000 && told >= expected / 100 * 95, "{api}: {told} of {expected}");
        assert!(told <= read, "{told} {read}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn breaks_that_a_client_makes_are_counted_as_its_own() {
    let running = provider(100_000).await;
    let stage = Stage::new(&before(&running.url, None)).await;
    let send = async |system: &str, words: &[&str]| {
        let said = words.iter().enumerate().map(|(nth, word)| {
            json!({"role": if nth % 2 == 0 { "user" } else { "assistant" }, "content": word})
        });
        let body = json!({"model": "claude-opus-5-5", "max_tokens": 50, "system": system, "messages": said.collect::<Value>()});
        let request = stage.post("/v1/messages").header("anthropic-version", "2023-06-01");
        let request = request.body(Bytes::from(body.to_string())).expect("a request");
        assert_eq!(stage.call(request).await.status(), 200);
        assert_eq!(entries(&running.posted().pop().expect("sent").body).len(), words.len());
    };
    let breaks = async |cause: &str| stage.meter("cache_breaks", &[cause]).await;
    send("Be short.", &["a"]).await;
    send("Be short.", &["a", "b", "c"]).await;
    send("Be short.", &["a", "b", "c"]).await;
    send("Be short.", &["a"]).await;
    assert_eq!(breaks("").await, 0);
    send("Be long.", &["a", "b", "c", "d", "e"]).await;
    assert_eq!((breaks("frame").await, breaks("").await), (1, 1));
    send("Be long.", &["a", "b", "x"]).await;
    assert_eq!((breaks("history").await, breaks("").await), (1, 2));
}
