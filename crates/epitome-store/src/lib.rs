//! An archive on disk: what compactions hide can be had back, searched, and forgotten.
//!
//! A [`Store`] is a folder with one SQLite database, or a PostgreSQL server that many processes share. Contents are kept once each, by their digest; what came
//! in and what is shown are lists of them, so that a session that is compacted fifty times costs its entries
//! and fifty short lists. A [`Session`] is an [`Archive`](epitome::archive::Archive): one conversation, found
//! by how it begins.
//!
//! There is one writer at a time, across processes too; readers go on meanwhile. An acknowledged write is on the disk.
//! Tenants share a file and nothing else: contents, words and their frequencies are each one's own.
//!
//! ```
//! use epitome::archive::Archive as _;
//! use epitome::{Compactor, Options, count::counter, wire};
//! use epitome_store::{Access, Document, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! let body = r#"{"messages":[{"role":"user","content":"The port is 5433."}]}"#;
//! let request = wire::detect(body.to_owned())?;
//! let store = Store::open(&folder.path().join("store"), Access::Write)?;
//! let session = store.take_in(&Document { raw: body.as_bytes(), request: &request, source: "", project: "" })?;
//! let outcome = Compactor::new(Options::default(), counter("o200k")?)?.compact_into(&request, &session)?;
//! assert!(outcome.view.is_whole() && session.history()?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![expect(
    clippy::cast_possible_wrap,
    reason = "SQLite's numbers are signed; what is counted here stays far below"
)]

mod blob;
mod chain;
mod database;
mod error;
mod folder;
mod forget;
mod index;
mod inputs;
mod list;
mod schema;
mod search;
mod server;
mod session;
mod state;
mod store;
mod take_in;
mod terms;

pub use chain::Chain;
pub use database::url::without_password;
pub use error::StoreError;
pub use forget::Forgotten;
pub use list::{Listed, Pinned, Stored, Viewed};
pub use session::Session;
pub use state::State;
pub use store::{Access, Store};
pub use take_in::Document;
