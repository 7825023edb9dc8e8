//! Bedrock Converse: whole, and as the events of `converse-stream`.

use serde_json::{Value, json};

use super::{Draft, Event, Spoken, pieces};
use crate::server::Endpoint;
use crate::server::error::ApiError;
use crate::server::script::Say;

pub(super) fn speak(mut draft: Draft<'_>) -> Spoken {
    if draft.call.endpoint == Endpoint::Count {
        return Spoken {
            whole: json!({"inputTokens": draft.usage.prompt}),
            events: Vec::new(),
            items: Vec::new(),
        };
    }
    let mut content: Vec<Value> = Vec::new();
    for say in draft.say {
        let chain = &mut draft.understood.chain;
        let block = match say {
            Say::Think(words) if draft.understood.thinks => {
                let signature = chain.sign(words);
                content.push(json!({"reasoningContent": {"reasoningText": {"text": words, "signature": signature}}}));
                continue;
            }
            Say::Think(_) | Say::Redacted => continue,
            Say::Text(words) => json!({"text": words}),
            Say::Call { name, input } => {
                let id = draft.ids.next("tooluse_", 22);
                json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
            }
            Say::Search { query, .. } => json!({"text": query}),
        };
        chain.say("assistant", &block);
        content.push(block);
    }
    let usage = draft.usage;
    let stop = draft.stop.unwrap_or(if draft.calls() { "tool_use" } else { "end_turn" });
    let usage = json!({
        "inputTokens": usage.plain(),
        "outputTokens": usage.output,
        "totalTokens": usage.prompt + usage.output,
        "cacheReadInputTokens": usage.read,
        "cacheWriteInputTokens": usage.write + usage.write_long,
    });
    let whole = json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop,
        "usage": usage,
        "metrics": {"latencyMs": 1},
    });
    Spoken { events: events(&content, stop, &usage), whole, items: Vec::new() }
}

fn events(content: &[Value], stop: &str, usage: &Value) -> Vec<Event> {
    let named = |name: &str, data: Value| Event::Named(name.to_owned(), data);
    let mut events = vec![named("messageStart", json!({"role": "assistant"}))];
    for (n, block) in content.iter().enumerate() {
        // Only calls begin with something.
        let call = &block["toolUse"];
        if call.is_object() {
            let start = json!({"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}});
            events
                .push(named("contentBlockStart", json!({"contentBlockIndex": n, "start": start})));
        }
        let delta = |delta: Value| {
            named("contentBlockDelta", json!({"contentBlockIndex": n, "delta": delta}))
        };
        events.extend(deltas(block).into_iter().map(delta));
        events.push(named("contentBlockStop", json!({"contentBlockIndex": n})));
    }
    events.push(named("messageStop", json!({"stopReason": stop})));
    events.push(named("metadata", json!({"usage": usage, "metrics": {"latencyMs": 1}})));
    events
}

/// A block in pieces.
fn deltas(block: &Value) -> Vec<Value> {
    let pieces = |text: &Value, of: &dyn Fn(&str) -> Value| -> Vec<Value> {
        pieces(text.as_str().unwrap_or_default(), 24).into_iter().map(of).collect()
    };
    let reasoning = &block["reasoningContent"]["reasoningText"];
    if reasoning.is_object() {
        let mut all =
            pieces(&reasoning["text"], &|piece| json!({"reasoningContent": {"text": piece}}));
        all.push(json!({"reasoningContent": {"signature": reasoning["signature"]}}));
        return all;
    }
    if block["toolUse"].is_object() {
        let input = json!(block["toolUse"]["input"].to_string());
        return pieces(&input, &|piece| json!({"toolUse": {"input": piece}}));
    }
    pieces(&block["text"], &|piece| json!({"text": piece}))
}

/// The exception that ends a stream: its name begins small there.
pub(super) fn failed(error: &ApiError) -> Event {
    let (head, tail) = error.kind.split_at(error.kind.len().min(1));
    Event::Named(format!("{}{tail}", head.to_lowercase()), json!({"message": error.message}))
}
