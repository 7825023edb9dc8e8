//! What one provider alone has: left out or said in another way, and listed with its place.

use std::fmt::Write as _;

use epitome::convert::{Extent, Goal, Loss, convert};
use epitome::wire::{self, Finding, Format};
use expect_test::expect_file;

/// What the request becomes, and what is told of it.
#[test]
fn what_is_lost_is_as_the_page_says() {
    testkit::page::check(&expect_file!["lost.txt"], |case| {
        let (from, to) = case.format();
        let request = case.request(from);
        let mut all = String::new();
        for to in to[0].as_array().expect("formats") {
            let to: Format = to.as_str().and_then(|to| to.parse().ok()).expect("a format");
            let done = convert(&request, to);
            let _ = writeln!(all, "{to}: {}", done.text);
            for lost in &done.lost {
                let at = lost.entry.map_or("-".to_owned(), |at| at.to_string());
                let _ = writeln!(all, "  {at}: {:?} {:?} {}", lost.extent, lost.what, lost.name);
            }
            // Nobody says that Bedrock's model takes words beside results.
            let is_nobodys = |left: &Finding| left.rule.0 == "bedrock/mixed-turn";
            assert!(done.left.iter().all(is_nobodys), "{:?}", done.left);
        }
        all
    });
}

#[test]
fn half_a_character_is_listed() {
    let body = r#"{"messages":[{"role":"user","content":"a \ud800 b"},{"role":"user","content":"\ud83d\ude00 \ufffd \\ud800"}]}"#;
    let request = wire::parse(Format::OpenaiChat, body.to_owned()).expect("a request");
    let lost = convert(&request, Format::Anthropic).lost;
    let halves: Vec<_> = lost.iter().filter(|lost| lost.what == Loss::HalfCharacter).collect();
    assert_eq!(halves.len(), 1, "{lost:?}");
    assert_eq!(halves[0].entry, Some(0));
}

#[test]
fn words_in_blocks_of_one_format_alone_are_said_everywhere() {
    let claude = r#"{"model":"m","max_tokens":9,"messages":[
        {"role":"user","content":[{"type":"document","title":"Rules","source":{"type":"content","content":[{"type":"text","text":"Port 9444."},{"type":"text","text":"No root."}]}},
            {"type":"document","source":{"type":"text","media_type":"text/plain","data":"Owner: Ana."}},
            {"type":"search_result","source":"https://docs/x","title":"Hosts","content":[{"type":"text","text":"Host is db3."}]}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"find","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"search_result","source":"s1","title":"Ports","content":[{"type":"text","text":"Use 8080."}]}]}]}]}"#;
    let request = wire::parse(Format::Anthropic, claude.to_owned()).expect("a request");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Anthropic) {
        let done = convert(&request, to);
        let said = [
            "Rules",
            "Port 9444.",
            "No root.",
            "Owner: Ana.",
            "Hosts (https://docs/x)",
            "Host is db3.",
            "Ports (s1)",
            "Use 8080.",
        ];
        for words in said.into_iter().filter(|words| !(to == Format::Bedrock && *words == "Rules"))
        {
            assert!(done.text.contains(words), "{words} isn't in {}", done.text);
        }
        assert!(
            done.lost.iter().all(|lost| lost.extent == Extent::Changed
                || lost.what == Loss::Parameter
                || lost.what == Loss::Model),
            "{:?}",
            done.lost
        );
    }
    let nova = r#"{"messages":[{"role":"user","content":[{"guardContent":{"text":{"text":"Never log names.","qualifiers":["query"]}}}]},
        {"role":"assistant","content":[{"citationsContent":{"content":[{"text":"The limit is 40."}],"citations":[{"title":"Limits"}]}},
            {"citationsContent":{"content":[{"text":"One."},{"text":"Two."}]}}]},
        {"role":"user","content":[{"searchResult":{"source":"s","title":"T","content":[{"text":"Three."}]}}]}]}"#;
    let request = wire::parse(Format::Bedrock, nova.to_owned()).expect("a request");
    assert!(request.transcript.entry(0).is_human(), "guarded words are a person's");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Bedrock) {
        let done = convert(&request, to);
        for words in ["Never log names.", "The limit is 40.", "One.\\nTwo.", "T (s)\\nThree."] {
            assert!(done.text.contains(words), "{words} isn't in {}", done.text);
        }
        assert!(done.lost.iter().any(|lost| lost.name == "citations"), "{:?}", done.lost);
    }
}

#[test]
fn empty_messages_and_what_mending_took_are_told() {
    let said = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let body =
        format!("[{},{},{}]", said("user", "Go."), said("assistant", ""), said("user", "On."));
    let request = wire::parse(Format::Anthropic, body).expect("a request");
    let mended = convert(&request, Format::OpenaiChat);
    assert_eq!(mended.mended.len(), 1);
    assert!(mended.mending_took > 30, "{}", mended.mending_took);
    let alone = format!("[{},{}]", said("user", "Go."), said("assistant", ""));
    let request = wire::parse(Format::Anthropic, alone).expect("a request");
    let listed = convert(&request, Format::OpenaiChat);
    assert_eq!((listed.lost[0].what, listed.lost[0].entry), (Loss::Blank, Some(1)));
}

/// A message that was dropped unbound the thinking behind it, which the provider refused then.
#[test]
fn a_body_of_the_same_format_loses_thinking_that_a_mend_unbinds() {
    let thinks = |text: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","signature":"c2ln"}},{{"type":"text","text":"Said {text}."}}]}}"#
        )
    };
    let go = r#"{"role":"user","content":"Go."}"#;
    let orphan =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}"#;
    let messages = [go, &thinks("one"), orphan, go, &thinks("two"), go].join(",");
    let body = format!(r#"{{"model":"claude-opus-5-5","max_tokens":9,"messages":[{messages}]}}"#);
    let request = wire::parse(Format::Anthropic, body).expect("messages");
    let converted = convert(&request, Format::Anthropic);
    assert!(converted.text.contains(r#""thinking":"one""#), "{}", converted.text);
    assert!(!converted.text.contains(r#""thinking":"two""#), "{}", converted.text);
    let places: Vec<_> = converted.mended.iter().map(|mended| mended.entry).collect();
    assert_eq!(places, [Some(2), Some(4)]);
}

/// Mistral's models take ids of nine letters and digits, and the older name of the limit.
#[test]
fn a_model_of_mistrals_is_asked_as_it_wants() {
    let body = r#"{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}},{"type":"tool_use","id":"aB3dE6gH9","name":"f","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"aB3dE6gH9","content":"y"},{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}"#;
    let request = wire::parse(Format::Anthropic, body.to_owned()).expect("a request");
    let asked = |model| {
        let goal = Goal { model: Some(model), ..Goal::from(Format::OpenaiChat) };
        convert(&request, goal).text
    };
    let text = asked("mistral-large-latest");
    for part in [
        r#""max_tokens":9"#,
        r#""tool_calls":[{"id":"call00001""#,
        r#"{"id":"aB3dE6gH9""#,
        r#""tool_call_id":"call00001","content":"x""#,
        r#""tool_call_id":"aB3dE6gH9","content":"y""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = asked("gpt-4o");
    assert!(text.contains("max_completion_tokens") && text.contains("toolu_1"), "{text}");
}
