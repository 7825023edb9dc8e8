//! In which of two shapes a summary is asked for, by whose prices, and what is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome::engine::Drive;
use epitome::model::{Model, Registry};
use epitome::session::{ChainKey, Landing, Outgoing, SessionOptions, Sessions};
use epitome::summarize::{
    AgentPrompt, Answering, Choice, FailureKind, SECTIONS, Shape, ShapeReason, Summaries,
    SummarizeError, Summarizer, Summary, SummaryRequest,
};
use epitome::trigger::When;
use epitome::wire::{self, Format};
use epitome::{Outcome, Request, Target};
use testkit::bulk::{Size, generate};
use testkit::to_percent;
use testkit::wait;

const MODEL: &str = "claude-haiku-4-5";

/// The model that the agent runs with.
#[derive(Debug)]
struct Own {
    model: Model,
    asked: Mutex<Vec<Arc<SummaryRequest>>>,
    /// What it answers behind the agent's prompt.
    behind: Result<Summary, SummarizeError>,
}

impl Own {
    fn new(behind: Result<Summary, SummarizeError>) -> Arc<Self> {
        let model = Registry::built_in().get(MODEL).expect("it is known").clone();
        Arc::new(Own { model, asked: Mutex::default(), behind })
    }

    fn bodies(&self) -> Vec<Option<Arc<str>>> {
        let asked = self.asked.lock().expect("nobody panics");
        asked.iter().map(|request| request.body.clone()).collect()
    }
}

impl Summarizer for Own {
    fn name(&self) -> &str {
        &self.model.id
    }

    fn window(&self) -> Option<u64> {
        self.model.window
    }

    fn shares_cache(&self, _prompt: &AgentPrompt) -> Option<&Model> {
        Some(&self.model)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        let answer = if request.body.is_some() { self.behind.clone() } else { Ok(summary()) };
        self.asked.lock().expect("nobody panics").push(request);
        Box::pin(std::future::ready(answer))
    }
}

fn summary() -> Summary {
    Summary::new(SECTIONS.map(|section| format!("## {section}\n{section} continued\n")).concat())
}

fn generated(entries: usize) -> String {
    let body = generate(7, Size::entries(Format::Anthropic, entries));
    body.replace("claude-opus-4-8", MODEL)
}

/// A request of an agent's, its newest message marked for the cache.
fn body(entries: usize) -> String {
    let body = generated(entries);
    let request = wire::parse(Format::Anthropic, body.clone()).expect("a body");
    let end = request.frame.list.range().end - 1;
    let (before, after) = body.split_at(end);
    format!(
        r#"{before},{{"role":"user","content":[{{"type":"text","text":"Go on.","cache_control":{{"type":"ephemeral"}}}}]}}{after}"#
    )
}

fn request(body: String) -> Request {
    wire::parse(Format::Anthropic, body).expect("a body")
}

fn compact(own: &Arc<Own>, prompt: AgentPrompt) -> Outcome {
    let compactor = testkit::compactor(to_percent(5), "claude");
    let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::clone(own) as _];
    let summaries = Summaries { chain, ..Summaries::default() };
    let base = prompt.request.clone();
    let compactor =
        compactor.with_summaries(summaries).expect("in range").with_agent_prompt(prompt);
    wait(Drive::new(compactor.begin(&base))).expect("a view")
}

fn shapes(outcome: &Outcome) -> &[Choice] {
    &outcome.receipt.summary.as_ref().expect("somebody was asked").shapes
}

/// Whether `body` says all that `sent` does, byte for byte, in the same places, and what it says behind that.
fn said_behind(sent: &Request, body: &str) -> String {
    let whole = request(body.to_owned());
    assert_eq!((sent.system(), sent.tools()), (whole.system(), whole.tools()));
    let before = sent.transcript.entries().map(|entry| entry.raw());
    let after: Vec<&str> = whole.transcript.entries().map(|entry| entry.raw()).collect();
    assert_eq!(before.collect::<Vec<_>>(), after[..sent.transcript.len()]);
    after[sent.transcript.len()..].concat()
}

#[test]
fn what_is_in_the_cache_is_gone_on_from_and_the_receipt_has_the_sum() {
    let own = Own::new(Ok(summary()));
    let sent = request(body(80));
    let outcome = compact(&own, AgentPrompt::of(sent.clone()));
    let [Some(asked)] = &own.bodies()[..] else { panic!("{:?}", outcome.receipt.summary) };
    let behind = said_behind(&sent, asked);
    assert!(behind.starts_with(r#"{"role":"user""#), "{behind}");
    for words in ["This isn't part of the task", "call no tool", "## Next step", "messages stay"] {
        assert!(behind.contains(words), "{behind}");
    }
    assert!(!behind.contains("Ledger changes"), "which number a message has isn't seen");
    let [Choice { shape: Shape::Extension, why: ShapeReason::Cheaper, extension, fenced, .. }] =
        shapes(&outcome)
    else {
        panic!("{:?}", shapes(&outcome))
    };
    let (extension, fenced) = (extension.expect("a sum"), fenced.expect("a sum"));
    assert!(extension.cost < fenced.cost && fenced.cached == 0);
    // All but the model's newest answer, the message behind it and the instruction was sent before.
    assert!(extension.cached * 10 > extension.prompt * 8, "{extension:?}");
    // A dollar a million, a tenth of that for what is read, a quarter more for what is written.
    let written = extension.prompt - extension.cached;
    let most = extension.cached as f64 * 0.1 + written as f64 * 1.25;
    let answer = outcome.receipt.summary.as_ref().map_or(0, |told| told.tokens);
    let cost = extension.cost.dollars() * 1e6;
    assert!(cost > extension.cached as f64 * 0.1 + answer as f64, "{cost}");
    assert!(cost < most + 5.0 * 16_000.0, "{cost} {most}");
    assert!(outcome.view.checkpoint().expect("folded").text.contains("Goal continued"));
}

#[test]
fn what_is_dearer_or_another_prompt_is_asked_by_itself() {
    let plain = body(80);
    let with = |from: &str, to: &str| request(plain.replacen(from, to, 1));
    let forced = with(r#""stream":true"#, r#""tool_choice":{"type":"any"},"stream":true"#);
    let form = r#""output_config":{"format":{"type":"json_schema","schema":{}}},"stream":true"#;
    let prompts: [(&str, AgentPrompt, ShapeReason); 6] = [
        (
            "the cache forgot it",
            AgentPrompt {
                idle: Some(Duration::from_mins(6)),
                ..AgentPrompt::of(request(plain.clone()))
            },
            ShapeReason::Cheaper,
        ),
        (
            "never sent",
            AgentPrompt { sent: 0, ..AgentPrompt::of(request(plain.clone())) },
            ShapeReason::Cheaper,
        ),
        (
            "nothing is marked",
            AgentPrompt::of(with(r#","cache_control":{"type":"ephemeral"}"#, "")),
            ShapeReason::Cheaper,
        ),
        ("a tool is forced", AgentPrompt::of(forced), ShapeReason::ForcesTool),
        (
            "a form is demanded",
            AgentPrompt::of(with(r#""stream":true"#, form)),
            ShapeReason::Structured,
        ),
        (
            "no room for an answer",
            AgentPrompt::of(with("claude-haiku-4-5", "claude-haiku-4-5")),
            ShapeReason::Window,
        ),
    ];
    for (name, prompt, expected) in prompts {
        let mut own = Own::new(Ok(summary()));
        if expected == ShapeReason::Window {
            let own = Arc::get_mut(&mut own).expect("nobody else has it");
            (own.model.window, own.model.input) = (Some(20_000), Some(20_000));
        }
        let outcome = compact(&own, prompt);
        let last = shapes(&outcome).last().expect("it was chosen");
        assert_eq!((last.shape, last.why), (Shape::Fenced, expected), "{name}: {last:?}");
        assert!(!own.bodies().is_empty() && own.bodies().iter().all(Option::is_none), "{name}");
        assert!(outcome.receipt.summary.expect("asked").by.is_some(), "{name}");
    }
    // The longer time in the cache was paid for.
    let long = with(r#""type":"ephemeral""#, r#""type":"ephemeral","ttl":"1h""#);
    let own = Own::new(Ok(summary()));
    compact(&own, AgentPrompt { idle: Some(Duration::from_mins(6)), ..AgentPrompt::of(long) });
    assert!(own.bodies()[0].is_some());
}

#[test]
fn a_summarizer_that_answers_the_agent_gets_a_transcript_next() {
    let failed = |kind| Err(SummarizeError::new(kind, ""));
    for (behind, why) in [
        (Ok(Summary::new("Sure, I will go on with the build now.")), "it answers the transcript"),
        (Ok(Summary::new(summary().text + "See src/invented_by_nobody.rs.")), "src/invented_by"),
        (failed(FailureKind::ToolCall), "it called a tool"),
        (failed(FailureKind::Refusal), "it refused"),
        (failed(FailureKind::Rejected), "the request was refused"),
    ] {
        let own = Own::new(behind);
        let outcome = compact(&own, AgentPrompt::of(request(body(80))));
        let told = outcome.receipt.summary.as_ref().expect("asked");
        assert_eq!(told.by.as_deref(), Some(MODEL));
        let shapes: Vec<(Shape, ShapeReason)> =
            told.shapes.iter().map(|c| (c.shape, c.why)).collect();
        assert_eq!(
            shapes,
            [(Shape::Extension, ShapeReason::Cheaper), (Shape::Fenced, ShapeReason::NotUsed)]
        );
        let [fallback] = &outcome.receipt.fallbacks[..] else {
            panic!("{:?}", outcome.receipt.fallbacks)
        };
        let begin = format!("{MODEL}, going on from the agent's prompt: ");
        assert!(fallback.starts_with(&begin) && fallback.contains(why), "{fallback}");
        assert_eq!(own.bodies().iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    }
    // Who doesn't answer in time won't the other way either.
    let own = Own::new(failed(FailureKind::Timeout));
    let outcome = compact(&own, AgentPrompt::of(request(body(80))));
    assert_eq!(outcome.receipt.fallbacks, [format!("{MODEL}: no answer in time")]);
}

#[test]
fn a_session_goes_on_from_what_it_sent_last() {
    let own = Own::new(Ok(summary()));
    let compactor = testkit::compactor(to_percent(5), "claude");
    let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::clone(&own) as _];
    let compactor = compactor.with_summaries(Summaries { chain, ..Summaries::default() });
    let trigger = Arc::new(When::Tokens(30_000).build().expect("in range"));
    let landing = Landing::Target(Target::Percent(5));
    let options =
        SessionOptions { landing, ..SessionOptions::new(trigger, ChainKey([1, 2, 3, 4])) };
    let mut sessions = Sessions::new(options, compactor.expect("in range")).expect("in range");

    // Whose marks the provider moves itself.
    let marked = format!(r#"{{"cache_control":{{"type":"ephemeral"}},{}"#, &generated(400)[1..]);
    let all = request(marked);
    let (head, tail) = (all.frame.list.range().start, all.frame.list.range().end);
    // What the agent sends as it goes on: up to each message of the user's.
    let prompts = (0..all.transcript.len())
        .filter(|at| all.transcript.entry(*at).role() == epitome::transcript::Role::User);
    let mut last: Option<Request> = None;
    let mut extended = 0;
    for (step, at) in prompts.enumerate() {
        let said: Vec<&str> = all.transcript.entries().take(at + 1).map(|e| e.raw()).collect();
        let source = all.source();
        let body = format!("{}[{}]{}", &source[..head], said.join(","), &source[tail..]);
        let now = Duration::from_secs(10 * step as u64);
        let prompt = request(body);
        let mut answer = sessions.observe("t", &prompt, None, now);
        if let Some(begun) = answer.begun.take() {
            let outcome = wait(Drive::new(begun.compaction)).expect("a view");
            if let (Some(Some(body)), Some(last)) = (own.bodies().last(), &last) {
                said_behind(last, body);
                extended += 1;
                assert_eq!(shapes(&outcome).last().expect("chosen").shape, Shape::Extension);
            }
            sessions.commit(answer.session, begun.ticket, Ok(&outcome), now);
            answer = sessions.show("t", &prompt, None, now);
        }
        last = Some(match answer.send {
            Outgoing::AsItCame(_) => prompt,
            Outgoing::View(view, _) => *view,
            Outgoing::After(_) => panic!("it was committed"),
        });
    }
    assert!(extended > 1, "{extended} in {:?}", own.bodies().len());
}
