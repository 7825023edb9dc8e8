//! Summaries: what is asked, what is admitted, who is asked next, and what is left when nobody helps.

mod asked;
mod faults;
mod paid;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use epitome::archive::Original;
use epitome::archive::{Archive as _, MemoryArchive};
use epitome::checkpoint::{Contents, read};
use epitome::engine::events::{CompactionId, Event, Observer};
use epitome::engine::{Drive, OptionsError};
use epitome::summarize::{
    Brief, CallResult, FailureKind, OnFailure, SECTIONS, Spent, Summaries, SummarizeError,
    Summarizer, Summary, from_fn,
};
use epitome::wire::Format;
use epitome::{CompactError, Compactor, Outcome, Request};
use testkit::to;
use testkit::wait;

const TARGET: u64 = 4_000;

fn compactor() -> Compactor {
    testkit::compactor(to(TARGET), "chars4")
}

fn session() -> Request {
    session_with("")
}

/// The same with `first` behind the task.
fn session_with(first: &str) -> Request {
    let task = "user Fix the build of the parser, and do not touch the lexer.\n";
    let step = r#"asst Step # is the one in which I look at the module and at its tests. | call c# Read {"file_path":"src/f#.rs"}
res  c# = fn f#() { port_5### } {code 40}"#;
    let steps = testkit::steps(0..120, step);
    let notation = format!("{task}{first}{steps}user Go on with the rest.\n");
    testkit::parse(Format::OpenaiChat, &notation)
}

/// Every section, with `line` in the last.
fn summary(line: &str) -> String {
    let mut text = String::new();
    for section in SECTIONS {
        let said = match section {
            "Goal" => "The build of the parser is to be fixed.",
            "Facts" => line,
            _ => "none",
        };
        let _ = writeln!(text, "## {section}\n{said}");
    }
    text
}

fn says(name: &str, text: impl Into<String>) -> Arc<dyn Summarizer> {
    let text = text.into();
    from_fn(name, move |_| std::future::ready(Ok(Summary::new(text.clone()))))
}

fn fails(name: &str, kind: FailureKind) -> Arc<dyn Summarizer> {
    from_fn(name, move |_| {
        std::future::ready(Err::<String, _>(SummarizeError::new(kind, "on purpose")))
    })
}

fn with(chain: Vec<Arc<dyn Summarizer>>) -> Summaries {
    Summaries { chain, ..Summaries::default() }
}

fn run(summaries: Summaries) -> Result<Outcome, CompactError> {
    let compactor = compactor().with_summaries(summaries).expect("in range");
    wait(Drive::new(compactor.begin(&session())))
}

fn checkpoint(outcome: &Outcome) -> String {
    outcome.view.checkpoint().expect("steps were folded").text.to_string()
}

const LANE: &str = "\nSummary\n";

/// A later compaction archives the checkpoint that it takes away: what it summed up is found, what it quotes is found elsewhere.
#[test]
fn a_summary_can_be_recalled() {
    let outcome =
        run(with(vec![says("good", summary("`src/f7.rs` has port_5007."))])).expect("a view");
    let request = compactor().compact(&outcome.request).expect("a view").base;
    let is_checkpoint = |at: usize| {
        request.transcript.entry(at).origin() == epitome::transcript::Origin::Checkpoint
    };
    let [original] = &Original::of(&request, is_checkpoint)[..] else { panic!("one checkpoint") };
    assert!(original.words.contains("`src/f7.rs` has port_5007."), "{}", original.words);
    assert!(!original.words.contains("Only read"), "{}", original.words);
}

#[test]
fn a_good_summary_has_its_lane_and_nothing_before_it_changes() {
    let without = compactor().compact(&session()).expect("a view");
    let outcome =
        run(with(vec![says("good", summary("`src/f7.rs` has port_5007."))])).expect("a view");
    let (is, was) = (checkpoint(&outcome), checkpoint(&without));
    assert!(is.contains(LANE) && is.contains("### Facts\n`src/f7.rs` has port_5007."), "{is}");
    // The lanes before it are as they were, and notes take what is left.
    let (read_is, read_was) = (read(&is).expect("intact"), read(&was).expect("intact"));
    assert_eq!((&read_is.words, &read_is.deeds), (&read_was.words, &read_was.deeds));
    assert_eq!(read_is.last_words, read_was.last_words);
    assert_eq!(read_is.stands_for, read_was.stands_for);
    assert!(read_was.summary.is_empty() && !read_is.notes.is_empty(), "{is}");
    let extracts = |of: &Contents| of.notes.len() + of.names.len();
    assert!(extracts(&read_is) < extracts(&read_was), "{is}");
    assert!(outcome.receipt.after.count.tokens <= TARGET);
    let told = outcome.receipt.summary.expect("somebody was asked");
    assert_eq!(told.by.as_deref(), Some("good"));
    assert_eq!(
        told.calls.iter().map(|call| call.result).collect::<Vec<_>>(),
        [CallResult::Admitted]
    );
    assert!(told.tokens > 0 && outcome.receipt.fallbacks.is_empty());
    assert!(without.receipt.summary.is_none());
}

#[test]
fn the_chain_goes_on_to_the_next_and_the_receipt_says_why() {
    let chain = vec![
        fails("first", FailureKind::Timeout),
        says("second", "Sure, I'll do it."),
        says("third", summary("none")),
    ];
    let outcome = run(with(chain)).expect("a view");
    assert_eq!(outcome.receipt.summary.as_ref().and_then(|told| told.by.as_deref()), Some("third"));
    assert_eq!(
        outcome.receipt.fallbacks,
        [
            "first: no answer in time: on purpose",
            "second: it answers the transcript instead of summarising it"
        ]
    );
}

#[test]
fn without_any_summary_the_policy_holds() {
    let failing = |on_failure| Summaries {
        chain: vec![fails("down", FailureKind::Unreachable)],
        on_failure,
        ..Summaries::default()
    };
    let without = compactor().compact(&session()).expect("a view");
    let extractive = run(failing(OnFailure::Extractive)).expect("a view");
    assert_eq!(extractive.rendered(), without.rendered());
    let skipped = run(failing(OnFailure::Skip)).expect("a view");
    assert_eq!(skipped.rendered(), session().source().as_str());
    assert_eq!(skipped.receipt.fallbacks, ["down: can't be reached: on purpose"]);
    let failed = run(failing(OnFailure::Error)).expect_err("it was to fail");
    let why = "down: can't be reached: on purpose".to_owned();
    assert_eq!(failed, CompactError::Summary { why, spent: Spent::default() });
}

#[test]
fn nobody_is_asked_where_nothing_is_to_be_summed_up() {
    let never = from_fn("never", |_| -> std::future::Ready<Result<Summary, SummarizeError>> {
        panic!("nothing is folded")
    });
    let summaries = with(vec![never]);
    let small = testkit::parse(Format::OpenaiChat, "user Hello.\n");
    let compactor = compactor().with_summaries(summaries).expect("in range");
    let outcome = wait(Drive::new(compactor.begin(&small))).expect("a view");
    assert!(outcome.receipt.summary.is_none());
    // What came out rests: the second compaction asks nobody.
    let first = run(with(vec![says("good", summary("none"))])).expect("a view");
    let again = wait(Drive::new(compactor.begin(&first.request))).expect("a view");
    assert_eq!(again.rendered(), first.rendered());
}

#[test]
fn without_a_driver_a_summarizer_has_to_know_its_answer() {
    let summed = |by| {
        let compactor = compactor().with_summaries(with(vec![by])).expect("in range");
        compactor.compact(&session())
    };
    let outcome = summed(says("good", summary("none"))).expect("a view");
    assert!(checkpoint(&outcome).contains(LANE));
    let slow = from_fn("slow", |_| std::future::pending::<Result<String, _>>());
    let error = summed(slow).expect_err("nobody waits");
    assert_eq!(error, CompactError::NotDriven { by: "slow".to_owned() });
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<Event>>);

impl Observer for Heard {
    fn observe(&self, _: CompactionId, event: &Event) {
        self.0.lock().expect("nobody panics while listening").push(event.clone());
    }
}

#[test]
fn an_observer_is_told_as_it_happens() {
    let heard = Arc::new(Heard::default());
    let chain = vec![
        fails("first", FailureKind::Upstream),
        says("second", "no"),
        says("third", summary("none")),
    ];
    let compactor = compactor()
        .with_summaries(with(chain))
        .expect("in range")
        .with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
    wait(Drive::new(compactor.begin(&session()))).expect("a view");
    let heard = heard.0.lock().expect("nobody panics");
    let about = heard.iter().filter_map(|event| match event {
        Event::SummarizerCalled { by, requests } => Some(format!("{by} called {requests}")),
        Event::SummarizerRejected { by, .. } => Some(format!("{by} rejected")),
        Event::SummarizerFellBack { by, .. } => Some(format!("{by} fell back")),
        _ => None,
    });
    assert_eq!(
        about.collect::<Vec<_>>(),
        [
            "first called 1",
            "first fell back",
            "second called 1",
            "second rejected",
            "second called 1",
            "second rejected",
            "second fell back",
            "third called 1"
        ]
    );
    let finished = heard.iter().filter(|event| matches!(event, Event::Finished { .. }));
    assert_eq!(finished.count(), 1);
}

#[test]
fn originals_are_kept_before_the_view_is_there() {
    let archive = MemoryArchive::default();
    let compactor =
        compactor().with_summaries(with(vec![says("good", summary("none"))])).expect("in range");
    let compaction = compactor.begin_kept(&session());
    let drive = Drive::new(compaction).keeping_in(&archive);
    let outcome = wait(drive).expect("a view");
    for original in outcome.originals() {
        assert!(archive.get(original.id) == Ok(Some(original.bytes)));
    }
}

#[test]
fn a_summary_of_no_tokens_is_an_error() {
    let brief = Brief { max_tokens: Some(0), ..Brief::default() };
    let summaries = Summaries { brief, ..with(vec![says("good", "")]) };
    assert_eq!(
        compactor().with_summaries(summaries).expect_err("out of range"),
        OptionsError::NoSummary
    );
}
