//! The laws, over generated transcripts and over real ones. One binary, so that it links once.
//!
//! `EPITOME_CASES=5000` sets how many cases each property takes.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod archives;
mod breaches;
mod calibration;
mod captures;
mod compacts;
mod contexts;
mod conversion;
mod costs;
mod edits;
mod engine;
mod events;
mod fidelity;
mod fits;
mod goes_on;
mod held;
mod hooks;
mod items;
mod laws;
mod markers;
mod mistyped;
mod models;
mod numbers;
mod oracle;
mod overflows;
mod pairs;
mod people;
mod plans;
mod presets;
mod repairs;
mod rules;
mod sampled;
mod sentences;
mod session;
mod shapes;
mod shared;
mod strategies;
mod summaries;
mod told;
mod triggers;
mod volatile;
