//! The smallest bodies that break a provider's rules, one for each.

mod interactions;
mod responses;
mod shapes;

const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const ANSWER: &str = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
const USER: &str = r#"{"role":"user","content":"hi"}"#;
const USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;

const ASK: &str = r#"{"role":"user","parts":[{"text":"hi"}]}"#;
const INVOKE: &str =
    r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]}"#;
const RESPOND: &str = r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"x"}}}]}"#;
const SAID: &str = r#"{"role":"model","parts":[{"text":"well"}]}"#;
const BID: &str = r#"{"role":"user","content":[{"text":"hi"}]}"#;
const APPLY: &str =
    r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
const TOOLS: &str =
    r#"{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}"#;
const YIELD: &str =
    r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}}]}"#;

/// A body (or a bare list) that breaks this rule, and no other.
///
/// # Panics
/// If no body is known: each rule of [`epitome::wire::RULES`] has one.
pub fn failing(rule: &str) -> String {
    if let Some(body) = shapes::failing(rule) {
        return body;
    }
    match rule {
        "chat/shape" => format!("[{USER},7]"),
        rule if rule.starts_with("interactions/") => interactions::failing(rule),
        "chat/no-messages" | "anthropic/no-messages" | "bedrock/no-messages" => {
            r#"{"messages":[]}"#.to_owned()
        }
        "gemini/no-contents" => r#"{"contents":[]}"#.to_owned(),
        "chat/answered" => format!("[{USER},{CALL},{USER}]"),
        "chat/orphan" => format!("[{USER},{ANSWER}]"),
        "chat/duplicate-result" => format!("[{USER},{CALL},{ANSWER},{ANSWER}]"),
        "chat/result-place" => format!("[{USER},{CALL},{USER},{ANSWER}]"),
        "chat/reused-id" => {
            format!("[{USER},{},{ANSWER},{ANSWER}]", twice(CALL, r#"{"id":"a""#, "]}"))
        }
        "chat/arguments" => format!("[{USER},{},{ANSWER}]", CALL.replace(r#""{}""#, "{}")),
        "chat/empty" => format!(r#"[{USER},{{"role":"assistant","content":null}}]"#),
        "chat/content" => {
            format!(r#"[{USER},{{"role":"user","content":[1,{{"type":"text","text":"x"}}]}}]"#)
        }
        "chat/tool-calls" => {
            format!(r#"[{USER},{{"role":"assistant","content":"hi","tool_calls":[]}}]"#)
        }
        "chat/name" => {
            format!("[{USER},{},{ANSWER}]", CALL.replace(r#""name":"f""#, r#""name":"f.g""#))
        }
        "anthropic/shape" => format!("[{USER},7]"),
        "anthropic/content" => {
            format!(r#"[{USER},{{"role":"user","content":[{{"type":"text","text":"x"}},7]}}]"#)
        }
        "anthropic/text" => String::from(
            r#"[{"role":"user","content":[{"type":"text"},{"type":"text","text":"x"}]}]"#,
        ),
        "anthropic/on-demand-compaction" => format!(
            r#"{{"compaction":{{"type":"summarize"}},"stop_sequences":["END"],"messages":[{USER}]}}"#
        ),
        "anthropic/first-role" => format!(r#"[{{"role":"assistant","content":"hi"}},{USER}]"#),
        "anthropic/system-place" => format!(r#"[{{"role":"system","content":"obey"}},{USER}]"#),
        "anthropic/answered" => format!("[{USER},{USE},{USER}]"),
        "anthropic/orphan" => format!("[{USER},{RESULT}]"),
        "anthropic/duplicate-result" => format!("[{USER},{USE},{RESULT},{RESULT}]"),
        "anthropic/result-place" => format!("[{USER},{USE},{USER},{RESULT}]"),
        "anthropic/reused-id" => format!("[{USER},{USE},{RESULT},{USE},{RESULT}]"),
        "anthropic/input" => format!("[{USER},{},{RESULT}]", USE.replace("{}", r#""{}""#)),
        "anthropic/side" => format!("[{USER},{}]", USE.replace("assistant", "user")),
        "anthropic/name" => {
            format!("[{USER},{},{RESULT}]", USE.replace("\"f\"", &format!("{:?}", "f".repeat(300))))
        }
        "anthropic/empty-text" => String::from(
            r#"[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"x"}]}]"#,
        ),
        "anthropic/blank-text" => String::from(
            r#"[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":" \n"}]}]"#,
        ),
        "anthropic/id" => format!("[{USER},{USE},{RESULT}]").replace(r#""a""#, r#""a.1""#),
        "anthropic/compaction" => format!(
            r#"[{USER},{{"role":"assistant","content":[{{"type":"compaction","content":""}},{{"type":"text","text":"so"}}]}}]"#
        ),
        "anthropic/cache-markers" => {
            let marked = |n: usize| {
                format!(r#"{{"type":"text","text":"{n}","cache_control":{{"type":"ephemeral"}}}}"#)
            };
            let blocks: Vec<String> = (1..=5).map(marked).collect();
            format!(r#"[{{"role":"user","content":[{}]}}]"#, blocks.join(","))
        }
        "anthropic/cache-order" => String::from(
            r#"[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]"#,
        ),
        "anthropic/too-many" => format!("[{}]", vec![USER; 100_001].join(",")),
        "anthropic/thinking-budget" => format!(
            r#"{{"max_tokens":1024,"thinking":{{"type":"enabled","budget_tokens":1024}},"messages":[{USER}]}}"#
        ),
        "anthropic/compaction-or-editing" => format!(
            r#"{{"compaction":{{"type":"summarize"}},"context_management":{{"edits":[]}},"messages":[{USER}]}}"#
        ),
        "anthropic/clear-thinking-first" => format!(
            r#"{{"context_management":{{"edits":[{{"type":"clear_tool_uses_20250919"}},{{"type":"clear_thinking_20251015"}}]}},"messages":[{USER}]}}"#
        ),
        "anthropic/compact-trigger" => format!(
            r#"{{"context_management":{{"edits":[{{"type":"compact_20260112","trigger":{{"type":"input_tokens","value":10000}}}}]}},"messages":[{USER}]}}"#
        ),
        "anthropic/empty" => format!(r#"[{USER},{{"role":"user","content":[]}}]"#),
        "anthropic/extra-member" => {
            format!("[{}]", USER.replace(r#""hi""#, r#""hi","ts":1700000000000"#))
        }
        "anthropic/block-type" => String::from(
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]"#,
        ),
        "anthropic/media-type" => String::from(
            r#"[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"PHN2Zz4="}}]}]"#,
        ),
        "anthropic/error-content" => {
            let image = r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true"#;
            format!("[{USER},{USE},{}]", RESULT.replace(r#""x""#, image))
        }
        "anthropic/signature" => format!(
            r#"{{"model":"claude-opus-5","messages":[{USER},{{"role":"assistant","content":[{{"type":"thinking","thinking":"so"}},{{"type":"text","text":"well"}}]}},{USER}]}}"#
        ),
        "anthropic/served-result" => format!(
            r#"[{USER},{{"role":"assistant","content":[{{"type":"advisor_tool_result","tool_use_id":"s","content":{{"type":"advisor_result","text":"so"}}}},{{"type":"text","text":"well"}}]}},{USER}]"#
        ),
        "anthropic/tool-names" => {
            let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
            format!(r#"{{"tools":[{tool},{tool}],"messages":[{USER}]}}"#)
        }
        "anthropic/system-text" => {
            format!(r#"{{"system":[{{"type":"text","text":""}}],"messages":[{USER}]}}"#)
        }
        "anthropic/thinking-first" => {
            format!(
                r#"{{"max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},"messages":[{USER},{USE},{RESULT}]}}"#
            )
        }
        "gemini/shape" => format!(r#"[{ASK},{{"role":"system","parts":[{{"text":"obey"}}]}}]"#),
        "gemini/empty" => format!(r#"[{ASK},{{"role":"model","parts":[]}}]"#),
        "gemini/data" => {
            format!("[{ASK},{}]", SAID.replace(r#"{"text":"well"}"#, r#"{},{"text":"x"}"#))
        }
        "gemini/one-of" => {
            format!("[{ASK},{}]", SAID.replace("}]", r#","inlineData":{"mimeType":"image/png"}}]"#))
        }
        "gemini/empty-text" => format!("[{ASK},{}]", SAID.replace("well", "")),
        "gemini/name" => {
            let nameless =
                |text: &str| text.replace(r#""id":"a","name":"f""#, r#""id":"a","name":"""#);
            format!("[{ASK},{},{RESPOND}]", nameless(INVOKE))
        }
        "gemini/args" => format!("[{ASK},{},{RESPOND}]", INVOKE.replace("{}", r#""{}""#)),
        "gemini/response" => {
            format!("[{ASK},{INVOKE},{}]", RESPOND.replace(r#"{"output":"x"}"#, r#"["x"]"#))
        }
        "gemini/response-name" => {
            format!("[{ASK},{INVOKE},{}]", RESPOND.replace(r#""name":"f","#, ""))
        }
        "gemini/side" => format!("[{ASK},{}]", INVOKE.replace("model", "user")),
        "gemini/opening" => format!("[{INVOKE},{RESPOND}]"),
        "gemini/call-place" => format!("[{ASK},{SAID},{INVOKE},{RESPOND}]"),
        "gemini/answered" => format!("[{ASK},{INVOKE},{ASK}]"),
        "gemini/orphan" => format!("[{ASK},{RESPOND}]"),
        "gemini/response-place" => format!("[{ASK},{INVOKE},{ASK},{RESPOND}]"),
        "gemini/signature" => {
            format!(r#"{{"model":"gemini-3-pro","contents":[{ASK},{INVOKE},{RESPOND}]}}"#)
        }
        "gemini/cached-frame" => format!(
            r#"{{"cachedContent":"cachedContents/1","systemInstruction":{{"parts":[{{"text":"x"}}]}},"contents":[{ASK}]}}"#
        ),
        "gemini/extra-member" => format!("[{}]", ASK.replace("]}", r#"],"ts":1700000000000}"#)),
        "gemini/tool-names" => {
            let declared = r#"{"functionDeclarations":[{"name":"f"},{"name":"f"}]}"#;
            format!(r#"{{"tools":[{declared}],"contents":[{ASK}]}}"#)
        }
        "bedrock/extra-member" => format!("[{}]", BID.replace("]}", r#"],"ts":1700000000000}"#)),
        "bedrock/tool-names" => {
            let tools = twice(TOOLS, r#"{"toolSpec"#, "]}");
            format!(r#"{{"toolConfig":{tools},"messages":[{BID}]}}"#)
        }
        "bedrock/shape" => format!("[{BID},7]"),
        "bedrock/first-role" => format!("[{}]", BID.replace("user", "assistant")),
        "bedrock/alternates" => format!("[{BID},{BID}]"),
        "bedrock/empty" => format!(r#"[{BID},{{"role":"assistant","content":[]}}]"#),
        "bedrock/block" => format!("[{}]", BID.replace("[{", "[{},{")),
        "bedrock/blank-text" => format!("[{}]", BID.replace("[{", r#"[{"text":" "},{"#)),
        "bedrock/answered" => format!("[{BID},{APPLY},{BID}]"),
        "bedrock/orphan" => {
            format!("[{}]", YIELD.replace("[{\"toolR", "[{\"text\":\"x\"},{\"toolR"))
        }
        "bedrock/duplicate-result" => {
            format!("[{BID},{APPLY},{}]", twice(YIELD, "{\"toolResult", "]}"))
        }
        "bedrock/result-place" => {
            format!(
                "[{BID},{APPLY},{}]",
                YIELD.replace(r#""content":[{"toolR"#, r#""content":[{"text":"x"},{"toolR"#)
            )
        }
        "bedrock/reused-id" => {
            format!(
                "[{BID},{},{}]",
                twice(APPLY, "{\"toolUse\"", "]}"),
                twice(YIELD, "{\"toolResult", "]}")
            )
        }
        "bedrock/id" => format!("[{BID},{APPLY},{YIELD}]").replace(r#""a""#, r#""a/b""#),
        "bedrock/name" => format!("[{BID},{},{YIELD}]", APPLY.replace(r#""f""#, r#""f.g""#)),
        "bedrock/input" => format!("[{BID},{},{YIELD}]", APPLY.replace("{}", r#""{}""#)),
        "bedrock/side" => {
            format!("[{}]", APPLY.replace("assistant", "user").replace("[{", r#"[{"text":"hi"},{"#))
        }
        "bedrock/tool-config" => format!(r#"{{"messages":[{BID},{APPLY},{YIELD}]}}"#),
        "bedrock/mixed-turn" => format!(
            r#"{{"modelId":"mistral.large","toolConfig":{TOOLS},"messages":[{BID},{APPLY},{}]}}"#,
            YIELD.replace("}}]}", r#"}},{"text":"x"}]}"#)
        ),
        "bedrock/thinking-first" => format!(
            r#"{{"additionalModelRequestFields":{{"thinking":{{"type":"enabled","budget_tokens":2048}}}},"toolConfig":{TOOLS},"messages":[{BID},{APPLY},{YIELD}]}}"#
        ),
        other => responses::failing(other),
    }
}

/// `text` with what stands between `from` and the last `to` said twice.
fn twice(text: &str, from: &str, to: &str) -> String {
    let start = text.find(from).expect("the text above");
    let end = text.rfind(to).expect("the text above");
    format!("{},{}", &text[..end], &text[start..])
}
