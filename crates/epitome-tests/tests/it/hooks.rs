//! Hooks: what they may change before a compaction, and what becomes of it where they fail.

use std::sync::{Arc, Mutex};

use epitome::engine::Drive;
use epitome::engine::delegate::JobContext;
use epitome::engine::events::{CompactionId, Event, Observer};
use epitome::engine::hook::{Hook, Hooks, Proposal, Wish, from_fn};
use epitome::engine::plan::Reached;
use epitome::summarize::{
    CallResult, FailureKind, SECTIONS, Summaries, SummarizeError, Summary, SummaryRequest,
};
use epitome::wire::Format;
use epitome::{CompactError, Compactor, Outcome, Pin, Request};
use testkit::laws::check_view;
use testkit::to;
use testkit::wait;

fn compactor() -> Compactor {
    testkit::compactor(to(4_000), "chars4")
}

/// Messages 0 to 241; message 42 says the port 5020.
fn session() -> Request {
    let step = r#"asst Step # is the one in which I look at the module. | call c# Read {"file_path":"src/f#.rs"}
res  c# = fn f#() { port_5### } {code 40}"#;
    let steps = testkit::steps(0..120, step);
    let task = "user Fix the build of the parser, and do not touch the lexer.\n";
    let notation = format!("{task}{steps}user Go on with the rest.\n");
    testkit::parse(Format::OpenaiChat, &notation)
}

fn wishes(name: &str, wish: impl Fn(&Proposal) -> Wish + Send + Sync + 'static) -> Arc<dyn Hook> {
    from_fn(name, move |proposal| std::future::ready(Ok(wish(&proposal))))
}

fn by(chain: Vec<Arc<dyn Hook>>) -> Hooks {
    Hooks { chain }
}

fn run(compactor: &Compactor) -> Outcome {
    let outcome = wait(Drive::new(compactor.begin(&session()))).expect("a view");
    check_view(&outcome, compactor).expect("the laws hold");
    outcome
}

fn summing(notes: &Arc<Mutex<Vec<Arc<SummaryRequest>>>>) -> Summaries {
    let notes = Arc::clone(notes);
    let summarizer = epitome::summarize::from_fn("model", move |request| {
        notes.lock().expect("nobody panics").push(request);
        let sections = SECTIONS.map(|section| format!("## {section}\nnone\n")).concat();
        let text = sections.replacen("none", "The model wrote this.", 1);
        std::future::ready(Ok(Summary::new(text)))
    });
    Summaries { chain: vec![summarizer], ..Summaries::default() }
}

#[derive(Debug, Default)]
struct Diary(Mutex<Vec<(CompactionId, String)>>);

impl Observer for Diary {
    fn observe(&self, compaction: CompactionId, event: &Event) {
        let name = format!("{event:?}").split([' ', '(']).next().unwrap_or_default().to_owned();
        self.0.lock().expect("nobody panicked").push((compaction, name));
    }
}

impl Diary {
    fn said(&self) -> Vec<String> {
        let said = self.0.lock().expect("nobody panicked");
        said.iter().map(|(_, name)| name.clone()).collect()
    }
}

#[test]
fn a_veto_leaves_all_as_it_is_and_asks_nobody_else() {
    let asked = Arc::default();
    let diary = Arc::new(Diary::default());
    let veto = wishes("careful", |proposal| {
        assert!(proposal.tokens > proposal.target && proposal.target == 4_000);
        assert!(!proposal.folds.is_empty() && !proposal.folds.contains(&241));
        Wish { veto: Some("not while\nit deploys".to_owned()), ..Wish::default() }
    });
    let never = wishes("never", |_| unreachable!("it was vetoed"));
    let compactor = compactor()
        .with_summaries(summing(&asked))
        .expect("in range")
        .with_hooks(by(vec![veto, never]))
        .with_observer(diary.clone());
    let outcome = run(&compactor);
    assert!(outcome.view.is_whole() && asked.lock().expect("nobody panics").is_empty());
    assert_eq!(outcome.receipt.reached, Reached::Declined);
    assert!(!outcome.receipt.triggered);
    assert_eq!(outcome.receipt.reason, "careful vetoed: not while it deploys");
    assert_eq!(diary.said(), ["Considered", "Vetoed"]);
}

#[test]
fn a_summary_of_a_hook_is_admitted_as_any_other() {
    let asked = Arc::default();
    let with = |text: &'static str| {
        let hook =
            wishes("mine", move |_| Wish { summary: Some(Summary::new(text)), ..Wish::default() });
        compactor().with_summaries(summing(&asked)).expect("in range").with_hooks(by(vec![hook]))
    };
    let plain = run(&compactor());
    // It may speak of what is still shown.
    let good = run(&with(
        "The parser is being fixed. `src/f7.rs` has port_5007, `src/f119.rs` port_5119.",
    ));
    let text = &good.view.checkpoint().expect("steps were folded").text;
    assert!(text.contains("`src/f7.rs` has port_5007"), "{text}");
    let told = good.receipt.summary.as_ref().expect("there is one");
    assert_eq!((told.by.as_deref(), told.calls.len()), (Some("mine"), 1));
    assert!(asked.lock().expect("nobody panics").is_empty());
    // The same tail.
    assert_eq!(good.receipt.kept_recent, plain.receipt.kept_recent);

    let lying = run(&with("The parser is fixed, and src/invented.rs listens on port 7777."));
    let told = lying.receipt.summary.as_ref().expect("there is one");
    assert_eq!(told.by.as_deref(), Some("model"));
    let results: Vec<CallResult> = told.calls.iter().map(|call| call.result).collect();
    assert_eq!(results, [CallResult::Rejected, CallResult::Admitted]);
    let why = &lying.receipt.fallbacks[0];
    assert!(why.starts_with("mine: its summary: it states what the transcript doesn't"), "{why}");
    assert_eq!(asked.lock().expect("nobody panics").len(), 1);

    let hook = wishes("mine", |_| Wish { summary: Some(Summary::new(" ")), ..Wish::default() });
    let empty = run(&compactor().with_hooks(by(vec![hook])));
    assert_eq!(empty.rendered(), plain.rendered());
    assert_eq!(empty.receipt.fallbacks, ["mine: its summary: it is empty"]);
}

#[test]
fn instructions_reach_who_sums_up_and_pins_stay() {
    let asked = Arc::default();
    let first = wishes("first", |_| Wish {
        instructions: vec!["Name every port.".to_owned(), " ".to_owned()],
        pins: vec![Pin::Entry(42), Pin::Entry(9_000)],
        ..Wish::default()
    });
    let second = wishes("second", |proposal| {
        assert_eq!(proposal.about.session.as_deref(), Some("s1"));
        assert_eq!(proposal.about.instructions, ["Name every port."]);
        assert!(!proposal.folds.contains(&42), "it was pinned");
        Wish { pins: vec![Pin::Text(" ".to_owned())], ..Wish::default() }
    });
    let about = JobContext { session: Some("s1".to_owned()), ..JobContext::default() };
    let hooks = Hooks { chain: vec![first, second] };
    let plain = run(&compactor());
    assert!(!plain.view.fates().nth(42).expect("it is covered").is_shown());
    let outcome = run(&compactor()
        .with_summaries(summing(&asked))
        .expect("in range")
        .with_hooks(hooks)
        .with_context(about));
    assert!(outcome.view.fates().nth(42).expect("it is covered").is_shown());
    let asked = asked.lock().expect("nobody panics");
    assert!(asked[0].instruction.contains("Name every port."), "{}", asked[0].instruction);
    let fallbacks = &outcome.receipt.fallbacks;
    assert_eq!(fallbacks[0], "first: it pins messages that aren't there");
    assert_eq!(fallbacks[1], "second: a pin must not be blank");
}

#[test]
fn a_bad_pin_costs_no_good_one() {
    let pins = || vec![Pin::Entry(42), Pin::Text(String::new())];
    let hook = wishes("mine", move |_| Wish { pins: pins(), ..Wish::default() });
    let outcome = run(&compactor().with_hooks(by(vec![hook])));
    assert!(outcome.view.fates().nth(42).expect("it is covered").is_shown());
    let [told] = &outcome.receipt.fallbacks[..] else { panic!("{:?}", outcome.receipt.fallbacks) };
    assert!(told.starts_with("mine: "), "{told}");
}

#[test]
fn what_cant_be_read_of_a_wish_costs_nothing_else() {
    let hook = wishes("mine", |_| Wish {
        pins: vec![Pin::Entry(42)],
        unread: vec!["one of its pins can't be read: -1".to_owned()],
        ..Wish::default()
    });
    let outcome = run(&compactor().with_hooks(by(vec![hook])));
    assert!(outcome.view.fates().nth(42).expect("it is covered").is_shown());
    assert_eq!(outcome.receipt.fallbacks, ["mine: one of its pins can't be read: -1"]);
}

#[test]
fn words_that_no_person_says_are_held_once_and_the_receipt_says_what_isnt() {
    let hook = wishes("mine", |_| Wish {
        pins: vec![Pin::Text("is the one in which I".to_owned()), Pin::Text("build".to_owned())],
        ..Wish::default()
    });
    let outcome = run(&compactor().with_hooks(by(vec![hook])));
    let [told] = &outcome.receipt.unheld_pins[..] else {
        panic!("{:?}", outcome.receipt.unheld_pins)
    };
    assert_eq!(told.pin, "is the one in which I");
    assert!(outcome.view.fates().nth(told.held).expect("it is covered").is_shown());
    assert!(told.entries.len() > 20 && told.entries.iter().all(|at| *at < told.held), "{told:?}");
    assert!(outcome.receipt.unmatched_pins.is_empty());
    // Persons' words are held wherever they are said.
    assert!(run(&compactor()).receipt.unheld_pins.is_empty());
}

#[test]
fn a_hook_that_fails_changes_nothing_but_the_receipt() {
    let plain = run(&compactor());
    let fails = from_fn("down", |_| {
        std::future::ready(Err(SummarizeError::new(FailureKind::Command, "exit status: 3")))
    });
    let diary = Arc::new(Diary::default());
    let outcome = run(&compactor().with_hooks(by(vec![fails])).with_observer(diary.clone()));
    assert_eq!(outcome.rendered(), plain.rendered());
    assert_eq!(
        outcome.receipt.fallbacks,
        ["down wasn't heeded: the command failed: exit status: 3"]
    );
    let said = diary.said();
    assert_eq!(said[..3], ["Considered", "HookFailed", "Started"]);
    assert_eq!(said.iter().filter(|name| *name == "Finished").count(), 1);
}

#[test]
fn without_a_driver_what_is_said_at_once_is_heeded() {
    let veto = wishes("careful", |_| Wish { veto: Some(String::new()), ..Wish::default() });
    let outcome = compactor().with_hooks(by(vec![veto])).compact(&session()).expect("a view");
    assert_eq!(outcome.receipt.reason, "careful vetoed: no reason given");
    let slow = from_fn("slow", |_| std::future::pending());
    let error = compactor().with_hooks(by(vec![slow])).compact(&session()).expect_err("it waits");
    assert_eq!(error, CompactError::NotDriven { by: "slow".to_owned() });
}

#[test]
fn nobody_is_asked_below_the_target() {
    let never = wishes("never", |_| unreachable!("there is nothing to do"));
    let small = testkit::parse(Format::OpenaiChat, "user Hello.\nasst Hello.\nuser Bye.\n");
    let diary = Arc::new(Diary::default());
    let compactor = compactor().with_hooks(by(vec![never])).with_observer(diary.clone());
    assert!(compactor.compact(&small).expect("a view").view.is_whole());
    assert_eq!(diary.said(), ["Considered"]);
}

#[test]
fn compactions_are_told_apart() {
    let diary = Arc::new(Diary::default());
    let compactor = compactor().with_observer(diary.clone());
    let (mut one, mut other) = (compactor.begin(&session()), compactor.begin(&session()));
    loop {
        if let epitome::engine::Step::Done(_) = one.step() {
            break;
        }
        other.step();
    }
    drop(other);
    let said = diary.0.lock().expect("nobody panicked").clone();
    let ends = said.iter().filter(|(_, name)| name == "Finished" || name == "Cancelled");
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends.len(), 2);
    assert_ne!(ends[0].0, ends[1].0);
}

/// What a hook's summary took is booked, whatever becomes of it.
#[test]
fn summaries_that_are_not_used_are_booked() {
    let paid = |tokens: u64| {
        let spent = epitome::summarize::Spent { input: tokens, ..Default::default() };
        Summary { spent, ..Summary::new("The parser is being fixed.") }
    };
    let gives = |name: &str, tokens: u64| {
        wishes(name, move |_| Wish { summary: Some(paid(tokens)), ..Wish::default() })
    };
    let vetoes = wishes("careful", move |_| Wish {
        veto: Some("no".to_owned()),
        summary: Some(paid(70)),
        ..Wish::default()
    });
    let booked = |outcome: &Outcome| {
        let told = outcome.receipt.summary.clone().expect("it is booked");
        let calls = told.calls.iter().map(|call| (call.by.clone(), call.result, call.spent.input));
        (told.spent.input, calls.collect::<Vec<_>>())
    };
    let call = |by: &str, result, tokens: u64| (by.to_owned(), result, tokens);
    let two = run(&compactor().with_hooks(by(vec![gives("first", 7), gives("second", 50)])));
    let (rejected, admitted) = (CallResult::Rejected, CallResult::Admitted);
    let calls = vec![call("first", rejected, 7), call("second", admitted, 50)];
    assert_eq!(booked(&two), (57, calls));
    let forbidden = run(&compactor().with_hooks(by(vec![gives("first", 7), vetoes])));
    let calls = vec![call("first", rejected, 7), call("careful", rejected, 70)];
    assert_eq!(booked(&forbidden), (77, calls));
    // Nothing is folded: there is no checkpoint for it.
    let keep = compactor().with_strategies(Vec::new()).with_hooks(by(vec![gives("first", 7)]));
    let outcome = wait(Drive::new(keep.begin(&session()))).expect("all of it");
    if outcome.view.checkpoint().is_none() {
        assert_eq!(booked(&outcome), (7, vec![call("first", rejected, 7)]));
    }
    // Nobody is asked twice for what is paid once.
    let once = run(&compactor().with_hooks(by(vec![gives("only", 9)])));
    assert_eq!(booked(&once), (9, vec![call("only", admitted, 9)]));
}
