//! Benchmarks of compaction, for whoever measures it: of Epitome, or of anything else that makes a smaller request out of a request.
//!
//! - [`survival`]: what five compactions leave of rules, decisions, facts, tasks and questions
//! - [`dice`]: choices that are the same for the same seed

pub mod dice;
pub mod survival;
