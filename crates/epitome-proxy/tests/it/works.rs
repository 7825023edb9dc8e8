//! Agents of each API work past the window several times.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::script::Broken;
use testkit::server::shell::{self, Running};
use testkit::server::{Api, Fault, Loop, Model, Next, Queue, Reply, Server};

use crate::stage::{Stage, before};

pub(crate) const APIS: [Api; 5] =
    [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini, Api::Interactions];

/// A provider whose models take so many tokens, and work in steps of two calls.
pub(crate) async fn provider(window: u64) -> Running {
    let mut server = Server::new(Loop { steps: usize::MAX, parallel: 2, ..Loop::default() });
    for api in APIS {
        let mut model = Model::named(Agent::model(api)).expect("in its table");
        Agent::model(api).clone_into(&mut model.name);
        model.window = window;
        server.judge.models.put(model);
    }
    shell::start(server).await.expect("a free port")
}

pub(crate) fn request(stage: &Stage, agent: &Agent) -> Request<Bytes> {
    let body = serde_json::to_vec_pretty(&agent.request()).expect("JSON");
    let request = stage.post(agent.path()).header("anthropic-version", "2023-06-01");
    request.header("authorization", "Bearer one").body(Bytes::from(body)).expect("a request")
}

async fn step(stage: &Stage, agent: &mut Agent, lines: usize) {
    let reply = stage.call(request(stage, agent)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{}: {text}", agent.path());
    assert_eq!(agent.take(&text, lines), 2);
}

/// What of a request is its conversation.
pub(crate) fn entries(body: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let lists = ["messages", "input", "contents"].map(|name| body[name].as_array().cloned());
    lists.into_iter().flatten().next().expect("a list")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_api_works_past_the_window_several_times() {
    for api in APIS {
        for is_streaming in [false, true] {
            let running = provider(12_000).await;
            let stage = Stage::new(&before(&running.url, Some(12_000))).await;
            let mut agent = Agent::new(api, is_streaming);
            for _ in 0..40 {
                step(&stage, &mut agent, 25).await;
            }
            let adopted = stage.meter("compactions", &["result=\"adopted\""]).await;
            assert!(adopted > 1, "{api}: {adopted}");
            // Each prompt goes on with the one before, byte for byte, but for those behind a compaction.
            let sent: Vec<_> =
                running.posted().into_iter().filter(|one| one.status == 200).collect();
            assert_eq!(sent.len(), 40);
            let breaks = sent.windows(2).filter(|pair| {
                let (one, two) = (entries(&pair[0].body), entries(&pair[1].body));
                two.get(..one.len()) != Some(&one[..])
            });
            assert_eq!(breaks.count() as u64, adopted, "{api}");
            assert_eq!(stage.meter("cache_breaks", &["cause=\"view\""]).await, adopted, "{api}");
            assert_eq!(stage.meter("cache_breaks", &[]).await, adopted, "{api}");
            // The whole of it, as the agent has it, would be several times as much.
            let whole = serde_json::to_vec(&agent.request()).expect("JSON").len();
            let last = sent.last().expect("they were sent").body.len();
            assert!(whole > 3 * last, "{api}: {whole} {last}");
        }
    }
}

/// Some chat templates refuse two messages of the user's in a row, and their models' names don't tell.
#[tokio::test(flavor = "multi_thread")]
async fn views_of_an_alternating_chat_alternate() {
    for takes_turns in [true, false] {
        let running = provider(12_000).await;
        let stage = Stage::new(&before(&running.url, Some(12_000))).await;
        let mut agent = Agent::new(Api::Chat, false);
        let say = |agent: &mut Agent, words: &str| {
            agent.history.push(json!({"role": "user", "content": words}));
        };
        if !takes_turns {
            say(&mut agent, "Read the rules first.");
        }
        for nth in 0..40 {
            step(&stage, &mut agent, 25).await;
            if nth % 5 == 4 {
                say(&mut agent, &format!("Now \"part {nth}\"."));
            }
        }
        let adopted = stage.meter("compactions", &["result=\"adopted\""]).await;
        assert!(adopted > 1, "{adopted}");
        // Two in a row behind the checkpoint change nothing of what was sent.
        for _ in 0..2 {
            say(&mut agent, "Go on.");
        }
        step(&stage, &mut agent, 1).await;
        let sent: Vec<Vec<Value>> = running.posted().iter().map(|one| entries(&one.body)).collect();
        let breaks = sent.windows(2).filter(|pair| pair[1].get(..pair[0].len()) != Some(&pair[0]));
        let adopted = stage.meter("compactions", &["result=\"adopted\""]).await;
        assert_eq!(breaks.count() as u64, adopted);
        let in_a_row = |sent: &[Value]| {
            let is_users = |pair: &&[Value]| pair.iter().all(|one| one["role"] == "user");
            sent.windows(2).filter(is_users).count()
        };
        let (last, rest) = sent.split_last().expect("they were sent");
        assert_eq!(rest.iter().all(|sent| in_a_row(sent) == 0), takes_turns);
        let first = last[0]["content"].as_str().expect("a text");
        assert!(first.starts_with("Find out why the build fails."), "{first}");
        assert_eq!(first.contains("\n\n<checkpoint "), takes_turns, "{first}");
        // Originals are the client's own.
        assert!(in_a_row(&agent.history) > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_nobody_told_is_learnt_from_a_refusal() {
    for api in APIS {
        let running = provider(9_000).await;
        let stage = Stage::new(&before(&running.url, None)).await;
        let mut agent = Agent::new(api, false);
        for _ in 0..25 {
            step(&stage, &mut agent, 25).await;
        }
        let statuses: Vec<u16> = running.posted().iter().map(|one| one.status).collect();
        let refused = statuses.iter().filter(|status| **status == 400).count();
        assert!((1..4).contains(&refused), "{api}: {statuses:?}");
        assert_eq!(stage.meter("overflows", &[]).await, refused as u64);
        assert_eq!(stage.meter("requests", &["outcome=\"refused\""]).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_opens_with_a_refusal_is_asked_for_once_more() {
    for api in APIS {
        for after in 0..6 {
            // An agent with some history, whose next prompt is refused behind the status.
            let running = provider(100_000).await;
            let stage = Stage::new(&before(&running.url, None)).await;
            let mut agent = Agent::new(api, true);
            for _ in 0..6 {
                step(&stage, &mut agent, 25).await;
            }
            let broken = Broken { after, fault: Some(Fault::Overflow) };
            let refused = Reply { broken: Some(broken), ..Reply::text("Words.") };
            let then = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
            running.server().play(Queue::followed_by([Next::Reply(refused)], then));
            let sent = running.posted().len();
            let counted = stage.meter("prompt_tokens", &["before"]).await;
            // So many events of each say nothing.
            let silent = match api {
                Api::Anthropic | Api::Interactions => 3,
                Api::Chat => 1,
                Api::Responses => 4,
                _ => 0,
            };
            if after <= silent {
                step(&stage, &mut agent, 25).await;
                let sent: Vec<usize> =
                    running.posted()[sent..].iter().map(|one| one.body.len()).collect();
                assert!(sent.len() == 2 && sent[1] < sent[0], "{api} {after}: {sent:?}");
                assert_eq!(stage.meter("overflows", &[]).await, 1);
                // A prompt counts once, however often it is sent.
                let retried = stage.meter("prompt_tokens", &["before"]).await - counted;
                step(&stage, &mut agent, 25).await;
                let next = stage.meter("prompt_tokens", &["before"]).await - counted - retried;
                assert!(retried < next, "{api} {after}: {retried} {next}");
            } else {
                let reply = stage.call(request(&stage, &agent)).await;
                assert_eq!((reply.status(), running.posted().len()), (StatusCode::OK, sent + 1));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_a_provider_reports_correct_the_counts() {
    for is_streaming in [false, true] {
        let running = provider(200_000).await;
        let stage = Stage::new(&before(&running.url, None)).await;
        let mut agent = Agent::new(Api::Anthropic, is_streaming);
        for lines in [100, 100, 100, 1] {
            step(&stage, &mut agent, lines).await;
        }
        let reported = running.posted().last().and_then(|one| one.noted.usage);
        let reported = reported.expect("it was answered").prompt;
        let estimated = stage.meter("prompt_tokens", &["side=\"before\""]).await;
        step(&stage, &mut agent, 1).await;
        // The prompt before, as the provider counted it, and the little that came since.
        let estimated = stage.meter("prompt_tokens", &["side=\"before\""]).await - estimated;
        assert!((reported..reported + 500).contains(&estimated), "{estimated} {reported}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_counted_as_it_is_sent() {
    let running = provider(12_000).await;
    let stage = Stage::new(&before(&running.url, Some(12_000))).await;
    let mut agent = Agent::new(Api::Anthropic, false);
    while stage.meter("compactions", &["adopted"]).await == 0 {
        step(&stage, &mut agent, 25).await;
    }
    let sent = running.posted().pop().expect("it was sent");
    agent.history.truncate(agent.history.len() - 2);
    let mut body = agent.request();
    body.as_object_mut().expect("an object").remove("max_tokens");
    let count = |body: Value| {
        let request =
            stage.post("/v1/messages/count_tokens").header("anthropic-version", "2023-06-01");
        let request = request.header("authorization", "Bearer one");
        request.body(Bytes::from(body.to_string())).expect("a request")
    };
    let reply = stage.call(count(body.clone())).await;
    let told: Value = serde_json::from_slice(reply.body()).expect("JSON");
    assert_eq!(reply.status(), 200, "{told}");
    let counted = running.posted().pop().expect("it was counted");
    assert_eq!(entries(&counted.body), entries(&sent.body));
    // What isn't known is counted as it came.
    body["messages"] = json!([{"role": "user", "content": "Another one."}]);
    stage.call(count(body.clone())).await;
    let counted = running.posted().pop().expect("it was counted");
    assert_eq!(counted.body, body.to_string().into_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_apart_and_each_has_its_own_view() {
    let running = provider(12_000).await;
    let stage = Stage::new(&before(&running.url, Some(12_000))).await;
    let mut agent = Agent::new(Api::Chat, false);
    while stage.meter("compactions", &["adopted"]).await == 0 {
        step(&stage, &mut agent, 25).await;
    }
    // The same history from somebody else is a conversation of its own, which is compacted for itself.
    let mut other = request(&stage, &agent);
    other.headers_mut().insert("authorization", "Bearer two".parse().expect("a value"));
    assert_eq!(stage.call(other).await.status(), 200);
    assert_eq!(stage.meter("compactions", &["adopted"]).await, 2);
    assert_eq!(stage.call(request(&stage, &agent)).await.status(), 200);
    assert_eq!(stage.meter("compactions", &["adopted"]).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn history_at_the_provider_passes_and_is_counted() {
    let running = provider(12_000).await;
    let stage = Stage::new(&before(&running.url, Some(1_000))).await;
    let long = "The build fails, and nobody knows why. ".repeat(500);
    for (path, body, reason) in [
        (
            "/v1/responses",
            json!({"model": "gpt-6.1-sol", "previous_response_id": "resp_1", "input": long}),
            "previous-response",
        ),
        (
            "/v1beta/interactions",
            json!({"model": "gemini-3.8-flash", "previous_interaction_id": "v1_1", "input": long}),
            "previous-interaction",
        ),
        (
            "/v1/responses",
            json!({"model": "gpt-6.1-sol", "conversation": "conv_1", "input": long}),
            "conversation",
        ),
        (
            "/v1beta/models/gemini-3.1-pro:generateContent",
            json!({"cachedContent": "cachedContents/1", "contents": [{"role": "user", "parts": [{"text": long}]}]}),
            "cached-content",
        ),
        ("/v1/messages", json!({"messages": 5}), "unread"),
    ] {
        let body = Bytes::from(body.to_string());
        stage.call(stage.post(path).body(body.clone()).expect("a request")).await;
        assert_eq!(running.posted().last().expect("it was sent").body, body);
        assert_eq!(stage.meter("passed", &[&format!("reason=\"{reason}\"")]).await, 1, "{reason}");
    }
    // A member that says nothing names nothing.
    let body = json!({"model": "gpt-6.1-sol", "previous_response_id": null, "input": [{"role": "user", "content": long}]});
    stage
        .call(stage.post("/v1/responses").body(Bytes::from(body.to_string())).expect("a request"))
        .await;
    assert_eq!(stage.meter("passed", &[]).await, 5);
}
