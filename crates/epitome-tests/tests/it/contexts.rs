//! What a caller says of a compaction reaches everybody who has a part in it, and what they say of their answers comes back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome::engine::Drive;
use epitome::engine::delegate::{self, Compactors, Decision, JobContext, Metadata, Skip};
use epitome::engine::events::{CompactionId, Event, Observer};
use epitome::engine::hook::{self, Wish};
use epitome::session::{ChainKey, Recipient, SessionOptions, Sessions};
use epitome::strategy::{Edit, Fold, Strategy, StrategyContext};
use epitome::summarize::{SECTIONS, Summary, from_fn};
use epitome::trigger::{Asker, Cause, Demand, When};
use epitome::wire::Format;
use epitome::{Compactor, Receipt, Request};
use testkit::to;
use testkit::wait;

type Told = Arc<Mutex<Vec<(&'static str, JobContext, Option<String>)>>>;

fn about() -> JobContext {
    JobContext {
        session: Some("s1".to_owned()),
        turn: Some("t9".to_owned()),
        labels: [("team".to_owned(), "a".to_owned())].into(),
        instructions: vec!["Keep the ports.".to_owned()],
    }
}

fn says(what: &str) -> Metadata {
    [("trace".to_owned(), what.to_owned())].into()
}

/// Folds, and says so.
#[derive(Debug)]
struct Talkative(Told);

impl Strategy for Talkative {
    fn name(&self) -> &'static str {
        "talkative"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let why = context.cause.map(ToString::to_string);
        self.0.lock().expect("nobody panics").push(("strategy", context.about.clone(), why));
        Fold.propose(context)
    }

    fn metadata(&self, _: &StrategyContext<'_>) -> Metadata {
        says("strategy")
    }
}

#[derive(Debug)]
struct Listens(Told);

impl Observer for Listens {
    fn observe(&self, _: CompactionId, event: &Event) {
        let mut told = self.0.lock().expect("nobody panics");
        match event {
            Event::Considered { about, .. } => told.push(("considered", about.clone(), None)),
            Event::Started { about, cause, .. } => {
                let why = cause.as_ref().map(ToString::to_string);
                told.push(("started", about.clone(), why));
            }
            _ => {}
        }
    }
}

fn session() -> Request {
    let step = r#"asst Step # looks at the module. | call c# Read {"file_path":"src/f#.rs"}
res  c# = fn f#() {code 60}"#;
    let steps = testkit::steps(0..60, step);
    let notation = format!("user Fix the build of the parser.\n{steps}");
    testkit::parse(Format::OpenaiChat, &notation)
}

fn summary() -> Summary {
    let sections = SECTIONS.map(|section| format!("## {section}\nnone\n")).concat();
    let text = sections.replacen("none", "The parser is being fixed.", 1);
    Summary { metadata: says("summarizer"), ..Summary::new(text) }
}

/// A compactor whose every part notes what it is told.
fn compactor(told: &Told, skips: bool) -> Compactor {
    let note = |who: &'static str| {
        let told = Arc::clone(told);
        move |about: &JobContext, why: Option<String>| {
            told.lock().expect("nobody panics").push((who, about.clone(), why));
        }
    };
    let (hook, remote, model) = (note("hook"), note("compactor"), note("summarizer"));
    let hook = hook::from_fn("mine", move |proposal| {
        hook(&proposal.about, proposal.cause.as_ref().map(ToString::to_string));
        std::future::ready(Ok(Wish { metadata: says("hook"), ..Wish::default() }))
    });
    let remote = delegate::from_fn("remote", move |job| {
        remote(&job.about, job.reason.clone());
        let skip = Skip { metadata: says("compactor"), ..Skip::new("not today") };
        let refuses = epitome::summarize::FailureKind::Upstream;
        std::future::ready(if skips {
            Ok(Decision::Skip(skip))
        } else {
            Err(epitome::summarize::SummarizeError::new(refuses, ""))
        })
    });
    let model = from_fn("model", move |request| {
        model(&request.about, request.reason.clone());
        std::future::ready(Ok(summary()))
    });
    testkit::compactor(to(3_000), "chars4")
        .with_strategies(vec![Arc::new(Talkative(Arc::clone(told)))])
        .with_hooks(hook)
        .with_compactors(Compactors { chain: vec![remote], ..Compactors::default() })
        .with_summaries(model)
        .expect("in range")
        .with_observer(Arc::new(Listens(Arc::clone(told))))
}

/// Who was told, each with the caller's ids and labels, and with the reason where there is one.
fn who(told: &Told, reason: &str) -> Vec<&'static str> {
    let told = told.lock().expect("nobody panics").clone();
    for (who, heard, why) in &told {
        let wanted = about();
        assert_eq!((&heard.session, &heard.turn), (&wanted.session, &wanted.turn), "{who}");
        assert_eq!(heard.labels, wanted.labels, "{who}");
        assert!(*who == "considered" || why.as_deref() == Some(reason), "{who}: {why:?}");
    }
    let mut names: Vec<&str> = told.iter().map(|(who, ..)| *who).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn said(receipt: &Receipt, by: &str) -> Option<String> {
    receipt.metadata.get(by)?.get("trace").cloned()
}

const ALL: [&str; 6] = ["compactor", "considered", "hook", "started", "strategy", "summarizer"];

#[test]
fn what_the_caller_says_reaches_everybody_and_what_they_say_the_receipt() {
    let told = Told::default();
    let compactor = compactor(&told, false).with_context(about());
    let cause = Cause::Custom("it is late".to_owned());
    let drive = Drive::new(compactor.with_cause(cause).begin(&session()));
    let outcome = wait(drive).expect("a view");
    assert_eq!(who(&told, "it is late"), ALL);
    let receipt = &outcome.receipt;
    assert_eq!(receipt.about, about());
    assert_eq!(said(receipt, "mine").as_deref(), Some("hook"));
    assert_eq!(said(receipt, "model").as_deref(), Some("summarizer"));
    let step = receipt.steps.iter().find(|step| step.strategy == "talkative").expect("it folds");
    assert_eq!(step.metadata["trace"], "strategy");
    // It is read back as it was written, and says nothing where nothing was said.
    let json = serde_json::to_string(receipt).expect("a report");
    assert_eq!(&serde_json::from_str::<Receipt>(&json).expect("a receipt"), receipt);
    let skipped = self::compactor(&Told::default(), true);
    let skipped = wait(Drive::new(skipped.begin(&session()))).expect("all of it").receipt;
    assert_eq!(said(&skipped, "remote").as_deref(), Some("compactor"));
    assert!(!serde_json::to_string(&skipped).expect("a report").contains("\"about\""));
}

#[test]
fn a_session_says_it_for_each_request() {
    let told = Told::default();
    let trigger = Arc::new(When::Items(usize::MAX).build().expect("in range"));
    let options = SessionOptions::new(trigger, ChainKey([1, 2, 3, 4]));
    let mut sessions = Sessions::new(options, compactor(&told, false)).expect("in range");
    let to = Recipient { about: about(), ..Recipient::from(Some(100_000)) };
    let first = sessions.observe("", &session(), to.clone(), Duration::ZERO);
    sessions.demand(first.session, Demand::new(Asker::Host, "it is late"));
    let begun = sessions.observe("", &session(), to, Duration::ZERO).begun.expect("asked for");
    let outcome = wait(Drive::new(begun.compaction)).expect("a view");
    assert_eq!(who(&told, "the host asked for it: it is late"), ALL);
    assert_eq!(outcome.receipt.about, about());
}
