//! Planck's `Compactor`.

use epitome::engine::plan::Reached;
use epitome::trigger::Measurements;

use super::{
    again, checkpoint, compacted, exchanges, fires, letters, looked, preset, request, talk,
};

#[test]
fn acts_at_eight_tenths() {
    let trigger = preset("planck", 1_003).trigger;
    let at = |tokens: u64| {
        let mut measurements = Measurements { window: Some(1_003), ..Measurements::default() };
        measurements.tokens.tokens = tokens;
        measurements.tokens.upper = tokens;
        fires(&trigger, &measurements).is_some()
    };
    assert!(!at(801) && at(802) && at(803));
}

#[test]
fn leaves_what_is_small() {
    assert!(looked(&preset("planck", 1_000), &request(&exchanges(2, 2)), 1_000).is_none());
}

#[test]
fn keeps_ten() {
    let said = request(&exchanges(10, 60));
    let outcome = looked(&preset("planck", 2_000), &said, 2_000).expect("it is time");
    assert_eq!(letters(&outcome), "kfffffffffkkkkkkkkkk");
    assert!(outcome.receipt.cause.is_some() && outcome.receipt.triggered);
    assert_eq!(outcome.view.checkpoint().expect("one").before, 10);
}

#[test]
fn keeps_the_task() {
    let folding = epitome::Options { task: epitome::Task::Fold, ..preset("planck", 2_000).options };
    assert!(letters(&compacted(folding, &exchanges(10, 60))).starts_with("fff"));
}

#[test]
fn has_nothing_to_fold() {
    let outcome = compacted(preset("planck", 100_000).options, &exchanges(5, 60));
    assert!(outcome.view.is_whole() && !outcome.receipt.triggered);
}

#[test]
fn gets_under_its_own_threshold() {
    let said = request(&exchanges(5, 200));
    let outcome = looked(&preset("planck", 2_000), &said, 2_000).expect("it is time");
    assert_eq!(outcome.receipt.reached, Reached::Target);
    let after = outcome.receipt.after.count.tokens;
    assert!(after < 1_600, "{after}");
}

const PAIR: &str = "\
user Begin. {lorem 300}
asst call a Read {\"file_path\":\"src/first.rs\"}
res  a = {lorem 300}
asst Fine. {lorem 100}
asst call b Read {\"file_path\":\"src/main.rs\"} | call c Bash {\"command\":\"cargo test\"}
res  b = {lorem 20}
res  c = {lorem 20}
";

/// The pair, and what was said since.
fn pair() -> String {
    format!("{PAIR}{}", exchanges(4, 0))
}

#[test]
fn never_parts_a_pair() {
    // The tenth message from the end is a result; the model's message before its call belongs to it.
    let outcome = compacted(preset("planck", 100_000).options, &pair());
    assert_eq!(letters(&outcome), "kffkkkkkkkkkkkk");
}

#[test]
fn carries_the_first_checkpoint_on() {
    let options = preset("planck", 100_000).options;
    let first = compacted(options.clone(), &talk(10, 200));
    assert!(checkpoint(&first).contains("Ask 3."), "{}", checkpoint(&first));
    let second = again(&first, options, &talk(6, 200).replace("Ask", "Later ask"));
    let words = checkpoint(&second);
    assert!(words.contains("Ask 3.") && words.contains("Ask 9."), "{words}");
    assert!(!second.rendered().contains(&checkpoint(&first)), "one stands for both");
}

#[test]
fn lists_what_calls_did() {
    let words = checkpoint(&compacted(preset("planck", 100_000).options, &pair()));
    assert!(words.contains("src/first.rs"), "{words}");
}

#[test]
fn needs_no_model() {
    let outcome = compacted(preset("planck", 100_000).options, &exchanges(10, 60));
    assert!(!checkpoint(&outcome).is_empty());
    let same = compacted(preset("planck", 100_000).options, &exchanges(10, 60));
    assert_eq!(outcome.rendered(), same.rendered());
}
