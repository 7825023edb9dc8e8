//! What a subscriber is given: one span a compaction, events in it, and no content.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread::ThreadId;

use epitome::engine::delegate::{Compactors, Decision, ProposedView};
use epitome::engine::hook::{Hooks, Wish};
use epitome::engine::{Drive, Step};
use epitome::model::Billed;
use epitome::summarize::{
    FailureKind, OnFailure, Spent, Summaries, SummarizeError, Summary, from_fn,
};
use epitome::{Compactor, Format, Request};
use epitome_tracing::{ModelCall, Operation, Traced};
use testkit::to;
use testkit::wait;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

/// Everything that a subscriber is told, by span.
#[derive(Clone, Default)]
struct Kept(Arc<Inner>);

#[derive(Default)]
struct Inner {
    next: AtomicU64,
    spans: Mutex<BTreeMap<u64, Seen>>,
    closed: Mutex<Vec<u64>>,
    counts: Mutex<BTreeMap<u64, usize>>,
    /// What was entered, by which thread.
    entered: Mutex<Vec<(u64, ThreadId)>>,
    known: Mutex<BTreeMap<u64, &'static Metadata<'static>>>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    name: String,
    fields: BTreeMap<String, String>,
    events: Vec<String>,
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        let name = span.metadata().name().to_owned();
        let seen = Seen { name, fields: fields.0, events: Vec::new() };
        self.0.spans.lock().expect("nobody panicked").insert(id, seen);
        self.0.counts.lock().expect("nobody panicked").insert(id, 1);
        self.0.known.lock().expect("nobody panicked").insert(id, span.metadata());
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut spans = self.0.spans.lock().expect("nobody panicked");
        spans.entry(span.into_u64()).or_default().fields.extend(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = fields.0.remove("message").unwrap_or_default();
        for (name, value) in fields.0 {
            let _ = write!(line, " {name}={value}");
        }
        let span = event.parent().map_or(0, Id::into_u64);
        let mut spans = self.0.spans.lock().expect("nobody panicked");
        spans.entry(span).or_default().events.push(line);
    }

    fn enter(&self, span: &Id) {
        let entered = (span.into_u64(), std::thread::current().id());
        self.0.entered.lock().expect("nobody panicked").push(entered);
    }

    fn exit(&self, _: &Id) {}

    /// Where nothing is left: what this thread entered last.
    fn current_span(&self) -> Current {
        let here = std::thread::current().id();
        let entered = self.0.entered.lock().expect("nobody panicked");
        let last = entered.iter().rfind(|(_, thread)| *thread == here);
        let known = self.0.known.lock().expect("nobody panicked");
        last.map_or_else(Current::none, |(id, _)| Current::new(Id::from_u64(*id), known[id]))
    }

    fn clone_span(&self, id: &Id) -> Id {
        *self.0.counts.lock().expect("nobody panicked").entry(id.into_u64()).or_default() += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut counts = self.0.counts.lock().expect("nobody panicked");
        let count = counts.get_mut(&id.into_u64()).expect("it was opened");
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.0.closed.lock().expect("nobody panicked").push(id.into_u64());
        }
        is_last
    }
}

fn compactor(target: u64) -> Compactor {
    let compactor = testkit::compactor(to(target), "chars4");
    compactor.with_observer(Arc::new(Traced::default()))
}

fn session() -> Request {
    let step = r#"asst Step #. | call c# Read {"file_path":"src/f#.rs"}
res  c# = {code 40}"#;
    let steps = testkit::steps(0..80, step);
    let notation = format!("user Fix the build of the secretproject.\n{steps}user Go on.\n");
    testkit::parse(Format::OpenaiChat, &notation)
}

fn traced(run: impl FnOnce()) -> (Vec<Seen>, usize) {
    let kept = Kept::default();
    tracing::subscriber::with_default(kept.clone(), run);
    let spans = kept.0.spans.lock().expect("nobody panicked").values().cloned().collect();
    let closed = kept.0.closed.lock().expect("nobody panicked").len();
    (spans, closed)
}

#[test]
fn a_call_of_a_model_is_one_span_however_often_it_is_sent() {
    assert!(ModelCall::begun(Format::Anthropic, Operation::Answer).is_none(), "nobody listens");
    let billed = |output| Billed { fresh: 3, read: 5, written: 2, written_long: 1, output };
    let (spans, closed) = traced(|| {
        let begin = || ModelCall::begun(Format::Gemini, Operation::Answer).expect("a span");
        let call = begin();
        call.asks("gemini-3");
        call.goes_to("models.example", 443);
        call.answered(400);
        call.answered(200);
        call.answered_by("gemini-3-001");
        call.billed(billed(7));
        call.billed(billed(4));
        call.over();
        drop(call);
        let call = begin();
        call.asks(&"x".repeat(1 << 10));
        call.answered(200);
        drop(call);
        let call = begin();
        call.failed("timeout");
    });
    assert_eq!((spans.len(), closed), (3, 3));
    let field = |span: &Seen, name: &str| span.fields.get(name).cloned().unwrap_or_default();
    for (name, value) in [
        ("otel.name", "\"generate_content gemini-3\""),
        ("gen_ai.operation.name", "\"generate_content\""),
        ("gen_ai.provider.name", "\"gcp.gemini\""),
        ("gen_ai.response.model", "\"gemini-3-001\""),
        ("gen_ai.usage.input_tokens", "22"),
        ("gen_ai.usage.output_tokens", "11"),
        ("gen_ai.usage.cache_read.input_tokens", "10"),
        ("gen_ai.usage.cache_write.input_tokens", "6"),
        ("http.response.status_code", "200"),
        ("server.port", "443"),
        ("error.type", ""),
    ] {
        assert_eq!(field(&spans[0], name), value, "{name}");
    }
    assert_eq!(field(&spans[1], "error.type"), "\"cancelled\"", "it isn't over");
    assert_eq!(field(&spans[1], "otel.name"), "\"generate_content\"", "no name is so long");
    assert_eq!(field(&spans[2], "error.type"), "\"timeout\"");
    assert_eq!(field(&spans[2], "otel.status_code"), "\"ERROR\"");
}

#[test]
fn a_compaction_is_one_span_without_content() {
    let down = from_fn("down", |_| {
        std::future::ready(Err::<String, _>(SummarizeError::new(
            FailureKind::Upstream,
            "secretproject is down",
        )))
    });
    let liar = from_fn("liar", |_| {
        let text = "The secretproject listens on port 4711, see src/invented.rs and more of it.";
        std::future::ready(Ok(Summary::new(text)))
    });
    let brief = epitome::summarize::Brief { sections: Some(Vec::new()), ..Default::default() };
    let summaries = Summaries { chain: vec![down, liar], brief, ..Summaries::default() };
    let compactor = compactor(3_000).with_summaries(summaries).expect("in range");
    let (spans, closed) = traced(|| {
        wait(Drive::new(compactor.begin(&session()))).expect("a view");
    });
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((span.name.as_str(), closed), ("compaction", 1));
    let field = |name: &str| span.fields.get(name).map_or("", String::as_str);
    assert_eq!(field("gen_ai.operation.name"), "\"compact\"");
    assert_eq!(field("gen_ai.provider.name"), "\"openai\"");
    assert_eq!(field("epitome.outcome"), "\"target\"");
    assert_eq!(field("otel.status_code"), "\"OK\"");
    assert_eq!(field("epitome.summary.calls"), "3");
    let number = |name: &str| field(name).parse::<u64>().expect("a number");
    assert!(number("epitome.tokens.after") <= 3_000 && number("epitome.tokens.before") > 3_000);
    let all = number("epitome.dropped.tokens") + number("epitome.retained.tokens");
    assert_eq!(all, number("epitome.tokens.before"));
    let events = span.events.join("\n");
    assert!(events.contains("strategy applied edits="), "{events}");
    assert!(events.contains("summarizer called by=\"down\" requests=1"), "{events}");
    assert!(events.contains("summarizer fell back by=\"down\""), "{events}");
    assert!(events.contains("summary rejected by=\"liar\" fault=\"invented\""), "{events}");
    let said = format!("{spans:?}");
    assert!(!said.contains("secretproject") && !said.contains("src/"), "{said}");
}

#[test]
fn hooks_are_told_apart_by_their_compaction_and_compactors_stand_in_the_span() {
    let failing = epitome::engine::hook::from_fn("failing", |_| {
        std::future::ready(Err(SummarizeError::new(FailureKind::Command, "secretproject")))
    });
    let hooks = Hooks { chain: vec![failing] };
    let wrong = epitome::engine::delegate::from_fn("wrong", |_| {
        std::future::ready(Ok(Decision::Compacted(ProposedView::default())))
    });
    let compactors = Compactors { chain: vec![wrong], ..Compactors::default() };
    let compactor = compactor(3_000).with_hooks(hooks).with_compactors(compactors);
    let (spans, closed) = traced(|| {
        wait(Drive::new(compactor.begin(&session()))).expect("a view");
    });
    // What is told outside of a span comes first.
    let [outside, span] = &spans[..] else { panic!("{spans:?}") };
    let number = span.fields.get("epitome.compaction").expect("it has a number");
    let told = format!("hook failed by=\"failing\" epitome.compaction={number}");
    assert_eq!((&outside.events[..], closed), (&[told][..], 1));
    let field = |name: &str| span.fields.get(name).map_or("", String::as_str);
    assert_eq!(field("gen_ai.request.model"), "\"gpt-5.4\"");
    assert_eq!(field("otel.name"), "\"compact gpt-5.4\"");
    let events = span.events.join("\n");
    assert!(events.contains("compactor called by=\"wrong\""), "{events}");
    assert!(events.contains("compactor fell back by=\"wrong\""), "{events}");
    assert!(!format!("{spans:?}").contains("secretproject"), "{spans:?}");
}

#[test]
fn what_a_hook_forbids_has_no_span() {
    let forbids = epitome::engine::hook::from_fn("forbids", |_| {
        let veto = Some("secretproject".to_owned());
        std::future::ready(Ok(Wish { veto, ..Wish::default() }))
    });
    let hooks = Hooks { chain: vec![forbids] };
    let compactor = compactor(3_000).with_hooks(hooks);
    let (spans, closed) = traced(|| {
        wait(Drive::new(compactor.begin(&session()))).expect("a view");
    });
    let [outside] = &spans[..] else { panic!("{spans:?}") };
    assert!(outside.events[0].starts_with("compaction vetoed by=\"forbids\" epitome.compaction="));
    assert_eq!((outside.events.len(), closed), (1, 0));
}

#[test]
fn what_fails_and_what_it_took_stand_in_the_span() {
    let spent = Spent { requests: 1, input: 700, output: 80, ..Spent::default() };
    let down = || {
        from_fn("down", move |_| {
            let error = SummarizeError::new(FailureKind::Upstream, "").having(spent);
            std::future::ready(Err::<String, _>(error))
        })
    };
    let run = |on_failure| {
        let summaries = Summaries { chain: vec![down()], on_failure, ..Summaries::default() };
        let compactor = compactor(3_000).with_summaries(summaries).expect("in range");
        traced(|| {
            let failed = wait(Drive::new(compactor.begin(&session()))).is_err();
            assert_eq!(failed, on_failure == OnFailure::Error);
        })
    };
    let (spans, closed) = run(OnFailure::Error);
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(span.fields.get("error.type").map(String::as_str), Some("\"failed\""));
    assert_eq!(closed, 1);
    let (spans, _) = run(OnFailure::Extractive);
    let field = |name: &str| spans[0].fields.get(name).map_or("", String::as_str);
    assert_eq!(field("gen_ai.usage.input_tokens"), "700");
    assert_eq!(field("gen_ai.usage.output_tokens"), "80");
}

#[test]
fn on_another_thread_it_stays_in_the_span_in_which_it_is_driven() {
    let kept = Kept::default();
    let worker = tracing::subscriber::with_default(kept.clone(), || {
        let _inside = tracing::info_span!("outside").entered();
        let mut compaction = compactor(3_000).begin(&session());
        let around = compaction.around();
        let stretch = move || {
            let finish = &mut || while !matches!(compaction.step(), Step::Done(Ok(_))) {};
            around(finish);
            std::thread::current().id()
        };
        std::thread::spawn(stretch).join().expect("a view")
    });
    let spans = kept.0.spans.lock().expect("nobody panicked");
    let names: Vec<&str> = spans.values().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["outside", "compaction"]);
    let entered = kept.0.entered.lock().expect("nobody panicked");
    assert!(entered.contains(&(1, worker)), "{entered:?}");
}

#[test]
fn below_the_target_there_is_no_span() {
    let (spans, _) = traced(|| {
        compactor(1_000_000).compact(&session()).expect("a view");
    });
    assert!(spans.is_empty(), "{spans:?}");
}

#[test]
fn what_is_cancelled_closes_its_span() {
    let (spans, closed) = traced(|| {
        let slow = from_fn("slow", |_| std::future::pending::<Result<String, _>>());
        let summaries = Summaries { chain: vec![slow], ..Summaries::default() };
        let compactor = compactor(3_000).with_summaries(summaries).expect("in range");
        let mut drive = pin!(Drive::new(compactor.begin(&session())));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..200 {
            assert!(drive.as_mut().poll(&mut context).is_pending());
        }
        // Dropped here.
    });
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(span.fields.get("error.type").map(String::as_str), Some("\"cancelled\""));
    assert_eq!(closed, 1);
}
