//! Presets beside the systems that they are like: each row of docs/parity.md names a test of this folder, or one of what holds
//! for any preset.
//!
//! What those systems do is told from their public sources and tests; nothing of them is copied.

mod agentkit;
mod docker_agent;
mod entelix;
mod models;
mod planck;
mod ptc_runner;

use std::collections::BTreeSet;

use epitome::count::{Tally, counter};
use epitome::preset::{NAMES, Preset};
use epitome::trigger::{Cause, Measurements, Trigger, When};
use epitome::view::Fate;
use epitome::{Compactor, Format, Options, Outcome, Request};

#[test]
fn each_row_of_the_page_names_its_test() {
    let page = include_str!("../../../../../docs/parity.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| test |"));
    let pointed: Option<BTreeSet<&str>> =
        rows.map(|row| row.strip_suffix("` |")?.rsplit('`').next()).collect();
    let pointed = pointed.expect("each row ends with its test");
    let named = |sources: &[(&str, &str)]| -> BTreeSet<String> {
        let names = sources.iter().flat_map(|(module, source)| {
            let names =
                source.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split_once('('));
            names.map(move |(name, _)| format!("{module}::{name}"))
        });
        names.collect()
    };
    let own = named(&[
        ("agentkit", include_str!("agentkit.rs")),
        ("docker_agent", include_str!("docker_agent.rs")),
        ("entelix", include_str!("entelix.rs")),
        ("models", include_str!("models.rs")),
        ("planck", include_str!("planck.rs")),
        ("ptc_runner", include_str!("ptc_runner.rs")),
    ]);
    let others = named(&[
        ("compacts::faults", include_str!("../compacts/faults.rs")),
        ("hooks", include_str!("../hooks.rs")),
        ("summaries", include_str!("../summaries/mod.rs")),
        ("summaries::asked", include_str!("../summaries/asked.rs")),
        ("summaries::faults", include_str!("../summaries/faults.rs")),
    ]);
    let unpointed: Vec<_> = own.iter().filter(|test| !pointed.contains(test.as_str())).collect();
    assert!(unpointed.is_empty(), "in no row: {unpointed:?}");
    let is_there = |test: &&&str| own.contains(**test) || others.contains(**test);
    let missing: Vec<_> = pointed.iter().filter(|test| !is_there(test)).collect();
    assert!(missing.is_empty(), "there are no such tests: {missing:?}");
}

#[test]
fn presets_are_found_by_their_names() {
    for name in NAMES {
        for window in [None, Some(1), Some(1_000), Some(200_000), Some(u64::MAX)] {
            let preset = Preset::named(name, window).expect("its own name");
            assert_eq!(preset.name, name);
            compactor(preset.options);
            preset.trigger.build().expect("in range");
        }
    }
    let error = Preset::named("plank", None).expect_err("no such preset");
    assert!(error.to_string().contains("`plank`") && error.to_string().contains("planck"));
}

/// The preset for a window of so many tokens.
fn preset(name: &str, window: u64) -> Preset {
    Preset::named(name, Some(window)).expect("a known name")
}

fn compactor(options: Options) -> Compactor {
    testkit::compactor(options, "chars4")
}

fn request(drawn: &str) -> Request {
    testkit::parse(Format::OpenaiChat, drawn)
}

/// What a trigger would look at.
fn measurements(request: &Request, window: u64) -> Measurements {
    let counter = counter("chars4").expect("a known name");
    let tokens = Tally::of(request, counter.as_ref()).total();
    Measurements { window: Some(window), ..Measurements::of(request, tokens) }
}

fn fires(trigger: &When, measurements: &Measurements) -> Option<Cause> {
    trigger.clone().build().expect("in range").fires(measurements)
}

/// Looks as a preset does, and compacts if it is time.
fn looked(preset: &Preset, request: &Request, window: u64) -> Option<Outcome> {
    let cause = fires(&preset.trigger, &measurements(request, window))?;
    Some(compactor(preset.options.clone()).with_cause(cause).compact(request).expect("a view"))
}

/// Compacts whether or not it is time.
fn compacted(options: Options, drawn: &str) -> Outcome {
    compactor(options).compact(&request(drawn)).expect("a view")
}

/// One letter an entry: kept, edited, folded, dropped.
fn letters(outcome: &Outcome) -> String {
    let letter = |fate: &Fate| match fate {
        Fate::Keep => 'k',
        Fate::Edit(_) => 'e',
        Fate::Fold(_) => 'f',
        Fate::Drop(_) => 'd',
    };
    outcome.view.fates().map(letter).collect()
}

/// What the checkpoint says.
fn checkpoint(outcome: &Outcome) -> String {
    outcome.view.checkpoint().expect("a checkpoint").text.to_string()
}

/// So many exchanges, a user's and the model's message of so many more words each.
fn exchanges(many: usize, words: usize) -> String {
    let more = if words == 0 { String::new() } else { format!(" {{lorem {words}}}") };
    (1..=many)
        .map(|at| format!("user Ask {at}.{more}\nasst Reply {at}.{more}\n"))
        .collect::<Vec<_>>()
        .concat()
}

/// So many exchanges of a short question and a reply of so many more words.
fn talk(many: usize, words: usize) -> String {
    (1..=many)
        .map(|at| format!("user Ask {at}.\nasst Reply {at}. {{lorem {words}}}\n"))
        .collect::<Vec<_>>()
        .concat()
}

/// What is compacted again with the same settings, after `more` was said.
fn again(first: &Outcome, options: Options, more: &str) -> Outcome {
    let mut body: serde_json::Value = serde_json::from_str(first.rendered()).expect("JSON");
    let messages = body["messages"].as_array_mut().expect("messages");
    let said: serde_json::Value = serde_json::from_str(request(more).source()).expect("JSON");
    messages.extend(said["messages"].as_array().expect("messages").clone());
    let longer = epitome::wire::parse(Format::OpenaiChat, body.to_string()).expect("a body");
    compactor(options).compact(&longer).expect("a view")
}
