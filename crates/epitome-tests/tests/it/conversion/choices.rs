//! Which tool is to be called, and how many at once, as each format says it.

use std::fmt::Write as _;

use epitome::convert::{Loss, convert};
use epitome::wire::{self, Format};
use expect_test::expect;
use serde_json::Value;

use super::by_outcome;

/// What may be said of it, each in its format's words; what no other format has comes last.
fn choices(format: Format) -> &'static [&'static str] {
    match format {
        Format::OpenaiChat => &[
            r#""tool_choice":"auto""#,
            r#""tool_choice":"none","parallel_tool_calls":true"#,
            r#""tool_choice":"required","parallel_tool_calls":false"#,
            r#""tool_choice":{"type":"custom","custom":{"name":"patch"}}"#,
            r#""tool_choice":{"type":"function","function":{"name":"g"}}"#,
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}"#,
        ],
        Format::OpenaiResponses => &[
            r#""parallel_tool_calls":false"#,
            r#""tool_choice":{"type":"custom","name":"patch"}"#,
            r#""tool_choice":{"type":"function","name":"f"}"#,
            r#""tool_choice":{"type":"web_search"}"#,
        ],
        Format::Anthropic => &[
            r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#,
            r#""tool_choice":{"type":"none"}"#,
            r#""tool_choice":{"type":"tool","name":"f"}"#,
        ],
        Format::Gemini => &[
            r#""toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}"#,
            r#""toolConfig":{"function_calling_config":{"mode":"NONE"}}"#,
            r#""tool_config":{"functionCallingConfig":{"mode":"ANY"}}"#,
            r#""toolConfig":{"functionCallingConfig":{"mode":"ANY","allowed_function_names":["f"]}}"#,
            r#""toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}"#,
            r#""toolConfig":{"retrievalConfig":{"languageCode":"en"}}"#,
        ],
        Format::GeminiInteractions => &[
            r#""generation_config":{"tool_choice":"validated"}"#,
            r#""generation_config":{"tool_choice":"any","seed":7}"#,
            r#""generation_config":{"tool_choice":{"allowed_tools":{"mode":"any","tools":["f"]}}}"#,
            r#""generation_config":{"tool_choice":{"allowed_tools":{"mode":"auto","tools":["f"]}}}"#,
        ],
        _ => &[r#""auto":{}"#, r#""any":{}"#, r#""tool":{"name":"f"}"#, r#""other":{}"#],
    }
}

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
    let mut all = String::new();
    for from in Format::ALL {
        for choice in choices(from) {
            writeln!(all, "{from}: {choice}").expect("a string takes all");
            let others = Format::ALL.into_iter().filter(|to| *to != from);
            all += &by_outcome(others.map(|to| {
                let done = convert(&asked(from, choice), to);
                let lost = done.lost.iter().filter(|lost| lost.what == Loss::Parameter);
                let lost: Vec<String> = lost.map(|lost| format!(" (no {})", lost.name)).collect();
                (to, format!("{}{}", said(&done.text), lost.concat()))
            }));
        }
    }
    expect![[r#"
        openai-chat: "tool_choice":"auto"
          anthropic: {"type":"auto"}
          gemini: {"mode":"AUTO"}
          openai-responses, gemini-interactions: "auto"
          bedrock: {"auto":{}}
        openai-chat: "tool_choice":"none","parallel_tool_calls":true
          anthropic: {"type":"none"} (no parallel_tool_calls)
          gemini: {"mode":"NONE"} (no parallel_tool_calls)
          openai-responses: "none" true
          bedrock:  (no parallel_tool_calls) (no tool_choice)
          gemini-interactions: "none" (no parallel_tool_calls)
        openai-chat: "tool_choice":"required","parallel_tool_calls":false
          anthropic: {"disable_parallel_tool_use":true,"type":"any"}
          gemini: {"mode":"ANY"} (no parallel_tool_calls)
          openai-responses: "required" false
          bedrock: {"any":{}} (no parallel_tool_calls)
          gemini-interactions: "any" (no parallel_tool_calls)
        openai-chat: "tool_choice":{"type":"custom","custom":{"name":"patch"}}
          anthropic: {"name":"patch","type":"tool"}
          gemini: {"allowedFunctionNames":["patch"],"mode":"ANY"}
          openai-responses: {"name":"patch","type":"custom"}
          bedrock: {"tool":{"name":"patch"}}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["patch"]}}
        openai-chat: "tool_choice":{"type":"function","function":{"name":"g"}}
          anthropic, gemini, openai-responses, bedrock, gemini-interactions:  (no tool_choice)
        openai-chat: "tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}
          anthropic, gemini, openai-responses, bedrock, gemini-interactions:  (no tool_choice)
        anthropic: "tool_choice":{"type":"auto","disable_parallel_tool_use":true}
          openai-chat, openai-responses: "auto" false
          gemini: {"mode":"AUTO"} (no parallel_tool_calls)
          bedrock: {"auto":{}} (no parallel_tool_calls)
          gemini-interactions: "auto" (no parallel_tool_calls)
        anthropic: "tool_choice":{"type":"none"}
          openai-chat, openai-responses, gemini-interactions: "none"
          gemini: {"mode":"NONE"}
          bedrock:  (no tool_choice)
        anthropic: "tool_choice":{"type":"tool","name":"f"}
          openai-chat: {"function":{"name":"f"},"type":"function"}
          gemini: {"allowedFunctionNames":["f"],"mode":"ANY"}
          openai-responses: {"name":"f","type":"function"}
          bedrock: {"tool":{"name":"f"}}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["f"]}}
        gemini: "toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}
          openai-chat, openai-responses, gemini-interactions: "auto"
          anthropic: {"type":"auto"}
          bedrock: {"auto":{}}
        gemini: "toolConfig":{"function_calling_config":{"mode":"NONE"}}
          openai-chat, openai-responses, gemini-interactions: "none"
          anthropic: {"type":"none"}
          bedrock:  (no tool_choice)
        gemini: "tool_config":{"functionCallingConfig":{"mode":"ANY"}}
          openai-chat, openai-responses: "required"
          anthropic: {"type":"any"}
          bedrock: {"any":{}}
          gemini-interactions: "any"
        gemini: "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowed_function_names":["f"]}}
          openai-chat: {"function":{"name":"f"},"type":"function"}
          anthropic: {"name":"f","type":"tool"}
          openai-responses: {"name":"f","type":"function"}
          bedrock: {"tool":{"name":"f"}}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["f"]}}
        gemini: "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}
          openai-chat, anthropic, openai-responses, bedrock, gemini-interactions:  (no toolConfig)
        gemini: "toolConfig":{"retrievalConfig":{"languageCode":"en"}}
          openai-chat, anthropic, openai-responses, bedrock, gemini-interactions:  (no toolConfig)
        openai-responses: "parallel_tool_calls":false
          openai-chat: false
          anthropic: {"disable_parallel_tool_use":true,"type":"auto"}
          gemini, bedrock, gemini-interactions:  (no parallel_tool_calls)
        openai-responses: "tool_choice":{"type":"custom","name":"patch"}
          openai-chat: {"custom":{"name":"patch"},"type":"custom"}
          anthropic: {"name":"patch","type":"tool"}
          gemini: {"allowedFunctionNames":["patch"],"mode":"ANY"}
          bedrock: {"tool":{"name":"patch"}}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["patch"]}}
        openai-responses: "tool_choice":{"type":"function","name":"f"}
          openai-chat: {"function":{"name":"f"},"type":"function"}
          anthropic: {"name":"f","type":"tool"}
          gemini: {"allowedFunctionNames":["f"],"mode":"ANY"}
          bedrock: {"tool":{"name":"f"}}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["f"]}}
        openai-responses: "tool_choice":{"type":"web_search"}
          openai-chat, anthropic, gemini, bedrock, gemini-interactions:  (no tool_choice)
        bedrock: "auto":{}
          openai-chat, openai-responses, gemini-interactions: "auto"
          anthropic: {"type":"auto"}
          gemini: {"mode":"AUTO"}
        bedrock: "any":{}
          openai-chat, openai-responses: "required"
          anthropic: {"type":"any"}
          gemini: {"mode":"ANY"}
          gemini-interactions: "any"
        bedrock: "tool":{"name":"f"}
          openai-chat: {"function":{"name":"f"},"type":"function"}
          anthropic: {"name":"f","type":"tool"}
          gemini: {"allowedFunctionNames":["f"],"mode":"ANY"}
          openai-responses: {"name":"f","type":"function"}
          gemini-interactions: {"allowed_tools":{"mode":"any","tools":["f"]}}
        bedrock: "other":{}
          openai-chat, anthropic, gemini, openai-responses, gemini-interactions:  (no toolConfig)
        gemini-interactions: "generation_config":{"tool_choice":"validated"}
          openai-chat, anthropic, gemini, openai-responses, bedrock:  (no tool_choice)
        gemini-interactions: "generation_config":{"tool_choice":"any","seed":7}
          openai-chat: "required"
          anthropic: {"type":"any"} (no generation_config.seed)
          gemini: {"mode":"ANY"}
          openai-responses: "required" (no generation_config.seed)
          bedrock: {"any":{}} (no generation_config.seed)
        gemini-interactions: "generation_config":{"tool_choice":{"allowed_tools":{"mode":"any","tools":["f"]}}}
          openai-chat: {"function":{"name":"f"},"type":"function"}
          anthropic: {"name":"f","type":"tool"}
          gemini: {"allowedFunctionNames":["f"],"mode":"ANY"}
          openai-responses: {"name":"f","type":"function"}
          bedrock: {"tool":{"name":"f"}}
        gemini-interactions: "generation_config":{"tool_choice":{"allowed_tools":{"mode":"auto","tools":["f"]}}}
          openai-chat, anthropic, gemini, openai-responses, bedrock:  (no tool_choice)
    "#]].assert_eq(&all);
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
