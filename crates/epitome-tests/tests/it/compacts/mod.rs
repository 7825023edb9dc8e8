//! Whole compactions by somebody else: what is taken, what is turned away, and what is done then.

mod faults;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome::engine::Drive;
use epitome::engine::delegate::{
    Compact, Compactors, Decision, Job, JobContext, ProposedView, Skip, from_fn,
};
use epitome::engine::events::{CompactionId, Event, Observer};
use epitome::engine::hook::{Hooks, Wish};
use epitome::model::Money;
use epitome::summarize::{Clock, FailureKind, OnFailure, Spent, SummarizeError, Summary};
use epitome::transcript::{Marks, PartKind, Slot};
use epitome::trigger::{Asker, Cause, Demand, Measurements, Trigger as _, When};
use epitome::view::{Fate, PartEdit, Put, Reason};
use epitome::wire::Format;
use epitome::{CompactError, Compactor, Options, Outcome, Pin, Request};
use proptest::prelude::*;
use testkit::laws::check_view;
use testkit::{Case, generate, to, to_percent, wait};

const TARGET: u64 = 10_000;

fn compactor(pins: Vec<Pin>) -> Compactor {
    testkit::compactor(Options { pins, ..to(TARGET) }, "chars4")
}

/// The task, 80 steps of three messages, and a wish: messages 0 to 161.
fn session() -> Request {
    let step = r#"asst Step # looks at the module. | call c# Read {"file_path":"src/f#.rs","why":"to see what port it opens"}
res  c# = fn f#() { port_5### } {code 60}"#;
    let steps = testkit::steps(0..80, step);
    let task = "user Fix the build of the parser, and do not touch the lexer.\n";
    let notation = format!("{task}{steps}user Go on with the rest.\n");
    testkit::parse(Format::OpenaiChat, &notation)
}

fn says(
    name: &str,
    verdict: impl Fn(&Job) -> ProposedView + Send + Sync + 'static,
) -> Arc<dyn Compact> {
    from_fn(name, move |job| std::future::ready(Ok(Decision::Compacted(verdict(&job)))))
}

fn by(chain: Vec<Arc<dyn Compact>>) -> Compactors {
    Compactors { chain, ..Compactors::default() }
}

fn run(compactors: Compactors) -> Result<Outcome, CompactError> {
    wait(Drive::new(compactor(Vec::new()).with_compactors(compactors).begin(&session())))
}

/// All but the newest `newest` messages that may leave folded.
fn folding(job: &Job, newest: usize) -> Vec<Fate> {
    let all = job.entries.len();
    let fate = |at: usize| {
        let may_fold = job.entries[at].may_leave && at + newest < all;
        if may_fold { Fate::Fold(Reason::OlderStep) } else { Fate::Keep }
    };
    (0..all).map(fate).collect()
}

fn part(job: &Job, at: usize, kind: PartKind) -> Slot {
    let mut parts = job.request.transcript.entry(at).parts();
    parts.find(|part| part.kind() == kind && !part.is(Marks::NESTED)).expect("there is one").slot
}

fn put(job: &Job, at: usize, kind: PartKind, put: Put) -> Fate {
    let edit = PartEdit { at: part(job, at, kind), put, reason: Reason::OldOutput };
    Fate::Edit(Box::new([edit]))
}

#[test]
fn what_somebody_else_decides_is_what_is_shown() {
    let mine = says("mine", |job| {
        let mut fates = folding(job, 21);
        // One of the results that stay, in short.
        fates[160] = put(job, 160, PartKind::Result, Put::Text("[source of f79]".into()));
        let arguments = r#"{"file_path":"src/f78.rs","why":"to see…"}"#;
        fates[157] = put(job, 157, PartKind::Call, Put::Arguments(arguments.into()));
        let summary = "The user wants the build of the parser fixed. `src/f7.rs` has port_5007.";
        ProposedView { fates, summary: Some(Summary::new(summary)), ..ProposedView::default() }
    });
    let outcome = run(by(vec![mine])).expect("a view");
    let receipt = &outcome.receipt;
    assert!(receipt.fallbacks.is_empty(), "{:?}", receipt.fallbacks);
    assert_eq!(receipt.steps[0].strategy, "mine");
    let checkpoint = outcome.view.checkpoint().expect("steps were folded");
    assert!(checkpoint.text.contains("`src/f7.rs` has port_5007."), "{}", checkpoint.text);
    assert_eq!(receipt.summary.as_ref().and_then(|told| told.by.as_deref()), Some("mine"));
    let shown: Vec<usize> = (0..162)
        .filter(|at| outcome.view.fates().nth(*at).expect("it is covered").is_shown())
        .collect();
    assert_eq!(shown, [0].into_iter().chain(141..162).collect::<Vec<_>>());
    // What a tool didn't say says who does.
    assert!(outcome.rendered().contains("[a compactor's words: source of f79]"));
    let reasons = receipt.edits.iter().map(|edited| edited.reason);
    assert!(reasons.clone().count() > 0 && reasons.clone().all(|why| why == Reason::Delegated));
    check_view(&outcome, &compactor(Vec::new())).expect("the laws hold");
}

#[test]
fn without_a_summary_the_checkpoint_is_what_code_writes() {
    let mine =
        says("mine", |job| ProposedView { fates: folding(job, 21), ..ProposedView::default() });
    let outcome = run(by(vec![mine])).expect("a view");
    assert!(outcome.receipt.summary.is_none() && outcome.receipt.fallbacks.is_empty());
    let checkpoint = outcome.view.checkpoint().expect("steps were folded");
    assert!(checkpoint.text.contains("src/f7"), "{}", checkpoint.text);
}

#[test]
fn pins_stay_whoever_compacts() {
    let pins = vec![Pin::Text("port_5007".to_owned())];
    // It doesn't look at what may leave.
    let bad = says("bad", |job| {
        let mut fates = folding(job, 21);
        fates[15..=16].fill(Fate::Drop(Reason::NotRecent));
        ProposedView { fates, ..ProposedView::default() }
    });
    let compactor = compactor(pins).with_compactors(by(vec![bad]));
    let outcome = wait(Drive::new(compactor.begin(&session()))).expect("a view");
    assert!(outcome.receipt.fallbacks[0].contains("must stay"), "{:?}", outcome.receipt.fallbacks);
    assert!(outcome.rendered().contains("port_5007 }"));
}

#[test]
fn the_next_in_the_chain_is_asked_and_in_the_end_it_is_as_the_caller_says() {
    let bad = || says("bad", |_| ProposedView::default());
    let good =
        says("good", |job| ProposedView { fates: folding(job, 21), ..ProposedView::default() });
    let outcome = run(by(vec![bad(), good])).expect("a view");
    assert_eq!(outcome.receipt.steps[0].strategy, "good");
    assert_eq!(outcome.receipt.fallbacks, ["bad: it has 0 fates for 162 messages"]);

    let all = Compactors { on_failure: OnFailure::Skip, ..by(vec![bad()]) };
    assert!(run(all).expect("a view").view.is_whole());
    let all = Compactors { on_failure: OnFailure::Error, ..by(vec![bad()]) };
    let error = run(all).expect_err("it was to fail");
    assert_eq!(
        error.to_string(),
        "no compactor gave a usable view: bad: it has 0 fates for 162 messages"
    );

    let idle =
        from_fn("idle", |_| std::future::ready(Ok(Decision::Skip(Skip::new("cheap tokens")))));
    let outcome = run(by(vec![idle])).expect("a view");
    assert!(outcome.view.is_whole());
    assert_eq!(outcome.receipt.fallbacks, ["idle skipped: cheap tokens"]);
}

#[test]
fn nobody_is_asked_where_nothing_is_to_be_done() {
    let never = || from_fn("never", |_| async { unreachable!("there is nothing to do") });
    let small = testkit::parse(Format::OpenaiChat, "user Hello.\nasst Hello.\nuser Bye.\n");
    let compactor = compactor(Vec::new()).with_compactors(by(vec![never()]));
    let outcome = wait(Drive::new(compactor.begin(&small))).expect("a view");
    assert!(outcome.view.is_whole() && outcome.receipt.fallbacks.is_empty());
}

#[derive(Debug, Default)]
struct Diary(Mutex<Vec<String>>);

impl Observer for Diary {
    fn observe(&self, _: CompactionId, event: &Event) {
        let line = match event {
            Event::CompactorCalled { by } => format!("{by} called"),
            Event::CompactorFellBack { by, .. } => format!("{by} fell back"),
            Event::Applied(_) => return,
            event => format!("{event:?}").split([' ', '(']).next().unwrap_or_default().to_owned(),
        };
        self.0.lock().expect("nobody panicked").push(line);
    }
}

#[test]
fn observers_are_told_and_compactors_are_told_why() {
    let diary = Arc::new(Diary::default());
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let bad = says("bad", move |job| {
        heard.lock().expect("nobody panicked").push(job.about.clone());
        ProposedView::default()
    });
    let about = JobContext {
        session: Some("s1".to_owned()),
        labels: [("team".to_owned(), "a".to_owned())].into(),
        instructions: vec!["Keep the ports.".to_owned()],
        ..JobContext::default()
    };
    let demand = Demand {
        focus: Some("the parser".to_owned()),
        ..Demand::new(Asker::Model, "context is full")
    };
    let compactor = compactor(Vec::new())
        .with_compactors(by(vec![bad]))
        .with_context(about.clone())
        .with_observer(diary.clone())
        .with_cause(Cause::Asked(vec![demand]));
    wait(Drive::new(compactor.begin(&session()))).expect("a view");
    let said = diary.0.lock().expect("nobody panicked").clone();
    assert_eq!(said, ["Considered", "Started", "bad called", "bad fell back", "Finished"]);
    let told = told.lock().expect("nobody panicked").clone();
    assert_eq!((&told[0].session, &told[0].labels), (&about.session, &about.labels));
    let instructions = told[0].instructions.join("\n");
    for wish in ["Keep the ports.", "context is full", "the parser"] {
        assert!(instructions.contains(wish), "{instructions}");
    }
}

/// Three answers that can't be used are followed by a rest, whether they broke a law or never came; one that can
/// begins anew.
#[test]
fn a_compactor_that_keeps_failing_rests() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let moody = from_fn("moody", move |job: Arc<Job>| {
        let answer = match counted.fetch_add(1, Ordering::Relaxed) {
            2 => Ok(Decision::Compacted(ProposedView {
                fates: folding(&job, 9),
                ..ProposedView::default()
            })),
            nth if nth % 2 == 0 => Ok(Decision::Compacted(ProposedView::default())),
            _ => Err(SummarizeError::new(FailureKind::Upstream, "")),
        };
        std::future::ready(answer)
    });
    let now = Arc::new(AtomicU64::new(0));
    let time = Arc::clone(&now);
    let clock: Clock = Arc::new(move || Duration::from_secs(time.load(Ordering::Relaxed)));
    let all = by(vec![moody]).resting(&clock);
    let told = || run(all.clone()).expect("a view").receipt.fallbacks;
    for nth in 0..9 {
        let told = told();
        assert_eq!(told.is_empty(), nth == 2, "{nth}: {told:?}");
        let is_resting = told.iter().any(|why| why.contains("isn't asked for now: 30 s more"));
        // Two fail, one is taken, three fail.
        assert_eq!(is_resting, nth > 5, "{nth}: {told:?}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 6);
    now.store(31, Ordering::Relaxed);
    told();
    assert_eq!(asked.load(Ordering::Relaxed), 7);
}

/// What chance decides, within what may be asked for.
fn by_chance(job: &Job, dice: &[u8]) -> Vec<Fate> {
    let throw = |at: usize| dice[at % dice.len()];
    let transcript = &job.request.transcript;
    let leaves = |unit: usize| {
        let mut entries = job.entries.iter().filter(|known| known.unit == unit);
        entries.all(|known| known.may_leave)
    };
    let fate = |at: usize| {
        let known = &job.entries[at];
        match throw(known.unit) % 5 {
            0..=2 if leaves(known.unit) => Fate::Fold(Reason::OlderStep),
            3 if leaves(known.unit) => Fate::Drop(Reason::NotRecent),
            _ => {
                let parts = transcript.entry(at).parts().zip(&known.may_edit);
                let results = parts.filter(|(part, may)| **may && part.kind() == PartKind::Result);
                let stub = |slot| PartEdit {
                    at: slot,
                    put: Put::Text("…".into()),
                    reason: Reason::OldOutput,
                };
                let edits: Box<[PartEdit]> = results.map(|(part, _)| stub(part.slot)).collect();
                if edits.is_empty() { Fate::Keep } else { Fate::Edit(edits) }
            }
        }
    };
    (0..job.entries.len()).map(fate).collect()
}

#[test]
fn the_laws_hold_for_whatever_is_taken() {
    let (mut all, mut taken) = (0, 0);
    let cases = ProptestConfig { cases: 400, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(cases);
    let counts = std::cell::RefCell::new((&mut all, &mut taken));
    let given = (generate::valid(), proptest::collection::vec(any::<u8>(), 1..40));
    let result = runner.run(&given, |(case, dice): (Case, Vec<u8>)| {
        let local = testkit::compactor(to_percent(60), "o200k");
        let chance = says("chance", move |job| ProposedView {
            fates: by_chance(job, &dice),
            ..ProposedView::default()
        });
        let compactor = local.clone().with_compactors(by(vec![chance]));
        let outcome = wait(Drive::new(compactor.begin(&case.request())));
        let outcome = outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let (all, taken) = &mut *counts.borrow_mut();
        **all += 1;
        **taken += usize::from(outcome.receipt.steps.iter().any(|step| step.strategy == "chance"));
        check_view(&outcome, &local).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    println!("{taken} of {all} were taken");
    assert!(taken * 5 > all, "{taken} of {all} were taken");
}

/// Found by chance: where how a call went had no room, neither had what it was done to.
#[test]
fn what_a_call_was_done_to_comes_before_how_it_went() {
    let words = |n: usize| "lorem elit labore veniam amet tempor ".repeat(n);
    let line =
        |at: usize| format!("{at}: lorem elit labore veniam amet{}\\n", [" tempor", ""][at % 2]);
    let body = format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":4096,"messages":[
{{"role":"assistant","content":[{{"type":"compaction","content":"{}"}}]}},
{{"role":"user","content":"{}"}},
{{"role":"user","content":"see?"}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"Bash","input":{{"command":"ok"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"{}"}}]}},
{{"role":"assistant","content":"Done."}}]}}"#,
        words(6),
        words(42),
        (0..27).map(line).collect::<String>()
    );
    let request = epitome::wire::parse(Format::Anthropic, body).expect("a body");
    for percent in 30..90 {
        let local = testkit::compactor(to_percent(percent), "o200k");
        let all =
            says("all", |job| ProposedView { fates: folding(job, 0), ..ProposedView::default() });
        let compactor = local.clone().with_compactors(by(vec![all]));
        let outcome = wait(Drive::new(compactor.begin(&request))).expect("a view");
        check_view(&outcome, &local).unwrap_or_else(|why| panic!("{percent} %: {why}"));
    }
}

#[test]
fn with_the_trigger_remote_it_is_asked_on_every_call() {
    let trigger = || When::Remote.build().expect("in range").boxed();
    let small = testkit::parse(
        Format::OpenaiChat,
        "user Hello.\nasst One. | call a Read {}\nres  a = {code 60}\nasst Two. | call b Read {}\nres  b = ok\nuser Bye.\n",
    );
    let run = |verdict: Result<Decision, SummarizeError>| {
        let asked = from_fn("asked", move |_| std::future::ready(verdict.clone()));
        let compactor = compactor(Vec::new())
            .with_compactors(by(vec![asked]))
            .with_trigger(trigger(), Measurements::default());
        wait(Drive::new(compactor.begin(&small))).expect("a view")
    };
    // It is far below the target, and something is done all the same.
    let dropped = Fate::Drop(Reason::NotRecent);
    let keep = Fate::Keep;
    let fates = vec![keep.clone(), dropped.clone(), dropped, keep.clone(), keep.clone(), keep];
    let outcome = run(Ok(Decision::Compacted(ProposedView { fates, ..ProposedView::default() })));
    assert!(outcome.receipt.fallbacks.is_empty(), "{:?}", outcome.receipt.fallbacks);
    assert_eq!(outcome.view.fates().filter(|fate| fate.is_shown()).count(), 4);
    assert_eq!(outcome.receipt.reason, "the compactor is asked on every call");
    let outcome = run(Ok(Decision::Skip(Skip::new("cheap"))));
    assert!(outcome.view.is_whole() && !outcome.receipt.triggered);
    // Without its answer what is small enough passes, and what isn't is compacted here.
    let gone = || Err(SummarizeError::new(FailureKind::Unreachable, ""));
    let outcome = run(gone());
    assert!(outcome.view.is_whole());
    assert_eq!(outcome.receipt.fallbacks, ["asked: can't be reached"]);
    // Whether it is compacted here is for the other triggers to say, and for the usual share of the window where there are none.
    let local = |when: When, window: Option<u64>| {
        let down = from_fn("asked", move |_| std::future::ready(gone()));
        let around = Measurements { window, ..Measurements::default() };
        let compactor = compactor(Vec::new())
            .with_compactors(by(vec![down]))
            .with_trigger(when.build().expect("in range").boxed(), around);
        wait(Drive::new(compactor.begin(&session()))).expect("a view")
    };
    let whole = local(When::Remote, None);
    assert!(whole.view.is_whole() && !whole.receipt.triggered);
    assert_eq!(whole.receipt.fallbacks, ["asked: can't be reached"]);
    let tokens = whole.receipt.before.count.tokens;
    assert!(local(When::Remote, Some(tokens * 2)).view.is_whole());
    let both = || When::Any(vec![When::Remote, When::Tokens(tokens)]);
    for outcome in [local(When::Remote, Some(tokens)), local(both(), None)] {
        assert!(outcome.receipt.after.count.tokens <= TARGET);
        assert!(
            !outcome.receipt.reason.contains("asked on every call"),
            "{}",
            outcome.receipt.reason
        );
    }
    assert!(local(When::Any(vec![When::Remote, When::Tokens(tokens + 1)]), None).view.is_whole());
}

#[test]
fn what_a_compactor_took_is_booked_whatever_became_of_it() {
    let spent = Spent { requests: 1, cost: Some(Money::micro(7)), ..Spent::default() };
    let paid = says("paid", move |job| ProposedView {
        fates: folding(job, 21),
        spent,
        ..ProposedView::default()
    });
    let outcome = run(by(vec![paid])).expect("a view");
    let told = outcome.receipt.summary.expect("it is booked");
    assert_eq!((told.spent, told.calls.len()), (spent, 1));
    let failed = from_fn("failed", move |_| {
        let error = SummarizeError::new(FailureKind::Upstream, "").having(spent);
        std::future::ready(Err(error))
    });
    let wrong = says("wrong", move |_| ProposedView { spent, ..ProposedView::default() });
    let outcome = run(by(vec![failed, wrong])).expect("a view");
    let told = outcome.receipt.summary.expect("it is booked");
    assert_eq!(told.spent.cost, Some(Money::micro(14)));
    let idle = from_fn("idle", move |_| {
        std::future::ready(Ok(Decision::Skip(Skip { spent, ..Skip::new("cheap") })))
    });
    let outcome = run(by(vec![idle])).expect("a view");
    assert_eq!(outcome.receipt.summary.expect("it is booked").spent, spent);
    // What is said is hearsay, and may be any number.
    let all = u64::MAX;
    let huge = Spent { requests: u32::MAX, input: all, cached: all, output: all, ..spent };
    let liar = || says("liar", move |_| ProposedView { spent: huge, ..ProposedView::default() });
    let outcome = run(by(vec![liar(), liar()])).expect("a view");
    let told = outcome.receipt.summary.expect("it is booked");
    assert_eq!((told.spent.input, told.spent.requests), (all, u32::MAX));
    // A hook's summary goes first, and the other one was paid for.
    let hook = epitome::engine::hook::from_fn("hook", |_| {
        let summary = Some(Summary::new("The parser is built."));
        std::future::ready(Ok(Wish { summary, ..Wish::default() }))
    });
    let both = says("both", move |job| {
        let summary = Some(Summary { spent, ..Summary::new("It goes on.") });
        ProposedView { fates: folding(job, 21), summary, ..ProposedView::default() }
    });
    let hooks = Hooks { chain: vec![hook] };
    let compactor = compactor(Vec::new()).with_compactors(by(vec![both])).with_hooks(hooks);
    let outcome = wait(Drive::new(compactor.begin(&session()))).expect("a view");
    let told = outcome.receipt.summary.expect("there is one");
    assert_eq!((told.by.as_deref(), told.spent), (Some("hook"), spent));
}
