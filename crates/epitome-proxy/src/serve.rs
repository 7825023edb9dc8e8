//! Connections, from the first to the last.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::activity::Activity;
use crate::flow::Flow;
use crate::heard::Heard;
use crate::listening::{Accepted, Listening};
use crate::options::{MOST_FIELDS, ProxyError, ProxyLimits};
use crate::proxy::Proxy;

/// Between two attempts to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves a connection until it ends, its place is needed, or nothing was under way and nothing began for so long: for `head`
/// until something began, then for `idle`, and once the end has come for `drain`.
async fn until_idle(
    connection: impl Future,
    activity: &Arc<Activity>,
    limits: ProxyLimits,
    mut ended: watch::Receiver<bool>,
) {
    let mut connection = pin!(connection);
    let (mut begun, mut is_over) = (0, false);
    loop {
        let most = match activity.begun() {
            _ if is_over => limits.drain,
            0 => limits.head,
            _ => limits.idle,
        };
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = activity.closed() => return,
            Ok(()) = ended.changed() => {
                is_over = true;
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
    async fn accepted(self, accepted: Accepted, watcher: Watcher, activity: Arc<Activity>) {
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
                    () = activity.closed() => return,
                }
            }
            None => accepted,
        };
        self.connection(accepted, watcher, activity).await;
    }

    async fn connection(self, stream: Accepted, watcher: Watcher, activity: Arc<Activity>) {
        let Serving { proxy, server, listening, ending, .. } = self;
        let limits = proxy.limits;
        let answerer = Answerer { proxy, listening, activity: Arc::clone(&activity) };
        let connection = server.serve_connection(Heard::new(TokioIo::new(stream)), answerer);
        let connection = watcher.watch(connection.into_owned());
        until_idle(connection, &activity, limits, ending).await;
    }
}

/// The connections that are open, oldest first, and how many more may be.
struct Places {
    room: Arc<Semaphore>,
    open: VecDeque<Weak<Activity>>,
    most: usize,
}

impl Places {
    fn new(most: usize) -> Self {
        Places { room: Arc::new(Semaphore::new(most)), open: VecDeque::new(), most }
    }

    /// A place for one more, in time: while there is none, connections on which nothing is under way are closed.
    async fn place(&mut self) -> OwnedSemaphorePermit {
        if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
            return place;
        }
        loop {
            self.close_oldest();
            if let Ok(place) = timeout(PAUSE, Arc::clone(&self.room).acquire_owned()).await {
                return place.expect("the semaphore is never closed");
            }
        }
    }

    /// What happens on a connection that has a place.
    fn opened(&mut self) -> Arc<Activity> {
        if self.open.len() > 2 * self.most {
            self.open.retain(|one| one.strong_count() > 0);
        }
        let activity = Arc::<Activity>::default();
        self.open.push_back(Arc::downgrade(&activity));
        activity
    }

    fn close_oldest(&mut self) {
        self.open.retain(|one| one.strong_count() > 0);
        // Whoever serves it has one or two; each request has one more.
        let Some(at) = self.open.iter().position(|one| one.strong_count() <= 2) else { return };
        if let Some(idle) = self.open.remove(at).and_then(|one| one.upgrade()) {
            idle.close();
        }
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
        let mut places = Places::new(proxy.limits.connections);
        let graceful = GracefulShutdown::new();
        let (end, ending) = watch::channel(false);
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new()).header_read_timeout(proxy.limits.idle);
        server.http1().max_headers(MOST_FIELDS);
        // An answer has the headers that the upstream sent.
        server.http1().auto_date_header(false);
        server.http2().timer(TokioTimer::new()).auto_date_header(false);
        server.http2().keep_alive_interval(Some(proxy.limits.idle));
        let (listening, acceptor) = (listener.address()?, listener.acceptor());
        let serving = Serving { proxy, server, listening, acceptor, ending };
        let mut ended = pin!(ended);
        loop {
            let accepted = async {
                let accepted = listener.accept().await;
                (accepted, places.place().await)
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
            let (watcher, activity) = (graceful.watcher(), places.opened());
            let connection = serving.clone().accepted(accepted, watcher, activity);
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
