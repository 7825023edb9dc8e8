//! Gemini Interactions.

const ASK: &str = r#"{"type":"user_input","content":[{"type":"text","text":"hi"}]}"#;
const CALL: &str = r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#;
const RESULT: &str = r#"{"type":"function_result","call_id":"a","result":"x"}"#;

pub(super) fn failing(rule: &str) -> String {
    match rule {
        "interactions/no-input" => r#"{"input":[]}"#.to_owned(),
        "interactions/shape" => format!("[{ASK},7]"),
        "interactions/empty" => format!(r#"[{ASK},{{"type":"model_output","content":[]}}]"#),
        "interactions/content" => format!("[{}]", ASK.replace("[{", "[{},{")),
        "interactions/name" => format!("[{ASK},{},{RESULT}]", CALL.replace(r#""f""#, r#""""#)),
        "interactions/arguments" => {
            format!("[{ASK},{},{RESULT}]", CALL.replace("{}", r#""{}""#))
        }
        "interactions/result" => format!("[{ASK},{CALL},{}]", RESULT.replace(r#""x""#, "7")),
        "interactions/answered" => format!("[{ASK},{CALL},{ASK}]"),
        "interactions/orphan" => format!("[{ASK},{RESULT}]"),
        "interactions/duplicate-result" => format!("[{ASK},{CALL},{RESULT},{RESULT}]"),
        "interactions/result-place" => format!("[{ASK},{CALL},{ASK},{RESULT}]"),
        "interactions/reused-id" => format!("[{ASK},{CALL},{RESULT},{CALL},{RESULT}]"),
        "interactions/tool-names" => {
            let tool = r#"{"type":"function","name":"f"}"#;
            format!(r#"{{"tools":[{tool},{tool}],"input":[{ASK}]}}"#)
        }
        other => panic!("no failing body for {other}"),
    }
}
