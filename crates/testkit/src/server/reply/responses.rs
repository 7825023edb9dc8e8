//! OpenAI Responses: a response, or its events with their numbers.

use serde_json::{Value, json};

use super::{Draft, Event, Ids, Spoken, pieces};
use crate::server::Endpoint;
use crate::server::error::ApiError;
use crate::server::models::Trait;
use crate::server::prompt::{Compacts, Mismatch, Misplaced};
use crate::server::rules::responses_item;
use crate::server::script::Say;

pub(super) fn speak(mut draft: Draft<'_>) -> Spoken {
    if draft.call.endpoint == Endpoint::Count {
        let whole = json!({"object": "response.input_tokens", "input_tokens": draft.usage.prompt});
        return Spoken { whole, events: Vec::new(), items: Vec::new() };
    }
    if draft.call.endpoint == Endpoint::Compact {
        return compacted(&mut draft);
    }
    let items = items(&mut draft);
    let id = draft.ids.next("resp_", 48);
    let sealed = items;
    // What the client gets: reasoning is readable only where it asked to carry it itself.
    let includes = draft.call.body["include"].as_array().into_iter().flatten();
    let carries = includes.clone().any(|name| name == "reasoning.encrypted_content");
    let shown: Vec<Value> = sealed
        .iter()
        .map(|item| {
            let mut item = item.clone();
            if let Some(map) =
                item.as_object_mut().filter(|map| !carries && map["type"] == "reasoning")
            {
                map.remove("encrypted_content");
            }
            item
        })
        .collect();
    let status = if draft.stop.is_some() { "incomplete" } else { "completed" };
    let begun = response(&draft, &id, "in_progress", &[]);
    let whole = response(&draft, &id, status, &shown);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in shown.iter().enumerate() {
        item_events(index, item, &mut events);
    }
    events.push(json!({"type": format!("response.{status}"), "response": whole}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        Event::typed(event)
    });
    Spoken { events: numbered.collect(), whole, items: sealed }
}

/// The last event of a response that failed on the way.
pub(super) fn failed(error: &ApiError, begun: &[Event]) -> Event {
    let mut response = match begun.first() {
        Some(Event::Named(_, created)) => created["response"].clone(),
        _ => json!({"object": "response"}),
    };
    response["status"] = json!("failed");
    let code = error.code.clone().unwrap_or_else(|| "server_error".to_owned());
    response["error"] = json!({"code": code, "message": error.message});
    response["usage"] = Value::Null;
    Event::typed(
        json!({"type": "response.failed", "response": response, "sequence_number": begun.len()}),
    )
}

fn response(draft: &Draft<'_>, id: &str, status: &str, output: &[Value]) -> Value {
    let body = draft.call.body;
    let or = |key: &str, default: Value| {
        body.get(key).filter(|value| !value.is_null()).cloned().unwrap_or(default)
    };
    let incomplete = (status == "incomplete")
        .then(|| json!({"reason": draft.stop.unwrap_or("max_output_tokens")}));
    let mut response = json!({
        "id": id,
        "object": "response",
        "created_at": draft.now.as_secs(),
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": incomplete,
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "model": draft.model(),
        "output": output,
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": body["previous_response_id"],
        "prompt_cache_key": body["prompt_cache_key"],
        "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
        "service_tier": "default",
        "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)),
        "text": or("text", json!({"format": {"type": "text"}})),
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")),
        "usage": if status == "in_progress" { Value::Null } else { usage(draft) },
        "user": body["user"],
        "metadata": or("metadata", json!({})),
    });
    let removed = &draft.understood.misplaced;
    if !removed.is_empty() {
        response["input_transformations"] = removed.iter().map(transformation).collect();
    }
    response
}

/// `input_transformations` of the official SDK (openai 3.54): reasoning withheld from the model.
fn transformation(misplaced: &Misplaced) -> Value {
    let reason = match misplaced.why {
        Mismatch::Organization => "organization_mismatch",
        Mismatch::Model => "model_mismatch",
        Mismatch::Prefix => "prefix_mismatch",
    };
    json!({"id": misplaced.id, "action": "removed", "reason": reason, "type": "reasoning"})
}

fn usage(draft: &Draft<'_>) -> Value {
    let usage = draft.usage;
    let written = usage.write + usage.write_long;
    let mut input = json!({"cached_tokens": usage.read, "cache_write_tokens": written});
    if draft.understood.model.has(Trait::WriteFee) {
        input["cache_write_tokens_details"] =
            json!({"ttl_30m_tokens": usage.write, "ttl_12h_tokens": usage.write_long});
    }
    json!({
        "input_tokens": usage.prompt,
        "input_tokens_details": input,
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.output,
    })
}

fn items(draft: &mut Draft<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if draft.understood.compacts != Compacts::No {
        items.push(compaction(draft));
        if draft.understood.compacts == Compacts::Alone {
            return items;
        }
    }
    let thinks = draft.understood.thinks;
    // What follows reasoning carries its id at the end of its own ([`crate::server::rules`] reads it there).
    let mut reasoning: Option<String> = None;
    for say in draft.say {
        let chain = &mut draft.understood.chain;
        let id = |ids: &mut Ids, kind: &str, reasoning: &mut Option<String>| match reasoning.take()
        {
            Some(of) => format!("{kind}_{}{of}", ids.hex(24)),
            None => ids.next(&format!("{kind}_"), 48),
        };
        let item = match say {
            Say::Think(_) | Say::Redacted if !thinks => continue,
            Say::Think(words) => {
                let own = draft.ids.hex(32);
                let summary = json!([{"type": "summary_text", "text": words}]);
                let is_shown = !draft.call.body["reasoning"]["summary"].is_null();
                items.push(json!({
                    "id": format!("rs_{own}"),
                    "type": "reasoning",
                    "summary": if is_shown { summary } else { json!([]) },
                    "encrypted_content": chain.sign(""),
                }));
                reasoning = Some(own);
                continue;
            }
            Say::Redacted => continue,
            Say::Text(words) => json!({
                "id": id(&mut draft.ids, "msg", &mut reasoning),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": words, "annotations": [], "logprobs": []}],
            }),
            Say::Call { name, input } => {
                let call_id = draft.ids.next("call_", 24);
                match input {
                    Value::String(text) => json!({
                        "id": id(&mut draft.ids, "ctc", &mut reasoning), "type": "custom_tool_call",
                        "status": "completed", "call_id": call_id, "name": name, "input": text,
                    }),
                    input => json!({
                        "id": id(&mut draft.ids, "fc", &mut reasoning), "type": "function_call",
                        "status": "completed", "call_id": call_id, "name": name, "arguments": input.to_string(),
                    }),
                }
            }
            Say::Search { query, .. } => json!({
                "id": id(&mut draft.ids, "ws", &mut reasoning),
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": query},
            }),
        };
        chain.say("item", &responses_item(&item));
        items.push(item);
    }
    // Reasoning is never the last thing.
    if reasoning.is_some() && matches!(items.last(), Some(last) if last["type"] == "reasoning") {
        items.pop();
    }
    items
}

fn item_events(index: usize, item: &Value, events: &mut Vec<Value>) {
    let id = &item["id"];
    let mut added = item.clone();
    if !added["status"].is_null() {
        added["status"] = json!("in_progress");
    }
    for key in ["content", "summary"] {
        if !added[key].is_null() {
            added[key] = json!([]);
        }
    }
    for key in ["arguments", "input"] {
        if !added[key].is_null() {
            added[key] = json!("");
        }
    }
    events
        .push(json!({"type": "response.output_item.added", "output_index": index, "item": added}));
    let at = |kind: &str, more: Value| {
        let mut event =
            json!({"type": format!("response.{kind}"), "item_id": id, "output_index": index});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        event
    };
    match item["type"].as_str().unwrap_or_default() {
        "message" => {
            let words = item["content"][0]["text"].as_str().unwrap_or_default();
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            events.push(at("content_part.added", json!({"content_index": 0, "part": part("")})));
            for piece in pieces(words, 12) {
                events.push(at(
                    "output_text.delta",
                    json!({"content_index": 0, "delta": piece, "logprobs": []}),
                ));
            }
            events.push(at(
                "output_text.done",
                json!({"content_index": 0, "text": words, "logprobs": []}),
            ));
            events.push(at("content_part.done", json!({"content_index": 0, "part": part(words)})));
        }
        "reasoning" => {
            if let Some(words) = item["summary"][0]["text"].as_str() {
                let part = |text: &str| json!({"type": "summary_text", "text": text});
                events.push(at(
                    "reasoning_summary_part.added",
                    json!({"summary_index": 0, "part": part("")}),
                ));
                for piece in pieces(words, 12) {
                    events.push(at(
                        "reasoning_summary_text.delta",
                        json!({"summary_index": 0, "delta": piece}),
                    ));
                }
                events.push(at(
                    "reasoning_summary_text.done",
                    json!({"summary_index": 0, "text": words}),
                ));
                events.push(at(
                    "reasoning_summary_part.done",
                    json!({"summary_index": 0, "part": part(words)}),
                ));
            }
        }
        kind @ ("function_call" | "custom_tool_call") => {
            let (key, name) = if kind == "function_call" {
                ("arguments", "function_call_arguments")
            } else {
                ("input", "custom_tool_call_input")
            };
            let input = item[key].as_str().unwrap_or_default();
            for piece in pieces(input, 16) {
                events.push(at(&format!("{name}.delta"), json!({"delta": piece})));
            }
            events.push(at(&format!("{name}.done"), json!({key: input})));
        }
        "web_search_call" => {
            for step in ["in_progress", "searching", "completed"] {
                events.push(at(&format!("web_search_call.{step}"), json!({})));
            }
        }
        "compaction" => events.push(at("compaction.compacting", json!({}))),
        _ => {}
    }
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}

/// An item that stands for everything so far.
fn compaction(draft: &mut Draft<'_>) -> Value {
    let sealed = draft.understood.chain.compact("");
    json!({"id": draft.ids.next("cmp_", 48), "type": "compaction", "encrypted_content": sealed})
}

/// `/responses/compact`: all user messages and one compaction item (B.2.3).
fn compacted(draft: &mut Draft<'_>) -> Spoken {
    let is_user = |item: &&Value| item["role"] == "user";
    let mut output: Vec<Value> =
        draft.understood.items.iter().filter(is_user).map(responses_item).collect();
    output.push(compaction(draft));
    let whole = json!({
        "id": draft.ids.next("resp_", 48),
        "object": "response.compaction",
        "created_at": draft.now.as_secs(),
        "output": output,
        "usage": usage(draft),
    });
    Spoken { whole, events: Vec::new(), items: Vec::new() }
}
