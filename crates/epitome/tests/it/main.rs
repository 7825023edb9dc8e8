//! The laws, over generated transcripts and over real ones. One binary, so that it links once.
//!
//! `EPITOME_CASES=5000` sets how many cases each property takes.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod edits;
mod engine;
mod fidelity;
mod laws;
mod pairs;
mod repairs;
mod rules;
mod strategies;
