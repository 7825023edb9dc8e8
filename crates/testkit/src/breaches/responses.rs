//! OpenAI Responses.

const USER: &str = r#"{"type":"message","role":"user","content":"hi"}"#;
const CALL: &str = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
const THOUGHT: &str = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}"#;

pub(super) fn failing(rule: &str) -> String {
    let long = format!("\"{}\"", "c".repeat(65));
    let message = |members: &str| format!(r#"[{USER},{{"type":"message",{members}}}]"#);
    match rule {
        "responses/shape" => format!("[{USER},7]"),
        "responses/no-items" => r#"{"input":[]}"#.to_owned(),
        "responses/answered" => format!("[{USER},{CALL},{USER}]"),
        "responses/orphan" => format!("[{USER},{OUTPUT}]"),
        "responses/duplicate-output" => format!("[{USER},{CALL},{OUTPUT},{OUTPUT}]"),
        "responses/output-place" => format!("[{USER},{OUTPUT},{CALL}]"),
        "responses/reused-call-id" => format!("[{USER},{CALL},{OUTPUT},{CALL},{OUTPUT}]"),
        "responses/long-call-id" => format!("[{USER},{CALL},{OUTPUT}]").replace("\"a\"", &long),
        "responses/reasoning-follows" => format!("[{USER},{THOUGHT},{USER}]"),
        "responses/stored" => {
            format!(r#"{{"store":false,"input":[{USER},{},{CALL}]}}"#, THOUGHT.replace("gAAA", ""))
        }
        "responses/item-id" => {
            format!("[{USER},{},{OUTPUT}]", CALL.replacen('{', r#"{"id":"item_1","#, 1))
        }
        "responses/duplicate-item" => format!("[{USER},{THOUGHT},{THOUGHT},{CALL}]"),
        "responses/content-type" => {
            message(r#""role":"assistant","content":[{"type":"input_text","text":"x"}]"#)
        }
        "responses/empty" => message(r#""role":"assistant","content":null"#),
        "responses/arguments" => format!("[{USER},{},{OUTPUT}]", CALL.replace(r#""{}""#, "{}")),
        "responses/output" => format!("[{USER},{CALL},{}]", OUTPUT.replace(r#""x""#, "null")),
        "responses/name" => format!("[{USER},{},{OUTPUT}]", CALL.replace(r#""f""#, r#""f.g h""#)),
        "responses/trigger-last" => format!(r#"[{USER},{{"type":"compaction_trigger"}},{USER}]"#),
        "responses/history" => format!(
            r#"{{"previous_response_id":"resp_1","conversation":{{"id":"conv_1"}},"input":[{USER}]}}"#
        ),
        "responses/cache-breakpoints" => {
            let part = r#"{"type":"input_text","text":"x","prompt_cache_breakpoint":{"type":"ephemeral"}}"#;
            let parts = [part; 4].join(",");
            format!(r#"{{"input":[{{"role":"user","content":[{parts}]}}]}}"#)
        }
        "responses/compact-threshold" => format!(
            r#"{{"context_management":[{{"type":"compaction","compact_threshold":500}}],"input":[{USER}]}}"#
        ),
        other => panic!("no failing body for {other}"),
    }
}
