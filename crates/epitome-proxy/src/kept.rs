//! Connections to upstreams, which are kept for the requests that follow.

use std::error::Error;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::options::Outward;

/// Connects, and notices where a connection that was kept is gone.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    http: HttpConnector,
    /// Which upstreams are reached through a proxy.
    proxies: Option<Arc<Matcher>>,
}

impl Connector {
    pub(crate) fn new(http: HttpConnector, outward: Outward) -> Self {
        let proxies = match outward {
            Outward::Direct => None,
            Outward::Environment => Some(Arc::new(Matcher::from_env())),
        };
        Connector { http, proxies }
    }
}

/// Connects to an upstream.
type Connecting = Pin<Box<dyn Future<Output = Result<Kept, ConnectError>> + Send>>;

type ConnectError = Box<dyn Error + Send + Sync>;

/// A connection that knows whether it was kept.
#[derive(Debug)]
pub(crate) struct Kept {
    stream: TokioIo<TcpStream>,
    turn: Turn,
    /// What is said of a request that stays without an answer.
    silence: Silence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Nothing came yet.
    Fresh,
    /// The other side spoke last: the next bytes may be the next request.
    Theirs,
    /// This one did, after the other side had spoken.
    Ours,
}

/// What it says of a request on a kept connection that this is closed before anything came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// That nobody read it, as nginx takes it. llama.cpp promises to keep a connection after a stream, and closes it at once:
    /// the next request is on its way by then. Neither its end nor a reset shows whether it was read (tried).
    Unread,
    /// Nothing: what comes and goes may be of the encryption.
    Unknown,
}

/// The upstream has closed a connection that was kept, and hasn't answered the request on it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the kept connection was closed before it answered")]
pub(crate) struct Gone;

impl Gone {
    fn error() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionAborted, Gone)
    }
}

impl Kept {
    /// Refuses to write a request to a peer that has closed its side: it never saw the request. The runtime notices that only
    /// at its next look at the sockets, which may be too late.
    fn turn(&mut self) -> io::Result<()> {
        if self.turn == Turn::Theirs {
            if self.is_gone() {
                return Err(Gone::error());
            }
            self.turn = Turn::Ours;
        }
        Ok(())
    }

    /// Whether the other side has closed it, and all that it said is read.
    fn is_gone(&self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(self.stream.inner()).peek(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => {
                ![io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind())
            }
        }
    }

    /// Whether a request stays without an answer that nobody read.
    fn is_unread(&self) -> bool {
        self.turn == Turn::Ours && self.silence == Silence::Unread && self.is_gone()
    }

    /// What came of writing.
    fn written<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let has_failed = matches!(polled, Poll::Ready(Err(_)));
        if has_failed && self.is_unread() { Poll::Ready(Err(Gone::error())) } else { polled }
    }
}

impl Service<Uri> for Connector {
    type Response = Kept;
    type Error = ConnectError;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.http.poll_ready(context).map_err(ConnectError::from)
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let is_encrypted = uri.scheme() == Some(&Scheme::HTTPS);
        let proxy =
            self.proxies.as_ref().filter(|_| is_encrypted).and_then(|it| it.intercept(&uri));
        let Some(proxy) = proxy else {
            let connecting = self.http.call(uri);
            let silence = if is_encrypted { Silence::Unknown } else { Silence::Unread };
            return Box::pin(async move {
                Ok(Kept { stream: connecting.await?, turn: Turn::Fresh, silence })
            });
        };
        // Bytes through the proxy are encrypted, but not those to the proxy itself.
        if proxy.uri().scheme() != Some(&Scheme::HTTP) {
            let what = "only http:// proxies are supported in HTTPS_PROXY and its like";
            return Box::pin(std::future::ready(Err(what.into())));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.http.clone());
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        Box::pin(async move {
            let stream = tunnel.call(uri).await?;
            Ok(Kept { stream, turn: Turn::Fresh, silence: Silence::Unknown })
        })
    }
}

impl Connection for Kept {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

impl Read for Kept {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_unread() {
            return Poll::Ready(Err(Gone::error()));
        }
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if matches!(polled, Poll::Ready(Ok(()))) {
            self.turn = Turn::Theirs;
        }
        polled
    }
}

impl Write for Kept {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.turn()?;
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.turn()?;
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use hyper::rt::ReadBuf;

    use super::*;

    /// A connection after one exchange, and its other side.
    async fn exchanged() -> (Kept, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let at = listener.local_addr().expect("it is bound");
        let stream = TcpStream::connect(at).await.expect("it listens");
        let (mut theirs, _) = listener.accept().expect("it is connected");
        let mut kept =
            Kept { stream: TokioIo::new(stream), turn: Turn::Fresh, silence: Silence::Unread };
        written(&mut kept).await.expect("a fresh one is written to");
        theirs.write_all(b"a").expect("it is read");
        let mut room = [0; 9];
        let mut buffer = ReadBuf::new(&mut room);
        poll_fn(|context| Pin::new(&mut kept).poll_read(context, buffer.unfilled()))
            .await
            .expect("it came");
        (kept, theirs)
    }

    async fn written(kept: &mut Kept) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *kept).poll_write(context, b"b")).await
    }

    #[tokio::test]
    async fn nothing_is_written_to_who_has_closed() {
        let (mut kept, mut theirs) = exchanged().await;
        written(&mut kept).await.expect("it is open");
        for is_reset in [false, true] {
            let (mut kept, mut theirs) = exchanged().await;
            if !is_reset {
                theirs.read_exact(&mut [0]).expect("it was written");
            }
            // The runtime hasn't looked at its sockets since.
            drop(theirs);
            let error = written(&mut kept).await.expect_err("it is closed");
            assert!(
                error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Gone>),
                "{error}"
            );
        }
        theirs.read_exact(&mut [0, 0]).expect("both were written");
    }
}
