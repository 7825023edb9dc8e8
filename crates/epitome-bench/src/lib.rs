//! Benchmarks of compaction, on real sessions.
//!
//! - [`foresight`]: does a view still say what the agent will need?
//! - [`rounds`]: do people's rules and values outlast five compactions?
//! - [`passage`], [`needle`]: what a request says, and where
//! - [`dice`]: choices that are the same for the same seed

mod broken;
pub mod dice;
pub mod foresight;
pub mod needle;
pub mod passage;
pub mod rounds;
pub mod share;

pub use broken::Broken;
pub use share::Share;
