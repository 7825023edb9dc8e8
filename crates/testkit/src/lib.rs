//! What the tests of this workspace stand on; never published.
//!
//! - [`captures`]: what real clients sent
//! - [`notation`]: transcripts as text that reads like a diagram, both ways
//! - [`generate`]: transcripts of every kind that providers accept, or that they don't
//! - [`breaches`]: the smallest body that breaks a rule, for each
//! - [`broken`]: requests in which as much is broken as there is
//! - [`bulk`]: long ones, fast
//! - [`examples`]: the shipped sessions
//! - [`features`]: how often each feature occurred, and a failure if one hardly did
//! - [`dice`]: choices from a seed
//! - [`layouts`]: the same JSON as others would have written it
//! - [`page`]: cases in text files, with what comes of each
//! - [`laws`]: what must hold of every compaction
//! - [`simulation`]: many clients, the session machine and the server, and what goes wrong between them
//! - [`server`]: a scripted model server that speaks for the providers
//! - [`agent`]: agents that work in a loop before that server
//! - [`archives`]: what any archive must do
//! - [`canaries`]: made-up secrets, in the places where secrets stand
//! - [`trail`]: which files an agent's calls changed, and which of them a view names

mod accepted;
pub mod agent;
pub mod archives;
mod bedrock;
pub mod breaches;
mod break_up;
pub mod broken;
pub mod bulk;
pub mod canaries;
pub mod captures;
mod check;
mod compactor;
pub mod conversion;

pub mod draft;
mod encode;
pub mod examples;
pub mod features;
mod gemini;
pub mod generate;
pub mod hostile;
mod interactions;
pub mod laws;
pub mod layouts;
pub mod notation;
mod observe;
pub mod page;
pub mod paper;
pub mod pen;
pub mod prose;
mod responses;
mod script;
pub mod server;
mod show;
pub mod simulation;
mod stage;
mod tape;
pub mod trail;
mod wait;

pub use accepted::accepted;
pub use check::{check, drawn};
pub use compactor::{compactor, steps, to, to_percent};
pub use epitome_bench::dice;
pub use features::{Feature, Histogram};
pub use generate::{Case, is_full};
pub use notation::{parse, show, show_view};
pub use wait::wait;

/// The README's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
