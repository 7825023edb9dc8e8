//! What an observer hears, when it hears it, and that whatever starts ends once.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use epitome::engine::delegate::{self, Compactors, Decision, ProposedView, Skip};
use epitome::engine::events::{CompactionId, Event, Observer};
use epitome::engine::hook::{self, Hooks, Wish};
use epitome::engine::plan::Reached;
use epitome::engine::{Answer, Step, Stop};
use epitome::strategy::{Edit, Strategy, StrategyContext};
use epitome::summarize::{
    self, FailureKind, OnFailure, Summaries, SummarizeError, Summary as GivenSummary,
};
use epitome::trigger::{Measurements, Trigger as _, When};
use epitome::wire::Format;
use epitome::{CompactError, Compaction, Compactor, Options, Request};
use expect_test::expect;
use testkit::archives::Full;
use testkit::to;

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<Event>>);

impl Observer for Heard {
    fn observe(&self, _: CompactionId, event: &Event) {
        self.0.lock().expect("nobody panics while listening").push(event.clone());
    }
}

impl Heard {
    fn events(&self) -> Vec<Event> {
        self.0.lock().expect("nobody panics while listening").clone()
    }

    /// A word for each event; whatever started ended once, and nothing was said afterwards.
    fn drawn(&self) -> String {
        let names: Vec<String> = self.events().iter().map(name).collect();
        let count =
            |ends: &[&str]| names.iter().filter(|name| ends.contains(&name.as_str())).count();
        let (starts, ends) = (count(&["Started"]), count(&["Finished", "Failed", "Cancelled"]));
        assert!(starts == ends && starts < 2, "{names:?}");
        if starts == 1 {
            let is_end = |name: &String| count(&[name]) == 1 && name != "Started";
            assert!(names.last().is_some_and(is_end), "{names:?}");
            let begins = |name: &&String| !matches!(name.as_str(), "Considered" | "HookFailed");
            assert_eq!(names.iter().find(begins).map(String::as_str), Some("Started"));
        }
        names.join(" ")
    }
}

fn name(event: &Event) -> String {
    match event {
        Event::Applied(step) => step.strategy.clone(),
        event => {
            let said = format!("{event:?}");
            said.split([' ', '(']).next().unwrap_or_default().to_owned()
        }
    }
}

fn compactor(target: u64) -> Compactor {
    testkit::compactor(to(target), "chars4")
}

/// The task, and so many steps.
fn session(steps: usize) -> Request {
    let mut notation = "user Fix the build.\n".to_owned();
    for step in 0..steps {
        let _ = writeln!(
            notation,
            "asst Step {step}. | call c{step} Read {{\"file_path\":\"src/f{}.rs\"}}\nres  c{step} = {{code {}}}",
            step / 2,
            40 + step / 2
        );
    }
    testkit::parse(Format::OpenaiChat, &notation)
}

/// What is heard while `ends` brings a compaction of a session to its end.
fn heard(compactor: Compactor, steps: usize, ends: impl FnOnce(Compaction)) -> String {
    let heard = Arc::new(Heard::default());
    let observed = compactor.with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
    ends(observed.begin(&session(steps)));
    heard.drawn()
}

#[test]
fn a_compaction_is_told_as_it_happens() {
    let heard = Arc::new(Heard::default());
    let observed = compactor(2_000).with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
    let mut compaction = observed.begin(&session(40));
    let mut drawn = String::new();
    let mut said = 0;
    for step in 1.. {
        let is_done = matches!(compaction.step(), Step::Done(_));
        let events = heard.events();
        let names: Vec<String> = events[said..].iter().map(name).collect();
        if !names.is_empty() {
            let _ = writeln!(drawn, "{step}: {}", names.join(" "));
        }
        said = events.len();
        if is_done {
            break;
        }
    }
    expect![[r#"
        3: Considered Started
        4: repeats
        7: fold
        11: Finished
    "#]]
    .assert_eq(&drawn);
    let events = heard.events();
    let Some(Event::Finished { receipt, dropped, retained, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(receipt.reached, Reached::Target);
    assert_eq!(dropped.entries + retained.entries, receipt.before.entries);
    assert_eq!(dropped.tokens + retained.tokens, receipt.before.count.tokens);
    assert!(dropped.tokens > 0 && retained.tokens <= receipt.after.count.tokens);
    let applied = events.iter().filter_map(|event| match event {
        Event::Applied(step) => Some(step.clone()),
        _ => None,
    });
    assert_eq!(applied.collect::<Vec<_>>(), receipt.steps);
}

#[test]
fn cancelled_or_dropped_at_any_step_it_ends_once_without_a_view() {
    let mut drawn = String::new();
    for steps in 0.. {
        let mut is_over = false;
        let cancelled = heard(compactor(2_000), 40, |mut compaction| {
            is_over = (0..steps).any(|_| matches!(compaction.step(), Step::Done(_)));
            if !is_over {
                compaction.supply(Answer::Cancel);
                let step = compaction.step();
                assert!(matches!(step, Step::Done(Err(CompactError::Cancelled))), "{step:?}");
            }
        });
        if is_over {
            break;
        }
        let dropped = heard(compactor(2_000), 40, |mut compaction| {
            (0..steps).for_each(|_| drop(compaction.step()));
        });
        assert_eq!(cancelled, dropped);
        if !drawn.ends_with(&format!(": {cancelled}\n")) {
            let _ = writeln!(drawn, "after {steps}: {cancelled}");
        }
    }
    expect![[r#"
        after 0: 
        after 3: Considered Started Cancelled
        after 4: Considered Started repeats Cancelled
        after 7: Considered Started repeats fold Cancelled
    "#]]
    .assert_eq(&drawn);
}

fn finished(compaction: Compaction) {
    compaction.finish().expect("a view");
}

fn failed(compaction: Compaction) {
    compaction.finish().expect_err("it fails");
}

#[test]
fn nothing_starts_where_nothing_is_to_be_done() {
    let never = When::Tokens(1_000_000).build().expect("in range").boxed();
    let veto = hook::from_fn("careful", |_| {
        std::future::ready(Ok(Wish { veto: Some("not now".to_owned()), ..Wish::default() }))
    });
    let hooks = Hooks { chain: vec![veto] };
    let idle = testkit::compactor(Options { stop: Stop::AtEnd, ..to(90_000) }, "chars4");
    let rows = [
        ("small", heard(compactor(90_000), 2, finished)),
        (
            "not due",
            heard(compactor(2_000).with_trigger(never, Measurements::default()), 40, finished),
        ),
        ("vetoed", heard(compactor(2_000).with_hooks(hooks), 40, finished)),
        ("nothing found", heard(idle.with_strategies(Vec::new()), 2, finished)),
        ("nothing said", nothing_said()),
    ];
    expect![[r#"
        small: Considered
        not due: Considered
        vetoed: Considered Vetoed
        nothing found: Considered
        nothing said: Considered
    "#]]
    .assert_eq(&table(&rows));
}

/// Of a request above its target that has no message.
fn nothing_said() -> String {
    let tools = "x".repeat(9_000);
    let body = format!(
        r#"{{"messages":[],"tools":[{{"type":"function","function":{{"name":"f","description":"{tools}"}}}}]}}"#
    );
    let request = epitome::wire::parse(Format::OpenaiChat, body).expect("a request");
    let heard = Arc::new(Heard::default());
    let observed = compactor(20).with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
    let outcome = observed.compact(&request).expect("it stays as it is");
    assert!(outcome.view.is_whole() && outcome.receipt.before.count.tokens > 20);
    heard.drawn()
}

fn table(rows: &[(&str, String)]) -> String {
    let mut drawn = String::new();
    for (case, heard) in rows {
        let _ = writeln!(drawn, "{case}: {heard}");
    }
    drawn
}

#[derive(Debug)]
struct Panics;

impl Strategy for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn propose(&self, _: &StrategyContext<'_>) -> Vec<Edit> {
        panic!("it was asked")
    }
}

fn fails() -> SummarizeError {
    SummarizeError::new(FailureKind::Upstream, "503")
}

fn summed_up(on_failure: OnFailure) -> Compactor {
    let by = summarize::from_fn("model", |_| std::future::ready(Err::<GivenSummary, _>(fails())));
    let summaries = Summaries { chain: vec![by], on_failure, ..Summaries::default() };
    compactor(2_000).with_summaries(summaries).expect("in range")
}

fn delegated(answer: Result<Decision, SummarizeError>, on_failure: OnFailure) -> Compactor {
    let by = delegate::from_fn("remote", move |_| std::future::ready(answer.clone()));
    let compactors = Compactors { chain: vec![by], on_failure, ..Compactors::default() };
    compactor(2_000).with_compactors(compactors)
}

#[test]
fn whatever_starts_ends_once() {
    let slow = summarize::from_fn("slow", |_| std::future::pending::<Result<String, _>>());
    let waits = Summaries { chain: vec![slow], ..Summaries::default() };
    let waits = compactor(2_000).with_summaries(waits).expect("in range");
    let down = hook::from_fn("down", |_| std::future::ready(Err(fails())));
    let down = Hooks { chain: vec![down] };
    let panics = compactor(2_000).with_strategies(vec![Arc::new(Panics)]);
    let bad = || Ok(Decision::Compacted(ProposedView::default()));
    let skips = Ok(Decision::Skip(Skip::new("cheap tokens")));
    let archived = Arc::new(Heard::default());
    let kept = compactor(2_000).with_observer(Arc::clone(&archived) as Arc<dyn Observer>);
    kept.compact_into(&session(40), &Full).expect_err("it keeps nothing");
    let rows = [
        ("a view", heard(compactor(2_000), 40, finished)),
        ("out of reach", heard(compactor(10), 40, finished)),
        ("a hook is down", heard(compactor(2_000).with_hooks(down), 40, finished)),
        ("no summary", heard(summed_up(OnFailure::Extractive), 40, finished)),
        ("no summary, no view", heard(summed_up(OnFailure::Skip), 40, finished)),
        ("no summary, an error", heard(summed_up(OnFailure::Error), 40, failed)),
        ("nobody waits", heard(waits, 40, failed)),
        ("no plan elsewhere", heard(delegated(bad(), OnFailure::Extractive), 40, finished)),
        ("no plan elsewhere, no view", heard(delegated(bad(), OnFailure::Skip), 40, finished)),
        ("no plan elsewhere, an error", heard(delegated(bad(), OnFailure::Error), 40, failed)),
        ("skipped elsewhere", heard(delegated(skips, OnFailure::Extractive), 40, finished)),
        ("no archive", archived.drawn()),
        (
            "a strategy panics",
            heard(panics, 40, |compaction| {
                catch_unwind(AssertUnwindSafe(|| compaction.finish().map(drop)))
                    .expect_err("it panics");
            }),
        ),
    ];
    expect![[r#"
        a view: Considered Started repeats fold Finished
        out of reach: Considered Started squeeze fold Finished
        a hook is down: Considered HookFailed Started repeats fold Finished
        no summary: Considered Started repeats fold SummarizerCalled SummarizerFellBack Finished
        no summary, no view: Considered Started repeats fold SummarizerCalled SummarizerFellBack FellBack Finished
        no summary, an error: Considered Started repeats fold SummarizerCalled SummarizerFellBack Failed
        nobody waits: Considered Started repeats fold SummarizerCalled Failed
        no plan elsewhere: Considered Started CompactorCalled CompactorFellBack repeats fold Finished
        no plan elsewhere, no view: Considered Started CompactorCalled CompactorFellBack Finished
        no plan elsewhere, an error: Considered Started CompactorCalled CompactorFellBack Failed
        skipped elsewhere: Considered Started CompactorCalled Finished
        no archive: Considered Started repeats fold Failed
        a strategy panics: Considered Started Failed
    "#]].assert_eq(&table(&rows));
}

/// Counts as `chars4` does, until it is told to panic.
#[derive(Debug, Default)]
struct Moody(std::sync::atomic::AtomicBool);

impl epitome::count::TokenCounter for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    fn text(&self, text: &str) -> epitome::count::Count {
        assert!(!self.0.load(std::sync::atomic::Ordering::Relaxed), "it has enough");
        epitome::count::Count::exact(text.chars().count() as u64 / 4)
    }
}

/// An answer is checked where it is brought back, and that asks the caller's counter.
#[test]
fn a_panic_while_an_answer_is_taken_is_a_failure() {
    let counter = Arc::new(Moody::default());
    let by = summarize::from_fn("model", |_| std::future::ready(Ok("It goes on.")));
    let heard = Arc::new(Heard::default());
    let compactor = Compactor::new(to(2_000), Arc::clone(&counter) as _).expect("in range");
    let compactor = compactor.with_summaries(by).expect("in range");
    let compactor = compactor.with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
    let mut compaction = compactor.begin(&session(40));
    let asked = loop {
        match compaction.step() {
            Step::Summarize(asked) => break asked,
            Step::Done(done) => panic!("{done:?}"),
            _ => {}
        }
    };
    counter.0.store(true, std::sync::atomic::Ordering::Relaxed);
    let sections = summarize::SECTIONS.map(|section| format!("## {section}\nnone\n")).concat();
    let summary = GivenSummary::new(sections.replacen("none", "The build is being fixed.", 1));
    let answer = Answer::Summary(asked[0].id, Ok(summary));
    catch_unwind(AssertUnwindSafe(|| compaction.supply(answer))).expect_err("the counter panics");
    drop(compaction);
    assert!(heard.drawn().ends_with("SummarizerCalled Failed"), "{}", heard.drawn());
}
