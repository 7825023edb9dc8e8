//! The binary from outside: whole commands on real sessions, bad input, exit codes, places.
//!
//! Snapshots are of `expect-test`, as everywhere in the workspace: `UPDATE_EXPECT=1 cargo test -p
//! epitome-cli` writes them anew.

#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written so by the tool")]

mod accepted;
mod agents;
mod archive;
mod asked;
mod bad_input;
mod behind;
mod bench;
mod canaries;
mod cases;
mod clients;
mod compact;
mod conversions;
mod copied;
mod corpus;
mod doctored;
mod due;
mod escapes;
mod formats;
mod hooked;
mod in_place;
#[cfg(target_os = "linux")]
mod interrupted;
mod kept;
mod lived;
mod lives;
mod looked;
mod mcp;
mod measured;
mod models;
mod obeyed;
mod papers;
mod places;
mod program;
mod recorded;
mod replicas;
mod report;
mod reports;
mod roads;
mod rounds;
mod schemas;
mod screens;
mod serve;
mod sessions;
mod settings;
mod setups;
mod sidecar;
mod simulate;
#[cfg(feature = "otlp")]
mod spans;
mod spending;
mod summarizers;
mod usage;
mod wrap;
