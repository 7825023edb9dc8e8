//! A `reqwest` client in the layer, over a socket.

use epitome_tower::{CompactionLayer, WithCompaction};
use serde_json::Value;
use testkit::server::{Loop, Model, Server, shell};
use tower::{Service, ServiceExt};

use crate::agent::{Agent, MODEL};

#[tokio::test]
async fn a_reqwest_client_is_wrapped_in_a_line() {
    // Built beside a crate that leaves the choice of cryptography open, a client wants one to be made.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut server = Server::new(Loop { steps: usize::MAX, ..Loop::default() });
    let mut model = Model::named(MODEL).expect("in its table");
    model.window = 6_000;
    MODEL.clone_into(&mut model.name);
    server.judge.models.put(model);
    let running = shell::start(server).await.expect("a free port");

    let layer = CompactionLayer::for_model(MODEL).expect("a known model");
    let mut client = reqwest::Client::new().with_compaction(layer);

    let mut agent = Agent::new();
    for _ in 0..20 {
        let request = reqwest::Client::new()
            .post(format!("{}/v1/messages", running.url))
            .header("anthropic-version", "2023-06-01")
            .header("content-type", "application/json")
            .body(agent.request().into_body())
            .build()
            .expect("a request");
        let reply = client.ready().await.expect("ready").call(request).await.expect("an answer");
        let status = reply.status();
        let body = reply.text().await.expect("a body");
        agent.take(&http::Response::builder().status(status).body(body).expect("a reply"), 40);
    }
    let statuses: Vec<u16> = running.recorded().iter().map(|seen| seen.status).collect();
    // Twenty calls, and one that taught the window.
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 20);
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 1);
    let last = running.recorded().pop().expect("a request");
    let last: Value = serde_json::from_slice(&last.body).expect("JSON");
    assert!(last["messages"].as_array().map(Vec::len) < Some(agent.0.history.len()));
}
