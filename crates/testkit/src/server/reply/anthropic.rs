//! Anthropic Messages: `message_start`, blocks, `message_delta`, `message_stop`.

use serde_json::{Value, json};

use super::{Draft, Event, Spoken, pieces};
use crate::server::Endpoint;
use crate::server::prompt::{Mismatch, Misplaced};
use crate::server::rules::BINDING_CONTROLS;
use crate::server::script::Say;

pub(super) fn speak(mut draft: Draft<'_>) -> Spoken {
    if draft.call.endpoint == Endpoint::Count {
        let whole = json!({"input_tokens": draft.usage.prompt});
        return Spoken { whole, events: Vec::new(), items: Vec::new() };
    }
    let content = content(&mut draft);
    let usual = if draft.calls() { "tool_use" } else { "end_turn" };
    let stop = draft.stop.unwrap_or(usual).to_owned();
    let mut message = json!({
        "id": draft.ids.next("msg_01", 22),
        "type": "message",
        "role": "assistant",
        "model": draft.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(&draft, 1),
    });
    if draft.call.has_beta(BINDING_CONTROLS) {
        message["input_transformations"] =
            draft.understood.misplaced.iter().map(transformation).collect();
    }
    let mut events = vec![Event::typed(json!({"type": "message_start", "message": message}))];
    for (index, block) in content.iter().enumerate() {
        events.extend(block_events(index, block));
        if index == 0 {
            events.insert(2, Event::typed(json!({"type": "ping"})));
        }
    }
    let usage = usage(&draft, draft.usage.output);
    let delta = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": usage,
    });
    events.push(Event::typed(delta));
    events.push(Event::typed(json!({"type": "message_stop"})));
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop);
    message["usage"] = usage;
    Spoken { whole: message, events, items: Vec::new() }
}

fn transformation(misplaced: &Misplaced) -> Value {
    let kind = if misplaced.is_shown { "thinking_mismatch_allowed" } else { "thinking_dropped" };
    let reason = match misplaced.why {
        Mismatch::Organization => "organization_binding_mismatch",
        Mismatch::Model => "model_binding_mismatch",
        Mismatch::Prefix => "prefix_binding_mismatch",
    };
    json!({"type": kind, "path": misplaced.path, "reason": reason})
}

fn content(draft: &mut Draft<'_>) -> Vec<Value> {
    let mut content = Vec::new();
    let thinks = draft.understood.thinks;
    let chain = &mut draft.understood.chain;
    for say in draft.say {
        let blocks = match say {
            Say::Think(_) | Say::Redacted if !thinks => continue,
            Say::Think(words) => {
                let signature = chain.sign(words);
                content
                    .push(json!({"type": "thinking", "thinking": words, "signature": signature}));
                continue;
            }
            Say::Redacted => {
                let data = chain.sign("");
                content.push(json!({"type": "redacted_thinking", "data": data}));
                continue;
            }
            Say::Text(words) => vec![json!({"type": "text", "text": words})],
            Say::Call { name, input } => {
                let id = draft.ids.next("toolu_01", 22);
                vec![json!({"type": "tool_use", "id": id, "name": name, "input": input})]
            }
            Say::Search { query, found } => {
                let id = draft.ids.next("srvtoolu_01", 22);
                let hits: Vec<Value> = found
                    .iter()
                    .map(|(title, url)| {
                        json!({"type": "web_search_result", "title": title, "url": url, "encrypted_content": draft.ids.hex(64),
                               "page_age": null})
                    })
                    .collect();
                vec![
                    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": query}}),
                    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": hits}),
                ]
            }
        };
        for block in blocks {
            chain.say("assistant", &crate::server::rules::anthropic_block(&block));
            content.push(block);
        }
    }
    content
}

fn usage(draft: &Draft<'_>, output: u64) -> Value {
    let usage = draft.usage;
    json!({
        "input_tokens": usage.plain(),
        "cache_creation_input_tokens": usage.write + usage.write_long,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.write, "ephemeral_1h_input_tokens": usage.write_long},
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn block_events(index: usize, block: &Value) -> Vec<Event> {
    let mut start = block.clone();
    let delta = |delta: Value| {
        Event::typed(json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let mut deltas = Vec::new();
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            start["text"] = json!("");
            let words = block["text"].as_str().unwrap_or_default();
            deltas.extend(
                pieces(words, 12)
                    .into_iter()
                    .map(|piece| delta(json!({"type": "text_delta", "text": piece}))),
            );
        }
        "thinking" => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            let words = block["thinking"].as_str().unwrap_or_default();
            let pieces = pieces(words, 12).into_iter();
            deltas.extend(
                pieces.map(|piece| delta(json!({"type": "thinking_delta", "thinking": piece}))),
            );
            deltas.push(delta(json!({"type": "signature_delta", "signature": block["signature"]})));
        }
        "tool_use" | "server_tool_use" => {
            start["input"] = json!({});
            let input = block["input"].to_string();
            deltas.push(delta(json!({"type": "input_json_delta", "partial_json": ""})));
            let pieces = pieces(&input, 16).into_iter();
            deltas
                .extend(pieces.map(|piece| {
                    delta(json!({"type": "input_json_delta", "partial_json": piece}))
                }));
        }
        _ => {}
    }
    let mut events = vec![Event::typed(
        json!({"type": "content_block_start", "index": index, "content_block": start}),
    )];
    events.extend(deltas);
    events.push(Event::typed(json!({"type": "content_block_stop", "index": index})));
    events
}
