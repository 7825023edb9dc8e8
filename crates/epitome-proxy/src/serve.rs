//! Connections, from the first to the last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

use crate::activity::Activity;
use crate::heard::Heard;
use crate::options::ProxyError;
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

impl Proxy {
    /// Serves HTTP/1.1 and HTTP/2 until `ended` says so; then what is under way is finished, and nothing new is begun.
    pub async fn serve(
        self,
        listener: TcpListener,
        ended: impl Future<Output = ()>,
    ) -> Result<(), ProxyError> {
        let proxy = Arc::new(self);
        let listening = listener.local_addr()?.ip();
        let room = Arc::new(Semaphore::new(proxy.limits.connections));
        let graceful = GracefulShutdown::new();
        let (end, ending) = watch::channel(false);
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new()).header_read_timeout(proxy.limits.head);
        // An answer has the headers that the upstream sent.
        server.http1().auto_date_header(false);
        server.http2().timer(TokioTimer::new()).auto_date_header(false);
        server.http2().keep_alive_interval(Some(proxy.limits.head));
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
            let Ok((stream, _)) = accepted else {
                // The client is gone already, or files are short for a while.
                sleep(PAUSE).await;
                continue;
            };
            // Events of a stream are small, and none waits for the next.
            drop(stream.set_nodelay(true));
            let (proxy, ending) = (Arc::clone(&proxy), ending.clone());
            let waits = (proxy.limits.head, proxy.limits.drain);
            let activity = Arc::<Activity>::default();
            let own = Arc::clone(&activity);
            let service = service_fn(move |request| {
                let (proxy, busy) = (Arc::clone(&proxy), own.begin());
                async move {
                    let answer = proxy.answer(request, listening).await;
                    Ok::<_, Infallible>(answer.map(|flow| flow.busy(busy)))
                }
            });
            let connection = server.serve_connection(Heard::new(TokioIo::new(stream)), service);
            let connection = graceful.watch(connection.into_owned());
            tokio::spawn(async move {
                until_idle(connection, &activity, waits, ending).await;
                drop(place);
            });
        }
        drop(listener);
        end.send_replace(true);
        graceful.shutdown().await;
        Ok(())
    }
}
