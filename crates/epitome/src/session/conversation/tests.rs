//! A conversation, compared with one that gets everything at once, and with the prompt of each reply.

use std::num::NonZeroU32;

use super::*;
use crate::count::{CharsPer, Tally, Usage};
use crate::session::breaker::StallReason;
use crate::view::Fate;
use crate::wire::{Format, parse};

const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

fn counter() -> CharsPer {
    CharsPer::new(NonZeroU32::MIN)
}

fn says(role: &str, words: &str) -> String {
    format!(r#"{{"role":"{role}","content":"{words}"}}"#)
}

fn thinks(thought: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{thought}","signature":"c2ln"}},{{"type":"text","text":"Well."}}]}}"#
    )
}

fn read(format: Format, frame: &str, messages: &[String]) -> (Request, Chain) {
    let body = format!("{{{frame}\"messages\":[{}]}}", messages.join(","));
    let request = parse(format, body).expect("messages");
    let chain = Chain::of(&request, "t", KEY);
    (request, chain)
}

fn line() -> Line {
    Line::new(SessionId(7), "t")
}

fn anchor() -> Anchor {
    let usage = serde_json::to_value(Usage::default()).expect("plain data");
    let anchor = serde_json::json!({"entries": 1, "counted": 2, "usage": usage});
    serde_json::from_value(anchor).expect("an anchor")
}

/// The line that heard each of these many messages one after the other.
fn heard(line: &mut Line, messages: &[String]) -> (Request, Chain) {
    let (request, chain) = read(Format::Anthropic, "", messages);
    line.extend(&request, &chain, &counter(), KEY);
    (request, chain)
}

#[test]
fn what_is_heard_bit_by_bit_counts_as_what_is_heard_at_once() {
    let system = |words: &str| format!(r#"{{"role":"system","content":"{words}"}}"#);
    let said = [says("user", "Go on."), says("assistant", "So it is."), says("user", "And now?")];
    let mut one = line();
    for (words, frame, known) in [
        ("Short.", r#""tools":[],"#, 1),
        ("Short.", r#""tools":[{"name":"f"}],"#, 2),
        ("Much longer than that.", "", 2),
        ("Of the same length ...", "", 3),
        ("Shorter.", r#""tools":[{"name":"gg"}],"#, 3),
    ] {
        let messages: Vec<String> =
            std::iter::once(system(words)).chain(said[..known].iter().cloned()).collect();
        let (request, chain) = read(Format::OpenaiChat, frame, &messages);
        one.extend(&request, &chain, &counter(), KEY);
        let mut other = line();
        other.extend(&request, &chain, &counter(), KEY);
        assert_eq!((&one.counted, &one.ids), (&other.counted, &other.ids), "{words}");
        let weight = one.weigh(&request, &chain, &counter(), KEY);
        let tally = Tally::of(&request, &counter());
        assert_eq!(weight.total(), tally.total(), "{words} {frame}");
        for link in 0..chain.len() {
            assert_eq!(one.link_tokens(link), tally.entry(chain.entries()[link]));
        }
    }
}

#[test]
fn a_fork_has_what_it_shares_and_begins_anew_with_the_rest() {
    let said: Vec<String> = (0..5_usize)
        .map(|at| says(if at.is_multiple_of(2) { "user" } else { "assistant" }, "Go."))
        .collect();
    let mut one = line();
    heard(&mut one, &said);
    one.sends = [1, 3, 5].map(|links| SentPrompt { links, epoch: 0 }).to_vec();
    one.floor = Some(9);
    one.anchor = Some(("m".to_owned(), anchor()));
    one.requests = 4;
    one.demands.push(serde_json::from_str(r#"{"by":"host"}"#).expect("a demand"));
    let is = Circumstances { tokens: 1, window: None, frame: 1 };
    one.breaker.stop(StallReason::NoGain, is);
    one.flight = Some(Flight {
        ticket: Ticket(3),
        since: Duration::ZERO,
        urgency: Urgency::Must,
        asks: Asks::Nobody,
        epoch: 0,
        is,
        late: Vec::new(),
    });
    let fork = one.fork(SessionId(8), 3);
    assert_eq!((fork.id, fork.ids.len(), fork.counted.len()), (SessionId(8), 3, 3));
    let sends: Vec<usize> = fork.sends.iter().map(|send| send.links).collect();
    assert_eq!(sends, [1, 3]);
    assert_eq!((fork.floor, fork.anchor.is_some()), (Some(9), true), "all was shared");
    assert!(
        fork.flight.is_none()
            && fork.demands.is_empty()
            && fork.breaker.stall(Duration::ZERO).is_none()
    );
    assert_eq!(fork.requests, 0);
    // Compacted entries are shared only as a whole.
    let mut next = serde_json::to_value(Epoch::whole()).expect("an epoch");
    (next["number"], next["compacted"]) = (1.into(), 4.into());
    next["lots"] = serde_json::json!([[4, {"fold": "older-step"}]]);
    one.enter(serde_json::from_value(next).expect("an epoch"));
    one.anchor = Some(("m".to_owned(), anchor()));
    let early = one.fork(SessionId(9), 3);
    assert_eq!((early.epochs.len(), early.floor, early.anchor.is_none()), (1, None, true));
    let late = one.fork(SessionId(9), 4);
    assert_eq!((late.epochs.len(), late.floor, late.anchor.is_some()), (2, Some(9), true));
}

#[test]
fn what_was_sent_of_the_view_in_force_is_known() {
    let said: Vec<String> = (0..5).map(|_| says("user", "Go.")).collect();
    let mut one = line();
    let (request, chain) = heard(&mut one, &said);
    assert_eq!(one.sent(&request, &chain, 5), 0, "nothing was");
    one.send(3);
    assert_eq!((one.sent(&request, &chain, 5), one.sent(&request, &chain, 4)), (3, 2));
    assert_eq!(one.sent(&request, &chain, 1), 0);
    let mut next = Epoch::whole();
    next.number = 1;
    one.enter(next);
    assert_eq!(one.sent(&request, &chain, 5), 0, "under another view");
    // As many are remembered as a client may have under way, each once.
    for links in 0..40 {
        one.send(links / 2);
    }
    let links: Vec<usize> = one.sends.iter().map(|send| send.links).collect();
    assert_eq!(links, (4..20).collect::<Vec<_>>());
}

/// A line that sent its first message, and was compacted before the reply came.
fn compacted(binding: Binding) -> (Line, Vec<String>) {
    let mut one = line();
    let said = vec![says("user", "Go.")];
    heard(&mut one, &said);
    one.send(1);
    let mut next = Epoch::whole();
    (next.number, next.compacted, next.binding) = (1, 1, binding);
    one.enter(next);
    (one, said)
}

/// Which messages are shown as they were said.
fn whole(line: &Line, request: &Request, chain: &Chain) -> Vec<bool> {
    line.epoch().view(request, chain).fates().map(|fate| *fate == Fate::Keep).collect()
}

#[test]
fn thoughts_that_come_late_leave_where_a_model_binds_them() {
    let (mut one, mut said) = compacted(Binding::Prefix);
    // A reply may be more than one message.
    said.extend([thinks("one"), thinks("two"), says("user", "And?"), thinks("three")]);
    let (request, chain) = heard(&mut one, &said);
    assert_eq!(whole(&one, &request, &chain), [true, false, false, true, true]);
    assert_eq!(one.epoch().number, 1);

    // Where it was asked under the view in force alone it isn't late.
    let (mut one, mut said) = compacted(Binding::Prefix);
    one.sends.clear();
    one.send(1);
    said.push(thinks("one"));
    let (request, chain) = heard(&mut one, &said);
    assert_eq!(whole(&one, &request, &chain), [true, true]);

    // Another prompt was sent before.
    let (mut one, mut said) = compacted(Binding::Prefix);
    one.sends.insert(0, SentPrompt { links: 2, epoch: 0 });
    one.sends.retain(|send| send.links == 2);
    said.push(thinks("one"));
    let (request, chain) = heard(&mut one, &said);
    assert_eq!(whole(&one, &request, &chain), [true, true]);
}

#[test]
fn a_loop_that_must_start_with_a_late_thought_goes_back_to_where_it_was_said() {
    let (mut one, mut said) = compacted(Binding::PrefixManual);
    said.push(thinks("one"));
    let (request, chain) = heard(&mut one, &said);
    assert_eq!((one.epoch().number, one.epochs.len(), one.is_unsure), (2, 3, false));
    assert_eq!(one.epoch().binding, Binding::Free, "the first epoch's");
    assert_eq!(whole(&one, &request, &chain), [true, true]);

    // Asked again under the new view: nobody knows which of them it answers.
    let (mut one, mut said) = compacted(Binding::PrefixManual);
    one.send(1);
    said.push(thinks("one"));
    heard(&mut one, &said);
    assert_eq!((one.epoch().number, one.is_unsure), (1, true));

    // A reply without thoughts is bound to nothing.
    let (mut one, mut said) = compacted(Binding::PrefixManual);
    said.push(says("assistant", "Well."));
    let (request, chain) = heard(&mut one, &said);
    assert_eq!((one.epoch().number, one.is_unsure), (1, false));
    assert_eq!(whole(&one, &request, &chain), [true, true]);
}
