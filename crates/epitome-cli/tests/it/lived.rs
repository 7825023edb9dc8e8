//! Shipped sessions lived through once more, step by step, in a window that is too small for them: the session
//! machine decides what is sent, the scripted server judges it, and signs each reply for exactly that prompt.

use std::sync::Arc;
use std::time::Duration;

use epitome::session::{ChainKey, Committed, SessionOptions, Sessions};
use epitome::transcript::Role;
use epitome::trigger::When;
use epitome::{Options, Request, wire};
use serde_json::Value;
use testkit::server::{Judge, Model};

use crate::accepted::{Sent, body, sessions};

/// What happened in a life.
#[derive(Debug, Default)]
struct Life {
    requests: usize,
    compactions: usize,
    /// Causes told why nothing is compacted.
    stall: usize,
}

fn machine() -> Sessions {
    let compactor = testkit::compactor(Options::default(), "o200k");
    let trigger = When::default().build().expect("in range");
    let options = SessionOptions::new(Arc::new(trigger), ChainKey([1, 2, 3, 4]));
    Sessions::new(options, compactor).expect("in range")
}

/// Lives at most `most` requests of a session in a window of `window` tokens.
fn live(session: &Sent, window: u64, most: usize) -> Result<Life, String> {
    let Sent { api, request, .. } = session;
    let mut judge = Judge::default();
    let known = Model::named(&session.model).expect("in the table");
    // The server counts by a rule of its own, which adds a little around each block.
    judge.models.put(Model { window: window + window / 8 + 500, max_output: 5_000, ..known });
    let whole = body(request);
    let said = whole[api.list()].as_array().expect("a list");
    let roles: Vec<Role> = wire::parse(request.format, whole.to_string())
        .expect("it is well-formed")
        .transcript
        .entries()
        .map(|entry| entry.role())
        .collect();
    assert_eq!(roles.len(), said.len(), "an entry for each element");

    let mut sessions = machine();
    let mut life = Life::default();
    let mut history: Vec<Value> = Vec::new();
    let mut at = 0;
    while life.requests < most {
        let spoken = (at..roles.len()).find(|at| roles[*at] == Role::Assistant && *at > 0);
        let Some(from) = spoken else { break };
        let to = (from..roles.len()).find(|at| roles[*at] != Role::Assistant);
        let to = to.unwrap_or(roles.len());
        history.extend_from_slice(&said[at..from]);
        at = to;

        let mut came = whole.clone();
        came[api.list()] = Value::Array(history.clone());
        let came = wire::parse(request.format, came.to_string()).expect("it is well-formed");
        life.requests += 1;
        let now = Duration::from_secs(30 * life.requests as u64);
        let settled = sessions.settle("", &came, Some(window), now);
        life.stall += usize::from(settled.stall.is_some());
        if let Some(ran) = &settled.compacted {
            let outcome = ran.outcome.as_ref().map_err(ToString::to_string)?;
            if !outcome.receipt.fallbacks.is_empty() {
                return Err(format!("fell back: {:?}", outcome.receipt.fallbacks));
            }
            life.compactions += usize::from(matches!(ran.committed, Committed::Adopted { .. }));
        }
        let tokens = settled.stats.after.count.tokens;
        if tokens > window {
            return Err(format!("request {}: {tokens} tokens", life.requests));
        }
        let sent = body(settled.view.as_deref().unwrap_or(&came));
        let judged = judge.validate(&session.call(&sent));
        let understood =
            judged.map_err(|refusal| format!("request {}: {}", life.requests, refusal.message))?;
        if let Some(lost) = understood.misplaced.first() {
            return Err(format!("request {}: {} is lost", life.requests, lost.path));
        }
        history.extend(reply(&judge, session, sent, &said[from..to]));
    }
    Ok(life)
}

/// The reply, its reasoning signed behind the prompt that was sent.
fn reply(judge: &Judge, session: &Sent, mut sent: Value, said: &[Value]) -> Vec<Value> {
    let list = sent[session.api.list()].as_array_mut().expect("a list");
    list.extend_from_slice(said);
    let mut signed = judge.seal(&session.call(&sent)).expect("a known model");
    let list = signed[session.api.list()].as_array_mut().expect("a list");
    list.split_off(list.len() - said.len())
}

fn lived(sessions: &[Sent], window: impl Fn(&Request) -> u64, most: usize) -> usize {
    let mut wrong = Vec::new();
    let mut compactions = 0;
    for session in sessions {
        let window = window(&session.request);
        match live(session, window, most) {
            Ok(life) => {
                println!("{} in {window}: {life:?}", session.name);
                compactions += life.compactions;
                // A loop would compact at every request; steps of half a window make it every second one.
                if life.compactions * 3 > life.requests * 2 + 6 || life.stall > 3 {
                    wrong.push(format!("{} in {window}: {life:?}", session.name));
                }
            }
            Err(why) => wrong.push(format!("{} in {window}: {why}", session.name)),
        }
    }
    assert!(wrong.is_empty(), "{} went wrong:\n{}", wrong.len(), wrong.join("\n"));
    compactions
}

/// Sessions that their providers took. What a client sends broken, below the trigger, stays broken.
fn whole_sessions() -> Vec<Sent> {
    let mut sessions = sessions();
    sessions.retain(|session| session.as_it_is().is_none());
    sessions
}

/// Tokens of a request, roughly.
fn size(request: &Request) -> u64 {
    request.source().len() as u64 / 4
}

#[test]
fn every_session_is_lived_through_in_a_third_of_its_size() {
    let sessions = whole_sessions();
    let compactions = lived(&sessions, |request| (size(request) / 3).max(6_000), 60);
    assert!(compactions > sessions.len() / 2, "{compactions}");
}

#[test]
fn a_long_session_is_lived_through_in_a_window_of_100k() {
    let mut sessions = sessions();
    sessions.retain(|session| session.name.ends_with("claude-code/session-3fe1b6bc.jsonl"));
    let [session] = sessions.as_mut_slice() else { panic!("it is shipped") };
    // The same work again and again, each time asked for anew.
    let mut whole = body(&session.request);
    let said = whole["messages"].as_array().cloned().expect("a list");
    let again = |round: usize| {
        said.iter().map(move |message| {
            let text = message.to_string().replace("toolu_", &format!("toolu_{round}x"));
            serde_json::from_str::<Value>(&text).expect("it was JSON")
        })
    };
    let rounds: Vec<Value> = (0..5).flat_map(again).collect();
    whole["messages"] = Value::Array(rounds);
    session.request = wire::parse(session.request.format, whole.to_string()).expect("well-formed");
    assert!(size(&session.request) > 400_000);
    assert!(lived(&sessions, |_| 100_000, usize::MAX) >= 4);
}

#[test]
#[ignore = "minutes; `./test full` runs it"]
fn every_session_is_lived_through_whole_in_many_windows() {
    for share in [2, 5, 10] {
        lived(&whole_sessions(), |request| (size(request) / share).max(6_000), usize::MAX);
    }
}
