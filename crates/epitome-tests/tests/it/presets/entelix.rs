//! entelix' `RunnableCompacting` with `SummaryCompactor` and `HeadDropCompactor`.

use epitome::strategy::{HeadOptions, HeadRoom, Named, Pipeline, Setting};
use epitome::trigger::Measurements;
use epitome::{Format, Options};

use super::{
    again, checkpoint, compacted, compactor, exchanges, fires, letters, looked, preset, request,
    talk,
};

#[test]
fn acts_at_characters() {
    for name in ["entelix-summary", "entelix-head"] {
        let trigger = preset(name, 100_000).trigger;
        let at = |characters: u64| {
            let characters = characters.into();
            fires(&trigger, &Measurements { characters, ..Measurements::default() }).is_some()
        };
        assert!(!at(8_191) && at(8_192));
    }
}

const TOOLS: &str = "\
user First. {lorem 500}
asst Reply. {lorem 500}
user Second. {lorem 500}
asst call a search {\"q\":\"x\"} | call b search {\"q\":\"y\"}
res  a = {lorem 20}
res  b = {lorem 20}
asst Found.
user Thanks.
asst Bye.
";

#[test]
fn keeps_four_turns() {
    let outcome =
        looked(&preset("entelix-summary", 100_000), &request(TOOLS), 100_000).expect("it is time");
    // The last four: a call with its two results, and three messages.
    assert_eq!(letters(&outcome), "kffkkkkkk");
}

fn characters(outcome: &epitome::Outcome) -> usize {
    let parts = outcome.request.transcript.entries().flat_map(|entry| entry.parts());
    parts.map(|part| part.text().chars().count()).sum()
}

#[test]
fn drops_the_head() {
    let said = request(&exchanges(20, 40));
    let outcome = looked(&preset("entelix-head", 100_000), &said, 100_000).expect("it is time");
    let checkpoint = outcome.view.checkpoint().map_or(0, |placed| placed.text.chars().count());
    let left = characters(&outcome) - checkpoint;
    assert!((7_000..8_192).contains(&left), "{left}");
    let letters = letters(&outcome);
    assert_eq!(letters.trim_start_matches('f').trim_start_matches('k'), "", "{letters}");
}

#[test]
fn counts_lost_words() {
    let said = request(&exchanges(20, 40));
    let outcome = looked(&preset("entelix-head", 100_000), &said, 100_000).expect("it is time");
    let people = outcome.receipt.human_messages;
    assert!(people.quoted + people.quoted_in_part > 0 && people.lost > 0, "{people:?}");
    let told = people.shown + people.quoted + people.quoted_in_part + people.lost;
    assert_eq!((people.all, told), (20, 20), "{people:?}");
    assert_eq!(outcome.base.source(), said.source());
}

fn head_to(characters: u64) -> Options {
    let head = Named::Head(Setting::On(HeadOptions { room: HeadRoom::Characters(characters) }));
    Options { strategies: Pipeline::List(vec![head]), ..preset("entelix-head", 100_000).options }
}

#[test]
fn keeps_pairs() {
    for most in [20, 60, 300, 600, 1_000, 3_000] {
        let letters = letters(&compacted(head_to(most), TOOLS));
        assert!(["kkk", "fff"].contains(&&letters[3..6]), "{most}: {letters}");
    }
}

#[test]
fn is_never_empty() {
    let outcome = compacted(head_to(1), &exchanges(3, 40));
    assert_eq!(letters(&outcome), "ffffkk");
}

#[test]
fn never_grows() {
    let outcome = compacted(preset("entelix-summary", 100_000).options, &exchanges(6, 1));
    assert!(outcome.view.is_whole());
}

#[test]
fn never_says_nothing() {
    let outcome = compacted(preset("entelix-summary", 100_000).options, &talk(6, 200));
    let words = checkpoint(&outcome);
    assert!(words.contains("Ask 3.") && words.contains("Ask 4."), "{words}");
}

#[test]
fn keeps_the_system_message() {
    let said = format!("sys  You are terse.\n{}", exchanges(6, 80));
    for name in ["entelix-summary", "entelix-head"] {
        let outcome = compacted(preset(name, 100_000).options, &said);
        assert!(letters(&outcome).starts_with('k'));
        assert!(outcome.rendered().contains("You are terse."));
    }
    assert!(compacted(head_to(1), &said).rendered().contains("You are terse."));
}

#[test]
fn mends_dangling_calls() {
    let said = format!("{}asst call a search {{}}\nuser Go on.\n", exchanges(3, 80));
    let broken = testkit::parse(Format::OpenaiChat, &said);
    assert!(!epitome::wire::check(&broken).is_empty());
    let compactor = compactor(preset("entelix-summary", 100_000).options);
    let outcome = compactor.compact(&broken).expect("a view");
    assert!(
        !outcome.receipt.repaired.is_empty() && epitome::wire::check(&outcome.request).is_empty()
    );
}

#[test]
fn is_at_rest() {
    let options = preset("entelix-summary", 100_000).options;
    let first = compacted(options.clone(), &exchanges(6, 80));
    assert!(!first.view.is_whole());
    let second = again(&first, options, "");
    assert!(second.view.is_whole() && !second.receipt.triggered);
}
