//! Compactions that a request asks of its provider, before a provider that is only asked for answers.

use bytes::Bytes;
use epitome_proxy::{Provider, ProxyOptions, Upstreams};
use http::Request;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;
use testkit::server::shell::Running;

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use crate::works::{entries, provider};

pub(crate) const WINDOW: u64 = 100_000;

pub(crate) fn asked(stage: &Stage, path: &str, body: &Value) -> Request<Bytes> {
    let request = stage.post(path).header("anthropic-version", "2023-06-01");
    let request = request.header("authorization", "Bearer one");
    let betas = "compact-2026-01-12,compact-2026-09-04,interleaved-thinking-2025-05-14";
    let request = request.header("anthropic-beta", betas);
    request.body(Bytes::from(body.to_string())).expect("a request")
}

pub(crate) async fn answer(stage: &Stage, path: &str, body: &Value) -> String {
    let reply = stage.call(asked(stage, path, body)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{path}: {text}");
    text
}

async fn read(stage: &Stage, path: &str, body: &Value) -> Value {
    serde_json::from_str(&answer(stage, path, body).await).expect("JSON")
}

/// An agent with some history.
pub(crate) async fn worked(api: Api, running: &Running, steps: usize) -> Agent {
    let stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
    let mut agent = Agent::new(api, false);
    for _ in 0..steps {
        let reply = answer(&stage, agent.path(), &agent.request()).await;
        agent.take(&reply, 25);
    }
    agent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threshold_is_kept_and_its_items_are_read_by_every_proxy() {
    for (api, management) in [
        (
            Api::Anthropic,
            json!({"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 8_000}}]}),
        ),
        (Api::Responses, json!([{"type": "compaction", "compact_threshold": 8_000}])),
    ] {
        for is_streaming in [false, true] {
            let running = provider(WINDOW).await;
            let mut stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
            let mut agent = Agent::new(api, is_streaming);
            let mut inserted = 0;
            for step in 0..30 {
                if step % 7 == 6 {
                    inserted += stage.meter("native", &["inserted"]).await;
                    stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
                }
                let mut body = agent.request();
                body["context_management"] = management.clone();
                let reply = answer(&stage, agent.path(), &body).await;
                assert_eq!(agent.take(&reply, 25), 2, "{api} {step}");
            }
            inserted += stage.meter("native", &["inserted"]).await;
            let items =
                agent.history.iter().filter(|item| item.to_string().contains("epitome.v2."));
            assert!(inserted > 1 && items.count() == inserted as usize, "{api}: {inserted}");
            // The provider is asked for answers alone, and each prompt goes on with the one before, but for those compacted.
            let sent = running.posted();
            assert!(sent.len() == 30 && sent.iter().all(|one| one.status == 200));
            for one in &sent {
                let text = String::from_utf8_lossy(&one.body);
                assert!(!text.contains("context_management") && !text.contains("epitome.v2."));
                let beta = one.headers.iter().find(|(name, _)| name == "anthropic-beta");
                assert_eq!(beta.expect("others stay").1, "interleaved-thinking-2025-05-14");
            }
            let breaks = sent.windows(2).filter(|pair| {
                let (one, two) = (entries(&pair[0].body), entries(&pair[1].body));
                two.get(..one.len()) != Some(&one[..])
            });
            assert_eq!(breaks.count() as u64, inserted, "{api} {is_streaming}");
            let last = sent.last().and_then(|one| one.noted.usage).expect("it was answered").prompt;
            assert!(last < 12_000, "{last}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_demand_the_block_comes_alone_and_survives_two_proxies_in_a_row() {
    let running = provider(WINDOW).await;
    let mut agent = worked(Api::Anthropic, &running, 12).await;
    let inner = Stage::new(&before(&running.url, Some(WINDOW))).await;
    let outer = Stage::new(&before(&inner.url, Some(WINDOW))).await;
    let asked_before = running.posted().len();
    let mut body = agent.request();
    body["compaction"] = json!({"type": "summarize"});
    let reply = read(&outer, "/v1/messages", &body).await;
    assert_eq!(
        (&reply["stop_reason"], running.posted().len()),
        (&json!("compaction"), asked_before)
    );
    let block = reply["content"][0].clone();
    assert!(block["content"].as_str().expect("words").contains("Read"), "{block}");
    assert_eq!(reply["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(reply["usage"]["iterations"][0]["type"], "compaction");
    // The block is first now, and stands for all before it.
    let whole = agent.history.len();
    agent.history = vec![
        json!({"role": "assistant", "content": [block]}),
        json!({"role": "user", "content": "Go on."}),
    ];
    let reply = answer(&outer, "/v1/messages", &agent.request()).await;
    assert_eq!(agent.take(&reply, 25), 2);
    let sent = entries(&running.posted().pop().expect("it was sent").body);
    assert!(sent.len() > 2 && sent.len() < whole, "{}", sent.len());
    assert_eq!(sent.last(), Some(&json!({"role": "user", "content": "Go on."})));
    assert!(sent[0].to_string().contains("Never push to main."), "{}", sent[0]);
    // A count is of what is sent.
    let mut count = agent.request();
    count.as_object_mut().expect("an object").remove("max_tokens");
    read(&outer, "/v1/messages/count_tokens", &count).await;
    let counted = entries(&running.posted().pop().expect("it was counted").body);
    assert_eq!(counted[..sent.len()], sent[..]);
    // Some clients keep the words alone, which don't tell of what was kept.
    let mut stripped = agent.request();
    let block = &mut stripped["messages"][0]["content"][0];
    *block = json!({"type": "compaction", "content": block["content"]});
    let asked_before = running.posted().len();
    let reply = outer.call(asked(&outer, "/v1/messages", &stripped)).await;
    let error: Value = serde_json::from_slice(reply.body()).expect("JSON");
    assert_eq!((reply.status().as_u16(), running.posted().len()), (400, asked_before), "{error}");
    assert_eq!(error["error"]["type"], "invalid_request_error");
    let what = error["error"]["message"].as_str().expect("words");
    assert!(what.contains("with its `encrypted_content` or `signature`"), "{what}");
    // Beside it Anthropic refuses what would shape an answer.
    for (name, value) in [
        ("stop_sequences", json!(["x"])),
        ("tool_choice", json!({"type": "any"})),
        ("output_config", json!({"format": {"type": "json_schema", "schema": {}}})),
        ("output_config", json!({"task_budget": {"remaining": 5}})),
        ("context_management", json!({"edits": []})),
    ] {
        let mut body = agent.request();
        body["compaction"] = json!({"type": "summarize"});
        body[name] = value;
        let reply = outer.call(asked(&outer, "/v1/messages", &body)).await;
        let error: Value = serde_json::from_slice(reply.body()).expect("JSON");
        assert_eq!(
            (reply.status().as_u16(), running.posted().len()),
            (400, asked_before),
            "{name}"
        );
        assert!(error["error"]["message"].as_str().is_some_and(|it| it.contains(name)), "{error}");
    }
    // At a threshold, whoever asks for a pause gets it.
    let mut body = agent.request();
    let trigger = json!({"type": "input_tokens", "value": 1_000});
    let edit =
        json!({"type": "compact_20260112", "pause_after_compaction": true, "trigger": trigger});
    body["context_management"] = json!({"edits": [edit]});
    let paused = read(&outer, "/v1/messages", &body).await;
    assert_eq!(paused["stop_reason"], "compaction");
    assert!(paused["content"][0]["encrypted_content"].is_string(), "{paused}");
    // With a stream it comes as events.
    let mut body = agent.request();
    body["compaction"] = json!({"type": "summarize"});
    body["stream"] = json!(true);
    let stream = answer(&inner, "/v1/messages", &body).await;
    let kinds: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    assert_eq!(
        kinds,
        [&["message_start"], &block[..], &["message_delta", "message_stop"]].concat()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_is_compacted_by_itself_and_in_band() {
    let running = provider(WINDOW).await;
    let mut agent = worked(Api::Responses, &running, 12).await;
    let stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
    let asked_before = running.posted().len();
    let body = json!({"model": Agent::model(Api::Responses), "input": agent.history});
    let reply = read(&stage, "/v1/responses/compact", &body).await;
    assert_eq!(
        (&reply["object"], running.posted().len()),
        (&json!("response.compaction"), asked_before)
    );
    let output = reply["output"].as_array().expect("a list").clone();
    // What the provider alone has of it passes, and is counted.
    let rest = json!({"model": "m", "previous_response_id": "resp_1", "input": "Go on."});
    stage.call(asked(&stage, "/v1/responses/compact", &rest)).await;
    assert_eq!(stage.meter("passed", &["previous-response"]).await, 1);
    let asked_before = running.posted().len();
    // All messages of the user, whole, and the item.
    let (task, message) = (&agent.history[0]["content"], &output[0]);
    let text = if task.is_string() { task } else { &task[0]["text"] };
    assert_eq!((output.len(), &output[1]["type"]), (2, &json!("compaction")));
    assert_eq!(message["content"], json!([{"type": "input_text", "text": text}]));
    assert_eq!(
        [&message["type"], &message["role"], &message["status"]],
        ["message", "user", "completed"].map(Value::from).each_ref()
    );
    assert!(message["id"].as_str().is_some_and(|id| id.starts_with("msg_")), "{message}");
    let mut trigger = agent.request();
    let input = trigger["input"].as_array_mut().expect("a list");
    input.push(json!({"type": "compaction_trigger"}));
    let alone = read(&stage, "/v1/responses", &trigger).await;
    assert_eq!(
        (&alone["status"], &alone["output"][0]["type"]),
        (&json!("completed"), &json!("compaction"))
    );
    trigger["stream"] = json!(true);
    let stream = answer(&stage, "/v1/responses", &trigger).await;
    assert!(
        stream.contains("event: response.compaction.compacting")
            && stream.contains("event: response.completed")
    );
    assert_eq!(running.posted().len(), asked_before);
    // What comes back is the next window, and is compacted again.
    for _ in 0..3 {
        agent.history.clone_from(&output);
        agent.history.push(json!({"role": "user", "content": "Go on."}));
        for _ in 0..4 {
            let reply = answer(&stage, agent.path(), &agent.request()).await;
            assert_eq!(agent.take(&reply, 25), 2);
        }
        let sent = entries(&running.posted().pop().expect("it was sent").body);
        assert!(sent[0].to_string().contains("Never push to main."), "{}", sent[0]);
        let body = json!({"model": Agent::model(Api::Responses), "input": agent.history});
        let reply = read(&stage, "/responses/compact", &body).await;
        let users =
            reply["output"].as_array().expect("a list").iter().filter(|one| one["role"] == "user");
        assert_eq!(users.count(), 2);
    }
}

#[tokio::test]
async fn an_upstream_that_compacts_is_asked_to() {
    let (url, book) = upstream(|_| std::future::ready(http::Response::new(whole("{}")))).await;
    let upstreams = Upstreams::of([&url]).expect("an address");
    let upstreams = upstreams.compacting(vec![Provider::Anthropic, Provider::OpenAi]);
    let stage = Stage::new(&ProxyOptions { upstreams, ..before(&url, Some(WINDOW)) }).await;
    let edits = json!({"edits": [{"type": "compact_20260112"}]});
    let said = json!([{"role": "user", "content": "Go."}]);
    for (path, body) in [
        ("/v1/messages", json!({"context_management": edits, "messages": said, "model": "m"})),
        (
            "/v1/messages",
            json!({"compaction": {"type": "summarize"}, "messages": said, "model": "m"}),
        ),
        ("/v1/responses", json!({"input": [{"type": "compaction_trigger"}], "model": "m"})),
        ("/v1/responses/compact", json!({"input": said, "model": "m"})),
        (
            "/v1/messages",
            json!({"messages": [{"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}]}),
        ),
    ] {
        stage.call(asked(&stage, path, &body)).await;
        let (head, sent) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
        assert_eq!((sent, head.uri.path()), (Bytes::from(body.to_string()), path));
        assert!(head.headers["anthropic-beta"].as_bytes().starts_with(b"compact-2026-01-12,"));
    }
    // Elsewhere a summary that another provider wrote is read as one, and the rest goes on behind it.
    let stage = Stage::new(&before(&url, Some(WINDOW))).await;
    let blocks =
        json!([{"type": "compaction", "content": "so far"}, {"type": "text", "text": "Well."}]);
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": "long ago"}, {"role": "assistant", "content": blocks}, {"role": "user", "content": "Go on."},
    ]});
    stage.call(asked(&stage, "/v1/messages", &body)).await;
    let (_, sent) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
    let sent = entries(&sent);
    assert_eq!(
        sent[0],
        json!({"role": "user", "content": "Summary of the conversation so far:\n\nso far"})
    );
    assert_eq!(
        sent[1],
        json!({"role": "assistant", "content": [{"type": "text", "text": "Well."}]})
    );
    assert_eq!(sent.len(), 3);
}
