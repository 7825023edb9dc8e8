//! Recall offered to the model itself: its tools are added to a request that has tools, and calls of them are answered here.
//!
//! The client sees one reply: calls of these tools are not in it, and neither is anything of them in its history afterwards, so that
//! its requests stay valid on every proxy. What a model calls beside them is dropped before anybody made it; the model calls
//! again once it knows.

mod anthropic;
mod chat;
mod responses;
mod voice;
mod woven;

use std::sync::Arc;

use epitome::Format;
use epitome::archive::{GET, SEARCH};
use epitome_server::{Recalls, definitions};
use serde_json::{Value, json};

use crate::native::members::{Members, Raws, list_of, raw};
use crate::recall::Recall;
use voice::{RecallCall, Voice};
pub(crate) use woven::{Followed, Woven, whole};

/// How often a model may recall until it says anything else.
const MOST_ROUNDS: usize = 8;

/// Whether it is a tool of ours.
fn is_ours(name: &str) -> bool {
    [SEARCH, GET].contains(&name)
}

/// A body with the tools of recall; `None` where they aren't offered: it has no tools or one of such a name, wants several
/// answers, or leaves what is said at its provider.
pub(crate) fn offered(format: Format, text: &str) -> Option<String> {
    let mut members = Members::read(text)?;
    let mut tools: Raws = members.get("tools")?;
    let collides = |tool: &str| {
        let tool: Value = serde_json::from_str(tool).unwrap_or_default();
        let name = tool["name"].as_str().or_else(|| tool["function"]["name"].as_str());
        name.is_some_and(|name| [SEARCH, GET].iter().any(|own| name.ends_with(own)))
    };
    if tools.is_empty() || tools.iter().any(|tool| collides(tool.get())) {
        return None;
    }
    let is_alone = match format {
        Format::Anthropic => true,
        Format::OpenaiChat => members.get::<u64>("n").is_none_or(|answers| answers == 1),
        Format::OpenaiResponses => {
            let is_true = |name: &str| members.get::<bool>(name) == Some(true);
            members.get::<bool>("store") == Some(false)
                && !is_true("background")
                && members.raw("previous_response_id").is_none()
                && members.raw("conversation").is_none()
        }
        _ => false,
    };
    if !is_alone {
        return None;
    }
    for tool in definitions().iter().filter(|tool| is_ours(&tool.name)) {
        let (name, description) = (tool.name.as_ref(), tool.description.as_deref());
        let schema = &*tool.input_schema;
        let tool = match format {
            Format::Anthropic => {
                json!({"name": name, "description": description, "input_schema": schema})
            }
            Format::OpenaiChat => {
                let function =
                    json!({"name": name, "description": description, "parameters": schema});
                json!({"type": "function", "function": function})
            }
            _ => {
                json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
            }
        };
        tools.push(raw(tool.to_string()));
    }
    members.set("tools", list_of(&tools));
    Some(members.to_string())
}

/// Where the list of a body's messages is.
fn list_name(format: Format) -> &'static str {
    if format == Format::OpenaiResponses { "input" } else { "messages" }
}

/// Hears the replies of an API.
fn voice(format: Format) -> Box<dyn Voice> {
    match format {
        Format::Anthropic => Box::<anthropic::Messages>::default(),
        Format::OpenaiChat => Box::<chat::Chat>::default(),
        _ => Box::<responses::Responses>::default(),
    }
}

/// What the calls find; takes a while.
fn answered(
    recall: &Arc<Recall>,
    owner: &Arc<str>,
    calls: Vec<RecallCall>,
) -> Vec<(RecallCall, Result<String, String>)> {
    let recalls: Recalls = recall.recalls(owner);
    let answer = |call: RecallCall| {
        let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let answer = match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(arguments)) => recalls.answer(&call.name, &arguments),
            _ => Err("The arguments are no JSON object.".to_owned()),
        };
        (call, answer)
    };
    calls.into_iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const APIS: [Format; 3] = [Format::Anthropic, Format::OpenaiChat, Format::OpenaiResponses];

    /// A reply that recalls, as one and in events.
    fn recalling(format: Format) -> (Value, Vec<Value>) {
        let call = json!({"type": "tool_use", "id": "a", "name": SEARCH, "input": {}});
        let function = json!({"name": SEARCH, "arguments": "{}"});
        let item =
            json!({"type": "function_call", "call_id": "a", "name": SEARCH, "arguments": "{}"});
        match format {
            Format::Anthropic => {
                let started = json!({"type": "content_block_start", "index": u64::MAX, "content_block": call});
                let ended = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
                (json!({"content": [call]}), vec![started, ended])
            }
            Format::OpenaiChat => {
                let call = json!({"index": u64::MAX, "id": "a", "function": function});
                let chunk =
                    |delta, end| json!({"choices": [{"delta": delta, "finish_reason": end}]});
                let events = vec![
                    chunk(json!({"tool_calls": [call]}), Value::Null),
                    chunk(json!({}), json!("tool_calls")),
                ];
                (json!({"choices": [{"message": {"content": "a", "tool_calls": [call]}}]}), events)
            }
            _ => {
                let of_item = |name: &str| json!({"type": format!("response.output_item.{name}"), "output_index": u64::MAX, "item": item});
                let completed = json!({"type": "response.completed", "response": {}});
                (json!({"output": [item]}), vec![of_item("added"), of_item("done"), completed])
            }
        }
    }

    /// What somebody may say who means no good, or is broken.
    fn odd() -> Vec<Value> {
        let mut all: Vec<Value> = ["null", "1", "\"a\"", "[]", "{}"]
            .iter()
            .map(|it| serde_json::from_str(it).expect("JSON"))
            .collect();
        let members = [
            "content",
            "content_block",
            "choices",
            "delta",
            "id",
            "index",
            "item",
            "message",
            "output",
            "output_index",
            "response",
            "tool_calls",
            "usage",
        ];
        let kinds = [
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_start",
            "message_delta",
            "response.completed",
            "response.created",
            "response.output_item.added",
            "response.output_item.done",
        ];
        for value in all.clone() {
            for kind in kinds {
                all.extend(members.map(
                    |member| json!({"type": kind, "index": 0, "output_index": 0, member: value}),
                ));
            }
            all.push(json!({"choices": [value]}));
            all.push(json!({"choices": [{"delta": value, "message": value}]}));
            all.push(json!({"choices": [{"delta": {"tool_calls": [value]}, "message": {"tool_calls": value}}]}));
            all.push(json!({"type": "content_block_delta", "index": 0, "delta": {"text": "a", "citation": {}, "partial_json": "1"}}));
        }
        all
    }

    #[test]
    fn whatever_an_upstream_says_ends_no_stream() {
        for format in APIS {
            for has_recalled in [false, true] {
                let mut whole = voice(format);
                let mut streamed = voice(format);
                if has_recalled {
                    let (reply, events) = recalling(format);
                    assert_eq!(whole.whole(reply), None, "{format}");
                    assert!(whole.round().is_some());
                    for event in events {
                        assert_eq!(streamed.event(&format!("data: {event}\n\n")), "", "{format}");
                    }
                    assert!(streamed.recalls_wholly() && streamed.round().is_some(), "{format}");
                }
                for said in odd() {
                    streamed.event(&format!("data: {said}\n\n"));
                    if said.is_object() {
                        whole.whole(said);
                    }
                }
                streamed.rest();
            }
        }
    }
}
