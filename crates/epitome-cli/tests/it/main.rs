//! The binary from outside: whole commands on real sessions, bad input, exit codes, places.
//!
//! Snapshots are of `expect-test`, as everywhere in the workspace: `UPDATE_EXPECT=1 cargo test -p
//! epitome-cli` writes them anew.

#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written so by the tool")]

mod bad_input;
mod bench;
mod compact;
mod escapes;
mod papers;
mod places;
mod reports;
mod settings;
mod usage;
