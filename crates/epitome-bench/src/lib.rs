//! Benchmarks of compaction, for whoever measures it: of Epitome, or of anything else that makes a smaller request out of a request.
//!
//! - [`survival`]: what five compactions leave of rules, decisions, facts, tasks and questions
//! - [`foresight`]: whether a view still says what the agent will need
//! - [`dice`]: choices that are the same for the same seed

pub mod dice;
pub mod foresight;
pub mod survival;
