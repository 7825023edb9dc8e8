//! A client's own compaction: a request for a summary of all, and then another conversation that begins with it.

use bytes::Bytes;
use epitome_proxy::ProxyOptions;
use http::Request;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::stage::{Stage, before};
use crate::summaries::used;
use crate::works::{entries, provider, request};

const CLAUDE_CODE: &str =
    "Respond with text only. Your task is to create a detailed summary of the conversation so far.";

/// An agent that worked up to so many bytes of JSON.
async fn worked(stage: &Stage, api: Api, bytes: usize) -> Agent {
    let mut agent = Agent::new(api, false);
    while agent.request().to_string().len() < bytes {
        let reply = stage.call(request(stage, &agent)).await;
        assert_eq!(reply.status(), 200);
        agent.take(&String::from_utf8_lossy(reply.body()), 10);
    }
    agent
}

/// A message of the user's.
fn said(api: Api, text: &str) -> Value {
    match api {
        Api::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        Api::Interactions => {
            json!({"type": "user_input", "content": [{"type": "text", "text": text}]})
        }
        _ => json!({"role": "user", "content": text}),
    }
}

/// The agent's request with another last message, and without tools where it offers none then.
fn asking(stage: &Stage, agent: &Agent, api: Api, text: &str, tools: Tools) -> Request<Bytes> {
    let mut agent = agent.clone();
    agent.history.push(said(api, text));
    let mut body = agent.request();
    if tools == Tools::None {
        body.as_object_mut().expect("an object").remove("tools");
    }
    let (head, _) = request(stage, &agent).into_parts();
    Request::from_parts(head, Bytes::from(serde_json::to_vec_pretty(&body).expect("JSON")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tools {
    Kept,
    None,
}

/// What went out last.
fn sent(running: &testkit::server::shell::Running) -> Vec<Value> {
    entries(&running.posted().pop().expect("it was sent").body)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_to_be_summed_up_goes_out_whole_where_it_fits() {
    for (text, tools) in [(CLAUDE_CODE, Tools::Kept), ("Now tell me all of it.", Tools::None)] {
        for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini, Api::Interactions] {
            if (api, tools) == (Api::Anthropic, Tools::None) {
                // Its thinking is bound to the tools: nobody may take them out.
                continue;
            }
            let running = provider(60_000).await;
            let trigger = "12k".parse().expect("a trigger");
            let options = ProxyOptions { trigger, ..before(&running.url, Some(60_000)) };
            let stage = Stage::new(&options).await;
            let agent = worked(&stage, api, 24_000).await;
            assert_eq!(stage.meter("compactions", &[]).await, 0, "{api}");
            // What is asked for makes it too long for a step.
            let long = format!("{}\n{text}", "A line that was looked at.\n".repeat(2_000));
            let reply = stage.call(asking(&stage, &agent, api, &long, tools)).await;
            assert_eq!(reply.status(), 200, "{api}: {:?}", reply.body());
            assert_eq!(sent(&running).len(), agent.history.len() + 1, "{api}: it is whole");
            assert_eq!(stage.meter("compactions", &[]).await, 0, "{api}");
            assert_eq!(stage.meter("client_summaries", &[]).await, 1, "{api}");

            // A step of that length is compacted.
            let step = long.replace(text, "Go on.");
            let reply = stage.call(asking(&stage, &agent, api, &step, Tools::Kept)).await;
            assert_eq!(reply.status(), 200, "{api}");
            assert!(stage.meter("compactions", &["adopted"]).await > 0, "{api}");
            assert_eq!(stage.meter("client_summaries", &[]).await, 1, "{api}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_loses_no_more_than_it_must() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini] {
        let roomy = provider(100_000).await;
        let agent = worked(&Stage::new(&before(&roomy.url, None)).await, api, 80_000).await;
        // The proxy knows the window, or learns it by a refusal.
        for window in [Some(12_000), None] {
            // Not all say what fits when they refuse.
            let is_said = window.is_some() || matches!(api, Api::Anthropic | Api::Chat);
            let mut shown = Vec::new();
            for text in [CLAUDE_CODE, "Go on."] {
                let running = provider(12_000).await;
                let trigger = "1m".parse().expect("a trigger");
                let options = ProxyOptions { trigger, ..before(&running.url, window) };
                let stage = Stage::new(&options).await;
                let reply = stage.call(asking(&stage, &agent, api, text, Tools::Kept)).await;
                assert_eq!(reply.status(), 200, "{api}: {:?}", reply.body());
                assert!(stage.meter("compactions", &["adopted"]).await > 0, "{api}");
                shown.push(used(&String::from_utf8_lossy(reply.body())));
            }
            assert!(shown[0] >= shown[1], "{api} {window:?}: {shown:?}");
            if is_said {
                assert!(shown[0] > 12_000 / 3 * 2, "{api} {window:?}: {shown:?}");
                assert!(shown[0] > shown[1] / 2 * 3, "{api} {window:?}: {shown:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_begins_with_the_summary_is_a_conversation_of_its_own() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini] {
        let running = provider(12_000).await;
        let stage = Stage::new(&before(&running.url, Some(12_000))).await;
        let agent = worked(&stage, api, 80_000).await;
        assert!(stage.meter("compactions", &["adopted"]).await > 0, "{api}");
        let shown = sent(&running);
        let breaks = stage.meter("cache_breaks", &[]).await;
        stage.call(asking(&stage, &agent, api, CLAUDE_CODE, Tools::Kept)).await;
        // The view in force, and what asks for the summary.
        let asked = sent(&running);
        assert_eq!(asked[..shown.len()], shown, "{api}");
        assert_eq!(stage.meter("cache_breaks", &[]).await, breaks, "{api}");

        // Codex keeps what the user said first.
        let mut next = agent.clone();
        next.history.truncate(1);
        next.history.push(said(api, "The summary: the build fails because of a missing file."));
        let reply = stage.call(request(&stage, &next)).await;
        assert_eq!(reply.status(), 200, "{api}");
        assert_eq!(sent(&running), next.history, "{api}: nothing is hidden");
        assert_eq!(stage.meter("cache_breaks", &[]).await, breaks, "{api}");

        // Whoever changes his mind goes on as before.
        let reply = stage.call(asking(&stage, &agent, api, "No, go on.", Tools::Kept)).await;
        assert_eq!(reply.status(), 200, "{api}");
        assert_eq!(sent(&running)[..shown.len()], shown, "{api}");
    }
}
