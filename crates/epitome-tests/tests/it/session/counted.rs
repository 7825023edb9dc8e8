//! What a session says of sizes is what is sent, counted anew, however much of it was known before; and what is sent is
//! sound and only grows inside an epoch.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use epitome::count::{CharsPer, Tally, TokenCounter};
use epitome::engine::Outcome;
use epitome::session::{SessionId, Ticket};
use epitome::strategy::{IntakeOptions, Ladder};
use epitome::wire;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// What a client does next.
#[derive(Clone, Debug)]
enum Act {
    /// The model thinks and calls a tool, which gives so many lines.
    Step(usize),
    /// The model answers, and a person goes on.
    Turn,
    /// So many messages are taken back, and a person says something else.
    Fork(usize),
    /// The client restates its instructions.
    Restate(u8),
    /// Another model from now on.
    Model(usize),
    /// The compaction that is prepared ends.
    Commit,
    /// It never ends.
    Cancel,
    /// A note for this request only, in front of so many of the newest messages.
    Note(usize),
    /// The request is shown again, whatever triggers say.
    Show,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (1..30_usize).prop_map(Act::Step),
        3 => Just(Act::Turn),
        1 => (1..9_usize).prop_map(Act::Fork),
        1 => any::<u8>().prop_map(Act::Restate),
        1 => (0..3_usize).prop_map(Act::Model),
        3 => Just(Act::Commit),
        1 => Just(Act::Cancel),
        1 => (0..4_usize).prop_map(Act::Note),
        1 => Just(Act::Show),
    ]
}

/// One that binds nothing, one that binds reasoning, and one that does so with thinking enabled by hand.
const MODELS: [&str; 3] = ["claude-opus-4-5", "claude-opus-5-5", "claude-haiku-5-5"];

fn four() -> CharsPer {
    CharsPer::new(NonZeroU32::new(4).expect("it isn't"))
}

/// What a client holds.
struct Client {
    format: Format,
    messages: Vec<Value>,
    system: String,
    model: usize,
    calls: usize,
}

impl Client {
    fn new(format: Format) -> Self {
        let mut client =
            Client { format, messages: Vec::new(), system: "Short.".into(), model: 0, calls: 0 };
        client.says("Fix the build, and keep port 8443 as it is.");
        client
    }

    fn says(&mut self, words: &str) {
        self.messages.push(json!({"role": "user", "content": words}));
    }

    fn step(&mut self, lines: usize) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let log = (0..lines).map(|line| format!("{line} of {}: nothing new here\n", self.calls));
        let log: String = log.collect();
        if self.format == Format::Anthropic {
            let thought = json!({"type": "thinking", "thinking": format!("Thought {id}."), "signature": "c2ln"});
            let call = json!({"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}});
            self.messages.push(json!({"role": "assistant", "content": [thought, call]}));
            let list = json!([{"type": "text", "text": log}, {"type": "text", "text": "ok"}]);
            let content = if self.calls.is_multiple_of(2) { list } else { json!(log) };
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            self.messages.push(json!({"role": "user", "content": [result]}));
        } else {
            let function = json!({"name": "Read", "arguments": format!("{{\"path\":\"{id}\"}}")});
            let call = json!({"id": id, "type": "function", "function": function});
            let thought = format!("Thought {id}.");
            self.messages.push(
                json!({"role": "assistant", "reasoning_content": thought, "tool_calls": [call]}),
            );
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": log}));
        }
    }

    /// Takes messages back to where a person can speak.
    fn take_back(&mut self, messages: usize) {
        self.messages.truncate(self.messages.len().saturating_sub(messages).max(1));
        while self.messages.last().is_some_and(|last| last["role"] == "assistant") {
            self.messages.pop();
        }
    }

    fn request(&self, note: Option<usize>) -> Request {
        let mut messages = self.messages.clone();
        if let Some(behind) = note {
            let note = json!({"role": "user", "content": "<total_tokens>5000 left</total_tokens>"});
            let mut at = messages.len() - behind.min(messages.len() - 1);
            // A result stands right behind its call.
            while at < messages.len()
                && (messages[at]["role"] == "tool" || messages[at]["content"].is_array())
            {
                at += 1;
            }
            messages.insert(at, note);
        }
        let mut body = json!({"model": MODELS[self.model], "max_tokens": 4096});
        if self.format == Format::Anthropic {
            body["system"] = json!(self.system);
            if self.model == 2 {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
            }
        } else {
            messages.insert(0, json!({"role": "system", "content": self.system}));
        }
        body["messages"] = json!(messages);
        wire::parse(self.format, body.to_string()).expect("a body")
    }
}

fn machine(soft: Option<u64>) -> Sessions {
    let intake = Setting::On(IntakeOptions { max_tokens: 150 });
    let strategies = Pipeline::Ladder(Ladder { intake, ..Ladder::default() });
    let compactor = Compactor::new(Options { strategies, ..Options::default() }, Arc::new(four()));
    let options = SessionOptions {
        soft: soft.map(|tokens| trigger(When::Tokens(tokens))),
        ..options(When::Tokens(1_000), Target::Tokens(500))
    };
    Sessions::new(options, compactor.expect("in range")).expect("in range")
}

fn tokens(request: &Request) -> u64 {
    Tally::of(request, &four() as &dyn TokenCounter).total().tokens
}

/// Messages as they are sent, without what is there for one request.
fn elements(request: &Request) -> Vec<Value> {
    let entries = request.transcript.entries();
    let values = entries.map(|entry| serde_json::from_str::<Value>(entry.raw()).expect("JSON"));
    values
        .filter(|value| !value["content"].as_str().is_some_and(|it| it.starts_with("<total_")))
        .filter(|value| value["role"] != "system")
        .collect()
}

type Last = BTreeMap<SessionId, (u32, Vec<Value>, Vec<Value>)>;

fn holds(
    sessions: &Sessions,
    answer: &Handling,
    request: &Request,
    last: &mut Last,
) -> Result<(), TestCaseError> {
    let shown = match &answer.send {
        Outgoing::AsItCame(_) => request,
        Outgoing::View(view, _) => &**view,
        Outgoing::After(_) => return Ok(()),
    };
    prop_assert_eq!(answer.stats.after.count.tokens, tokens(shown), "{}", shown.source());
    prop_assert_eq!(answer.stats.after.entries, shown.transcript.len());
    prop_assert_eq!(answer.stats.before.count.tokens, tokens(request));
    prop_assert_eq!(wire::check(shown), []);
    let epoch = sessions.epoch(answer.session).expect("known");
    let (own, sent) = (elements(request), elements(shown));
    if let Some((number, before, was)) = last.get(&answer.session)
        && *number == epoch.number
        && own.starts_with(before)
    {
        prop_assert!(sent.starts_with(was), "epoch {number}: {was:?}\n{sent:?}");
    }
    last.insert(answer.session, (epoch.number, own, sent));
    Ok(())
}

/// A client acts, and each answer is held to what came.
fn drive(acts: Vec<Act>, format: Format, soft: Option<u64>) -> Result<(), TestCaseError> {
    let mut sessions = machine(soft);
    let mut client = Client::new(format);
    let mut pending: Option<(SessionId, Ticket, Result<Box<Outcome>, CompactError>)> = None;
    let mut last = Last::new();
    for (nth, act) in acts.into_iter().enumerate() {
        let now = START + Duration::from_secs(nth as u64);
        let (mut note, mut is_shown) = (None, false);
        match act {
            Act::Step(lines) => client.step(lines),
            Act::Turn => {
                client.messages.push(json!({"role": "assistant", "content": "It is done."}));
                client.says("Then go on with the next one, please.");
            }
            Act::Fork(messages) => {
                client.take_back(messages);
                client.says(&format!("Otherwise, {nth}."));
            }
            Act::Restate(number) => {
                client.system = format!("Short. {}", "x".repeat(number as usize));
            }
            Act::Model(model) => client.model = model,
            Act::Commit => {
                if let Some((session, ticket, outcome)) = pending.take() {
                    sessions.commit(session, ticket, outcome.as_deref(), now);
                }
            }
            Act::Cancel => {
                if let Some((session, ticket, _)) = pending.take() {
                    sessions.commit(session, ticket, Err(&CompactError::Cancelled), now);
                }
            }
            Act::Note(behind) => note = Some(behind),
            Act::Show => is_shown = true,
        }
        let request = client.request(note);
        prop_assume!(wire::check(&request).is_empty());
        let mut answer = if is_shown {
            sessions.show("t", &request, None, now)
        } else {
            sessions.observe("t", &request, None, now)
        };
        if let Some(begun) = answer.begun.take() {
            let ticket = begun.ticket;
            pending = Some((answer.session, ticket, run(*begun)));
        }
        if matches!(answer.send, Outgoing::After(_)) {
            if let Some((session, ticket, outcome)) = pending.take() {
                sessions.commit(session, ticket, outcome.as_deref(), now);
            }
            answer = sessions.show("t", &request, None, now);
        }
        holds(&sessions, &answer, &request, &mut last)?;
    }
    Ok(())
}

/// Who goes back into a turn that was closed opens it again, and it must start with its thinking.
#[test]
fn a_turn_that_is_open_again_starts_with_its_thinking() {
    let steps = [10, 10, 3, 22, 22].map(Act::Step);
    let on = [Act::Turn, Act::Turn, Act::Model(2), Act::Step(1), Act::Step(1), Act::Fork(7)];
    drive(steps.into_iter().chain(on).collect(), Format::Anthropic, None).expect("it holds");
}

/// A view that is made for a model which binds is adopted for one that starts its loop with its reasoning.
#[test]
fn the_model_changes_while_a_view_is_made() {
    let steps = [1, 10, 16].map(Act::Step).into_iter().chain([Act::Model(1)]);
    let steps = steps.chain([1, 23, 7, 24, 1, 12, 12, 20, 1].map(Act::Step));
    let on = [Act::Turn, Act::Model(2), Act::Commit, Act::Step(1)];
    drive(steps.chain(on).collect(), Format::Anthropic, Some(700)).expect("it holds");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_a_prompt_is_what_is_counted_of_it_anew(
        acts in vec(act(), 4..40),
        format in proptest::sample::select(&[Format::Anthropic, Format::OpenaiChat][..]),
        soft in proptest::option::of(Just(700)),
    ) {
        drive(acts, format, soft)?;
    }
}
