//! The dependency edges of ARCHITECTURE.md, "Crates".

use std::collections::BTreeSet;

use crate::metadata::{Kind, Metadata};
use epitome::word_list::words;

/// Each crate with the crates of this workspace that it is built from.
const EDGES: [(&str, &[&str]); 14] = [
    ("epitome", &[]),
    ("epitome-bench", &["epitome"]),
    (
        "epitome-cli",
        &words!(
            "epitome epitome-bench epitome-llm epitome-proxy epitome-recordings epitome-rpc \
             epitome-server epitome-store"
        ),
    ),
    ("epitome-llm", &["epitome"]),
    ("epitome-proxy", &["epitome", "epitome-server", "epitome-tower", "epitome-tracing"]),
    ("epitome-py", &["epitome", "epitome-recordings", "epitome-store"]),
    ("epitome-recordings", &["epitome"]),
    ("epitome-rpc", &["epitome"]),
    ("epitome-server", &["epitome"]),
    ("epitome-store", &["epitome"]),
    ("epitome-tests", &["epitome", "testkit"]),
    ("epitome-tower", &["epitome"]),
    ("epitome-tracing", &["epitome"]),
    ("testkit", &["epitome", "epitome-bench"]),
];

/// What the core is built from, besides itself; a longer list needs a reason in DESIGN.md.
const CORE: [&str; 7] =
    ["blake3", "highway", "memchr", "serde", "serde_json", "strsim", "thiserror"];

/// What would bring IO, a runtime, a clock, randomness or a terminal into the core.
const FOREIGN: [&str; 26] = words!(
    "async-std axum chrono clap crossterm curl diesel fastrand futures getrandom hyper indicatif \
     jiff mio postgres rand reqwest rusqlite smol socket2 sqlx time tokio tonic tracing-subscriber \
     ureq"
);

#[test]
fn crates_know_only_what_they_may() {
    let metadata = Metadata::get();
    let mut found: Vec<(&str, Vec<&str>)> = metadata
        .members()
        .map(|member| {
            let under = metadata.members_under(member, &[Kind::Normal, Kind::Build]);
            (member.name.as_str(), under.into_iter().collect())
        })
        .collect();
    found.sort();
    assert_eq!(found, EDGES.map(|(name, under)| (name, under.to_vec())));
}

#[test]
fn tests_use_nothing_else_of_the_workspace_but_the_kit() {
    let metadata = Metadata::get();
    for member in metadata.members() {
        let normal = metadata.members_under(member, &[Kind::Normal, Kind::Build]);
        let dev = metadata.members_under(member, &[Kind::Dev]);
        let strange: Vec<_> = dev.difference(&normal).filter(|name| **name != "testkit").collect();
        assert!(strange.is_empty(), "{} is tested with {strange:?}", member.name);
    }
}

/// What is only for tests.
const UNPUBLISHED: [&str; 2] = ["epitome-tests", "testkit"];

#[test]
fn what_is_for_tests_is_never_published() {
    let metadata = Metadata::get();
    for member in metadata.members() {
        let is_for_tests = UNPUBLISHED.contains(&member.name.as_str());
        assert_eq!(member.is_published(), !is_for_tests, "{}", member.name);
    }
    let published = metadata.members().filter(|member| member.is_published());
    let built = metadata.closure(published, &[Kind::Normal, Kind::Build]);
    assert!(built.iter().all(|package| package.name != "testkit"));
}

#[test]
fn the_core_does_no_io() {
    let metadata = Metadata::get();
    let core = metadata.closure([metadata.member("epitome")], &[Kind::Normal]);
    let names: BTreeSet<&str> = core.iter().map(|package| package.name.as_str()).collect();
    let foreign: Vec<_> = FOREIGN.iter().filter(|name| names.contains(**name)).collect();
    assert!(foreign.is_empty(), "the core is built from {foreign:?}");
}

#[test]
fn the_core_is_built_from_little() {
    let metadata = Metadata::get();
    let direct = metadata.names_under(metadata.member("epitome"), &[Kind::Normal]);
    assert_eq!(direct.into_iter().collect::<Vec<_>>(), CORE);
}
