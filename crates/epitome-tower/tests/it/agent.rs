//! A provider that notes what reaches it, and an agent's loop over its own history.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use epitome_tower::{Compacting, CompactionLayer, WithCompaction};
use http::{Request, Response};
use serde_json::{Value, json};
use testkit::prose;
use testkit::server::{Fault, Incoming, Loop, Model, Next, Payload, Script, Seen, Server};
use tower_service::Service;

/// Reasoning is bound to what stands before it.
pub(crate) const MODEL: &str = "claude-opus-5-5";

/// A client of the scripted server, in memory.
#[derive(Clone)]
pub(crate) struct Provider {
    server: Arc<Mutex<Server>>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    /// Its model takes `window` tokens, and works in steps of `parallel` calls.
    pub(crate) fn new(window: u64, parallel: usize) -> Self {
        Provider::playing(window, Loop { steps: usize::MAX, parallel, ..Loop::default() })
    }

    /// Refuses as told before each answer, as often as told.
    pub(crate) fn refusing(window: u64, faults: impl IntoIterator<Item = Fault>) -> Self {
        let mut faults: VecDeque<Fault> = faults.into_iter().collect();
        let mut steps = Loop { steps: usize::MAX, ..Loop::default() };
        Provider::playing(window, move |seen: &Seen<'_>| match faults.pop_front() {
            Some(fault) => Next::Fault(fault),
            None => steps.next(seen),
        })
    }

    fn playing(window: u64, script: impl Script + 'static) -> Self {
        let mut server = Server::new(script);
        let mut model = Model::named(MODEL).expect("in its table");
        model.window = window;
        MODEL.clone_into(&mut model.name);
        server.judge.models.put(model);
        Provider { server: Arc::new(Mutex::new(server)), sent: Arc::default() }
    }

    /// The bodies that reached it.
    pub(crate) fn sent(&self) -> MutexGuard<'_, Vec<String>> {
        self.sent.lock().expect("nobody panicked")
    }

    pub(crate) fn wrapped(&self, layer: &CompactionLayer) -> Compacting<Provider> {
        self.clone().with_compaction(layer.clone())
    }
}

impl Service<Request<String>> for Provider {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        self.sent().push(request.body().clone());
        let headers = [("anthropic-version".to_owned(), "2023-06-01".to_owned())];
        let incoming = Incoming {
            method: request.method().as_str(),
            path: request.uri().path(),
            headers: &headers,
            body: request.body().as_bytes(),
        };
        let mut server = self.server.lock().expect("nobody panicked");
        let (answer, _) = server.answer(&incoming, Duration::from_secs(1_000));
        let Payload::Whole(body) = answer.payload else { panic!("nobody asked for a stream") };
        let reply = Response::builder().status(answer.status).body(body).expect("a status");
        ready(Ok(reply))
    }
}

/// An agent that reads files until its time is up.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) history: Vec<Value>,
    steps: u64,
}

impl Agent {
    pub(crate) fn new() -> Self {
        let task = "Find out why the build fails. Never push to main.";
        Agent { history: vec![json!({"role": "user", "content": task})], steps: 0 }
    }

    /// Its request as it writes it today.
    pub(crate) fn request(&self) -> Request<String> {
        let body = json!({
            "model": MODEL,
            "max_tokens": 256,
            "thinking": {"type": "adaptive"},
            "system": "You fix builds.",
            "tools": [{"name": "Read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "messages": self.history,
        });
        let body = serde_json::to_string_pretty(&body).expect("JSON");
        Request::post("http://provider/v1/messages").body(body).expect("a request")
    }

    /// Works on for so many steps.
    pub(crate) async fn work<S>(&mut self, client: &mut S, steps: usize, lines: usize)
    where
        S: Service<Request<String>, Response = Response<String>, Error = Infallible>,
    {
        for _ in 0..steps {
            let reply = call(client, self.request()).await;
            self.take(&reply, lines);
        }
    }

    /// Takes a reply, and runs its calls; each gives so many lines.
    pub(crate) fn take(&mut self, reply: &Response<String>, lines: usize) {
        assert_eq!(reply.status(), 200, "{}", reply.body());
        let reply: Value = serde_json::from_str(reply.body()).expect("JSON");
        let results: Vec<Value> = reply["content"]
            .as_array()
            .expect("blocks")
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|call| {
                self.steps += 1;
                let text = prose::log(self.steps, lines);
                json!({"type": "tool_result", "tool_use_id": call["id"], "content": text})
            })
            .collect();
        self.history.push(json!({"role": "assistant", "content": reply["content"]}));
        let next = if results.is_empty() { json!("Go on.") } else { Value::Array(results) };
        self.history.push(json!({"role": "user", "content": next}));
    }
}

/// Calls a client that is always ready.
pub(crate) fn call<S>(
    client: &mut S,
    request: Request<String>,
) -> impl Future<Output = Response<String>> + use<S>
where
    S: Service<Request<String>, Response = Response<String>, Error = Infallible>,
{
    let replying = client.call(request);
    async move {
        match replying.await {
            Ok(reply) => reply,
            Err(never) => match never {},
        }
    }
}
