//! The service: compactors behind an address.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use epitome::engine::delegate::Compact;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

use crate::v1::compactor_server::{Compactor, CompactorServer};
use crate::v1::{CompactRequest, CompactResponse, DescribeRequest, DescribeResponse, Described};
use crate::{MESSAGE, Token, USUAL, failure, message};

/// The contract in its binary form, for who asks by reflection.
const DESCRIPTORS: &[u8] = include_bytes!("v1/descriptors.bin");

/// A compactor that is served, by its own name.
#[derive(Clone, Debug)]
pub struct Served {
    /// Who answers.
    pub by: Arc<dyn Compact>,
    /// How long it may take.
    pub timeout: Duration,
    /// One line for people.
    pub about: String,
}

impl Served {
    /// With the usual timeout.
    pub fn new(by: Arc<dyn Compact>, about: impl Into<String>) -> Self {
        Served { by, timeout: USUAL, about: about.into() }
    }
}

/// What is served, and to whom.
#[derive(Clone, Debug)]
pub struct Serving {
    /// By name.
    pub compactors: Vec<Served>,
    /// What callers must bear; health is told to anybody.
    pub token: Option<Token>,
    /// The most bytes of one message.
    pub message: usize,
    /// Who it proves to be, if it speaks TLS.
    pub identity: Option<Identity>,
}

/// A chain of certificates and its key.
#[derive(Clone)]
pub struct Identity(tonic::transport::Identity);

/// Why a chain and a key are none, or don't belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadIdentity {
    /// There is no certificate in what is to be the chain.
    #[error("it contains no PEM certificate")]
    NoCertificate,
    /// There is no key in what is to be one.
    #[error("it contains no PEM private key")]
    NoKey,
    /// They can't be read, or the key is another one's.
    #[error("{0}")]
    Unusable(String),
}

impl Identity {
    /// Both as PEM.
    ///
    /// # Errors
    /// They aren't that, or don't belong together.
    pub fn from_pem(
        certificates: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, BadIdentity> {
        if !holds_certificate(certificates.as_ref()) {
            return Err(BadIdentity::NoCertificate);
        }
        if !has(key.as_ref(), "PRIVATE KEY-----") {
            return Err(BadIdentity::NoKey);
        }
        let identity = tonic::transport::Identity::from_pem(certificates, key);
        // Now, not when somebody calls.
        Server::builder()
            .tls_config(ServerTlsConfig::new().identity(identity.clone()))
            .map_err(|error| BadIdentity::Unusable(innermost(&error)))?;
        Ok(Identity(identity))
    }
}

/// Whether there is a certificate in it, as PEM.
pub(crate) fn holds_certificate(pem: &[u8]) -> bool {
    has(pem, "-----BEGIN CERTIFICATE-----")
}

fn has(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// The cause of all causes: the outer ones say `transport error`.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(…)")
    }
}

impl Serving {
    /// These, to anybody who reaches them.
    pub fn new(compactors: Vec<Served>) -> Self {
        Serving { compactors, token: None, message: MESSAGE, identity: None }
    }
}

/// Serves on `listener` until `end`, with the standard services for health and reflection.
///
/// # Errors
/// The system's, or a certificate, key or descriptor set that can't be read.
pub async fn serve(
    listener: TcpListener,
    serving: Serving,
    end: impl Future<Output = ()>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let Serving { compactors, token, message, identity } = serving;
    let guard = move |request: Request<()>| {
        let Some(token) = &token else { return Ok(request) };
        match request.metadata().get("authorization") {
            Some(header) if token.is_borne_by(header.as_bytes()) => Ok(request),
            Some(_) => Err(Status::unauthenticated("the token is wrong")),
            None => Err(Status::unauthenticated("a token is required, and none was sent")),
        }
    };
    let service = CompactorServer::new(Hosted(compactors))
        .max_decoding_message_size(message)
        .max_encoding_message_size(message);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .build_v1()?;
    let (health, probes) = tonic_health::server::health_reporter();
    health.set_serving::<CompactorServer<Hosted>>().await;
    let mut server = Server::builder();
    if let Some(Identity(identity)) = identity {
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    server
        .add_service(probes)
        .add_service(InterceptedService::new(reflection, guard.clone()))
        .add_service(InterceptedService::new(service, guard))
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), end)
        .await?;
    Ok(())
}

#[derive(Debug)]
struct Hosted(Vec<Served>);

#[tonic::async_trait]
impl Compactor for Hosted {
    async fn describe(
        &self,
        _: Request<DescribeRequest>,
    ) -> Result<Response<DescribeResponse>, Status> {
        let compactors = self.0.iter().map(|served| Described {
            name: served.by.name().to_owned(),
            timeout_ms: i64::try_from(served.timeout.as_millis()).unwrap_or(i64::MAX),
            about: served.about.clone(),
        });
        Ok(Response::new(DescribeResponse { compactors: compactors.collect() }))
    }

    async fn compact(
        &self,
        question: Request<CompactRequest>,
    ) -> Result<Response<CompactResponse>, Status> {
        let question = question.into_inner();
        let named = self.0.iter().find(|served| served.by.name() == question.name);
        let Some(Served { by, timeout: longest, .. }) = named else {
            return Err(Status::not_found(format!("no compactor is called {:?}", question.name)));
        };
        let job = Arc::new(message::job(question).map_err(Status::invalid_argument)?);
        let answer = timeout(*longest, Arc::clone(by).compact(Arc::clone(&job))).await;
        let answer = answer.map_err(|_| Status::deadline_exceeded("it took too long"))?;
        let verdict = answer.map_err(|error| failure::status(&error))?;
        Ok(Response::new(message::told(&job, verdict)))
    }
}
