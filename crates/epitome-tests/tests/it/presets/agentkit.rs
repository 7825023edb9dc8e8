//! agentkit-compaction.

use epitome::engine::Step;
use epitome::strategy::Pipeline;
use epitome::trigger::{Measurements, When};
use epitome::{Format, Options};

use super::{
    checkpoint, compacted, compactor, exchanges, fires, letters, looked, preset, request, talk,
};

#[test]
fn acts_above_items() {
    let trigger = preset("agentkit", 100_000).trigger;
    let at = |items| fires(&trigger, &Measurements { items, ..Measurements::default() }).is_some();
    assert!(!at(0) && !at(32) && at(33));
}

#[test]
fn counts_tokens_too() {
    let either = When::Any(vec![When::Items(32), When::Share(0.8)]);
    let mut measurements =
        Measurements { items: 3, window: Some(1_000), ..Measurements::default() };
    measurements.tokens.tokens = 800;
    measurements.tokens.upper = 800;
    assert!(fires(&either, &measurements).is_some());
}

const THOUGHTS: &str = "\
user Begin.
asst think hm, a first thought | Looking.
user Go on.
asst think and another | Done.
";

#[test]
fn drops_reasoning() {
    let outcome = compacted(preset("agentkit", 100_000).options, THOUGHTS);
    assert!(!outcome.rendered().contains("a first thought"), "{}", outcome.rendered());
}

#[test]
fn stubs_failed() {
    let said = "\
user Book a room. {lorem 40}
asst call a book {\"room\":12}
res! a = taken
asst I try another one. | call b book {\"room\":13}
res! b = taken as well {lorem 60}
asst call c book {\"room\":14}
res  c = booked
user Thanks. {lorem 40}
asst Welcome. {lorem 40}
";
    let said = testkit::parse(Format::Anthropic, said);
    let compactor = compactor(preset("agentkit", 100_000).options);
    let outcome = compactor.compact(&said).expect("a view");
    assert!(outcome.rendered().contains("failed: taken as well"), "{}", outcome.rendered());
    assert!(outcome.rendered().len() < said.source().len());
    assert!(epitome::wire::check(&outcome.request).is_empty());
}

#[test]
fn keeps_kinds() {
    let mut said = exchanges(3, 20) + "inj  the date changed\n" + &exchanges(16, 20);
    said.insert_str(0, "sys  You are terse.\n");
    let outcome =
        looked(&preset("agentkit", 100_000), &request(&said), 100_000).expect("it is time");
    let letters = letters(&outcome);
    assert_eq!(letters.len(), 40);
    // System, task, and the note in the middle; of the rest what is newer than 24 folds, up to the newest 8.
    assert_eq!(
        (&letters[..2], &letters[7..8], &letters[32..]),
        ("kk", "k", "kkkkkkkk"),
        "{letters}"
    );
    assert!(letters[8..16].chars().all(|letter| letter == 'f'), "{letters}");
}

#[test]
fn folds_older_than_eight() {
    let outcome = compacted(preset("agentkit", 100_000).options, &talk(10, 200));
    assert_eq!(letters(&outcome), "kfffffffffffkkkkkkkk");
    assert!(checkpoint(&outcome).contains("Ask 4."), "{}", checkpoint(&outcome));
}

fn with(json: &str) -> Options {
    let strategies: Pipeline = serde_json::from_str(json).expect("a pipeline");
    Options { strategies, ..preset("agentkit", 100_000).options }
}

#[test]
fn empty_is_the_identity() {
    assert!(compacted(with("[]"), THOUGHTS).view.is_whole());
}

#[test]
fn keeps_the_task() {
    let outcome = compacted(with(r#"[{"recent":{"keep":0}}]"#), &exchanges(4, 60));
    assert_eq!(letters(&outcome), "kfffffkk");
}

#[test]
fn never_deletes_history() {
    let none =
        compacted(with(r#"[{"recent":{"keep":0}}]"#), "user Go.\nasst Yes.\nuser On.\nasst Yes.\n");
    assert!(none.view.is_whole());
    let folded = compacted(with(r#"[{"recent":{"keep":0}}]"#), &exchanges(6, 60));
    assert!(checkpoint(&folded).contains("Ask 5."));
}

#[test]
fn lists_what_calls_did() {
    let said = format!(
        "user Begin.\nasst call a Bash {{\"command\":\"cargo test\"}}\nres  a = {{log 20}}\n{}",
        exchanges(5, 60)
    );
    let words = checkpoint(&compacted(preset("agentkit", 100_000).options, &said));
    assert!(words.contains("cargo test"), "{words}");
}

#[test]
fn can_be_cancelled() {
    let compactor = compactor(preset("agentkit", 100_000).options);
    let said = request(&exchanges(10, 40));
    for most in 0..4 {
        let mut compaction = compactor.begin(&said);
        for _ in 0..most {
            if !matches!(compaction.step(), Step::Yield) {
                break;
            }
        }
        drop(compaction);
    }
    assert!(!compactor.compact(&said).expect("a view").view.is_whole());
}
