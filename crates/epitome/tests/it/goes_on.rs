//! A request that goes on from a known one is read and checked only from where that ends, and what is found is what is
//! found in all of it.

use std::sync::Arc;
use std::time::Duration;

use epitome::count::counter;
use epitome::request::Request;
use epitome::session::{ChainKey, Landing, SessionOptions, Sessions};
use epitome::trigger::When;
use epitome::wire::{self, Clean, Finding, Format, RULES};
use epitome::{Compactor, Options, Target};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use testkit::breaches::failing;
use testkit::bulk::{Size, generate};
use testkit::captures::Capture;
use testkit::generate::{Case, broken_in, cases, valid_in};

/// What is known of the request before.
#[derive(Default)]
struct Known {
    before: Option<(Request, Option<Clean>)>,
}

impl Known {
    /// Reads and checks `body` with what is known, and holds both to what is found without. Where it is no request, nothing
    /// is known any more.
    fn go_on(&mut self, format: Format, body: &str) -> Result<(), TestCaseError> {
        let before = self.before.take().filter(|(before, _)| before.format == format);
        let alone = wire::parse(format, body.to_owned());
        let (request, known) = match before {
            None => (alone.clone(), None),
            Some((before, clean)) => match wire::parse_on(&before, body.to_owned()) {
                Ok((shared, request)) => (Ok(request), clean.map(|clean| (clean, shared))),
                Err(error) => (Err(error), None),
            },
        };
        let Ok(request) = request else {
            prop_assert_eq!(request.err(), alone.err(), "{}", body);
            return Ok(());
        };
        prop_assert_eq!(rows(&request), rows(&alone.expect("it was read going on")), "{}", body);
        let all = wire::check(&request);
        let clean = match wire::check_on(&request, known) {
            Ok(clean) => {
                prop_assert_eq!(all, Vec::<Finding>::new(), "{}", body);
                Some(clean)
            }
            Err(found) => {
                prop_assert!(!all.is_empty());
                prop_assert_eq!(found, all, "{}", body);
                None
            }
        };
        self.before = Some((request, clean));
        Ok(())
    }
}

fn rows(request: &Request) -> String {
    let entries = request.transcript.entries();
    let rows = entries.map(|e| (e.span(), e.role(), e.parts().map(|p| *p.row()).collect()));
    let rows: Vec<(_, _, Vec<_>)> = rows.collect();
    format!("{:?} {rows:?}", request.frame)
}

/// How a client writes JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    Tight,
    Spaced,
    Indented,
}

impl Hand {
    const ALL: [Hand; 3] = [Hand::Tight, Hand::Spaced, Hand::Indented];

    fn list(self, entries: &[&str]) -> String {
        match self {
            Hand::Tight => format!("[{}]", entries.join(",")),
            Hand::Spaced => format!("[ {} ]", entries.join(" , ")),
            Hand::Indented => {
                let indented: Vec<String> = entries.iter().map(|entry| indented(entry)).collect();
                format!("[\n    {}\n  ]", indented.join(",\n    "))
            }
        }
    }
}

/// An entry as whoever indents writes it; where it is nested too deep as it is.
fn indented(entry: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(entry) else { return entry.to_owned() };
    serde_json::to_string_pretty(&value).expect("it was JSON").replace('\n', "\n    ")
}

/// The request with other entries, and with `more` behind them where it is a body.
fn with(request: &Request, entries: &[&str], more: &str, hand: Hand) -> String {
    let (source, list) = (request.source(), request.frame.list.range());
    if !source[list.clone()].starts_with('[') {
        return entries.join("\n");
    }
    let more = if source[list.end..].contains('}') { more } else { "" };
    format!("{}{}{more}{}", &source[..list.start], hand.list(entries), &source[list.end..])
}

fn raws(request: &Request) -> Vec<&str> {
    request.transcript.entries().map(|entry| entry.raw()).collect()
}

/// Members that rules of entries, or of how entries are read, ask for.
const MORE: [&str; 9] = [
    "",
    "",
    "",
    r#","store":false"#,
    r#","tools":[{"name":"Read"}]"#,
    r#","model":"gemini-3-pro""#,
    r#","thinking":{"type":"enabled","budget_tokens":2000}"#,
    r#","previous_response_id":"resp_1""#,
    r#","cachedContent":"c","type":"message","role":"user""#,
];

/// A request of a conversation: so many of the entries of one, then some of the other's, in percent.
#[derive(Clone, Debug)]
struct Next {
    of_one: usize,
    of_other: (usize, usize),
    more: &'static str,
}

fn next() -> impl Strategy<Value = Next> {
    let of_other = prop_oneof![2 => Just((0, 0)), 1 => (0..=100_usize, 0..=100_usize)];
    let more = proptest::sample::select(&MORE[..]);
    (30..=100_usize, of_other, more).prop_map(|(of_one, of_other, more)| Next {
        of_one,
        of_other,
        more,
    })
}

fn case(format: Format) -> impl Strategy<Value = Case> {
    prop_oneof![2 => valid_in(&[format]), 1 => broken_in(&[format])]
}

fn two() -> impl Strategy<Value = (Case, Case)> {
    proptest::sample::select(&Format::ALL[..]).prop_flat_map(|format| (case(format), case(format)))
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn what_is_found_never_depends_on_what_was_known(
        (one, other) in two(),
        all in vec(next(), 1..6),
        hand in proptest::sample::select(&Hand::ALL[..]),
    ) {
        let (one, other) = (one.request(), other.request());
        let (ones, others) = (raws(&one), raws(&other));
        let mut known = Known::default();
        for Next { of_one, of_other: (from, to), more } in all {
            let part = |all: &[&str], percent: usize| all.len() * percent / 100;
            let (from, to) = (part(&others, from), part(&others, to));
            let mut entries = ones[..part(&ones, of_one)].to_vec();
            entries.extend(others.get(from..to).unwrap_or_default());
            known.go_on(one.format, &with(&one, &entries, more, hand))?;
        }
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn what_is_appended_is_what_would_be_read(
        one in proptest::sample::select(&Format::ALL[..]).prop_flat_map(case),
        first in 0..3_usize,
        more in proptest::sample::select(&MORE[..]),
        hand in proptest::sample::select(&Hand::ALL[..]),
    ) {
        let one = one.request();
        let all = raws(&one);
        let first = first.min(all.len());
        let Ok(mut request) = wire::parse(one.format, with(&one, &all[..first], more, hand)) else {
            return Ok(());
        };
        // What stands behind may say that the whole is one item.
        prop_assume!(request.transcript.len() == first);
        for entry in &all[first..] {
            let held = request.clone();
            let refused = wire::append(&mut request, &format!("{entry},"));
            prop_assert!(refused.is_err());
            prop_assert_eq!((held.source(), rows(&held)), (request.source(), rows(&request)));
            let next = wire::append(&mut request, &format!(" {entry}\n"));
            next.map_err(|error| TestCaseError::fail(format!("{error}: {entry}")))?;
            let alone = wire::parse(one.format, request.source().as_str().to_owned());
            prop_assert_eq!(rows(&request), rows(&alone.expect("it was appended to a request")));
            prop_assert!(held.source().len() < request.source().len());
        }
        prop_assert_eq!(&raws(&request)[first..], &all[first..]);
    }
}

/// A machine that is handed message after message, and one that is handed all of it each time.
#[test]
fn a_message_that_is_appended_is_decided_as_if_all_was_read() {
    let formats = Format::ALL.into_iter().filter(|format| *format != Format::Bedrock);
    // A decision for each message, and one for every few, as behind the results of tools.
    for (format, each) in formats.flat_map(|format| [(format, 1), (format, 3)]) {
        let long = wire::parse(format, generate(7, Size::entries(format, 300))).expect("sound");
        let all = raws(&long);
        let machine = || {
            let trigger = When::Tokens(12_000).build().expect("in range");
            let compactor = Compactor::new(Options::default(), counter("o200k").expect("there"));
            let options = SessionOptions {
                landing: Landing::Target(Target::Percent(50)),
                ..SessionOptions::new(Arc::new(trigger), ChainKey([1, 2, 3, 4]))
            };
            Sessions::new(options, compactor.expect("in range")).expect("in range")
        };
        let (mut reading, mut appending) = (machine(), machine());
        let mut held: Option<Request> = None;
        let mut compacted = 0;
        // With instructions alone nothing begins.
        for entries in 2..=all.len() {
            let body = Arc::new(with(&long, &all[..entries], "", Hand::Tight));
            let read = reading.read("t", Some(format), Arc::clone(&body)).expect("sound");
            let appended = match held.take() {
                Some(mut before) => {
                    assert!(appending.append("t", &mut before, "{").is_err());
                    appending.append("t", &mut before, all[entries - 1]).map(|()| before)
                }
                None => appending.read("t", Some(format), body),
            };
            let appended = appended.expect("sound");
            assert_eq!(rows(&appended), rows(&read));
            if entries % each != 0 {
                held = Some(appended);
                continue;
            }
            let [one, other] = [(&mut reading, &read), (&mut appending, &appended)]
                .map(|(machine, request)| machine.settle("t", request, None, Duration::ZERO));
            compacted += usize::from(one.compacted.is_some());
            assert_eq!(one.rendered(&read), other.rendered(&appended), "{format} {entries}");
            assert_eq!((one.session, &one.stats), (other.session, &other.stats));
            held = Some(appended);
        }
        assert!(compacted > 0, "{format}");
        // One that ends in the middle of a step is mended, and so a conversation of its own.
        assert_eq!(reading.len(), appending.len(), "{format}");
    }
}

/// The smallest breach of each rule, behind a long conversation, however much of it was known before.
#[test]
fn every_breach_is_found_behind_what_is_known() {
    for rule in RULES {
        let broken = wire::parse(rule.format, failing(rule.id.0)).expect("well-formed");
        let size = Size { lines: 1, ..Size::entries(rule.format, 8) };
        let long = wire::parse(rule.format, generate(7, size)).expect("well-formed");
        let long: Vec<&str> = raws(&long).into_iter().take(8).collect();
        for (before, behind) in [(&long, raws(&broken)), (&raws(&broken), long.clone())] {
            let all: Vec<&str> = before.iter().copied().chain(behind).collect();
            // Requests that grow by a message each, known from any on.
            let cuts = if all.len() > 1_000 { 2 } else { 12 };
            let least = all.len().saturating_sub(cuts).max(1);
            for first in least..all.len() {
                let hand = Hand::ALL[first % Hand::ALL.len()];
                let mut known = Known::default();
                for entries in first..=all.len() {
                    let body = with(&broken, &all[..entries], "", hand);
                    let held = known.go_on(rule.format, &body);
                    held.unwrap_or_else(|wrong| panic!("{}: {wrong}", rule.id));
                }
            }
        }
    }
}

#[test]
fn what_clients_sent_one_after_the_other_is_checked_going_on() {
    for capture in Capture::all() {
        let mut known = Known::default();
        for sent in capture.requests.iter().filter(|sent| Format::ALL.contains(&sent.format())) {
            let held = known.go_on(sent.format(), &sent.body);
            held.unwrap_or_else(|wrong| panic!("{}/{}: {wrong}", capture.name, sent.file));
        }
    }
}

/// What stands behind a list of items may say that the whole is one item.
#[test]
fn what_turns_out_to_be_no_list_is_read_anew() {
    let item = |n| format!(r#"{{"type":"message","role":"user","content":"{n}"}}"#);
    let body =
        |behind: &str| format!(r#"{{"input":[{},{},{}]{behind}}}"#, item(1), item(2), item(3));
    let format = Format::OpenaiResponses;
    let before = wire::parse(format, body("")).expect("items");
    let other = body(r#","type":"custom_tool_call","call_id":"c","name":"f""#);
    let (shared, request) = wire::parse_on(&before, other.clone()).expect("an item");
    assert_eq!(request.transcript.len(), 1);
    assert_eq!((shared, rows(&request)), (0, rows(&wire::parse(format, other).expect("an item"))));
    let (shared, request) = wire::parse_on(&before, body(r#","store":true"#)).expect("items");
    assert_eq!((shared, request.transcript.len()), (3, 3));
}

/// Calls that need no output by now, those whose output is only referred to, and what comes of each later.
#[test]
fn calls_without_an_output_are_looked_at_with_what_comes_later() {
    let call = |kind: &str, id: &str, more: &str| {
        format!(
            r#"{{"type":"{kind}","call_id":"{id}","name":"f","arguments":"{{}}","input":"x"{more}}}"#
        )
    };
    let output = |kind: &str, id: &str| {
        format!(r#"{{"type":"{kind}_output","call_id":"{id}","output":"x"}}"#)
    };
    let said = |role: &str| format!(r#"{{"type":"message","role":"{role}","content":"Well."}}"#);
    let later = call("function_call", "a", r#","async":true"#);
    let odd = call("future_call", "g", "");
    let referred = r#"{"type":"item_reference","id":"fc_9"}"#.to_owned();
    let step = |n: usize| {
        let id = format!("s{n}");
        [call("function_call", &id, ""), output("function_call", &id), said("assistant")]
    };
    let open = call("function_call", "o", "");
    // What stands in the middle, and what comes behind it in the end.
    for middle in
        [vec![&later], vec![&odd], vec![&open, &referred], vec![&referred, &open], vec![&open]]
    {
        for behind in [
            output("function_call", "a"),
            output("function_call", "o"),
            output("custom_tool_call", "a"),
            call("function_call", "a", ""),
            call("function_call", "g", ""),
            call("custom_tool_call", "o", ""),
            referred.clone(),
            said("user"),
        ] {
            let mut all = vec![said("user")];
            all.extend(step(0));
            all.extend(middle.iter().copied().cloned());
            all.extend((1..4).flat_map(step));
            all.extend([said("user"), behind]);
            all.extend((4..6).flat_map(step));
            let mut known = Known::default();
            for entries in 1..=all.len() {
                let body = format!("{{\"input\":[{}]}}", all[..entries].join(","));
                let held = known.go_on(Format::OpenaiResponses, &body);
                held.unwrap_or_else(|wrong| panic!("{all:?}: {wrong}"));
            }
        }
    }
}
