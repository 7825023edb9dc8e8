//! entelix' `RunnableCompacting` with `SummaryCompactor` and `HeadDropCompactor`.

use epitome::strategy::{HeadOptions, HeadRoom, Named, Pipeline, Setting};
use epitome::trigger::Measurements;
use epitome::{Format, Options};

use super::{
    Beside, Row, again, checkpoint, compacted, compactor, exchanges, fires, letters, looked,
    preset, request, talk,
};

pub(super) const ROWS: &[Row] = &[
    Row {
        theirs: "acts at a number of characters (8,192 in its example) or more, on every call",
        ours: "acts at the same count",
        beside: Beside::Same,
        shown: acts_at_characters,
    },
    Row {
        theirs: "the summary stands for all but the last 4 turns; a turn is a message, with its tools' results if it has any",
        ours: "the same units stay",
        beside: Beside::Same,
        shown: keeps_four_turns,
    },
    Row {
        theirs: "head drop keeps the newest turns that fit in the characters",
        ours: "as much stays, and a checkpoint stands for the rest",
        beside: Beside::OnPurpose,
        shown: drops_the_head,
    },
    Row {
        theirs: "what people said in the dropped head is lost silently",
        ours: "the checkpoint quotes what fits; the receipt counts the rest, which can be restored",
        beside: Beside::Better,
        shown: counts_lost_words,
    },
    Row {
        theirs: "a call and its result are one turn",
        ours: "one unit",
        beside: Beside::Same,
        shown: keeps_pairs,
    },
    Row {
        theirs: "under a small budget the request is empty",
        ours: "the newest human message stays",
        beside: Beside::Better,
        shown: is_never_empty,
    },
    Row {
        theirs: "a summary may be longer than what it stands for",
        ours: "what is no longer than its checkpoint isn't folded",
        beside: Beside::Better,
        shown: never_grows,
    },
    Row {
        theirs: "an empty summary replaces the history",
        ours: "a checkpoint quotes the user's words",
        beside: Beside::Better,
        shown: never_says_nothing,
    },
    Row {
        theirs: "the system message is lost",
        ours: "it stays as it is",
        beside: Beside::Better,
        shown: keeps_the_system_message,
    },
    Row {
        theirs: "a call without a result fails the request",
        ours: "it is repaired, and the receipt says so",
        beside: Beside::Better,
        shown: mends_dangling_calls,
    },
    Row {
        theirs: "it keeps no state, so it summarises again on every call",
        ours: "a second compaction changes nothing",
        beside: Beside::Better,
        shown: is_at_rest,
    },
];

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

fn drops_the_head() {
    let said = request(&exchanges(20, 40));
    let outcome = looked(&preset("entelix-head", 100_000), &said, 100_000).expect("it is time");
    let checkpoint = outcome.view.checkpoint().map_or(0, |placed| placed.text.chars().count());
    let left = characters(&outcome) - checkpoint;
    assert!((7_000..8_192).contains(&left), "{left}");
    let letters = letters(&outcome);
    assert_eq!(letters.trim_start_matches('f').trim_start_matches('k'), "", "{letters}");
}

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

fn keeps_pairs() {
    for most in [20, 60, 300, 600, 1_000, 3_000] {
        let letters = letters(&compacted(head_to(most), TOOLS));
        assert!(["kkk", "fff"].contains(&&letters[3..6]), "{most}: {letters}");
    }
}

fn is_never_empty() {
    let outcome = compacted(head_to(1), &exchanges(3, 40));
    assert_eq!(letters(&outcome), "ffffkk");
}

fn never_grows() {
    let outcome = compacted(preset("entelix-summary", 100_000).options, &exchanges(6, 1));
    assert!(outcome.view.is_whole());
}

fn never_says_nothing() {
    let outcome = compacted(preset("entelix-summary", 100_000).options, &talk(6, 200));
    let words = checkpoint(&outcome);
    assert!(words.contains("Ask 3.") && words.contains("Ask 4."), "{words}");
}

fn keeps_the_system_message() {
    let said = format!("sys  You are terse.\n{}", exchanges(6, 80));
    for name in ["entelix-summary", "entelix-head"] {
        let outcome = compacted(preset(name, 100_000).options, &said);
        assert!(letters(&outcome).starts_with('k'));
        assert!(outcome.rendered().contains("You are terse."));
    }
    assert!(compacted(head_to(1), &said).rendered().contains("You are terse."));
}

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

fn is_at_rest() {
    let options = preset("entelix-summary", 100_000).options;
    let first = compacted(options.clone(), &exchanges(6, 80));
    assert!(!first.view.is_whole());
    let second = again(&first, options, "");
    assert!(second.view.is_whole() && !second.receipt.triggered);
}
