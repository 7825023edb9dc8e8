//! Whether a provider would take a transcript, as it stands at any moment.

use serde_json::{Value, json};

use super::dress::ON;
use super::models::Model;
use super::rules::{INTERLEAVED, SENTINEL, field, list, text};
use super::{Api, Call, Endpoint, Judge, Strangers, dressed};
use epitome::word_list::words;

/// Everything that a request may ask for by name.
const BETAS: [&str; 5] = words!(
    "compact-2026-01-12 compact-2026-09-04 context-management-2025-06-27 \
     message-threads-2026-08-12 thinking-binding-controls-2026-08-01"
);

/// Whether the provider of a wire format, by its name, would take `body`: a request, or a bare list of entries.
///
/// A transcript may be taken at any moment. So calls at the very end may be open, the model's words may be the last, and it may be of any length. Blocks, members and signatures that nobody here knows
/// are let through ([`Strangers::Welcome`]), and what the provider keeps is taken to be there.
///
/// # Errors
/// The provider's refusal.
///
/// # Panics
/// If no API here speaks that format.
pub fn accepts(format: &str, body: &Value) -> Result<(), String> {
    let api = Api::of_format(format).unwrap_or_else(|| panic!("no API speaks {format}"));
    let key = api.list();
    let is_bare = match &body[key] {
        Value::String(_) => key == "input",
        Value::Object(_) => api == Api::Interactions,
        _ => false,
    };
    if !(body.is_array() || body[key].is_array() || is_bare) {
        return Err(format!("{key}: Field required"));
    }
    let entries = if body.is_array() { body } else { &body[key] };
    let goes_on: &[&str] = match api {
        Api::Responses => &["previous_response_id", "conversation", "prompt"],
        Api::Interactions => &["previous_interaction_id", "cached_content"],
        _ => &[],
    };
    let is_elsewhere = goes_on.iter().any(|key| !body[key].is_null());
    if entries.as_array().is_some_and(Vec::is_empty) && !is_elsewhere {
        return Err(format!("{key}: List should have at least 1 item"));
    }
    let model = model(api, body);
    let mut dressed = dressed(api, &at_rest(api, key, body), &model.name);
    if api == Api::Converse && body.is_object() && body["toolConfig"].is_null() {
        // Who sends a whole request defines the tools.
        dressed.as_object_mut().expect("a request").remove("toolConfig");
    }
    let mut betas: Vec<String> = BETAS.iter().map(|beta| (*beta).to_owned()).collect();
    // The tools that it is dressed in are not the sender's.
    if !list(&body["tools"]).is_empty() {
        betas.push(INTERLEAVED.to_owned());
    }
    let mut judge = Judge { strangers: Strangers::Welcome, ..Judge::default() };
    let name = model.name.clone();
    judge.models.put(model);
    let call = Call {
        endpoint: Endpoint::Count,
        model: Some(&name),
        betas: &betas,
        ..Call::new(api, &dressed)
    };
    judge.validate(&call).map(|_| ()).map_err(|refusal| refusal.message)
}

/// The model that is asked, with room for everything: the one of the body where rules depend on it, else one that
/// takes all that any takes.
fn model(api: Api, body: &Value) -> Model {
    let (asked, usual) = match api {
        Api::Anthropic => ("", "claude-opus-4-8"),
        Api::Responses | Api::Chat => ("", "gpt-4.1"),
        Api::Gemini | Api::Interactions => (text(&body["model"]), "gemini-2.5-pro"),
        Api::Converse => (text(&body["modelId"]), "claude-opus-4-8"),
    };
    let model = Model::named(asked).or_else(|| Model::named(usual)).expect("it is in the table");
    Model { window: u64::MAX / 2, ..model }
}

/// `body` with what was said before it, where the provider keeps that, and with something said.
fn at_rest(api: Api, key: &str, body: &Value) -> Value {
    let mut body = if body.is_array() { json!({key: body}) } else { body.clone() };
    let Some(entries) = body[key].as_array_mut() else { return body };
    // The last reply may be empty, and be one with what was said before it.
    if let (Api::Anthropic, [.., before, last]) = (api, entries.as_slice())
        && before["role"] == "assistant"
        && last["role"] == "assistant"
        && (last["content"] == "" || last["content"].as_array().is_some_and(Vec::is_empty))
    {
        entries.pop();
    }
    if entries.is_empty() {
        entries.push(match api {
            Api::Gemini => json!({"role": "user", "parts": [{"text": ON}]}),
            Api::Converse => json!({"role": "user", "content": [{"text": ON}]}),
            Api::Interactions => json!({"type": "user_input", "content": ON}),
            _ => json!({"role": "user", "content": ON}),
        });
    }
    match api {
        Api::Anthropic if body["thread"]["previous_message_id"].is_string() => {
            let entries = body[key].as_array_mut().expect("it is a list");
            let first = list(&entries[0]["content"]);
            let results = first.iter().filter(|block| block["type"] == "tool_result");
            let calls: Vec<Value> = results
                .map(|result| json!({"type": "tool_use", "id": result["tool_use_id"], "name": "f", "input": {}}))
                .collect();
            if !calls.is_empty() {
                let kept = [
                    json!({"role": "user", "content": ON}),
                    json!({"role": "assistant", "content": calls}),
                ];
                entries.splice(0..0, kept);
            }
        }
        Api::Gemini if !field(&body, "cachedContent").is_null() => cached(&mut body),
        _ => {}
    }
    body
}

/// Puts what is cached before the contents, where they may follow cached contents: calls for the responses that the
/// user's side begins with.
fn cached(body: &mut Value) {
    let own = ["systemInstruction", "tools", "toolConfig"];
    if own.iter().any(|key| !field(body, key).is_null()) {
        return;
    }
    let map = body.as_object_mut().expect("a request");
    map.remove("cachedContent");
    map.remove("cached_content");
    let mut said = vec![json!({"role": "user", "parts": [{"text": ON}]})];
    let mut is_first = true;
    for content in list(&body["contents"]) {
        is_first &= content["role"] != "model";
        let results = list(&content["parts"]).iter().map(|part| field(part, "functionResponse"));
        let calls: Vec<Value> = results
            .filter(|result| result.is_object() && is_first)
            .map(|result| {
                let call = json!({"id": result["id"], "name": result["name"]});
                json!({"functionCall": call, "thoughtSignature": SENTINEL})
            })
            .collect();
        if !calls.is_empty() {
            said.push(json!({"role": "model", "parts": calls}));
        }
        said.push(content.clone());
    }
    body["contents"] = Value::Array(said);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(format: &str, body: &Value) -> bool {
        accepts(format, body).is_ok()
    }

    #[test]
    fn a_transcript_may_be_taken_at_any_moment() {
        let go = json!({"role": "user", "content": "Go."});
        let calls = |ids: &[&str]| {
            let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
            json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()})
        };
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]});
        for whole in [
            json!([go]),
            json!([go, calls(&["a", "b"])]),
            json!([go, {"role": "assistant", "content": "Well."}]),
            json!([go, {"role": "assistant", "content": ""}]),
            json!([go, calls(&["a"]), {"role": "assistant", "content": ""}]),
        ] {
            assert_eq!(accepts("anthropic", &whole), Ok(()), "{whole}");
        }
        assert!(!takes("anthropic", &json!([go, calls(&["a", "b"]), result])));
        assert!(!takes("anthropic", &json!([go, calls(&["a"]), go])));
        assert!(!takes("anthropic", &json!({"input": []})));
        for nothing in [json!([]), json!({"messages": []})] {
            assert!(!takes("anthropic", &nothing), "{nothing}");
        }
        assert!(takes("openai-responses", &json!({"input": "Go."})));
        // A compaction is asked for when the calls are answered.
        let now = json!({"compaction": {"type": "summarize"}, "messages": [go, calls(&["a"])]});
        assert!(!takes("anthropic", &now));
    }

    #[test]
    fn what_the_provider_keeps_is_there() {
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]});
        let thread = json!({"type": "continue", "previous_message_id": "msg_1"});
        assert!(!takes("anthropic", &json!({"messages": [result]})));
        assert!(takes("anthropic", &json!({"messages": [result], "thread": thread})));
        let response = json!({"parts": [{"functionResponse": {"name": "f", "response": {}}}]});
        assert!(!takes("gemini", &json!({"contents": [response]})));
        let cached = json!({"contents": [response], "cachedContent": "cachedContents/1"});
        assert!(takes("gemini", &cached));
        let output = json!({"type": "function_call_output", "call_id": "a", "output": "x"});
        assert!(!takes("openai-responses", &json!({"input": [output]})));
        assert!(takes("openai-responses", &json!({"input": [output], "conversation": "conv_1"})));
    }

    #[test]
    fn what_nobody_knows_is_let_through_and_tools_are_defined() {
        let strange = json!([{"role": "user", "content": [{"type": "hologram"}]}]);
        assert!(takes("anthropic", &json!({"messages": strange, "x_latency": 1})));
        let call = json!({"toolUse": {"toolUseId": "a", "name": "f", "input": {}}});
        let messages = json!([{"role": "user", "content": [{"hologram": {}}]},
            {"role": "assistant", "content": [call]}]);
        assert!(takes("bedrock", &messages));
        assert!(!takes("bedrock", &json!({"messages": messages})));
    }
}
