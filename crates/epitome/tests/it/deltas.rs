//! Changes of the ledger that a model proposed and the transcript bears out: they outlive the next compaction.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use epitome::count::counter;
use epitome::engine::Drive;
use epitome::ledger::{Delta, Kind, Op, Proposed, Refused};
use epitome::session::{ChainKey, Committed, Landing, SessionOptions, Sessions};
use epitome::summarize::{SECTIONS, Summaries, Summary, from_fn};
use epitome::trigger::When;
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Outcome, Request, Target};
use testkit::wait;

/// A line that no phrase of the language tells.
const SAID: &str = "fn f7() { port_5007 }";
const LISTED: &str = "- [16 tool] fn f7() { port_5007 }";

/// The task and so many steps; message 16 is what `SAID` is from, and `f7` is as it says.
fn session(steps: usize, f7: &str) -> Request {
    session_with(steps, 7, f7)
}

/// The same where another step says it.
fn session_with(steps: usize, nth: usize, said: &str) -> Request {
    let notation = history(steps, nth, said) + "user Go on with the rest.\n";
    testkit::parse(Format::OpenaiChat, &notation)
}

/// The same without the wish: the next one goes on with it.
fn history(steps: usize, nth: usize, said: &str) -> String {
    let mut notation = "user Fix the build of the parser, and do not touch the lexer.\n".to_owned();
    for step in 0..steps {
        let result = if step == nth { said.to_owned() } else { format!("fn f{step}() {{ work }}") };
        let _ = writeln!(
            notation,
            "asst Reading f{step}. {{lorem 20}} | call c{step} Read {{\"file_path\":\"src/f{step}.rs\"}}\nres  c{step} = {result}\\n{{code 40}}",
        );
    }
    notation
}

/// What `view` left, and behind it the entries of `whole` from `from` on.
fn behind(view: &Request, whole: &Request, from: usize) -> Request {
    let more: Vec<&str> = whole.transcript.entries().skip(from).map(|entry| entry.raw()).collect();
    let (shown, end) = (view.source(), view.frame.list.range().end - 1);
    let body = format!("{},{}{}", &shown[..end], more.join(","), &shown[end..]);
    wire::parse(Format::OpenaiChat, body).expect("a body")
}

/// Nobody is asked, and what is known is what the receipt of another compaction says.
fn again(outcome: &Outcome) -> Compactor {
    plain().remembering(&outcome.receipt.ledger_changes)
}

/// Changes that a receipt tells of.
fn changes(outcome: &Outcome) -> Vec<Delta> {
    outcome.receipt.ledger_changes.iter().map(|made| made.delta.clone()).collect()
}

fn delta(source: u32) -> Delta {
    Delta {
        op: Op::Add,
        kind: Some(Kind::Fact),
        text: SAID.to_owned(),
        line: None,
        sources: vec![source],
    }
}

/// Asks a model that proposes the change until this is set, and nothing after that.
fn compactor(is_later: &Arc<AtomicBool>) -> Compactor {
    let is_later = Arc::clone(is_later);
    proposing(move || if is_later.load(Ordering::Relaxed) { Vec::new() } else { vec![delta(16)] })
}

/// Asks a model that proposes these.
fn asking(changes: Vec<Delta>) -> Compactor {
    proposing(move || changes.clone())
}

fn proposing(changes: impl Fn() -> Vec<Delta> + Send + Sync + 'static) -> Compactor {
    let model = from_fn("model", move |_| {
        let said = |section| if section == "Goal" { "The build is to be fixed." } else { "none" };
        let text = SECTIONS.map(|name| format!("## {name}\n{}\n", said(name))).concat();
        std::future::ready(Ok(Summary { ledger: changes(), ..Summary::new(text) }))
    });
    let summaries = Summaries { chain: vec![model], ..Summaries::default() };
    plain().summarized_by(summaries).expect("in range")
}

fn plain() -> Compactor {
    let options = Options { target: Target::Tokens(4_000), ..Options::default() };
    Compactor::new(options, counter("chars4").expect("known")).expect("in range")
}

fn run(compactor: &Compactor, request: &Request) -> Outcome {
    wait(Drive::new(compactor.begin(request))).expect("a view")
}

fn lists(outcome: &Outcome) -> bool {
    outcome.view.checkpoint().expect("steps were folded").text.contains(LISTED)
}

#[test]
fn the_next_compaction_of_a_history_makes_them_again() {
    let is_later = Arc::default();
    let compactor = compactor(&is_later);
    let first = run(&compactor, &session(100, SAID));
    is_later.store(true, Ordering::Relaxed);
    assert!(lists(&first));
    assert_eq!(changes(&first), [delta(16)]);
    let longer = session(140, SAID);
    assert!(!lists(&run(&compactor, &longer)), "nobody says again what the ledger is to list");
    let second = run(&compactor.clone().remembering(&first.receipt.ledger_changes), &longer);
    assert!(lists(&second));
    assert_eq!(changes(&second), [delta(16)]);
    // Without any model it is as true.
    let alone = compactor.clone().remembering(&second.receipt.ledger_changes);
    assert!(lists(&alone.compact(&longer).expect("a view")));
    // Another history says something else there.
    let other = run(&alone, &session(140, "fn f7() { port_6007 }"));
    assert!(!lists(&other) && other.receipt.ledger_changes.is_empty());
    let nowhere = Delta { sources: Vec::new(), ..delta(16) };
    let lost = Proposed { delta: nowhere, refused: Some(Refused::Source) };
    assert_eq!(other.receipt.lost_changes, [lost]);
}

#[test]
fn a_compaction_of_what_was_compacted_keeps_them() {
    let is_later = Arc::default();
    let compactor = compactor(&is_later);
    let first = run(&compactor, &session(100, SAID));
    is_later.store(true, Ordering::Relaxed);
    let id = first.receipt.checkpoint.as_ref().expect("there is one").id;
    let longer = behind(&first.request, &session(140, SAID), 201);
    let compactor = compactor.knowing([id]);
    assert!(!lists(&run(&compactor, &longer)), "it is worth less by itself");
    let second = run(&compactor.remembering(&first.receipt.ledger_changes), &longer);
    let words = &second.view.checkpoint().expect("steps were folded").text;
    assert!(lists(&second), "{words}\n{:?}", second.receipt.ledger_changes);
    // The checkpoint says so, and no message does.
    assert_eq!(changes(&second), [Delta { sources: Vec::new(), ..delta(16) }]);
    assert!(second.receipt.lost_changes.is_empty(), "{:?}", second.receipt.lost_changes);
    // Who compacts all of it once more has the message.
    let all = run(&again(&second), &session(160, SAID));
    assert!(lists(&all));
    assert_eq!(changes(&all), [delta(16)]);
}

/// A change that is made over what a view left cites messages where they stand there.
#[test]
fn a_change_that_was_made_over_a_view_is_made_again_over_the_whole() {
    const LATER: usize = 110;
    let said = |steps| session_with(steps, LATER, SAID);
    let at = 2 * (LATER as u32 + 1);
    let first = run(&asking(Vec::new()), &said(100));
    let id = first.receipt.checkpoint.as_ref().expect("there is one").id;
    let longer = behind(&first.request, &said(140), 201);
    let moved = longer.transcript.entries().position(|entry| entry.raw().contains("port_5007"));
    let moved = moved.expect("it is said behind the view") as u32;
    assert!(moved < at);
    let second = run(&asking(vec![delta(moved)]).knowing([id]), &longer);
    let listed = |outcome: &Outcome, at: u32| {
        let lane = &outcome.view.checkpoint().expect("steps were folded").text;
        lane.contains(&format!("- [{at} tool] {SAID}"))
    };
    // It is counted in the whole conversation, with the wish that the first one ended with.
    assert!(listed(&second, at + 1));
    assert_eq!(changes(&second), [delta(moved)]);
    let all = run(&again(&second), &said(180));
    assert!(listed(&all, at), "{:?}", all.receipt.lost_changes);
    assert_eq!(changes(&all), [delta(at)]);
    // And where the next one goes on from what this view left of it.
    let id = all.receipt.checkpoint.as_ref().expect("there is one").id;
    let more = behind(&all.request, &said(220), 361);
    let next = run(&again(&all).knowing([id]), &more);
    assert!(listed(&next, at), "{:?}", next.receipt.lost_changes);
}

#[test]
fn a_session_remembers_them_and_so_does_one_that_is_loaded() {
    let options = || {
        let trigger = Arc::new(When::Tokens(30_000).build().expect("in range"));
        let landing = Landing::Target(Target::Tokens(2_000));
        SessionOptions { landing, ..SessionOptions::new(trigger, ChainKey([1, 2, 3, 4])) }
    };
    let is_later = Arc::default();
    let compactor = compactor(&is_later);
    let mut sessions = Sessions::new(options(), compactor.clone()).expect("in range");
    let mut compactions = 0;
    for steps in (10..400).step_by(10) {
        let now = Duration::from_secs(steps as u64);
        let request = testkit::parse(Format::OpenaiChat, &history(steps, 7, SAID));
        let mut answer = sessions.observe("t", &request, None, now);
        let Some(begun) = answer.begun.take() else { continue };
        let outcome = wait(Drive::new(begun.compaction)).expect("a view");
        let committed = sessions.commit(answer.session, begun.ticket, Ok(&outcome), now);
        let Some(checkpoint) = outcome.view.checkpoint() else { continue };
        if matches!(committed, Committed::Adopted { .. }) {
            is_later.store(true, Ordering::Relaxed);
            compactions += 1;
            assert!(lists(&outcome), "the {compactions}.: {}", checkpoint.text);
        }
        // Whoever goes on after a crash knows as much.
        let saved = sessions.save(answer.session).expect("it is known");
        let saved = serde_json::to_string(&saved).expect("data");
        sessions = Sessions::new(options(), compactor.clone()).expect("in range");
        sessions.load(serde_json::from_str(&saved).expect("its own form"));
    }
    assert!(compactions > 2, "{compactions}");
}
