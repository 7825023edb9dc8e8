//! Conversion: what comes out obeys its format, nothing is lost without a word, and there and back keeps
//! what both formats can say.

mod again;
mod choices;
mod lost;
mod media;

use std::fmt::Write as _;

use epitome::convert::{Extent, Goal, Loss, convert};
use epitome::transcript::{Marks, Part, PartKind};
use epitome::wire::{self, Format};
use expect_test::{expect, expect_file};
use proptest::prelude::*;
use testkit::captures::Capture;
use testkit::conversion::{Tongue, converted, said};
use testkit::generate::{broken, cases, valid};
use testkit::{Case, page, parse, show};

/// What became of a thing, each outcome with the formats in which it is that.
fn by_outcome(outcomes: impl IntoIterator<Item = (Format, String)>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (format, outcome) in outcomes {
        match groups.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, formats)) => formats.push(format.name()),
            None => groups.push((outcome, vec![format.name()])),
        }
    }
    let line =
        |(outcome, formats): &(String, Vec<&str>)| format!("  {}: {outcome}\n", formats.join(", "));
    groups.iter().map(line).collect()
}

/// Every format but the case's own.
fn ways(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = (Case, Format)> {
    (cases, 1..Format::ALL.len()).prop_map(|(case, step)| {
        let from = Format::ALL.iter().position(|format| *format == case.format);
        let to = (from.expect("it is one of them") + step) % Format::ALL.len();
        (case, Format::ALL[to])
    })
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn there_and_back_keeps_what_both_can_say((case, to) in ways(valid())) {
        let request = case.request();
        let (gone, there) = converted(&request, to).map_err(TestCaseError::fail)?;
        let (done, back) = converted(&there, case.format).map_err(TestCaseError::fail)?;
        // Results of calls that aren't here have nobody to answer.
        prop_assume!(request.elsewhere().is_none());
        let tongue = Tongue::of([case.format, to]);
        let (before, between, after) =
            (said(&request, tongue), said(&there, tongue), said(&back, tongue));
        prop_assert_eq!(&before, &between, "{}\n{}", request.source(), there.source());
        prop_assert_eq!(&after, &between, "{} then {}", there.source(), back.source());
        // Where nothing had to be said in another way on the way back, a second time nothing changes. (Gemini
        // joins the texts of a result, Bedrock messages.)
        let rewords = |what: Loss| {
            what.extent() == Extent::Changed || matches!(what, Loss::Blank | Loss::Failure)
        };
        let is_mended = !gone.mended.is_empty() || !done.mended.is_empty();
        let is_reworded = matches!(case.format, Format::Gemini | Format::Bedrock) || gone.lost.iter().chain(&done.lost).any(|lost| rewords(lost.what));
        if !is_mended && !is_reworded {
            let (_, again) = converted(&back, to).map_err(TestCaseError::fail)?;
            let entries = |request: &epitome::Request| -> Vec<String> {
                request.transcript.entries().map(|entry| entry.raw().to_owned()).collect()
            };
            prop_assert_eq!(entries(&again), entries(&there));
            prop_assert_eq!(again.system(), there.system());
            // Bedrock defines what was called, where nothing is defined.
            prop_assert!(there.tools().is_none() || again.tools() == there.tools());
        }
    }

    #[test]
    fn broken_ones_come_out_whole((case, to) in ways(broken())) {
        let repaired = wire::repair(&case.request());
        // What only the author can mend, no conversion can.
        prop_assume!(repaired.left.is_empty());
        converted(&case.request(), to).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn what_is_left_out_is_listed((case, to) in ways(valid())) {
        let request = case.request();
        let lost = convert(&request, to).lost;
        for entry in request.transcript.entries() {
            let is_lost = |part: &Part<'_>| match part.kind() {
                PartKind::Reasoning => true,
                PartKind::Opaque => !part.raw().starts_with('"'),
                _ => part.is(Marks::SERVER),
            };
            let count = entry.parts().filter(is_lost).count();
            let listed = lost.iter().filter(|lost| lost.entry == Some(entry.index)).count();
            prop_assert!(listed >= count, "{} of {}: {:?}", entry.index, entry.raw(), lost);
        }
    }

    #[test]
    fn ids_that_may_stay_stay((case, to) in ways(valid())) {
        let request = case.request();
        let ids = |request: &epitome::Request| -> Vec<String> {
            let parts = request.transcript.entries().flat_map(|entry| entry.parts());
            let calls = parts.filter(|p| p.kind() == PartKind::Call && !p.is(Marks::SERVER));
            calls.map(|call| call.id().into_owned()).collect()
        };
        let before = ids(&request);
        let after = ids(&wire::parse(to, convert(&request, to).text).expect("a request"));
        prop_assert_eq!(before.len(), after.len());
        for (at, id) in before.iter().enumerate() {
            let is_legal = (1..=40).contains(&id.len())
                && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            let is_first = !before[..at].contains(id);
            if is_legal && is_first {
                prop_assert_eq!(id, &after[at]);
            }
            prop_assert!(!after[..at].contains(&after[at]), "{:?}", after);
        }
    }
}

#[test]
fn what_clients_sent_is_taken_by_every_provider() {
    let mut wrong = Vec::new();
    for capture in Capture::all() {
        let Some(sent) = capture.largest() else { continue };
        let request = wire::parse(sent.format(), sent.body.clone()).expect("a request");
        for to in Format::ALL.into_iter().filter(|to| *to != request.format) {
            let name = format!("{} to {to}", capture.name);
            let (_, there) = match converted(&request, to) {
                Ok(done) => done,
                Err(refusal) => {
                    wrong.push(format!("{name}: {refusal:.3000}"));
                    continue;
                }
            };
            let tongue = Tongue::of([request.format, to]);
            if request.elsewhere().is_none() && said(&request, tongue) != said(&there, tongue) {
                wrong.push(format!(
                    "{name}:\n{:.2000?}\n{:.2000?}",
                    said(&request, tongue),
                    said(&there, tongue)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n\n"));
}

const SESSION: &str = r#"
    sys  You are terse.
    user What is this? | {img 640x480}
    asst think* hm | Looking. | call toolu_1 Read {"path":"a.rs"} | call toolu_2 Bash {}
    res  toolu_1 = fn main() {}
    res! toolu_2 = no such command
    asst srv s web_search {"query":"x"} | srv s = A page
    asst Done."#;

/// And what is lost of it, in the first.
#[test]
fn a_session_is_said_in_every_format() {
    page::check(&expect_file!["conversion/session.txt"], |case| {
        let to: Format = case.name.parse().expect("a format");
        let converted = convert(&parse(Format::Anthropic, SESSION), to);
        let written = wire::parse(to, converted.text).expect("a request");
        let mut told = show(&written);
        for lost in converted.lost.iter().filter(|_| to == Format::OpenaiChat) {
            let at = lost.entry.map_or("-".to_owned(), |at| at.to_string());
            let _ = writeln!(told, "lost {at}: {} {}: {}", lost.what.words(), lost.name, lost.why);
        }
        told
    });
}

#[test]
fn calls_from_elsewhere_carry_the_documented_signature() {
    let request = parse(Format::Anthropic, SESSION);
    let text = convert(&request, Format::Gemini).text;
    assert_eq!(text.matches("skip_thought_signature_validator").count(), 1, "{text}");
}

#[test]
fn ids_and_names_are_made_legal_and_unique() {
    let long = "x".repeat(70);
    let body = format!(
        r#"[{{"role":"user","content":"go"}},
        {{"role":"assistant","tool_calls":[{{"id":"a/b","type":"function","function":{{"name":"f.g","arguments":"{{}}"}}}},{{"id":"{long}","type":"function","function":{{"name":"f.g","arguments":"oops"}}}}]}},
        {{"role":"tool","tool_call_id":"{long}","content":"2"}},{{"role":"tool","tool_call_id":"a/b","content":"1"}},
        {{"role":"assistant","tool_calls":[{{"id":"a/b","type":"function","function":{{"name":"f.g","arguments":""}}}}]}},
        {{"role":"tool","tool_call_id":"a/b","content":"3"}}]"#
    );
    let request = wire::parse(Format::OpenaiChat, body).expect("messages");
    let converted = convert(&request, Format::Anthropic);
    let written = wire::parse(Format::Anthropic, converted.text).expect("a request");
    expect![[r#"
        user go
        asst call a_b f_g {} | call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx f_g {"value":"oops"}
        res  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = 2
        res  a_b = 1
        asst call a_b_2 f_g {}
        res  a_b_2 = 3
    "#]].assert_eq(&show(&written));
    let what: Vec<_> = converted.lost.iter().map(|lost| (lost.what, lost.name.as_str())).collect();
    assert_eq!(what, [(Loss::Arguments, "f.g"), (Loss::ToolName, "f.g")]);
}

#[test]
fn how_to_answer_is_said_where_it_can_be() {
    page::check(&expect_file!["conversion/answers.txt"], |case| {
        let (from, _) = case.format();
        let request = case.request(from);
        let others = Format::ALL.into_iter().filter(|to| *to != from);
        let told = others.map(|to| {
            let converted = convert(&request, Goal { model: Some("b"), ..Goal::from(to) });
            let lost = converted.lost.iter().map(|lost| format!("{:?} {}", lost.what, lost.name));
            let lost = lost.collect::<Vec<_>>().join(", ");
            format!("-> {to}: {}\n   lost: {lost}\n", converted.text)
        });
        told.collect()
    });
}

#[test]
fn what_a_target_demands_and_nobody_said_is_named() {
    let request = wire::parse(
        Format::OpenaiChat,
        r#"{"messages":[{"role":"user","content":"Go."}]}"#.to_owned(),
    );
    let request = request.expect("a request");
    assert_eq!(convert(&request, Format::Anthropic).wanting, ["model", "max_tokens"]);
    assert_eq!(convert(&request, Format::Bedrock).wanting, ["modelId"]);
    assert!(convert(&request, Format::Gemini).wanting.is_empty());
    let goal = Goal { format: Format::Anthropic, model: Some("m"), max_output: Some(9) };
    let converted = convert(&request, goal);
    assert!(converted.wanting.is_empty());
    assert!(converted.text.starts_with(r#"{"model":"m","max_tokens":9,"#), "{}", converted.text);
}

#[test]
fn results_that_are_objects_stay_objects() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"Go."}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"b":1,"a":"x"}}},{"functionResponse":{"name":"g","response":{"error":"no"}}}]}]}"#;
    let request = wire::parse(Format::Gemini, body.to_owned()).expect("a request");
    let there = convert(&request, Format::Anthropic).text;
    assert!(there.contains(r#""content":"{\"b\":1,\"a\":\"x\"}""#), "{there}");
    let there = wire::parse(Format::Anthropic, there).expect("a request");
    let back = convert(&there, Format::Gemini).text;
    assert!(back.contains(r#""response":{"b":1,"a":"x"}"#), "{back}");
    assert!(back.contains(r#""response":{"error":"no"}"#), "{back}");
}

#[test]
fn tools_that_take_words_are_functions_elsewhere() {
    let body = r#"{"input":[{"role":"user","content":"Go."},
        {"type":"custom_tool_call","call_id":"c1","name":"patch","input":"*** Begin"},
        {"type":"custom_tool_call_output","call_id":"c1","output":"ok"},
        {"type":"shell_call","call_id":"c2","action":{"commands":["ls"]}},
        {"type":"shell_call_output","call_id":"c2","output":[{"stdout":"a.rs","stderr":"","outcome":{"type":"exit","exit_code":0}}]}]}"#;
    let request = wire::parse(Format::OpenaiResponses, body.to_owned()).expect("a request");
    let chat = convert(&request, Format::OpenaiChat);
    assert!(
        chat.text.contains(r#""custom":{"name":"patch","input":"*** Begin"}"#),
        "{}",
        chat.text
    );
    let chat = wire::parse(Format::OpenaiChat, chat.text).expect("a request");
    let back = convert(&chat, Format::OpenaiResponses).text;
    assert!(back.contains(r#"{"type":"custom_tool_call_output","call_id":"c1""#), "{back}");
    let claude = convert(&request, Format::Anthropic);
    let written = wire::parse(Format::Anthropic, claude.text).expect("a request");
    expect![[r#"
        user Go.
        asst call c1 patch {"input":"*** Begin"}
        res  c1 = ok
        asst call c2 shell {"commands":["ls"]}
        res  c2 = a.rs
    "#]]
    .assert_eq(&show(&written));
    let what: Vec<_> = claude.lost.iter().map(|lost| (lost.what, lost.name.as_str())).collect();
    assert_eq!(what, [(Loss::CallKind, "patch"), (Loss::CallKind, "shell_call")]);
}

#[test]
fn reasoning_models_get_no_temperature() {
    let body = r#"{"model":"a","max_tokens":99,"temperature":0.5,"top_p":0.9,"stop_sequences":["END"],"messages":[{"role":"user","content":"Go."}]}"#;
    let request = wire::parse(Format::Anthropic, body.to_owned()).expect("a request");
    let lost = |format, model| {
        let goal = Goal { format, model: Some(model), max_output: None };
        let done = convert(&request, goal);
        let names: Vec<String> = done
            .lost
            .iter()
            .filter(|lost| lost.what == Loss::Parameter)
            .map(|lost| lost.name.clone())
            .collect();
        for name in &names {
            assert!(!done.text.contains(&format!("{name:?}:")), "{name} in {}", done.text);
        }
        names.join(" ")
    };
    for model in ["o1", "o3", "gpt-5", "gpt-6-sol"] {
        assert_eq!(lost(Format::OpenaiChat, model), "temperature top_p stop", "{model}");
    }
    assert_eq!(lost(Format::OpenaiResponses, "gpt-5.4"), "stop_sequences temperature top_p");
    assert_eq!(lost(Format::OpenaiChat, "gpt-4.1"), "");
    assert_eq!(lost(Format::OpenaiChat, "deepseek-reasoner"), "");
    let off = r#"{"model":"a","temperature":0.5,"reasoning_effort":"none","messages":[{"role":"user","content":"Go."}]}"#;
    let request = wire::parse(Format::OpenaiChat, off.to_owned()).expect("a request");
    let goal = Goal { format: Format::OpenaiResponses, model: Some("gpt-5.4"), max_output: None };
    assert!(convert(&request, goal).text.contains(r#""temperature":0.5"#));
}

/// OpenAI's two formats say the form of an answer each in its own way, and a schema's members stay in order.
#[test]
fn the_form_of_an_answer_goes_from_one_of_openais_formats_to_the_other() {
    let schema = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"null"}}}"#;
    let chat = format!(
        r#"{{"response_format":{{"type":"json_schema","json_schema":{{"name":"n","strict":true,"schema":{schema}}}}},"messages":[{{"role":"user","content":"Go."}}]}}"#
    );
    let request = wire::parse(Format::OpenaiChat, chat.clone()).expect("a request");
    let there = convert(&request, Format::OpenaiResponses);
    assert_eq!(there.lost, []);
    let flat = format!(
        r#""text":{{"format":{{"type":"json_schema","name":"n","strict":true,"schema":{schema}}}}}"#
    );
    assert!(there.text.contains(&flat), "{}", there.text);
    let request = wire::parse(Format::OpenaiResponses, there.text).expect("a request");
    let back = convert(&request, Format::OpenaiChat);
    let form = &chat[1..chat.find(r#","messages""#).expect("it is there")];
    assert!(back.lost.is_empty() && back.text.contains(form), "{}", back.text);
    let elsewhere = convert(&request, Format::Gemini);
    assert_eq!(elsewhere.lost[0].name, "text.format");
}
