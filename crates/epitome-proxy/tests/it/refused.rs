//! What a provider refuses of a request for a compaction is refused where the proxy does it in its place.

use bytes::Bytes;
use epitome_proxy::{Provider, ProxyOptions};
use http::{Response, StatusCode};
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::native::{WINDOW, answer, asked, worked};
use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use crate::works::provider;

/// The error that a request is answered with.
async fn error(stage: &Stage, path: &str, body: &Value) -> String {
    let reply = stage.call(asked(stage, path, body)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{path}: {text}");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(told["error"]["type"], "invalid_request_error", "{text}");
    text
}

/// Requests that have a history compacted, and nothing else.
fn compacting(agent: &Agent, history: &[Value]) -> [(&'static str, Value); 2] {
    let mut body = agent.request();
    if body["messages"].is_array() {
        body["messages"] = json!(history);
        let mut paused = body.clone();
        let trigger = json!({"type": "input_tokens", "value": 1_000});
        let edit =
            json!({"type": "compact_20260112", "pause_after_compaction": true, "trigger": trigger});
        paused["context_management"] = json!({"edits": [edit]});
        body["compaction"] = json!({"type": "summarize"});
        return [("/v1/messages", body), ("/v1/messages", paused)];
    }
    let alone = json!({"model": body["model"], "input": history});
    body["input"] = json!([history, &[json!({"type": "compaction_trigger"})]].concat());
    [("/v1/responses", body), ("/v1/responses/compact", alone)]
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_compacted_while_a_call_is_open_and_the_conversation_goes_on() {
    for (api, missing) in [(Api::Anthropic, 1), (Api::Responses, 1), (Api::Responses, 2)] {
        let running = provider(WINDOW).await;
        let mut agent = worked(api, &running, 8).await;
        let stage = Stage::new(&before(&running.url, Some(WINDOW))).await;
        let asked_before = running.posted().len();
        for (path, body) in compacting(&agent, &agent.history[..agent.history.len() - missing]) {
            let why = error(&stage, path, &body).await;
            assert!(why.contains("tool"), "{why}");
        }
        assert_eq!(running.posted().len(), asked_before);
        assert_eq!(stage.meter("requests", &["denied"]).await, 2);
        // The results come, it goes on, and is compacted then.
        let reply = answer(&stage, agent.path(), &agent.request()).await;
        assert_eq!(agent.take(&reply, 25), 2);
        for (path, body) in compacting(&agent, &agent.history) {
            let text = answer(&stage, path, &body).await;
            assert!(text.contains("epitome.v2."), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_a_client_altered_is_refused_wherever_it_goes() {
    let running = provider(WINDOW).await;
    let plain = before(&running.url, Some(WINDOW));
    let made = Stage::new(&plain).await;
    let natively = plain.upstreams.clone().compacting(Provider::ALL.to_vec());
    for options in [ProxyOptions { upstreams: natively, ..plain.clone() }, plain] {
        let stage = Stage::new(&options).await;
        for (api, sealed, list, said) in [
            (Api::Anthropic, "signature", "messages", "content"),
            (Api::Responses, "encrypted_content", "input", "output"),
        ] {
            let agent = worked(api, &running, 6).await;
            let [(path, body), _] = compacting(&agent, &agent.history);
            let reply = answer(&made, path, &body).await;
            let reply: Value = serde_json::from_str(&reply).expect("JSON");
            let item = reply[said][0].clone();
            let changed = |name: &str, text: &str| {
                let mut item = item.clone();
                item[name] = json!(text);
                item
            };
            let text = item[sealed].as_str().expect("it is sealed");
            let (begin, end) = text.split_at(text.len() / 2);
            let other = if end.starts_with('A') { "B" } else { "A" };
            let mut altered = vec![
                changed(sealed, &format!("{begin}{other}{}", &end[1..])),
                changed(sealed, begin),
                changed(sealed, "epitome.v9.AAAA"),
            ];
            if api == Api::Anthropic {
                altered.push(changed("content", "Nothing was done so far."));
            }
            let go_on = |item: &Value| {
                let block = json!({"role": "assistant", "content": [item]});
                let first = if api == Api::Anthropic { &block } else { item };
                let mut body = agent.request();
                body[list] = json!([first, {"role": "user", "content": "Go on."}]);
                body
            };
            let sent = running.posted().len();
            for item in altered {
                let why = error(&stage, agent.path(), &go_on(&item)).await;
                assert!(why.contains("as it was given"), "{why}");
            }
            assert_eq!(running.posted().len(), sent);
            answer(&stage, agent.path(), &go_on(&item)).await;
        }
    }
}

#[tokio::test]
async fn what_needs_a_beta_is_refused_without_it() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = Stage::new(&before(&url, Some(WINDOW))).await;
    let edits = |kind: &str| json!({"edits": [{"type": kind}]});
    let (compact, clear) = ("compact_20260112", "clear_tool_uses_20250919");
    let (threshold, on_demand, editing) =
        ("compact-2026-01-12", "compact-2026-09-04", "context-management-2025-06-27");
    for (name, value, beta, is_fine) in [
        ("compaction", json!({"type": "summarize"}), "", false),
        ("compaction", json!({"type": "summarize"}), threshold, false),
        ("compaction", json!({"type": "summarize"}), on_demand, true),
        ("context_management", edits(compact), "", false),
        ("context_management", edits(compact), editing, false),
        ("context_management", edits(compact), threshold, true),
        ("context_management", edits(clear), on_demand, false),
        ("context_management", edits(clear), editing, true),
        // What isn't done here is the upstream's to refuse.
        ("context_management", edits("moon"), "", true),
    ] {
        for is_in_body in [false, true] {
            let said = json!([{"role": "user", "content": "Go."}]);
            let mut body = json!({"model": "m", "max_tokens": 9, "messages": said});
            body[name] = value.clone();
            let mut request = stage.post("/v1/messages");
            if is_in_body {
                body["anthropic_beta"] = json!([beta]);
            } else {
                request = request.header("anthropic-beta", format!("other-2026-01-01, {beta}"));
            }
            let request = request.body(Bytes::from(body.to_string())).expect("a request");
            let reply = stage.call(request).await;
            let text = String::from_utf8_lossy(reply.body()).into_owned();
            let expected = if is_fine { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            assert_eq!(reply.status(), expected, "{name} {value} {beta}: {text}");
            assert!(is_fine || text.contains(name), "{text}");
        }
    }
    // A compaction on demand is answered here.
    assert_eq!(book.lock().expect("nobody panicked").len(), 6);
}
