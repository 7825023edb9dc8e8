//! The server on a socket of this machine, for tests and for real clients.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use testkit::server::{Server, shell};
//!
//! let running = shell::start(Server::default()).await?;
//! println!("set OPENAI_BASE_URL to {}/v1", running.url);
//! assert!(running.recorded().is_empty());
//! # Ok(()) }
//! ```

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::exchange::{Answer, Incoming, Noted, Payload, Server};

/// Anthropic takes 32 MB; the others' limits are of the same size.
const LARGEST: usize = 64 << 20;

/// A request that came in.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `POST` …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// In the order they came; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Bytes,
    /// What the server made of it.
    pub noted: Noted,
    /// HTTP status of the answer.
    pub status: u16,
}

#[derive(Clone)]
struct Shared {
    server: Arc<Mutex<Server>>,
    recorded: Arc<Mutex<Vec<Recorded>>>,
    watch: Option<Watch>,
}

type Watch = Arc<dyn Fn(usize, &Recorded) + Send + Sync>;

/// A server that runs until this is dropped.
pub struct Running {
    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub url: String,
    shared: Shared,
    task: JoinHandle<io::Result<()>>,
}

/// Starts a server on a free port.
pub async fn start(server: Server) -> io::Result<Running> {
    start_on(server, SocketAddr::from(([127, 0, 0, 1], 0)), None).await
}

/// Starts a server somewhere; `watch` is told of each request with its number, from 0.
pub async fn start_on(
    server: Server,
    address: SocketAddr,
    watch: Option<Watch>,
) -> io::Result<Running> {
    let listener = TcpListener::bind(address).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let shared = Shared { server: Arc::new(Mutex::new(server)), recorded: Arc::default(), watch };
    let router = Router::new()
        .fallback(handle)
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(shared.clone());
    let task = tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(Running { url, shared, task })
}

impl Running {
    /// What came in so far.
    pub fn recorded(&self) -> Vec<Recorded> {
        locked(&self.shared.recorded).clone()
    }

    /// What was posted so far: questions about models come when they come.
    pub fn posted(&self) -> Vec<Recorded> {
        self.recorded().into_iter().filter(|one| one.method == "POST").collect()
    }

    /// The server itself, to change its script or its rules.
    pub fn server(&self) -> MutexGuard<'_, Server> {
        locked(&self.shared.server)
    }

    /// Runs until the task ends, which it doesn't by itself.
    pub async fn wait(mut self) -> io::Result<()> {
        (&mut self.task).await.map_err(io::Error::other)?
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A test that panics while it holds the lock fails by itself.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn handle(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let path = uri.path_and_query().map_or_else(|| uri.path().to_owned(), ToString::to_string);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let incoming =
        Incoming { method: method.as_str(), path: &path, headers: &headers, body: &body };
    let (answer, noted) = locked(&shared.server).answer(&incoming, now);
    let status = answer.status;
    let recorded = Recorded { method: method.to_string(), path, headers, body, noted, status };
    {
        let mut all = locked(&shared.recorded);
        if let Some(watch) = &shared.watch {
            watch(all.len(), &recorded);
        }
        all.push(recorded);
    }
    tokio::time::sleep(answer.wait).await;
    respond(answer)
}

fn respond(answer: Answer) -> Response {
    let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
    let (kind, pieces): (_, Vec<Vec<u8>>) = match answer.payload {
        Payload::Whole(value) => ("application/json", bytes(halves(value, answer.is_cut))),
        Payload::Events(events) => ("text/event-stream; charset=utf-8", bytes(events)),
        Payload::Frames(frames) => ("application/vnd.amazon.eventstream", frames),
        Payload::Array(values) => {
            let last = values.len().saturating_sub(1);
            let piece = |(n, value): (usize, String)| {
                format!(
                    "{}{value}{}",
                    if n == 0 { "[" } else { ",\r\n" },
                    if n == last { "]" } else { "" }
                )
            };
            ("application/json", bytes(values.into_iter().enumerate().map(piece).collect()))
        }
    };
    let body = if answer.is_cut || pieces.len() > 1 {
        Body::from_stream(paced(pieces, answer.pace, answer.is_cut))
    } else {
        Body::from(pieces.concat())
    };
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
    for (name, value) in answer.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// What is cut is cut in the middle.
fn halves(whole: String, is_cut: bool) -> Vec<String> {
    if !is_cut {
        return vec![whole];
    }
    let middle = whole.floor_char_boundary(whole.len() / 2);
    vec![whole[..middle].to_owned()]
}

/// The pieces with silence between them; an error at the end makes the connection break.
fn paced(
    pieces: Vec<Vec<u8>>,
    pace: Duration,
    is_cut: bool,
) -> impl Stream<Item = io::Result<Bytes>> {
    let said = stream::iter(pieces).then(move |piece| async move {
        if pace > Duration::ZERO {
            tokio::time::sleep(pace).await;
        }
        Ok::<_, Infallible>(Bytes::from(piece))
    });
    let said = said.map(|piece| match piece {
        Ok(bytes) => Ok(bytes),
        Err(never) => match never {},
    });
    let end = stream::iter(is_cut.then(|| Err(io::Error::from(io::ErrorKind::ConnectionAborted))));
    said.chain(end)
}
