//! What is wrong with a body as a whole: its JSON, the members around the entries, the model that it is for.

use epitome::wire::{self, Finding, Format, Repaired, Request};
use expect_test::expect_file;
use testkit::page;

fn read(body: &str) -> Request {
    wire::detect(body.to_owned()).expect("a request")
}

fn found(request: &Request) -> Vec<(&'static str, String, String)> {
    let told = |found: Finding| (found.rule.0, found.place(), found.detail);
    wire::inspect(request, &[]).into_iter().map(told).collect()
}

/// What is found where, and what a repair makes of it.
#[test]
fn what_is_inspected_is_as_the_page_says() {
    for file in [
        expect_file!["inspected.txt"],
        expect_file!["held.txt"],
        expect_file!["served.txt"],
        expect_file!["chat.txt"],
        expect_file!["around.txt"],
        expect_file!["within.txt"],
        expect_file!["lengths.txt"],
    ] {
        page::check(&file, inspected);
    }
}

fn inspected(case: &page::Case) -> String {
    let named = (!case.settings.is_empty()).then(|| case.format().0);
    let request = named.map_or_else(|| read(&case.given), |format| case.request(format));
    let mut told = vec![request.format.to_string()];
    told.extend(found(&request).iter().map(|(rule, place, why)| format!("{rule} {place}: {why}")));
    let Repaired { request, mended, left, .. } = wire::repair_inspected(&request, &[]);
    told.extend(
        mended
            .iter()
            .map(|mended| format!("mended: {} {}", mended.rule, mended.place().expect("known"))),
    );
    told.extend(left.iter().map(|left| format!("left: {} {}", left.rule, left.place())));
    if !mended.is_empty() && left.is_empty() {
        assert_eq!(testkit::accepted(&request), Ok(()), "{}", request.source());
    }
    told.extend(request.source().lines().map(str::to_owned));
    told.join("\n")
}

/// The places of what is found.
fn places(body: &str) -> Vec<String> {
    let told = |(rule, place, _)| format!("{rule} {place}");
    found(&read(body)).into_iter().map(told).collect()
}

const USER: &str = r#"{"role":"user","content":"hi"}"#;

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
fn a_converse_body_is_for_the_strictest_model_unless_somebody_says_which() {
    let call =
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
    let mixed = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}},{"text":"And?"}]}"#;
    let body = format!(r#"[{{"role":"user","content":[{{"text":"x"}}]}},{call},{mixed}]"#);
    let request = wire::parse(Format::Bedrock, body).expect("well-formed");
    assert_eq!(found(&request)[0].0, "bedrock/mixed-turn");
    assert_eq!(wire::check(&request), [], "what came so is compacted so");
    let claude = request.clone().addressed_to("anthropic.claude-opus-5-5-v1:0");
    assert_eq!(wire::inspect(&claude, &[]), []);
    let nova = request.addressed_to("amazon.nova-pro-v1:0");
    assert_eq!(wire::check(&nova).len(), 1);
}
