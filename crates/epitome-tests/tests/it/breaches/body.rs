//! What is wrong with a body as a whole: its JSON, the members around the entries, the model that it is for.

use epitome::wire::{self, Finding, Format, Request};

fn read(body: &str) -> Request {
    wire::detect(body.to_owned()).expect("a request")
}

fn found(request: &Request) -> Vec<(&'static str, String, String)> {
    let told = |found: Finding| (found.rule.0, found.place(), found.detail);
    wire::inspect(request, &[]).into_iter().map(told).collect()
}

/// The places of what is found.
fn places(body: &str) -> Vec<String> {
    let told = |(rule, place, _)| format!("{rule} {place}");
    found(&read(body)).into_iter().map(told).collect()
}

const USER: &str = r#"{"role":"user","content":"hi"}"#;

/// GH anthropics/claude-code#1939: clients cut texts by code units.
#[test]
fn half_of_a_character_is_found_and_replaced_wherever_it_stands() {
    let body = r#"{"model":"claude-x","max_tokens":9,"system":"low \udc00","messages":[{"role":"user","content":"high \ud83d, both \ud83d\ude00, \\ud83d \ufffd"}]}"#;
    let request = read(body);
    let half = |escape: &str| format!("half a character: {escape}");
    assert_eq!(
        found(&request),
        [
            ("anthropic/json", "system".to_owned(), half(r"\udc00")),
            ("anthropic/json", "messages[0]".to_owned(), half(r"\ud83d")),
        ]
    );
    let mended = wire::repair_inspected(&request, &[]);
    let right = body.replace(r"low \udc00", r"low \ufffd").replace(r"high \ud83d", r"high \ufffd");
    assert_eq!(mended.request.source().as_str(), right);
    assert!(mended.left.is_empty() && mended.mended.len() == 2, "{:?}", mended.mended);
}

#[test]
fn what_leaves_for_another_breach_isnt_mended_first() {
    let orphan = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"\ud83d"},{"type":"text","text":"hi"}]}"#;
    let body = format!(r#"{{"model":"claude-x","max_tokens":9,"messages":[{USER},{orphan}]}}"#);
    assert_eq!(places(&body), ["anthropic/orphan messages[1]"]);
    let mended = wire::repair_inspected(&read(&body), &[]);
    assert!(mended.left.is_empty(), "{:?}", mended.left);
}

/// A mend of one thing hides nothing else of its message.
#[test]
fn half_a_character_beside_another_breach_is_found() {
    let result = |id: &str| {
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"\ud83d of {id}"}}"#)
    };
    let calls = r#"{"role":"assistant","content":[{"type":"text","text":"\ud83d"},
        {"type":"tool_use","id":"a","name":"","input":{"x":"\ud83d"}},{"type":"tool_use","id":"b","name":"\ud83d","input":{}}]}"#;
    let moved = format!(
        r#"{{"role":"user","content":[{},{{"type":"text","text":"hi"}},{}]}}"#,
        result("a"),
        result("b")
    );
    let body =
        format!(r#"{{"model":"claude-x","max_tokens":9,"messages":[{USER},{calls},{moved}]}}"#);
    let mut found = places(&body);
    let repaired = wire::repair_inspected(&read(&body), &[]);
    let told =
        |mended: &wire::Mended| format!("{} {}", mended.rule, mended.place().expect("known"));
    let mut mended: Vec<_> = repaired.mended.iter().map(told).collect();
    for all in [&mut found, &mut mended] {
        all.sort();
    }
    let halves =
        ["anthropic/json messages[1]"; 3].into_iter().chain(["anthropic/json messages[2]"; 2]);
    let others = ["anthropic/name messages[1]", "anthropic/result-place messages[2]"];
    assert_eq!(found, halves.chain(others).collect::<Vec<_>>());
    assert_eq!((mended, repaired.left), (found, Vec::new()));
}

#[test]
fn bare_lists_and_rows_are_held_to_json_too() {
    for text in [format!("\u{feff}[{USER}]"), format!("\u{feff}{USER}\n{USER}\n")] {
        assert_eq!(places(&text), ["chat/json the body"]);
        let mended = wire::repair_inspected(&read(&text), &[]);
        assert_eq!(mended.request.source().as_str(), text.trim_start_matches('\u{feff}'));
        assert!(mended.left.is_empty() && mended.mended.len() == 1, "{:?}", mended.mended);
    }
    // In a body it stands as deep in a list.
    let text = |levels: usize| {
        let args = format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        format!(r#"{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{args}}}}}]}}"#)
    };
    let ask = r#"{"role":"user","parts":[{"text":"q"}]}"#;
    for levels in [94, 95] {
        let deep = text(levels);
        let all = [
            format!(r#"{{"contents":[{ask},{deep}]}}"#),
            format!("[{ask},{deep}]"),
            format!("{ask}\n{deep}\n"),
        ];
        let found = all.map(|text| places(&text).len());
        assert_eq!(found, [levels - 94; 3], "{levels}");
    }
}

#[test]
fn a_mark_a_number_and_a_depth_that_no_reader_takes_are_found() {
    let claude =
        |limit: &str| format!(r#"{{"model":"claude-x","max_tokens":{limit},"messages":[{USER}]}}"#);
    assert_eq!(places(&claude("1e400")), ["anthropic/json max_tokens"]);
    assert_eq!(places(&claude("-1.5e-400")), Vec::<String>::new());
    let marked = format!("\u{feff}{}", claude("9"));
    assert_eq!(places(&marked), ["anthropic/json the body"]);
    let mended = wire::repair_inspected(&read(&marked), &[]);
    assert_eq!(mended.request.source().as_str(), claude("9"));
    let nested = |levels: usize| {
        let args = format!("{}{}", r#"{"a":"#.repeat(levels), "1".to_owned() + &"}".repeat(levels));
        let call = format!(
            r#"{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{args}}}}}]}}"#
        );
        format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"q"}}]}},{call}]}}"#)
    };
    assert_eq!(places(&nested(90)), Vec::<String>::new());
    assert_eq!(places(&nested(100)), ["gemini/json messages[1]"]);
}

#[test]
fn what_stands_around_the_messages_is_told_by_its_path() {
    let claude = |members: &str| {
        format!(r#"{{"model":"claude-x","max_tokens":9,{members},"messages":[{USER}]}}"#)
    };
    let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
    for (members, place) in [
        (format!(r#""tools":[{tool},{tool}]"#), "anthropic/tool-names tools[1].name"),
        (
            r#""system":[{"type":"text","text":""}]"#.to_owned(),
            "anthropic/system-text system[0].text",
        ),
        (
            r#""system":[{"type":"image","source":{}}]"#.to_owned(),
            "anthropic/unknown-type system[0]",
        ),
        (
            r#""thinking":{"type":"enabled","budget_tokens":9}"#.to_owned(),
            "anthropic/thinking-budget thinking.budget_tokens",
        ),
        (r#""tools":[{"name":"f","input_schema":{},"cache_control":{"type":"ephemeral","ttl":"9m"}}]"#.to_owned(),
            "anthropic/value tools[0].cache_control.ttl"),
        (r#""odd":1"#.to_owned(), "anthropic/extra-member odd"),
    ] {
        assert_eq!(places(&claude(&members)), [place]);
    }
    assert_eq!(
        places(r#"{"model":"claude-x","max_tokens":9,"messages":[]}"#),
        ["anthropic/no-messages messages"]
    );
    let mended =
        wire::repair_inspected(&read(&claude(&format!(r#""tools":[{tool},{tool}]"#))), &[]);
    assert_eq!(mended.mended[0].place().as_deref(), Some("tools[1].name"));
}

/// What a repair leaves was found before it.
#[test]
fn one_breach_of_a_message_hides_no_other() {
    let odd = r#"{"role":"user","content":[{"type":"hologram","x":1},{"type":"text","text":"hi","foo":1}]}"#;
    let body = format!(r#"{{"model":"claude-x","max_tokens":9,"messages":[{odd}]}}"#);
    assert_eq!(
        places(&body),
        ["anthropic/unknown-type messages[0]", "anthropic/extra-member messages[0]",]
    );
    let mended = wire::repair_inspected(&read(&body), &[]);
    let left: Vec<_> = mended.left.iter().map(|left| left.rule.0).collect();
    assert_eq!((left, mended.mended.len()), (vec!["anthropic/unknown-type"], 1));
}

#[test]
fn redacted_thinking_without_data_is_none() {
    let said = r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":""},{"type":"text","text":"hi"}]}"#;
    let body =
        format!(r#"{{"model":"claude-x","max_tokens":9,"messages":[{USER},{said},{USER}]}}"#);
    assert_eq!(places(&body), ["anthropic/signature messages[1]"]);
}

#[test]
fn openai_takes_short_ids_and_names_and_others_what_they_like() {
    let id = "functions.read_file_of_the_repository_by_path:0";
    let name = "n".repeat(70);
    let body = |model: &str| {
        let call = format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}"#
        );
        let result = format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"x"}}"#);
        format!(r#"{{"model":"{model}","messages":[{USER},{call},{result}]}}"#)
    };
    for model in ["gpt-4o", "openai/gpt-5.5", "o3"] {
        assert_eq!(places(&body(model)), ["chat/length messages[1]"; 2], "{model}");
        let mended = wire::repair_inspected(&read(&body(model)), &[]);
        assert!(mended.left.is_empty(), "{:?}", mended.left);
        assert_eq!(testkit::accepted(&mended.request), Ok(()));
    }
    for model in ["kimi-k2", "gpt-oss-120b", "openrouter-auto"] {
        assert_eq!(places(&body(model)), Vec::<String>::new(), "{model}");
    }
}

#[test]
fn a_body_that_says_modelid_is_bedrocks_and_needs_no_tool_for_an_orphan() {
    let body =
        |messages: &str| format!(r#"{{"modelId":"anthropic.claude-x","messages":[{messages}]}}"#);
    let words = body(r#"{"role":"user","content":"plain"}"#);
    assert_eq!(read(&words).format, Format::Bedrock);
    let mended = wire::repair_inspected(&read(&words), &[]);
    assert_eq!(
        mended.request.source().as_str(),
        body(r#"{"role":"user","content":[{"text":"plain"}]}"#)
    );
    let orphan = r#"{"role":"user","content":[{"text":"q"},{"toolResult":{"toolUseId":"z","content":[{"text":"r"}]}}]}"#;
    assert_eq!(places(&body(orphan)), ["bedrock/orphan messages[0]"]);
    let mended = wire::repair_inspected(&read(&body(orphan)), &[]);
    assert_eq!(
        mended.request.source().as_str(),
        body(r#"{"role":"user","content":[{"text":"q"}]}"#)
    );
}

#[test]
fn a_turn_of_the_models_in_an_input_is_of_interactions() {
    let body = r#"{"model":"gemini-3.1-pro","input":[{"role":"user","content":"q"},{"role":"model","content":[{"type":"text","text":"a"}]}]}"#;
    assert_eq!(read(body).format, Format::GeminiInteractions);
    assert_eq!(places(body), ["interactions/shape messages[0]", "interactions/shape messages[1]"]);
}
