//! Which tool is to be called, and how many at once, as each format says it.

use epitome::convert::{Loss, convert};
use epitome::wire::{self, Format};
use expect_test::expect_file;
use serde_json::Value;
use testkit::page;

use super::by_outcome;

/// A request that defines `f`, and `patch`, which takes words, where there are such tools.
fn asked(format: Format, choice: &str) -> epitome::Request {
    let body = match format {
        Format::OpenaiChat => format!(
            r#"{{"tools":[{{"type":"function","function":{{"name":"f"}}}},{{"type":"custom","custom":{{"name":"patch"}}}}],{choice},"messages":[{{"role":"user","content":"Go."}}]}}"#
        ),
        Format::OpenaiResponses => format!(
            r#"{{"tools":[{{"type":"function","name":"f"}},{{"type":"custom","name":"patch"}}],{choice},"input":"Go."}}"#
        ),
        Format::GeminiInteractions => {
            format!(r#"{{"tools":[{{"type":"function","name":"f"}}],{choice},"input":"Go."}}"#)
        }
        Format::Anthropic => format!(
            r#"{{"tools":[{{"name":"f","input_schema":{{"type":"object"}}}}],{choice},"messages":[{{"role":"user","content":"Go."}}]}}"#
        ),
        Format::Gemini => format!(
            r#"{{"tools":[{{"functionDeclarations":[{{"name":"f"}}]}}],{choice},"contents":[{{"role":"user","parts":[{{"text":"Go."}}]}}]}}"#
        ),
        _ => format!(
            r#"{{"toolConfig":{{"tools":[{{"toolSpec":{{"name":"f","inputSchema":{{"json":{{}}}}}}}}],"toolChoice":{{{choice}}}}},"messages":[{{"role":"user","content":[{{"text":"Go."}}]}}]}}"#
        ),
    };
    wire::parse(format, body).expect("a request")
}

/// What a body says of it.
fn said(text: &str) -> String {
    let body: Value = serde_json::from_str(text).expect("JSON");
    let said = [
        &body["tool_choice"],
        &body["parallel_tool_calls"],
        &body["toolConfig"]["functionCallingConfig"],
        &body["toolConfig"]["toolChoice"],
        &body["generation_config"]["tool_choice"],
    ];
    let said: Vec<String> =
        said.into_iter().filter(|one| !one.is_null()).map(Value::to_string).collect();
    said.join(" ")
}

#[test]
fn a_choice_among_tools_is_said_as_the_target_says_it() {
    page::check(&expect_file!["choices.txt"], |case| {
        let (from, _) = case.format();
        by_outcome(Format::ALL.into_iter().filter(|to| *to != from).map(|to| {
            let done = convert(&asked(from, &case.name), to);
            let lost = done.lost.iter().filter(|lost| lost.what == Loss::Parameter);
            let lost: Vec<String> = lost.map(|lost| format!(" (no {})", lost.name)).collect();
            (to, format!("{}{}", said(&done.text), lost.concat()))
        }))
    });
}

#[test]
fn without_tools_nothing_is_chosen() {
    let body = r#"{"tool_choice":"required","parallel_tool_calls":false,"messages":[{"role":"user","content":"Go."}]}"#;
    let request = wire::parse(Format::OpenaiChat, body.to_owned()).expect("a request");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::OpenaiChat) {
        let done = convert(&request, to);
        assert_eq!(said(&done.text), "", "{to}");
        let lost: Vec<&str> = done.lost.iter().map(|lost| lost.name.as_str()).collect();
        assert_eq!(lost, ["tool_choice", "parallel_tool_calls"], "{to}");
    }
}
