//! What a provider's SDK has no shape for, and what only a look at a request asks for.

use super::{ANSWER, ASK, BID, CALL, SAID, USE, USER, twice};

const STEP: &str = r#"{"type":"user_input","content":[{"type":"text","text":"hi"}]}"#;
const ITEM: &str = r#"{"type":"message","role":"user","content":"hi"}"#;

/// Half of a character, as clients that cut texts by code units write it.
const HALF: &str = r"half \ud83d";
const LONG_ID: &str = r#""id":"a-call-of-a-tool-with-an-id-that-is-too-long""#;

/// `None` for a rule of another kind.
pub(super) fn failing(rule: &str) -> Option<String> {
    let claude = |blocks: &str| format!(r#"[{{"role":"user","content":[{blocks}]}}]"#);
    let said =
        |blocks: &str| format!(r#"[{USER},{{"role":"assistant","content":[{blocks}]}},{USER}]"#);
    let search = r#"{"type":"server_tool_use","id":"srvtoolu_a","name":"web_search","input":{}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_a","content":[]}"#;
    let words = r#"{"type":"text","text":"well"}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"g"}]}]}"#;
    let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
    let part = |part: &str| format!("[{ASK},{}]", SAID.replace(r#"{"text":"well"}"#, part));
    let step = |step: &str| format!("[{STEP},{step},{STEP}]");
    let item = |item: &str| format!("[{ITEM},{item},{ITEM}]");
    Some(match rule {
        "chat/length" => format!(
            r#"{{"model":"gpt-4.1","messages":[{USER},{},{}]}}"#,
            CALL.replace(r#""id":"a""#, LONG_ID),
            ANSWER.replace(r#"_id":"a""#, &LONG_ID.replacen(r#""id"#, "_id", 1)),
        ),
        "chat/form" => {
            let image = r#"[{"type":"image_url","image_url":"https://example.org/a.png"}]"#;
            format!(r#"{{"model":"gpt-4.1","messages":[{}]}}"#, USER.replace(r#""hi""#, image))
        }
        "chat/json" | "anthropic/json" => format!("[{}]", USER.replace("hi", HALF)),
        "bedrock/json" => format!("[{}]", BID.replace("hi", HALF)),
        "gemini/json" => format!("[{}]", ASK.replace("hi", HALF)),
        "interactions/json" => format!("[{}]", STEP.replace("hi", HALF)),
        "responses/json" => format!("[{}]", ITEM.replace("hi", HALF)),
        "chat/foreign-block" => format!(
            r#"[{USER},{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]}}]"#
        ),
        "anthropic/unknown-type" => claude(r#"{"type":"hologram","data":"x"}"#),
        "anthropic/value" => {
            claude(r#"{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"5M"}}"#)
        }
        "anthropic/missing" => {
            claude(r#"{"type":"text","text":"hi","cache_control":{"ttl":"5m"}}"#)
        }
        "anthropic/block-side" => claude(
            r#"{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"text","text":"hi"}"#,
        ),
        "anthropic/unserved" => said(&format!("{search},{words}")),
        "anthropic/reused-served-id" => said(&format!("{search},{found},{search},{found},{words}")),
        "anthropic/tool-reference" => {
            format!(r#"{{"tools":[{tool}],"messages":[{USER},{USE},{result}]}}"#)
        }
        "bedrock/unknown-block" => {
            format!("[{}]", BID.replace(r#"{"text":"hi"}"#, r#"{"text":"hi"},{"hologram":{}}"#))
        }
        "bedrock/value" => format!(
            "[{}]",
            BID.replace("}]", r#"},{"image":{"format":"jpg","source":{"bytes":"iVBORw0KGgo="}}}]"#)
        ),
        "bedrock/missing" => format!("[{}]", BID.replace("}]", r#"},{"cachePoint":{}}]"#)),
        "gemini/unknown-part" => part(r#"{"text":"well"},{"hologram":{}}"#),
        "gemini/value" => format!(
            "[{}]",
            ASK.replace(
                "}]",
                r#"},{"inlineData":{"mimeType":"image/jpg","data":"iVBORw0KGgo="}}]"#
            )
        ),
        "gemini/missing" => part(
            r#"{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"output":"1"}}"#,
        ),
        "gemini/served-result" => {
            part(r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"well"}"#)
        }
        "interactions/unknown-type" => step(r#"{"type":"hologram"}"#),
        "interactions/extra-member" => format!("[{}]", STEP.replacen('{', r#"{"ts":1,"#, 1)),
        "interactions/value" => {
            let image = r#"{"type":"image","mime_type":"image/png","data":"data:image/png;base64,iVBORw0KGgo="}"#;
            format!("[{}]", STEP.replace("}]", &format!("}},{image}]")))
        }
        "interactions/missing" => step(r#"{"type":"google_search_call","arguments":{}}"#),
        "interactions/served-result" => {
            step(r#"{"type":"google_search_result","call_id":"b","result":[]}"#)
        }
        "responses/unknown-type" => item(r#"{"type":"hologram"}"#),
        "responses/extra-member" => format!("[{}]", ITEM.replacen('{', r#"{"ts":1,"#, 1)),
        "responses/value" => format!(
            "[{}]",
            ITEM.replace(
                r#""hi""#,
                r#"[{"type":"input_image","image_url":"data:image/jpg;base64,iVBORw0KGgo="}]"#
            )
        ),
        "responses/missing" => format!(
            r#"[{ITEM},{{"type":"reasoning","encrypted_content":"gAAA"}},{{"type":"message","role":"assistant","content":"well"}}]"#
        ),
        "responses/approval" => item(
            r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#,
        ),
        "responses/tool-names" => {
            let tools = twice(r#"[{"type":"function","name":"f"}]"#, "{", "]");
            format!(r#"{{"tools":{tools},"input":[{ITEM}]}}"#)
        }
        _ => return None,
    })
}
