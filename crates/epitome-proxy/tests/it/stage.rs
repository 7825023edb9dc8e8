//! A proxy on a socket, and a plain client.

use bytes::Bytes;
use epitome_proxy::{Proxy, ProxyOptions, Upstreams};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A proxy that serves until it is dropped.
pub(crate) struct Stage {
    pub(crate) url: String,
    client: Client<HttpConnector, Full<Bytes>>,
    end: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// The proxy before one server, with a window.
pub(crate) fn before(upstream: &str, window: Option<u64>) -> ProxyOptions {
    let upstreams = Upstreams::of([upstream]).expect("an address");
    ProxyOptions { upstreams, window, ..ProxyOptions::default() }
}

impl Stage {
    pub(crate) async fn new(options: &ProxyOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let proxy = Proxy::new(options).expect("in range");
        let (end, ended) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            proxy.serve(listener, ended).await.expect("it serves");
        });
        let client = Client::builder(TokioExecutor::new()).http1_max_headers(1_000).build_http();
        Stage { url, client, end: Some(end), serving }
    }

    /// A request to it.
    pub(crate) fn post(&self, path: &str) -> http::request::Builder {
        Request::post(format!("{}{path}", self.url)).header("content-type", "application/json")
    }

    /// Sends one, and gives the reply once it begins.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Response<Incoming> {
        self.client.request(request.map(Full::new)).await.expect("an answer")
    }

    /// The same, with all of its body.
    pub(crate) async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = self.send(request).await.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Response::from_parts(head, body)
    }

    pub(crate) async fn get(&self, path: &str) -> Response<Bytes> {
        let request = Request::get(format!("{}{path}", self.url));
        self.call(request.body(Bytes::new()).expect("a request")).await
    }

    /// The sum of a meter over the labels that are given.
    pub(crate) async fn meter(&self, name: &str, labels: &[&str]) -> u64 {
        let page = self.get("/metrics").await;
        let page = String::from_utf8_lossy(page.body()).into_owned();
        let is_meant = |line: &&str| {
            line.starts_with(&format!("epitome_{name}_total{{"))
                && labels.iter().all(|label| line.contains(label))
        };
        let number = |line: &str| line.rsplit_once(' ').and_then(|(_, count)| count.parse().ok());
        page.lines().filter(is_meant).map(|line| number(line).unwrap_or(0)).sum()
    }

    /// Asks it to end; whether it has ended is awaited then.
    pub(crate) fn end(&mut self) {
        drop(self.end.take());
    }

    pub(crate) async fn ended(mut self) {
        self.end();
        drop(self.client);
        self.serving.await.expect("it ends by itself");
    }
}
