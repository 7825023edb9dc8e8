//! What was hidden can be had back over the Model Context Protocol, by whose it is.

use bytes::Bytes;
use epitome_proxy::{ProxyOptions, RecallSource};
use http::Request;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::stage::{Stage, before};
use crate::works::{provider, request};

/// What a tool answers to whoever has this credential, in words.
pub(crate) async fn called(
    stage: &Stage,
    credential: &str,
    tool: &str,
    arguments: Value,
) -> String {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let request = Request::post(format!("{}/mcp", stage.url))
        .header("authorization", credential)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18");
    let reply = stage.call(request.body(Bytes::from(call.to_string())).expect("a request")).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    let told: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    told["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_credential_recalls_what_was_hidden_of_its_own_conversations() {
    let running = provider(12_000).await;
    let options =
        ProxyOptions { recall: RecallSource::Memory, ..before(&running.url, Some(12_000)) };
    let stage = Stage::new(&options).await;
    let mut agent = Agent::new(Api::Anthropic, true);
    while stage.meter("compactions", &["adopted"]).await < 2 {
        let reply = stage.call(request(&stage, &agent)).await;
        agent.take(&String::from_utf8_lossy(reply.body()), 25);
    }
    let stats = || called(&stage, "Bearer one", "context_stats", json!({}));
    while !stats().await.contains("\"sessions\":1") {
        assert!(!stats().await.contains("error"), "{}", stats().await);
    }
    // A line of the first output, which no view shows any more.
    let query = json!({"query": "error warning build"});
    let found = called(&stage, "Bearer one", "recall_search", query.clone()).await;
    assert!(!found.starts_with("Nothing"), "{found}");
    let others = called(&stage, "Bearer two", "recall_search", query).await;
    assert!(others.starts_with("Nothing"), "{others}");
    // Nobody is no tenant.
    let bare = Request::post(format!("{}/mcp", stage.url)).body(Bytes::new()).expect("a request");
    assert_eq!(stage.call(bare).await.status(), 401);
    // Where it isn't asked for it is the upstream's.
    let plain = Stage::new(&before(&running.url, None)).await;
    assert_eq!(
        plain.call(plain.post("/mcp").body(Bytes::new()).expect("a request")).await.status(),
        404
    );
}
