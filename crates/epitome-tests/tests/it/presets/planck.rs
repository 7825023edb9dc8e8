//! Planck's `Compactor`.

use epitome::engine::plan::Reached;
use epitome::trigger::Measurements;

use super::{
    Beside, Row, again, checkpoint, compacted, exchanges, fires, letters, looked, preset, request,
    talk,
};

pub(super) const ROWS: &[Row] = &[
    Row {
        theirs: "acts at `trunc(0.8 × window)` tokens or more, before a model call",
        ours: "acts at the same count",
        beside: Beside::Same,
        shown: acts_at_eight_tenths,
    },
    Row {
        theirs: "below that, messages pass unchanged",
        ours: "not a byte changes",
        beside: Beside::Same,
        shown: leaves_what_is_small,
    },
    Row {
        theirs: "the last 10 messages stay verbatim, one summary stands for the rest",
        ours: "they stay, after one checkpoint",
        beside: Beside::Same,
        shown: keeps_ten,
    },
    Row {
        theirs: "the first message is summarised like any other",
        ours: "the task stays, unless `task = \"fold\"`",
        beside: Beside::OnPurpose,
        shown: keeps_the_task,
    },
    Row {
        theirs: "calls the model even if nothing is older than 10 messages, then skips",
        ours: "nothing is done",
        beside: Beside::Better,
        shown: has_nothing_to_fold,
    },
    Row {
        theirs: "skips at every call if 10 messages exceed the threshold",
        ours: "fewer messages stay, so it lands under the threshold",
        beside: Beside::Better,
        shown: gets_under_its_own_threshold,
    },
    Row {
        theirs: "the cut may separate a call from its result",
        ours: "a call stays with its result",
        beside: Beside::Better,
        shown: never_parts_a_pair,
    },
    Row {
        theirs: "a second compaction summarises the first summary's text with the rest, or loses it",
        ours: "the second checkpoint carries on what the first one says",
        beside: Beside::Better,
        shown: carries_the_first_checkpoint_on,
    },
    Row {
        theirs: "arguments of calls don't reach the summary",
        ours: "files and commands of folded calls are listed",
        beside: Beside::Better,
        shown: lists_what_calls_did,
    },
    Row {
        theirs: "after a failed or empty summary nothing is done, and every call tries again",
        ours: "no model is needed",
        beside: Beside::Better,
        shown: needs_no_model,
    },
];

fn acts_at_eight_tenths() {
    let trigger = preset("planck", 1_003).trigger;
    let at = |tokens: u64| {
        let mut gauge = Measurements { window: Some(1_003), ..Measurements::default() };
        gauge.tokens.tokens = tokens;
        gauge.tokens.upper = tokens;
        fires(&trigger, &gauge).is_some()
    };
    assert!(!at(801) && at(802) && at(803));
}

fn leaves_what_is_small() {
    assert!(looked(&preset("planck", 1_000), &request(&exchanges(2, 2)), 1_000).is_none());
}

fn keeps_ten() {
    let said = request(&exchanges(10, 60));
    let outcome = looked(&preset("planck", 2_000), &said, 2_000).expect("it is time");
    assert_eq!(letters(&outcome), "kfffffffffkkkkkkkkkk");
    assert!(outcome.receipt.cause.is_some() && outcome.receipt.triggered);
    assert_eq!(outcome.view.checkpoint().expect("one").before, 10);
}

fn keeps_the_task() {
    let folding = epitome::Options { task: epitome::Task::Fold, ..preset("planck", 2_000).options };
    assert!(letters(&compacted(folding, &exchanges(10, 60))).starts_with("fff"));
}

fn has_nothing_to_fold() {
    let outcome = compacted(preset("planck", 100_000).options, &exchanges(5, 60));
    assert!(outcome.view.is_whole() && !outcome.receipt.triggered);
}

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

fn never_parts_a_pair() {
    // The tenth message from the end is a result; the model's message before its call belongs to it.
    let outcome = compacted(preset("planck", 100_000).options, &pair());
    assert_eq!(letters(&outcome), "kffkkkkkkkkkkkk");
}

fn carries_the_first_checkpoint_on() {
    let options = preset("planck", 100_000).options;
    let first = compacted(options.clone(), &talk(10, 200));
    assert!(checkpoint(&first).contains("Ask 3."), "{}", checkpoint(&first));
    let second = again(&first, options, &talk(6, 200).replace("Ask", "Later ask"));
    let words = checkpoint(&second);
    assert!(words.contains("Ask 3.") && words.contains("Ask 9."), "{words}");
    assert!(!second.rendered().contains(&checkpoint(&first)), "one stands for both");
}

fn lists_what_calls_did() {
    let words = checkpoint(&compacted(preset("planck", 100_000).options, &pair()));
    assert!(words.contains("src/first.rs"), "{words}");
}

fn needs_no_model() {
    let outcome = compacted(preset("planck", 100_000).options, &exchanges(10, 60));
    assert!(!checkpoint(&outcome).is_empty());
    let same = compacted(preset("planck", 100_000).options, &exchanges(10, 60));
    assert_eq!(outcome.rendered(), same.rendered());
}
