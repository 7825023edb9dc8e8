//! Bedrock: blocks of one member, words that say something, names, and words beside results.

use epitome::wire::Format;
use expect_test::expect;

use super::check;

const CALL: &str =
    r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}}]}"#;

const TOOLS: &str =
    r#"{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}"#;

fn body(frame: &str, messages: &str) -> String {
    format!(r#"{{{frame}"toolConfig":{TOOLS},"messages":[{messages}]}}"#)
}

fn says(role: &str, block: &str) -> String {
    let pair = if role == "user" {
        String::new()
    } else {
        r#"{"role":"user","content":[{"text":"Go."}]},"#.to_owned()
    };
    body("", &format!(r#"{pair}{{"role":"{role}","content":[{block}]}}"#))
}

#[test]
fn a_block_has_one_member_and_words_say_something() {
    check(
        Format::Bedrock,
        &[
            ("a text", says("user", r#"{"text":"x"}"#)),
            ("a blank one", says("user", r#"{"text":" \n"},{"text":"x"}"#)),
            ("a string for a block", says("user", r#""x""#)),
            ("a blank string", says("user", r#"" ",{"text":"x"}"#)),
            ("a number", says("user", r#"7,{"text":"x"}"#)),
            (
                "two members",
                says("user", r#"{"text":"x","image":{"format":"png","source":{"bytes":"aa"}}}"#),
            ),
            ("a member that isn't known", says("user", r#"{"future":{}}"#)),
            ("no member", says("user", r#"{},{"text":"x"}"#)),
        ],
        &expect![[r#"
            a text: sound
            a blank one
              bedrock/blank-text in 0:  DropPart(Slot(0))
            a string for a block
              bedrock/block in 0: a string Rewrite { slot: Slot(0), json: "{\"text\":\"x\"}" }
            a blank string
              bedrock/block in 0: no member DropPart(Slot(0))
            a number
              bedrock/block in 0: no member DropPart(Slot(0))
            two members
              bedrock/block in 0: several members Nothing
            a member that isn't known: sound
            no member
              bedrock/block in 0: no member DropPart(Slot(0))
        "#]],
    );
}

#[test]
fn calls_and_results_are_a_clients_where_nothing_says_otherwise() {
    let use_of = |members: &str| format!(r#"{{"toolUse":{{"toolUseId":"a",{members}}}}}"#);
    let result = |content: &str| {
        let result = format!(
            r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"a","content":{content}}}}}]}}"#
        );
        body("", &format!(r#"{{"role":"user","content":[{{"text":"Go."}}]}},{CALL},{result}"#))
    };
    let served = |blocks: &str| says("assistant", &format!(r#"{blocks},{{"text":"x"}}"#));
    let ran = r#"{"toolResult":{"toolUseId":"a","type":"server","content":[{"text":" "}]}}"#;
    check(
        Format::Bedrock,
        &[
            (
                "a call on the user's side",
                says("user", &format!(r#"{},{{"text":"x"}}"#, use_of(r#""name":"f","input":{}"#))),
            ),
            ("a name of other letters", says("assistant", &use_of(r#""name":"f.g","input":{}"#))),
            ("no name", says("assistant", &use_of(r#""name":"","input":{}"#))),
            ("an input that is no object", says("assistant", &use_of(r#""name":"f","input":"x""#))),
            (
                "a server's, named as it likes",
                served(&format!("{},{ran}", use_of(r#""name":"f.g","type":"server","input":"x""#))),
            ),
            ("words as a result", result(r#"[{"text":"x"}]"#)),
            ("blank words as a result", result(r#"[{"text":" "}]"#)),
            ("a string for the list", result(r#""x""#)),
        ],
        &expect![[r#"
            a call on the user's side
              bedrock/side in 0: f DropPart(Slot(0))
            a name of other letters
              bedrock/name in 1: f.g CallTool { slot: Slot(1), name: "f_g" }
            no name
              bedrock/name in 1:  CallTool { slot: Slot(1), name: "unknown" }
            an input that is no object
              bedrock/input in 1: f Rewrite { slot: Slot(1), json: "{\"value\":\"x\"}" }
            a server's, named as it likes: sound
            words as a result: sound
            blank words as a result
              bedrock/blank-text in 2: a result Rewrite { slot: Slot(2), json: "\"[empty result]\"" }
            a string for the list: sound
        "#]],
    );
}

#[test]
fn tools_that_were_called_are_defined_by_their_lawful_names() {
    let messages = format!(
        r#"{{"role":"user","content":[{{"text":"Go."}}]}},{CALL},{RESULT},{},{}"#,
        CALL.replace(r#""f""#, r#""g.h""#),
        RESULT
    );
    let request = epitome::wire::parse(Format::Bedrock, format!(r#"{{"messages":[{messages}]}}"#));
    let repaired = epitome::wire::repair(&request.expect("messages"));
    let body: serde_json::Value = serde_json::from_str(repaired.request.source()).expect("JSON");
    let tools = body["toolConfig"]["tools"].as_array().expect("tools").iter();
    let names: Vec<_> = tools.map(|tool| tool["toolSpec"]["name"].as_str().expect("one")).collect();
    assert_eq!(names, ["f", "g_h"]);
}

#[test]
fn only_some_models_take_words_beside_results() {
    let beside = RESULT.replace("}}]}", r#"}},{"text":"Go on."}]}"#);
    let all = |model: &str, result: &str| {
        body(
            &format!(r#""modelId":"{model}","model":"{model}","#),
            &format!(r#"{{"role":"user","content":[{{"text":"Go."}}]}},{CALL},{result}"#),
        )
    };
    check(
        Format::Bedrock,
        &[
            ("Claude", all("anthropic.claude-sonnet-4", &beside)),
            ("another", all("amazon.nova-pro-v1:0", &beside)),
            ("a result alone", all("amazon.nova-pro-v1:0", RESULT)),
        ],
        &expect![[r#"
            Claude: sound
            another
              bedrock/mixed-turn in 2: words beside results Nothing
            a result alone: sound
        "#]],
    );
}

#[test]
fn messages_in_a_row_are_joined_where_both_have_a_list() {
    let said = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let row = |content: &str| body("", &[said(r#"[{"text":"x"}]"#), said(content)].join(","));
    check(
        Format::Bedrock,
        &[("two lists", row(r#"[{"text":"y"}]"#)), ("a string", row(r#""y""#))],
        &expect![[r#"
            two lists
              bedrock/alternates in 1: the same role again Join { into: 0 }
            a string
              bedrock/alternates in 1: the same role again Nothing
              bedrock/block in 1: a string Rewrite { slot: Slot(1), json: "[{\"text\":\"y\"}]" }
        "#]],
    );
}
