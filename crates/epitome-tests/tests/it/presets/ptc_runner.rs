//! PtcRunner's `Compaction`.

use epitome::count::counter;
use epitome::engine::plan::Reached;
use epitome::trigger::{Cause, Condition, Measurements, RoundCount, When};
use epitome::{Compactor, Format, Options, Tail, Target, Task};

use super::{
    checkpoint, compacted, compactor, exchanges, fires, letters, looked, measurements, preset,
    request,
};

fn steps(many: usize) -> String {
    (1..=many)
        .map(|at| format!("asst call c{at} run {{\"n\":{at}}}\nres  c{at} = {{lorem 10}}\n"))
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn acts_after_eight_steps() {
    let trigger = preset("ptc-runner", 100_000).trigger;
    let at = |many: usize| {
        let said = request(&format!("user Go.\n{}", steps(many)));
        fires(&trigger, &measurements(&said, 100_000)).is_some()
    };
    assert!(!at(7) && !at(8) && at(9));
}

#[test]
fn either_fires() {
    let either = When::Any(vec![When::Steps(8), When::Tokens(12_000)]);
    let with = |steps: usize, tokens: u64| {
        let rounds = RoundCount { steps, ..RoundCount::default() }.into();
        let mut measurements = Measurements { rounds, ..Measurements::default() };
        measurements.tokens.tokens = tokens;
        measurements.tokens.upper = tokens;
        fires(&either, &measurements)
    };
    assert_eq!(with(8, 11_999), None);
    assert!(matches!(with(1, 12_000), Some(Cause::Tokens { .. })));
    assert!(matches!(with(9, 12_000), Some(Cause::Steps { .. })));
}

#[test]
fn keeps_first_and_three() {
    let said = request(&format!("user Go.\n{}", steps(9)));
    let outcome = looked(&preset("ptc-runner", 100_000), &said, 100_000).expect("it is time");
    assert_eq!(letters(&outcome), "kffffffffffffkkkkkk");
    assert_eq!(outcome.receipt.cause.as_ref().map(Cause::name), Some("steps"));
    // Messages that take turns, as its own tests have them.
    let outcome = looked(&preset("ptc-runner", 100_000), &request(&exchanges(9, 10)), 100_000);
    assert_eq!(letters(&outcome.expect("it is time")), "kffffffffffffkkkkk");
}

#[test]
fn quotes_what_people_said() {
    let said = request(&format!("user Go.\nasst Where to?\nuser North.\n{}user On.\n", steps(9)));
    let outcome = looked(&preset("ptc-runner", 100_000), &said, 100_000).expect("it is time");
    let people = outcome.receipt.human_messages;
    assert_eq!((people.all, people.shown, people.quoted, people.lost), (3, 2, 1, 0));
    assert!(checkpoint(&outcome).contains("North."), "{}", checkpoint(&outcome));
}

#[test]
fn may_drop_the_first() {
    let options = Options { task: Task::Fold, ..preset("ptc-runner", 100_000).options };
    let outcome = compacted(options.clone(), &exchanges(9, 10));
    assert!(letters(&outcome).starts_with("ff"), "{}", letters(&outcome));
    assert_eq!(
        letters(&compacted(options, &format!("user Go.\n{}", steps(9)))),
        "kffffffffffffkkkkkk"
    );
}

#[test]
fn leaves_what_is_short() {
    assert!(
        compacted(preset("ptc-runner", 100_000).options, "user Go.\nasst Done.\n").view.is_whole()
    );
}

#[test]
fn begins_with_the_user() {
    let options = Options { task: Task::Fold, ..preset("ptc-runner", 100_000).options };
    let said = testkit::parse(Format::Anthropic, &exchanges(9, 10));
    let outcome = compactor(options).compact(&said).expect("a view");
    let first = outcome.request.transcript.entry(0).role();
    assert_eq!(first, epitome::transcript::Role::User);
}

#[test]
fn is_at_rest() {
    let options = preset("ptc-runner", 100_000).options;
    let first = compacted(options.clone(), &format!("user Go.\n{}", steps(14)));
    let second = compactor(options).compact(&first.request).expect("a view");
    assert!(!first.view.is_whole() && second.view.is_whole());
}

#[test]
fn refuses_to_keep_none() {
    for keep in ["0steps", "0turns"] {
        let list = format!(r#"[{{"recent":{{"keep":"{keep}"}}}}]"#);
        let strategies: epitome::strategy::Pipeline =
            serde_json::from_str(&list).expect("well-formed");
        let refused = strategies.build().expect_err("too few");
        assert_eq!(refused.option, "recent.keep");
    }
    for tail in [Tail::Steps(0), Tail::Turns(0)] {
        let options = Options { tail, ..preset("ptc-runner", 100_000).options };
        let refused = Compactor::new(options, counter("chars4").expect("it is built in"));
        assert!(refused.expect_err("too few").to_string().contains("keep-recent"));
    }
    for when in ["0steps", "0turns", "80%,0turns"] {
        let refused = when.parse::<Condition>().expect_err("every session has more");
        assert!(refused.to_string().contains("1 or more"), "{refused}");
    }
}

#[test]
fn keeps_batches() {
    let batch =
        "asst call x run {} | call y run {} | call z run {}\nres  x = 1\nres  y = 2\nres  z = 3\n";
    let said = format!(
        "user Go.\n{}{batch}{}",
        steps(7),
        steps(2).replace("c1", "d1").replace("c2", "d2")
    );
    let outcome = compacted(preset("ptc-runner", 100_000).options, &said);
    assert_eq!(letters(&outcome), "kffffffffffffffkkkkkkkk");
}

#[test]
fn counts_arguments() {
    let large = format!(
        "user Go.\nasst call a write {{\"text\":\"{}\"}}\nres  a = ok\n",
        "word ".repeat(10_000)
    );
    assert!(fires(&When::Tokens(12_000), &measurements(&request(&large), 100_000)).is_some());
}

#[test]
fn says_what_is_over() {
    let said = format!("user Go.\n{}", steps(9).replace("{lorem 10}", "{lorem 1000}"));
    let options =
        Options { target: Target::Tokens(1_000), ..preset("ptc-runner", 100_000).options };
    let outcome = compacted(options, &said);
    assert!(outcome.receipt.after.count.tokens > 1_000);
    assert_eq!(outcome.receipt.reached, Reached::Short);
}
