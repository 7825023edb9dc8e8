//! Connections, from the first to the last.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::activity::Activity;
use crate::flow::Flow;
use crate::heard::Heard;
use crate::listening::{Accepted, Listening};
use crate::options::{MOST_FIELDS, ProxyError};
use crate::proxy::Proxy;

/// Between two attempts to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves a connection until it ends, or until nothing was under way and nothing began for so long: for `idle`, and once the
/// end has come for `drain`.
async fn until_idle(
    connection: impl Future,
    activity: &Arc<Activity>,
    (idle, drain): (Duration, Duration),
    mut ended: watch::Receiver<bool>,
) {
    let mut connection = pin!(connection);
    let (mut begun, mut most) = (0, idle);
    loop {
        tokio::select! {
            _ended = connection.as_mut() => return,
            Ok(()) = ended.changed() => {
                most = drain;
                continue;
            }
            () = sleep(most) => {}
        }
        let before = std::mem::replace(&mut begun, activity.begun());
        if before == begun && activity.is_idle() {
            return;
        }
    }
}

/// A request that is being answered.
type Answering = Pin<Box<dyn Future<Output = Result<Response<Flow>, Infallible>> + Send>>;

/// What each connection is served with.
#[derive(Clone)]
struct Serving {
    proxy: Arc<Proxy>,
    server: auto::Builder<TokioExecutor>,
    listening: IpAddr,
    acceptor: Option<TlsAcceptor>,
    ending: watch::Receiver<bool>,
}

impl Serving {
    /// Serves a connection to its end, from where it was accepted.
    async fn accepted(self, accepted: Accepted, watcher: Watcher) {
        let accepted = match self.acceptor.clone() {
            Some(acceptor) => {
                let mut ending = self.ending.clone();
                let encrypting = timeout(self.proxy.limits.head, accepted.encrypted(acceptor));
                tokio::select! {
                    encrypted = encrypting => match encrypted {
                        Ok(Ok(encrypted)) => encrypted,
                        _ => return,
                    },
                    _ended = ending.changed() => return,
                }
            }
            None => accepted,
        };
        self.connection(accepted, watcher).await;
    }

    async fn connection(self, stream: Accepted, watcher: Watcher) {
        let Serving { proxy, server, listening, ending, .. } = self;
        let waits = (proxy.limits.head, proxy.limits.drain);
        let activity = Arc::<Activity>::default();
        let answerer = Answerer { proxy, listening, activity: Arc::clone(&activity) };
        let connection = server.serve_connection(Heard::new(TokioIo::new(stream)), answerer);
        let connection = watcher.watch(connection.into_owned());
        until_idle(connection, &activity, waits, ending).await;
    }
}

/// Answers the requests of one connection.
struct Answerer {
    proxy: Arc<Proxy>,
    listening: IpAddr,
    activity: Arc<Activity>,
}

impl Service<Request<Incoming>> for Answerer {
    type Response = Response<Flow>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let (proxy, busy, listening) =
            (Arc::clone(&self.proxy), self.activity.begin(), self.listening);
        Box::pin(async move {
            let answer = proxy.told(request, listening).await;
            Ok(answer.map(|flow| flow.busy(busy)))
        })
    }
}

impl Proxy {
    /// Serves HTTP/1.1 and HTTP/2 until `ended` says so; then what is under way is finished, and nothing new is begun.
    pub async fn serve(
        self,
        listener: impl Into<Listening>,
        ended: impl Future<Output = ()>,
    ) -> Result<(), ProxyError> {
        let (proxy, listener) = (Arc::new(self), listener.into());
        let room = Arc::new(Semaphore::new(proxy.limits.connections));
        let graceful = GracefulShutdown::new();
        let (end, ending) = watch::channel(false);
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new()).header_read_timeout(proxy.limits.head);
        server.http1().max_headers(MOST_FIELDS);
        // An answer has the headers that the upstream sent.
        server.http1().auto_date_header(false);
        server.http2().timer(TokioTimer::new()).auto_date_header(false);
        server.http2().keep_alive_interval(Some(proxy.limits.head));
        let (listening, acceptor) = (listener.address()?, listener.acceptor());
        let serving = Serving { proxy, server, listening, acceptor, ending };
        let mut ended = pin!(ended);
        loop {
            let accepted = async {
                let place = Arc::clone(&room).acquire_owned().await;
                let place = place.expect("the semaphore is never closed");
                (listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                () = ended.as_mut() => break,
                accepted = accepted => accepted,
            };
            let Ok(accepted) = accepted else {
                // The client is gone already, or files are short for a while.
                sleep(PAUSE).await;
                continue;
            };
            let connection = serving.clone().accepted(accepted, graceful.watcher());
            tokio::spawn(async move {
                connection.await;
                drop(place);
            });
        }
        drop(listener);
        end.send_replace(true);
        graceful.shutdown().await;
        Ok(())
    }
}
