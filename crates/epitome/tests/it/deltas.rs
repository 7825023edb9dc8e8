//! Changes of the ledger that a model proposed and the transcript bears out: they outlive the next compaction.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use epitome::count::counter;
use epitome::engine::Drive;
use epitome::ledger::{Delta, Kind, Op};
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
    let notation = history(steps, f7) + "user Go on with the rest.\n";
    testkit::parse(Format::OpenaiChat, &notation)
}

/// The same without the wish: the next one goes on with it.
fn history(steps: usize, f7: &str) -> String {
    let mut notation = "user Fix the build of the parser, and do not touch the lexer.\n".to_owned();
    for step in 0..steps {
        let result = if step == 7 { f7.to_owned() } else { format!("fn f{step}() {{ work }}") };
        let _ = writeln!(
            notation,
            "asst Reading f{step}. {{lorem 20}} | call c{step} Read {{\"file_path\":\"src/f{step}.rs\"}}\nres  c{step} = {result}\\n{{code 40}}",
        );
    }
    notation
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
    let options = Options { target: Target::Tokens(4_000), ..Options::default() };
    let compactor = Compactor::new(options, counter("chars4").expect("known")).expect("in range");
    let is_later = Arc::clone(is_later);
    let model = from_fn("model", move |_| {
        let said = |section| if section == "Goal" { "The build is to be fixed." } else { "none" };
        let text = SECTIONS.map(|name| format!("## {name}\n{}\n", said(name))).concat();
        let is_first = !is_later.load(Ordering::Relaxed);
        let ledger = if is_first { vec![delta(16)] } else { Vec::new() };
        std::future::ready(Ok(Summary { ledger, ..Summary::new(text) }))
    });
    let summaries = Summaries { chain: vec![model], ..Summaries::default() };
    compactor.summarized_by(summaries).expect("in range")
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
    assert_eq!(first.receipt.ledger_changes, [delta(16)]);
    let longer = session(140, SAID);
    assert!(!lists(&run(&compactor, &longer)), "nobody says again what the ledger is to list");
    let second = run(&compactor.clone().remembering(&first.receipt.ledger_changes), &longer);
    assert!(lists(&second));
    assert_eq!(second.receipt.ledger_changes, [delta(16)]);
    // Without any model it is as true.
    let alone = compactor.clone().remembering(&second.receipt.ledger_changes);
    assert!(lists(&alone.compact(&longer).expect("a view")));
    // Another history says something else there.
    let other = run(&alone, &session(140, "fn f7() { port_6007 }"));
    assert!(!lists(&other) && other.receipt.ledger_changes.is_empty());
}

#[test]
fn a_compaction_of_what_was_compacted_keeps_them() {
    let is_later = Arc::default();
    let compactor = compactor(&is_later);
    let first = run(&compactor, &session(100, SAID));
    is_later.store(true, Ordering::Relaxed);
    let id = first.receipt.checkpoint.as_ref().expect("there is one").id;
    let whole = session(140, SAID);
    let more: Vec<&str> = whole.transcript.entries().skip(201).map(|entry| entry.raw()).collect();
    let (shown, end) = (first.request.source(), first.request.frame.list.range().end - 1);
    let body = format!("{},{}{}", &shown[..end], more.join(","), &shown[end..]);
    let longer = wire::parse(Format::OpenaiChat, body).expect("a body");
    let compactor = compactor.knowing([id]);
    assert!(!lists(&run(&compactor, &longer)), "it is worth less by itself");
    let second = run(&compactor.remembering(&first.receipt.ledger_changes), &longer);
    let words = &second.view.checkpoint().expect("steps were folded").text;
    assert!(lists(&second), "{words}\n{:?}", second.receipt.ledger_changes);
    assert_eq!(second.receipt.ledger_changes, [delta(16)]);
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
        let request = testkit::parse(Format::OpenaiChat, &history(steps, SAID));
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
