//! Models over HTTP as summarizers: OpenAI (Chat Completions and Responses), Anthropic, Gemini, and any server
//! that speaks as OpenAI's Chat Completions do.
//!
//! ```no_run
//! use epitome::Format;
//! use epitome_llm::{Endpoint, Limits, Model, Secret};
//!
//! let endpoint = Endpoint {
//!     format: Format::Anthropic,
//!     base: "https://api.anthropic.com".to_owned(),
//!     model: "claude-haiku-4-5".to_owned(),
//!     key: Some(Secret::new("…")),
//! };
//! let summarizer = Model::new(endpoint, Limits::default(), None)?;
//! # Ok::<(), epitome_llm::BadEndpoint>(())
//! ```
//!
//! Answers are streamed. Passing failures are retried, as late as the server says; every call is booked, whatever its
//! outcome. No redirect is followed, so that a key goes to no other origin. Proxies and certificates are those of the
//! environment (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`). The first [`Model`] makes *ring* the process's
//! cryptography, unless another one was chosen before.

mod body;
mod call;
mod endpoint;
mod events;
mod heard;
mod listing;
mod model;
mod purse;
mod secret;
mod summarizer;

pub use endpoint::{BadEndpoint, Endpoint, origin, plain_host};
pub use model::{Borrowed, Limits, Model, UNKNOWN_WINDOW};
pub use purse::{Books, Cap, Entry, InMemory, Purse, Reserved, Unbooked, in_memory};
pub use secret::Secret;
