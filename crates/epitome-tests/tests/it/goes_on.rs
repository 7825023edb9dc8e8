//! A request that goes on from a known one is read and checked only from where that ends, and what is found is what is
//! found in all of it.

use std::sync::Arc;
use std::time::Duration;

use epitome::session::{ChainKey, Landing, SessionOptions, Sessions};
use epitome::transcript::{PartRow, Role};
use epitome::trigger::When;
use epitome::wire::{self, Clean, Finding, Format, RULES, Request, json::Span};
use epitome::{Options, Target};
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

/// An entry: where it is, of whom, and its parts.
type Row = (Span, Role, Vec<PartRow>);

fn rows(request: &Request) -> (String, Vec<Row>) {
    let entries = request.transcript.entries();
    let rows = entries.map(|e| (e.span(), e.role(), e.parts().map(|part| *part.row()).collect()));
    (format!("{:?}", request.frame), rows.collect())
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

#[test]
fn an_answer_to_a_call_at_the_provider_is_known_too() {
    let output = r#"{"type":"function_call_output","call_id":"c","output":"x"}"#;
    let first = output.to_owned() + &r#",{"role":"user","content":"Go."}"#.repeat(3);
    let mut known = Known::default();
    for list in [&first, &format!("{first},{output}")] {
        let body = format!(r#"{{"previous_response_id":"resp_1","input":[{list}]}}"#);
        known.go_on(Format::OpenaiResponses, &body).expect("the same is found");
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
            let compactor = testkit::compactor(Options::default(), "o200k");
            let options = SessionOptions {
                landing: Landing::Target(Target::Percent(50)),
                ..SessionOptions::new(Arc::new(trigger), ChainKey([1, 2, 3, 4]))
            };
            Sessions::new(options, compactor).expect("in range")
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

/// A body with this frame, and more messages.
type Body<'a> = &'a dyn Fn(&str, &str) -> String;

/// What was known under one frame says nothing under another, whose rules may be others.
#[test]
fn another_frame_has_all_of_it_checked() {
    let gemini = |frame: &str, more: &str| {
        let pair = r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"x"}}}]}"#;
        let said = r#"{"role":"model","parts":[{"text":"Well."}]},{"role":"user","parts":[{"text":"Go on."}]}"#;
        format!(r#"{{"contents":[{pair},{said},{said}{more}]{frame}}}"#)
    };
    let bedrock = |frame: &str, more: &str| {
        let said = |role: &str| format!(r#"{{"role":"{role}","content":[{{"text":"Go on."}}]}}"#);
        let call = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
        let beside = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}},{"text":"Go on."}]}"#;
        let turns = [said("user"), call.into(), beside.into(), said("assistant"), said("user")];
        let rest = [said("assistant"), said("user")].join(",");
        let turns = turns.join(",");
        format!(r#"{{"messages":[{turns},{rest}{more}],"toolConfig":{{"tools":[]}}{frame}}}"#)
    };
    let chat = |frame: &str, more: &str| {
        let said = |role: &str| format!(r#"{{"role":"{role}","content":"Go on."}}"#);
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f.g","arguments":"{}"}}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
        let turns = [said("user"), call.into(), result.into(), said("assistant"), said("user")];
        let turns = turns.join(",");
        let rest = [said("assistant"), said("user")].join(",");
        format!(r#"{{"messages":[{turns},{rest}{more}]{frame}}}"#)
    };
    let tools = r#","tools":[{"type":"function","function":{"name":"f.g"}}]"#;
    let (claude, nova) = (r#","modelId":"anthropic.claude-x""#, r#","modelId":"amazon.nova-x""#);
    let cases: [(Format, Body<'_>, [&str; 2]); 3] = [
        (Format::Gemini, &gemini, [r#","cachedContent":"c""#, ""]),
        (Format::Bedrock, &bedrock, [claude, nova]),
        (Format::OpenaiChat, &chat, [tools, ""]),
    ];
    for (format, body, [lenient, strict]) in cases {
        let first = body(lenient, "");
        let request = wire::parse(format, first.clone()).expect("a request");
        assert_eq!(wire::check(&request), [], "{format}");
        let more = raws(&request).into_iter().rev().take(2).collect::<Vec<_>>();
        let second = body(strict, &format!(",{},{}", more[1], more[0]));
        let found = wire::check(&wire::parse(format, second.clone()).expect("a request"));
        assert!(!found.is_empty(), "{format}: the second frame's rules are stricter");
        let mut known = Known::default();
        for body in [&first, &second] {
            let held = known.go_on(format, body);
            held.unwrap_or_else(|wrong| panic!("{format}: {wrong}"));
        }
    }
}

/// What was known of a request says nothing of one of another format in the same bytes.
#[test]
fn another_format_has_all_of_it_checked() {
    let said = |role: &str| format!(r#"{{"role":"{role}","content":"Go on."}}"#);
    let turns: Vec<String> = (0..7).map(|at| said(["assistant", "user"][at % 2])).collect();
    let body = format!(r#"{{"messages":[{}]}}"#, turns.join(","));
    let chat = wire::parse(Format::OpenaiChat, body.clone()).expect("messages");
    let clean = wire::check_on(&chat, None).expect("anybody may begin");
    let other = wire::parse(Format::Anthropic, body).expect("messages");
    let found = wire::check(&other);
    assert_eq!(found.len(), 1, "the user speaks first");
    assert_eq!(wire::check_on(&other, Some((clean, 6))).err(), Some(found));
}

/// The same where rules of both ask the same of the frame.
#[test]
fn another_format_of_the_same_frame_has_all_of_it_checked() {
    let turns = |roles: [&str; 2], said: &str| {
        let turn = |at: usize| format!(r#"{{"role":"{}",{said}}}"#, roles[at % 2]);
        (0..7).map(turn).collect::<Vec<_>>().join(",")
    };
    let spoken = turns(["user", "model"], r#""parts":[{"text":"Go on."}]"#);
    let gemini = wire::parse(Format::Gemini, format!(r#"{{"contents":[{spoken}]}}"#));
    let clean = wire::check_on(&gemini.expect("contents"), None).expect("the user begins");
    let spoken = turns(["assistant", "user"], r#""content":"Go on.""#);
    let other = wire::parse(Format::Anthropic, format!(r#"{{"messages":[{spoken}]}}"#));
    let other = other.expect("messages");
    let found = wire::check(&other);
    assert_eq!(found.len(), 1, "the user speaks first");
    assert_eq!(wire::check_on(&other, Some((clean, 6))).err(), Some(found));
}

/// What was said before a reply is remembered as far as rules ask for it: ids are used once.
#[test]
fn an_id_that_is_used_again_is_found_however_long_ago_it_was() {
    let said = |role: &str| format!(r#"{{"role":"{role}","content":"Go on."}}"#);
    let step = [
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#,
    ];
    let step = step.map(str::to_owned);
    let talk = [said("assistant"), said("user")];
    let all = [vec![said("user")], step.to_vec(), talk.to_vec(), talk.to_vec(), step.to_vec()];
    let all = all.concat();
    let mut known = Known::default();
    for entries in 1..=all.len() {
        let body = format!(r#"{{"messages":[{}]}}"#, all[..entries].join(","));
        let held = known.go_on(Format::Anthropic, &body);
        held.unwrap_or_else(|wrong| panic!("{entries}: {wrong}"));
    }
}

/// Only a reference may stand for an output, and only while it is there.
#[test]
fn nothing_else_stands_for_an_output_that_is_missing() {
    let said = |role: &str| format!(r#"{{"type":"message","role":"{role}","content":"Well."}}"#);
    let call = |id: &str| {
        format!(r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#)
    };
    let body = |items: &[String]| format!(r#"{{"input":[{}]}}"#, items.join(","));
    let well = || said("assistant");
    for odd in [r#"{"type":"configuration_update"}"#, r#"{"type":"future","id":"x_1"}"#] {
        let start = [said("user"), call("c"), odd.to_owned(), well(), well(), well()];
        let mut known = Known::default();
        let all: Vec<String> = start.into_iter().chain([said("user"), well()]).collect();
        for entries in 2..=all.len() {
            let held = known.go_on(Format::OpenaiResponses, &body(&all[..entries]));
            held.unwrap_or_else(|wrong| panic!("{odd}: {wrong}"));
        }
    }
    // A reference that another way leaves out.
    let start = [said("user"), well(), well(), well()];
    let reference = r#"{"type":"item_reference","id":"fc_9"}"#.to_owned();
    let one: Vec<String> = start.iter().cloned().chain([well(), well(), reference]).collect();
    let other: Vec<String> = start.into_iter().chain([call("b"), said("user")]).collect();
    let mut known = Known::default();
    for items in [&one, &other] {
        let held = known.go_on(Format::OpenaiResponses, &body(items));
        held.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}
