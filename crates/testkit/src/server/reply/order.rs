//! JSON with its keys in the order in which providers write them: clients send much of an answer back as it
//! came, and captures of them are to look like the real thing.

use serde_json::{Map, Value};

use crate::server::Api;
use epitome::word_list::words;

/// Keys in the order of each provider; others follow in alphabetical order.
fn ranks(api: Api) -> &'static [&'static str] {
    match api {
        Api::Anthropic => &words!(
            "model type error index id message content_block delta role content name input text \
             thinking signature data tool_use_id stop_reason stop_sequence usage"
        ),
        Api::Responses => &words!(
            "type sequence_number id object created_at status background error incomplete_details \
             instructions max_output_tokens model output encrypted_content summary arguments \
             call_id input name content role item_id output_index content_index annotations \
             logprobs text"
        ),
        Api::Chat => &words!(
            "id object created model choices index type function message delta role name arguments \
             content tool_calls refusal annotations logprobs finish_reason prompt_tokens \
             completion_tokens total_tokens usage"
        ),
        Api::Gemini => &words!(
            "candidates content text functionCall name args parts role finishReason index \
             promptTokenCount candidatesTokenCount totalTokenCount"
        ),
        Api::Interactions => {
            &["type", "id", "name", "arguments", "signature", "summary", "content", "text"]
        }
        Api::Converse => &["output", "message", "role", "content", "stopReason", "usage"],
    }
}

/// What the model itself wrote keeps its own order.
const ITS_OWN: [&str; 3] = ["input", "args", "arguments"];

/// `value` as `api` writes it.
pub fn written(api: Api, value: &Value) -> String {
    let mut out = String::new();
    write(ranks(api), value, &mut out);
    out
}

fn write(ranks: &[&str], value: &Value, out: &mut String) {
    match value {
        Value::Array(list) => {
            out.push('[');
            for (n, value) in list.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write(ranks, value, out);
            }
            out.push(']');
        }
        Value::Object(map) => object(ranks, map, out),
        plain => *out += &plain.to_string(),
    }
}

fn object(ranks: &[&str], map: &Map<String, Value>, out: &mut String) {
    let rank = |key: &str| ranks.iter().position(|known| *known == key).unwrap_or(ranks.len());
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    out.push('{');
    for (n, (key, value)) in entries.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        *out += &Value::String(key.clone()).to_string();
        out.push(':');
        if ITS_OWN.contains(&key.as_str()) {
            *out += &value.to_string();
        } else {
            write(ranks, value, out);
        }
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_stand_where_the_provider_puts_them() {
        let call =
            json!({"input": {"type": 1, "a": 2}, "name": "f", "id": "toolu_1", "type": "tool_use"});
        let shown = written(Api::Anthropic, &json!([call, "\"", null]));
        let expected =
            r#"[{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":2,"type":1}},"\"",null]"#;
        assert_eq!(shown, expected);
    }
}
