//! PtcRunner's `Compaction`.

use epitome::count::counter;
use epitome::engine::plan::Reached;
use epitome::trigger::{Cause, Condition, Measurements, RoundCount, When};
use epitome::{Compactor, Format, Options, Tail, Target, Task};

use super::{
    Beside, Row, checkpoint, compacted, compactor, exchanges, fires, gauge, letters, looked,
    preset, request,
};

pub(super) const ROWS: &[Row] = &[
    Row {
        theirs: "acts after more than 8 turns (model calls)",
        ours: "acts after more than 8 steps",
        beside: Beside::Same,
        shown: acts_after_eight_steps,
    },
    Row {
        theirs: "turns or tokens, whichever comes first; tokens at the number or above",
        ours: "the same; the first that fires is the cause",
        beside: Beside::Same,
        shown: either_fires,
    },
    Row {
        theirs: "the first user message and the last 3 turns stay, the rest is dropped",
        ours: "the same stay, and the rest folds into a checkpoint",
        beside: Beside::OnPurpose,
        shown: keeps_first_and_three,
    },
    Row {
        theirs: "`keep_initial_user: false` drops the first user message too",
        ours: "`task = \"fold\"` folds it too; the newest human message always stays",
        beside: Beside::Same,
        shown: may_drop_the_first,
    },
    Row {
        theirs: "with fewer messages than would stay, nothing happens",
        ours: "nothing happens",
        beside: Beside::Same,
        shown: leaves_what_is_short,
    },
    Row {
        theirs: "never begins with the model's message",
        ours: "the same, if the provider wants the user first",
        beside: Beside::Same,
        shown: begins_with_the_user,
    },
    Row {
        theirs: "a second run changes nothing",
        ours: "the same",
        beside: Beside::Same,
        shown: is_at_rest,
    },
    Row {
        theirs: "`keep_recent_turns: 0` is refused",
        ours: "0 steps and 0 turns are refused",
        beside: Beside::Same,
        shown: refuses_to_keep_none,
    },
    Row {
        theirs: "what the user said in the dropped turns is lost",
        ours: "the checkpoint quotes it",
        beside: Beside::Better,
        shown: quotes_what_people_said,
    },
    Row {
        theirs: "of parallel calls only the first message stays",
        ours: "a batch stays whole",
        beside: Beside::Better,
        shown: keeps_batches,
    },
    Row {
        theirs: "arguments of calls count as nothing",
        ours: "they count",
        beside: Beside::Better,
        shown: counts_arguments,
    },
    Row {
        theirs: "20k against a trigger of 12k counts as success; only one large message is flagged",
        ours: "the receipt names the excess, and the exit code is 3",
        beside: Beside::Better,
        shown: says_what_is_over,
    },
];

fn steps(many: usize) -> String {
    (1..=many)
        .map(|at| format!("asst call c{at} run {{\"n\":{at}}}\nres  c{at} = {{lorem 10}}\n"))
        .collect::<Vec<_>>()
        .concat()
}

fn acts_after_eight_steps() {
    let trigger = preset("ptc-runner", 100_000).trigger;
    let at = |many: usize| {
        let said = request(&format!("user Go.\n{}", steps(many)));
        fires(&trigger, &gauge(&said, 100_000)).is_some()
    };
    assert!(!at(7) && !at(8) && at(9));
}

fn either_fires() {
    let either = When::Any(vec![When::Steps(8), When::Tokens(12_000)]);
    let with = |steps: usize, tokens: u64| {
        let rounds = RoundCount { steps, ..RoundCount::default() }.into();
        let mut gauge = Measurements { rounds, ..Measurements::default() };
        gauge.tokens.tokens = tokens;
        gauge.tokens.upper = tokens;
        fires(&either, &gauge)
    };
    assert_eq!(with(8, 11_999), None);
    assert!(matches!(with(1, 12_000), Some(Cause::Tokens { .. })));
    assert!(matches!(with(9, 12_000), Some(Cause::Steps { .. })));
}

fn keeps_first_and_three() {
    let said = request(&format!("user Go.\n{}", steps(9)));
    let outcome = looked(&preset("ptc-runner", 100_000), &said, 100_000).expect("it is time");
    assert_eq!(letters(&outcome), "kffffffffffffkkkkkk");
    assert_eq!(outcome.receipt.cause.as_ref().map(Cause::name), Some("steps"));
    // Messages that take turns, as its own tests have them.
    let outcome = looked(&preset("ptc-runner", 100_000), &request(&exchanges(9, 10)), 100_000);
    assert_eq!(letters(&outcome.expect("it is time")), "kffffffffffffkkkkk");
}

fn quotes_what_people_said() {
    let said = request(&format!("user Go.\nasst Where to?\nuser North.\n{}user On.\n", steps(9)));
    let outcome = looked(&preset("ptc-runner", 100_000), &said, 100_000).expect("it is time");
    let people = outcome.receipt.human_messages;
    assert_eq!((people.all, people.shown, people.quoted, people.lost), (3, 2, 1, 0));
    assert!(checkpoint(&outcome).contains("North."), "{}", checkpoint(&outcome));
}

fn may_drop_the_first() {
    let options = Options { task: Task::Fold, ..preset("ptc-runner", 100_000).options };
    let outcome = compacted(options.clone(), &exchanges(9, 10));
    assert!(letters(&outcome).starts_with("ff"), "{}", letters(&outcome));
    assert_eq!(
        letters(&compacted(options, &format!("user Go.\n{}", steps(9)))),
        "kffffffffffffkkkkkk"
    );
}

fn leaves_what_is_short() {
    assert!(
        compacted(preset("ptc-runner", 100_000).options, "user Go.\nasst Done.\n").view.is_whole()
    );
}

fn begins_with_the_user() {
    let options = Options { task: Task::Fold, ..preset("ptc-runner", 100_000).options };
    let said = testkit::parse(Format::Anthropic, &exchanges(9, 10));
    let outcome = compactor(options).compact(&said).expect("a view");
    let first = outcome.request.transcript.entry(0).role();
    assert_eq!(first, epitome::transcript::Role::User);
}

fn is_at_rest() {
    let options = preset("ptc-runner", 100_000).options;
    let first = compacted(options.clone(), &format!("user Go.\n{}", steps(14)));
    let second = compactor(options).compact(&first.request).expect("a view");
    assert!(!first.view.is_whole() && second.view.is_whole());
}

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

fn counts_arguments() {
    let large = format!(
        "user Go.\nasst call a write {{\"text\":\"{}\"}}\nres  a = ok\n",
        "word ".repeat(10_000)
    );
    assert!(fires(&When::Tokens(12_000), &gauge(&request(&large), 100_000)).is_some());
}

fn says_what_is_over() {
    let said = format!("user Go.\n{}", steps(9).replace("{lorem 10}", "{lorem 1000}"));
    let options =
        Options { target: Target::Tokens(1_000), ..preset("ptc-runner", 100_000).options };
    let outcome = compacted(options, &said);
    assert!(outcome.receipt.after.count.tokens > 1_000);
    assert_eq!(outcome.receipt.reached, Reached::Short);
}
