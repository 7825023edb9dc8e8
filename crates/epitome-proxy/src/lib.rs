//! A proxy between any agent and the providers of its models, which keeps conversations inside the context window.
//!
//! Below the trigger, requests and replies pass byte for byte, streams piece by piece. When the trigger fires, the engine of
//! [`epitome_tower`] makes the view that is sent instead, and later requests of the conversation continue it, so that the
//! provider's prompt cache stays warm. A prompt that is refused as too long, even by the first events of a stream, is made
//! smaller and sent once more. Conversations are recognised by their content, within one credential.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use epitome_proxy::{Proxy, ProxyOptions};
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:7411").await?;
//! Proxy::new(&ProxyOptions::default())?.serve(listener, std::future::pending()).await?;
//! # Ok(()) }
//! ```
//!
//! Each call of a model is a span for [`tracing`], with OpenTelemetry's GenAI names ([`epitome_tracing`]); where nobody listens,
//! nothing is done for that.
//!
//! What can't be read (too large, packed in an unknown way, history that the provider keeps) is forwarded as it came and counted
//! at `/metrics`. Requests go to [`Upstreams`] and nowhere else.

mod activity;
mod asking;
mod call;
mod caller;
mod consent;
mod counting;
mod credential;
mod encoding;
mod engine;
mod exchange;
mod flow;
#[cfg(any(test, feature = "fuzzed"))]
pub mod fuzzed;
mod guard;
mod heard;
mod intent;
mod kept;
mod ledger;
mod listening;
mod log;
mod looking;
mod management;
mod meters;
mod models;
mod native;
mod notice;
mod offer;
mod opening;
mod options;
mod paths;
mod proxy;
mod recall;
mod refusal;
mod room;
mod sending;
mod serve;
mod sse;
mod stall;
mod turned;
mod ui;
mod unpacking;
mod upstream;
mod usage;
mod wanted;
mod when;

pub use caller::Caller;
pub use epitome_tower::{Conversations, KeptConversation};
pub use listening::{Listening, TlsIdentity};
pub use log::{ProxyEvent, ProxyObserver, SpanParent};
pub use management::ManagementToken;
pub use options::{
    CallerAccess, InternalErrors, KeptLearning, Outward, ProxyError, ProxyLimits, ProxyMode,
    ProxyOptions, ProxyState, RecallSource, draw_secret,
};
pub use proxy::Proxy;
pub use upstream::{Provider, Upstream, UpstreamError, Upstreams};
