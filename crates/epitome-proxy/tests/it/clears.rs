//! Clearing edits that a request asks of its provider, before a provider that is only asked for answers.

use bytes::Bytes;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::native::asked;
use crate::stage::{Stage, before};
use crate::works::{entries, provider};

const WINDOW: u64 = 100_000;

fn edits(over: &Value, at_least: u64) -> Value {
    json!({"edits": [
        {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
        {
            "type": "clear_tool_uses_20250919", "trigger": over, "keep": {"type": "tool_uses", "value": 4},
            "clear_at_least": {"type": "input_tokens", "value": at_least},
        },
    ]})
}

/// What a reply says of its edits.
fn applied(reply: &str) -> Value {
    let data = reply.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let told = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut told = told.filter(|told| told["context_management"].is_object());
    let one = told.next().expect("it says so")["context_management"]["applied_edits"].clone();
    assert!(told.next().is_none(), "once");
    one
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_prompt_cleared_stays_cleared_on_every_proxy() {
    for over in [
        json!({"type": "input_tokens", "value": 14_000}),
        json!({"type": "tool_uses", "value": 14}),
    ] {
        for is_streaming in [false, true] {
            let running = provider(WINDOW).await;
            let mut stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
            let mut agent = Agent::new(Api::Anthropic, is_streaming);
            let mut told = Vec::new();
            for step in 0..32 {
                if step % 7 == 6 {
                    stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
                }
                let mut body = agent.request();
                body["context_management"] = edits(&over, 2_000);
                let request = asked(&stage, "/v1/messages", &body);
                let reply = stage.call(request).await;
                let text = String::from_utf8_lossy(reply.body()).into_owned();
                assert_eq!(reply.status(), 200, "{step}: {text}");
                let uses = applied(&text);
                let uses = uses
                    .as_array()
                    .expect("a list")
                    .iter()
                    .find_map(|edit| edit["cleared_tool_uses"].as_u64());
                told.push(uses.unwrap_or(0));
                assert_eq!(agent.take(&text, 25), 2);
            }
            let sent = running.posted();
            assert!(sent.len() == 32 && sent.iter().all(|one| one.status == 200));
            assert!(
                sent.iter()
                    .all(|one| !String::from_utf8_lossy(&one.body).contains("context_management"))
            );
            // It clears now and then, and between these each prompt goes on with the one before.
            let crossings = told.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(told.is_sorted() && (2..10).contains(&crossings), "{told:?}");
            let breaks = sent.windows(2).filter(|pair| {
                let (one, two) = (entries(&pair[0].body), entries(&pair[1].body));
                two.get(..one.len()) != Some(&one[..])
            });
            assert_eq!(breaks.count(), crossings);
            let last = sent.last().expect("it was sent");
            let cleared =
                String::from_utf8_lossy(&last.body).matches("cleared from the context").count();
            assert_eq!(Some(&(cleared as u64)), told.last());
            assert!(last.noted.usage.expect("it was answered").prompt < 16_000);
            // A count says what there would be without.
            let mut body = agent.request();
            body.as_object_mut().expect("an object").remove("max_tokens");
            body["context_management"] = edits(&over, 2_000);
            let reply = stage.call(asked(&stage, "/v1/messages/count_tokens", &body)).await;
            let count: Value = serde_json::from_slice(reply.body()).expect("JSON");
            let whole = count["context_management"]["original_input_tokens"].as_u64();
            assert!(whole > count["input_tokens"].as_u64().map(|tokens| 2 * tokens), "{count}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_are_excluded_stay_and_inputs_leave_where_that_is_asked() {
    let running = provider(WINDOW).await;
    let stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
    let mut history = vec![json!({"role": "user", "content": "Go."})];
    for nth in 0..6 {
        let name = if nth % 2 == 0 { "Read" } else { "Plan" };
        let id = format!("toolu_{nth}");
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": {"path": "a"}});
        history.push(json!({"role": "assistant", "content": [call]}));
        let content = [json!({"type": "text", "text": "a line\n".repeat(50)})];
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": content, "cache_control": {"type": "ephemeral"}});
        history.push(json!({"role": "user", "content": [result]}));
    }
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let mut body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 99, "tools": [tool("Read"), tool("Plan")], "messages": history,
        "context_management": {"edits": [{
            "type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5}, "keep": {"type": "tool_uses", "value": 1},
            "exclude_tools": ["Plan"], "clear_tool_inputs": ["Read"],
        }]},
    });
    // Four marks are the most.
    for at in [2, 4] {
        let result = body["messages"][at]["content"][0].as_object_mut().expect("a block");
        result.remove("cache_control");
    }
    let reply = stage.call(asked(&stage, "/v1/messages", &body)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{text}");
    let applied = applied(&text);
    assert_eq!(applied[0]["cleared_tool_uses"], 3, "{applied}");
    let sent = entries(&running.posted().pop().expect("it was sent").body);
    for nth in 0..6 {
        let (call, result) = (&sent[2 * nth + 1]["content"][0], &sent[2 * nth + 2]["content"][0]);
        assert_eq!(call["input"] == json!({}), nth % 2 == 0, "{call}");
        assert_eq!(result["content"].is_string(), nth % 2 == 0, "{result}");
        assert_eq!(result["cache_control"].is_null(), nth < 2, "{result}");
    }
    // What can't be read is the upstream's to refuse.
    body["context_management"]["edits"][0]["trigger"] = json!({"type": "moon"});
    let sent = running.posted().len();
    stage.call(asked(&stage, "/v1/messages", &body)).await;
    assert!(String::from_utf8_lossy(&running.posted()[sent].body).contains("moon"));
}

#[tokio::test(flavor = "multi_thread")]
async fn betas_that_nothing_needs_reach_nobody_who_may_not_know_them() {
    let running = provider(WINDOW).await;
    let stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
    let agent = Agent::new(Api::Anthropic, false);
    let request = stage.post("/v1/messages").header("anthropic-version", "2023-06-01");
    let betas = "compact-2026-01-12, context-management-2025-06-27,interleaved-thinking-2025-05-14";
    let request = request.header("authorization", "Bearer one").header("anthropic-beta", betas);
    let body = Bytes::from(agent.request().to_string());
    stage.call(request.body(body.clone()).expect("a request")).await;
    let sent = running.posted().pop().expect("it was sent");
    assert_eq!(sent.body, body);
    let beta = sent.headers.iter().find(|(name, _)| name == "anthropic-beta");
    assert_eq!(beta.expect("others stay").1, "interleaved-thinking-2025-05-14");
}
