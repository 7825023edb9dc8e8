//! The client: a compactor behind an address.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use epitome::engine::delegate::{Compact, Compacting, Decision, Job};
use epitome::summarize::{FailureKind, SummarizeError};
use prost::Message as _;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use crate::service::{holds_certificate, innermost};
use crate::v1::DescribeRequest;
use crate::v1::compactor_client::CompactorClient;
use crate::{Address, BadAddress, MESSAGE, Token, failure, message};

/// How long is waited for an answer where the other side doesn't say.
pub const USUAL: Duration = Duration::from_mins(2);
/// How long is waited to hear that somebody is there.
pub const PRESENCE: Duration = Duration::from_secs(5);

/// How long and how much is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time limit of one answer, whatever the other side says; without it the other side's own, else [`USUAL`].
    pub longest: Option<Duration>,
    /// To hear that somebody is there.
    pub presence: Duration,
    /// Bytes of one message, either way.
    pub message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { longest: None, presence: PRESENCE, message: MESSAGE }
    }
}

/// A compactor that a server says it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Its own description.
    pub about: String,
}

/// A compactor behind an address. It is connected to for each compaction, so that it may come and go.
#[derive(Debug)]
pub struct Remote {
    /// `grpc:URL#NAME`.
    called: String,
    address: Address,
    endpoint: Endpoint,
    token: Option<Token>,
    limits: Limits,
}

impl Remote {
    /// The compactor at `address`, asked with `token`.
    ///
    /// # Errors
    /// An address that is none, or a token that would go to another machine without TLS.
    pub fn new(address: Address, token: Option<Token>, limits: Limits) -> Result<Self, BadAddress> {
        if token.is_some() && !address.is_tls() && !address.is_local() {
            return Err(BadAddress::TokenInTheClear(address.base().to_owned()));
        }
        let endpoint = Endpoint::from_shared(address.base().to_owned());
        let endpoint = endpoint.map_err(|_| BadAddress::Malformed(address.base().to_owned()))?;
        let endpoint = endpoint.connect_timeout(limits.presence);
        let remote = Remote { called: format!("grpc:{address}"), address, endpoint, token, limits };
        if remote.address.is_tls() {
            remote.with(ClientTlsConfig::new().with_native_roots())
        } else {
            Ok(remote)
        }
    }

    /// The same, trusting whoever has a certificate by one of these authorities (PEM), and nobody else. It
    /// changes nothing where TLS isn't spoken.
    ///
    /// # Errors
    /// They can't be read.
    pub fn trusting(self, authorities: &[u8]) -> Result<Self, BadAddress> {
        if !self.address.is_tls() {
            return Ok(self);
        }
        if !holds_certificate(authorities) {
            return Err(BadAddress::NoAuthority);
        }
        self.with(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authorities)))
    }

    fn with(self, tls: ClientTlsConfig) -> Result<Self, BadAddress> {
        let endpoint = self.endpoint.tls_config(tls).map_err(|error| BadAddress::Tls {
            address: self.address.base().to_owned(),
            error: innermost(&error),
        })?;
        Ok(Remote { endpoint, ..self })
    }

    /// The compactors that the server says it has.
    ///
    /// # Errors
    /// Nobody is there, or not in time, or the token isn't taken.
    pub async fn offers(&self) -> Result<Vec<Offer>, SummarizeError> {
        Ok(self.present().await?.1)
    }

    async fn present(&self) -> Result<(CompactorClient<Channel>, Vec<Offer>), SummarizeError> {
        let present = async {
            let channel = self.endpoint.connect().await.map_err(|error| {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                SummarizeError::new(FailureKind::Unreachable, cause.unwrap_or(error.to_string()))
            })?;
            let mut client = CompactorClient::new(channel)
                .max_decoding_message_size(self.limits.message)
                .max_encoding_message_size(self.limits.message);
            let described = client.describe(self.asking(DescribeRequest {})?).await;
            let described = described.map_err(|status| self.failure(&status))?.into_inner();
            let offers = described.compactors.into_iter().map(|offer| Offer {
                name: offer.name,
                timeout: match u64::try_from(offer.timeout_ms) {
                    Ok(ms) if ms > 0 => Duration::from_millis(ms),
                    _ => USUAL,
                },
                about: offer.about,
            });
            Ok((client, offers.collect()))
        };
        timeout(self.limits.presence, present)
            .await
            .unwrap_or_else(|_| Err(late("is anybody there", self.limits.presence)))
    }

    async fn run(self: Arc<Self>, job: Arc<Job>) -> Result<Decision, SummarizeError> {
        let name = self.address.name();
        let (mut client, offers) = self.present().await?;
        let Some(offer) = offers.iter().find(|offer| offer.name == name) else {
            let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
            let what = format!("the server has no compactor {name:?}; it has {names:?}");
            return Err(SummarizeError::new(FailureKind::Rejected, what));
        };
        let longest = self.limits.longest.unwrap_or(offer.timeout);
        let (name, asked) = (name.to_owned(), Arc::clone(&job));
        let question = aside(move || message::question(&name, &asked)).await;
        let (bytes, most) = (question.encoded_len(), self.limits.message);
        if bytes > most {
            let what = format!("the request has {bytes} bytes, and at most {most} can be sent");
            return Err(SummarizeError::new(FailureKind::Rejected, what));
        }
        let question = self.asking(question)?;
        let answer = timeout(longest, client.compact(question)).await;
        let answer = answer.map_err(|_| late("compact", longest))?;
        let answer = answer.map_err(|status| self.failure(&status))?.into_inner();
        let spent = message::spent(&answer);
        let verdict = aside(move || message::verdict(&job, answer)).await;
        verdict.map_err(|shape| SummarizeError::new(FailureKind::Malformed, shape).having(spent))
    }

    fn asking<T>(&self, message: T) -> Result<Request<T>, SummarizeError> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            let header = token.header().parse().map_err(|_| {
                SummarizeError::new(
                    FailureKind::Unauthorized,
                    "the token can't be sent in a header",
                )
            })?;
            request.metadata_mut().insert("authorization", header);
        }
        Ok(request)
    }

    fn failure(&self, status: &Status) -> SummarizeError {
        // Nothing was said: the connection broke.
        let broken = std::error::Error::source(status).map(|cause| {
            let tls = if self.address.is_tls() { "" } else { "; for TLS use https://…" };
            format!("{}{tls}", innermost(cause))
        });
        let said = broken.as_deref().unwrap_or(status.message());
        let said = self.token.as_ref().map_or(said.to_owned(), |token| token.left_out_of(said));
        SummarizeError::new(failure::kind(status), said)
    }
}

/// What `work` gives, which over a long history takes longer than a task may hold its runtime.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

fn late(what: &str, longest: Duration) -> SummarizeError {
    SummarizeError::new(FailureKind::Timeout, format!("{what}: {} s", longest.as_secs_f64()))
}

impl Compact for Remote {
    fn name(&self) -> &str {
        &self.called
    }

    fn compact(self: Arc<Self>, job: Arc<Job>) -> Compacting {
        Box::pin(self.run(job))
    }
}
