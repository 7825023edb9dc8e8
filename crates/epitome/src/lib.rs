//! Epitome keeps long-running LLM agents inside their context window: a transcript goes in, and a smaller one comes out
//! that every provider accepts, that keeps what matters, and from which every removed byte can be restored.
//!
//! ```
//! use epitome::{Compactor, Options, count::counter, wire};
//!
//! let body = r#"{"model":"gpt-6-sol","messages":[{"role":"user","content":"Fix the build."}]}"#;
//! let request = wire::detect(body.to_owned())?;
//! let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
//! let outcome = compactor.compact(&request)?;
//! println!("{} → {} tokens", outcome.receipt.before.count.tokens, outcome.receipt.after.count.tokens);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The library does no IO, reads no clock and draws no random numbers: the same input gives the same
//! output.

mod budget;
mod context;
mod delegate;
mod events;
mod function;
mod guard;
mod hook;
mod json;
mod plan;
mod receipt;
mod request;
mod specifics;
mod tool;
mod working_view;

pub mod archive;
pub mod checkpoint;
pub mod convert;
pub mod count;
pub mod engine;
pub mod model;
pub mod preset;
pub mod session;
pub mod strategy;
pub mod summarize;
pub mod text;
pub mod transcript;
pub mod trigger;
pub mod view;
pub mod wire;
#[doc(hidden)]
pub mod word_list;

pub use budget::{Tail, Target};
pub use engine::{CompactError, Compaction, Compactor, Options, Outcome};
pub use guard::{Pin, Task};
pub use receipt::Receipt;
pub use request::Request;
pub use transcript::Transcript;
pub use view::View;
pub use wire::Format;
