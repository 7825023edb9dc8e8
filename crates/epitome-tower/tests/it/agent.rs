//! A provider that notes what reaches it, and an agent's loop over its own history.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use epitome_tower::{Compacting, CompactionLayer, WithCompaction};
use http::{Request, Response};
use testkit::agent;
use testkit::server::{Api, Fault, Incoming, Loop, Model, Next, Payload, Script, Seen, Server};
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
pub(crate) struct Agent(pub(crate) agent::Agent);

impl Agent {
    pub(crate) fn new() -> Self {
        Agent(agent::Agent::new(Api::Anthropic, false))
    }

    /// Its request as it writes it today.
    pub(crate) fn request(&self) -> Request<String> {
        let body = serde_json::to_string_pretty(&self.0.request()).expect("JSON");
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
        self.0.take(reply.body(), lines);
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
