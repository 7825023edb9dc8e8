//! Whether requests suit models.

use std::fmt::Write as _;

use epitome::count::Count;
use epitome::model::capability::{MisfitKind, Sure, misfits};
use epitome::model::{Model, Registry};
use epitome::wire::{Format, parse};
use expect_test::expect;

fn find(name: &str) -> &'static Model {
    Registry::built_in().find(name).expect("in the table")
}

/// What doesn't suit, a line each.
fn check(format: Format, body: &str, model: &str, size: Count) -> String {
    let request = parse(format, body.to_owned()).expect("a body");
    let mut out = String::new();
    for one in misfits(&request, find(model), size) {
        let at = one.entry.map_or_else(String::new, |at| format!(" at {at}"));
        let sure = if one.sure == Sure::Yes { "" } else { " maybe" };
        writeln!(out, "{}{at}{sure}: {}", one.subject.name(), one.detail).expect("a string");
    }
    out
}

const USER: &str = r#"{"role":"user","content":"hi"}"#;

#[test]
fn what_suits_is_left_alone() {
    let body = format!(
        r#"{{"model":"claude-opus-4-6","max_tokens":64000,"thinking":{{"type":"adaptive"}},"messages":[{USER}]}}"#
    );
    assert_eq!(check(Format::Anthropic, &body, "claude-opus-4-6", Count::exact(5)), "");
    let lines = format!("{USER}\n{USER}");
    assert_eq!(check(Format::OpenaiChat, &lines, "gpt-4", Count::exact(5)), "");
}

#[test]
fn windows_and_replies_have_their_size() {
    let body = format!(r#"{{"model":"gpt-4","max_tokens":5000,"messages":[{USER}]}}"#);
    expect![[r#"
        model/window: 9000 tokens; the model takes 8192
        model/reply: 5000 tokens asked for; the model writes 4096
    "#]]
    .assert_eq(&check(Format::OpenaiChat, &body, "gpt-4", Count::exact(9000)));
    expect![[r#"
        model/window maybe: 8000 tokens (at most 9000); the model takes 8192
        model/room maybe: 8000 tokens and 5000 for the reply; the window is 8192
        model/reply: 5000 tokens asked for; the model writes 4096
    "#]]
    .assert_eq(&check(Format::OpenaiChat, &body, "gpt-4", Count::estimated(8000, 9000)));
    let responses = r#"{"model":"gpt-6-sol","max_output_tokens":200000,"input":"hi"}"#;
    expect![[r#"
        model/reply: 200000 tokens asked for; the model writes 128000
    "#]]
    .assert_eq(&check(Format::OpenaiResponses, responses, "gpt-6-sol", Count::exact(1)));
}

#[test]
fn not_every_model_sees() {
    let image = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#;
    let body = format!(r#"{{"messages":[{USER},{image}]}}"#);
    expect![[r#"
        model/images at 1: the model sees no images
    "#]]
    .assert_eq(&check(Format::OpenaiChat, &body, "deepseek-chat", Count::exact(5)));
    assert_eq!(check(Format::OpenaiChat, &body, "gpt-6-sol", Count::exact(5)), "");
}

#[test]
fn some_models_want_their_reasoning_back_beside_calls() {
    let call = |thought: &str, id: &str| {
        format!(
            r#"{{"role":"assistant"{thought},"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"x"}}"#
        )
    };
    let check = |calls: &[String], model| {
        let body = format!(r#"{{"messages":[{USER},{}]}}"#, calls.join(","));
        check(Format::OpenaiChat, &body, model, Count::exact(5))
    };
    let thought = r#","reasoning_content":"hm""#;
    let (whole, bare) = (call(thought, "a"), call("", "b"));
    for model in ["deepseek-reasoner", "kimi-k2.5"] {
        assert_eq!(
            check(&[whole.clone(), bare.clone()], model),
            "model/reasoning-back at 3: calls of the open turn without reasoning_content\n"
        );
        assert_eq!(
            check(std::slice::from_ref(&bare), model),
            "model/reasoning-back at 1 maybe: calls of the open turn without reasoning_content\n"
        );
        assert_eq!(check(std::slice::from_ref(&whole), model), "");
        // What was answered is over.
        assert_eq!(check(&[bare.clone(), USER.to_owned()], model), "");
    }
    assert_eq!(check(&[bare], "gpt-4.1"), "");
}

#[test]
fn the_newest_of_openai_take_tools_in_responses_only() {
    let body = format!(
        r#"{{"messages":[{USER}],"tools":[{{"type":"function","function":{{"name":"f"}}}}]}}"#
    );
    let chat = |model| check(Format::OpenaiChat, &body, model, Count::exact(5));
    assert_eq!(
        chat("gpt-6-sol"),
        "model/tools-here: tools beside reasoning; the model takes them in Responses only\n"
    );
    assert_eq!(chat("gpt-4.1"), "");
    let items = r#"{"input":"hi","tools":[{"type":"function","name":"f"}]}"#;
    assert_eq!(check(Format::OpenaiResponses, items, "gpt-6-sol", Count::exact(5)), "");
}

#[test]
fn anthropics_models_differ() {
    let body = r#"{"model":"claude-opus-4-5","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024},
        "tool_choice":{"type":"any"},"messages":[
        {"role":"user","content":"hi"},{"role":"system","content":"be brief"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"I"}]}]}"#;
    expect![[r#"
        model/foreign-reasoning at 2 maybe: signed reasoning of claude-opus-4-5: dropped where it can't be read
        model/thinking: thinking "enabled"; the model takes adaptive
        model/forced-tool: tool_choice "any"; the model chooses by itself
        model/prefill at 2: the last message is the assistant's
    "#]]
    .assert_eq(&check(Format::Anthropic, body, "claude-opus-5-5", Count::exact(5)));
    expect![[r#"
        model/mid-system at 1: role "system" among the messages
    "#]]
    .assert_eq(&check(Format::Anthropic, body, "claude-opus-4-5", Count::exact(5)));
    let disabled = format!(r#"{{"thinking":{{"type":"disabled"}},"messages":[{USER}]}}"#);
    expect![[r#"
        model/thinking: thinking "disabled"; the model takes adaptive
    "#]]
    .assert_eq(&check(Format::Anthropic, &disabled, "claude-fable-5-1", Count::exact(5)));
}

#[test]
fn every_subject_has_its_name() {
    assert_eq!(MisfitKind::Window.name(), "model/window");
    assert_eq!(
        serde_json::to_string(&MisfitKind::ForcedTool).expect("a string"),
        "\"forced-tool\""
    );
}
