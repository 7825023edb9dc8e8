//! Whole compactions over gRPC: the contract
//! ([`compactor.proto`](https://docs.rs/crate/epitome-rpc/latest/source/proto/epitome/v1/compactor.proto)), a client
//! ([`Remote`]) that is an [`epitome::engine::delegate::Compact`], and a service that hosts any of those ([`serve`]).
//!
//! ```no_run
//! use std::sync::Arc;
//! use epitome::engine::delegate::Compactors;
//! use epitome_rpc::{Address, Limits, Remote};
//!
//! let address: Address = "http://127.0.0.1:50051#mine".parse()?;
//! let remote = Remote::new(address, None, Limits::default())?;
//! let compactors = Compactors { chain: vec![Arc::new(remote)], ..Compactors::default() };
//! # Ok::<(), epitome_rpc::BadAddress>(())
//! ```
//!
//! A caller sends the request and its held entries, and gets the fate of each message. No answer is trusted: the engine
//! checks it like its own plans. `https://` uses TLS, with the system's CA certificates (`SSL_CERT_FILE` names others)
//! or your own; without it a token is sent to this machine only.

mod address;
mod failure;
mod message;
mod remote;
mod service;
mod token;
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, reason = "it is made from the contract")]
pub mod v1;

pub use address::{Address, BadAddress};
pub use remote::{Limits, Offer, PRESENCE, Remote, USUAL};
pub use service::{BadIdentity, Identity, Served, Serving, serve};
pub use token::Token;

/// The most bytes of one message, unless another limit is said.
pub const MESSAGE: usize = 64 << 20;
