//! Over HTTP, for clients that start no programs.

use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::serve::runtime;
use crate::{Recalls, ServeError};

/// Where it is served.
pub const PATH: &str = "/mcp";

/// The longest request; its arguments are a few words.
const LONGEST: usize = 1 << 20;

/// How long connections may stand open, and how many: those that are slow, or whose client is gone, are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// From the end of a request, or the beginning, until the head of the next one is read.
    pub head: Duration,
    /// From the head of a request until its answer is there, the body included.
    pub request: Duration,
    /// From the first byte to the last; a request that is under way then has [`request`](Self::request) more.
    pub life: Duration,
    /// Connections at the same time; more wait.
    pub connections: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            head: Duration::from_secs(15),
            request: Duration::from_secs(30),
            life: Duration::from_mins(2),
            connections: 128,
        }
    }
}

/// Serves over streamable HTTP at [`PATH`] until the process is ended.
///
/// Nobody is asked who they are, so the listener is best one of this machine alone. Web pages are kept out: a
/// request must name this machine as its `Host`, so that no page's own name can lead here, and come from no page
/// (`Origin`). A request holds all that is to be known for it; the server keeps nothing of clients.
pub fn http(
    recalls: Recalls,
    listener: TcpListener,
    limits: ConnectionLimits,
) -> Result<(), ServeError> {
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST);
    let config = match listener.local_addr().map_err(ServeError::Network)?.ip() {
        // Other addresses of this machine than the usual ones.
        ip if ip.is_loopback() => {
            let mut hosts = config.allowed_hosts.clone();
            hosts.push(ip.to_string());
            config.with_allowed_hosts(hosts)
        }
        ip => config.with_allowed_hosts([ip.to_string()]),
    };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(recalls.clone()), sessions, config);
    let router = Router::new().route_service(PATH, service);
    runtime()?.block_on(async {
        listener.set_nonblocking(true).map_err(ServeError::Network)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Network)?;
        let room = Arc::new(Semaphore::new(limits.connections));
        loop {
            let place = Arc::clone(&room).acquire_owned().await;
            let place = place.expect("the semaphore is never closed");
            let Ok((stream, _)) = listener.accept().await else {
                // The client is gone already, or files are short for a while.
                sleep(PAUSE).await;
                continue;
            };
            let router = router.clone();
            tokio::spawn(async move {
                connected(stream, router, limits).await;
                drop(place);
            });
        }
    })
}

/// Answers one request of the protocol, which holds all that is to be known for it, for a server that knows who asks and has
/// seen to it that no web page does.
pub async fn answer(recalls: Recalls, request: Request<Bytes>) -> Response<Bytes> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(recalls.clone()), sessions, config);
    let (head, body) = service.handle(request.map(Full::new)).await.into_parts();
    let body = body.collect().await.unwrap_or_else(|never| match never {});
    Response::from_parts(head, body.to_bytes())
}

/// Between two attempts to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves one connection, until its client or a limit ends it.
async fn connected(stream: TcpStream, router: Router, limits: ConnectionLimits) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request| {
        let answer = router.call(request);
        async move {
            let late =
                || Ok((StatusCode::REQUEST_TIMEOUT, "the request takes too long").into_response());
            timeout(limits.request, answer).await.unwrap_or_else(|_| late())
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut serving = pin!(server.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ended = serving.as_mut() => return,
        () = sleep(limits.life) => serving.as_mut().graceful_shutdown(),
    }
    let _ended = timeout(limits.request, serving).await;
}
