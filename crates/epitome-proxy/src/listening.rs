//! Where a proxy listens: an address or a path, with TLS or without.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::options::ProxyError;

/// Where a proxy listens.
#[derive(Debug)]
pub struct Listening {
    socket: Socket,
    identity: Option<TlsIdentity>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

/// What a server proves with that it is the one that it is taken for.
#[derive(Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

impl TlsIdentity {
    /// A chain of certificates, the server's own first, and its private key, both in PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, ProxyError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|error| ProxyError::Pem("certificate", error.to_string()))?;
        if chain.is_empty() {
            return Err(ProxyError::Pem("certificate", "there is none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key);
        let key = key.map_err(|error| ProxyError::Pem("private key", error.to_string()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsIdentity(Arc::new(config)))
    }
}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsIdentity")
    }
}

impl From<TcpListener> for Listening {
    fn from(listener: TcpListener) -> Self {
        Listening { socket: Socket::Tcp(listener), identity: None }
    }
}

#[cfg(unix)]
impl From<UnixListener> for Listening {
    fn from(listener: UnixListener) -> Self {
        Listening { socket: Socket::Unix(listener), identity: None }
    }
}

/// A connection that was accepted.
pub(crate) enum Accepted {
    /// Bytes as they come.
    Plain(TcpStream),
    /// Bytes that somebody else takes from a path of this machine, or that are still to be decrypted.
    Other(Box<dyn Stream>),
}

/// Bytes both ways.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Listening {
    /// The same, with TLS.
    #[must_use]
    pub fn with_tls(self, identity: TlsIdentity) -> Self {
        Listening { identity: Some(identity), ..self }
    }

    /// What names of this machine are held to: only who listens for this machine alone knows all of them.
    pub(crate) fn address(&self) -> io::Result<IpAddr> {
        match &self.socket {
            Socket::Tcp(listener) => Ok(listener.local_addr()?.ip()),
            // No page reaches it, whatever it calls itself.
            #[cfg(unix)]
            Socket::Unix(_) => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Events of a stream are small, and none waits for the next.
                drop(stream.set_nodelay(true));
                Ok(Accepted::Plain(stream))
            }
            #[cfg(unix)]
            Socket::Unix(listener) => Ok(Accepted::Other(Box::new(listener.accept().await?.0))),
        }
    }

    /// Adds TLS to a connection, if it is configured.
    pub(crate) fn acceptor(&self) -> Option<TlsAcceptor> {
        self.identity.as_ref().map(|identity| TlsAcceptor::from(Arc::clone(&identity.0)))
    }
}

impl Accepted {
    /// The same, once it is known that both sides speak TLS.
    pub(crate) async fn encrypted(self, acceptor: TlsAcceptor) -> io::Result<Self> {
        let accepted: Box<dyn Stream> = match self {
            Accepted::Plain(stream) => Box::new(acceptor.accept(stream).await?),
            Accepted::Other(stream) => Box::new(acceptor.accept(stream).await?),
        };
        Ok(Accepted::Other(accepted))
    }
}

/// Does the same to whichever it is.
macro_rules! either {
    ($self:ident, $stream:ident => $does:expr) => {
        match $self.get_mut() {
            Accepted::Plain($stream) => $does,
            Accepted::Other($stream) => $does,
        }
    };
}

impl AsyncRead for Accepted {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Accepted::Plain(stream) => stream.is_write_vectored(),
            Accepted::Other(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(context))
    }
}
