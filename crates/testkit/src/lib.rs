//! What the tests of this workspace stand on; never published.
//!
//! - [`notation`]: transcripts as text that reads like a diagram, both ways
//! - [`generate`]: transcripts of every kind that providers accept, or that they don't
//! - [`bulk`]: long ones, fast
//! - [`features`]: how often each feature occurred, and a failure if one hardly did
//! - [`laws`]: what must hold of every compaction
//! - [`oracle`]: what providers accept, written independently of `epitome::wire`

mod break_up;
pub mod bulk;
mod check;
mod dice;
pub mod draft;
mod encode;
pub mod features;
pub mod generate;
pub mod laws;
pub mod notation;
mod observe;
pub mod oracle;
pub mod pen;
pub mod prose;
mod script;
mod show;
mod stage;

pub use check::{check, check_in};
pub use features::{Feature, Histogram};
pub use generate::Case;
pub use notation::{parse, show, show_view};

/// The README's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
