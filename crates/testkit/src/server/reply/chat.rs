//! OpenAI Chat Completions: one completion, or its chunks and `[DONE]`.

use serde_json::{Value, json};

use super::{Draft, Event, Spoken, pieces};
use crate::server::models::Trait;
use crate::server::script::Say;

pub(super) fn speak(draft: &Draft<'_>) -> Spoken {
    let mut ids = draft.ids.clone();
    let id = ids.next("chatcmpl-", 29);
    let words: String = draft
        .say
        .iter()
        .filter_map(|say| match say {
            Say::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let thought: String = draft
        .say
        .iter()
        .filter_map(|say| match say {
            // Compatible servers show it; OpenAI doesn't.
            Say::Think(text) if draft.understood.model.has(Trait::WantsReasoning) => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    let calls: Vec<Value> =
        draft.say.iter().filter_map(|say| call(say, &ids.next("call_", 24))).collect();
    let finish = draft.stop.unwrap_or(if calls.is_empty() { "stop" } else { "tool_calls" });
    let content = if words.is_empty() && !calls.is_empty() { Value::Null } else { json!(words) };
    let mut message =
        json!({"role": "assistant", "content": content, "refusal": null, "annotations": []});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    let around = |object: &str, choices: Value| {
        json!({
            "id": id,
            "object": object,
            "created": draft.now.as_secs(),
            "model": draft.model(),
            "service_tier": "default",
            "system_fingerprint": "fp_scripted",
            "choices": choices,
        })
    };
    let choice =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}]);
    let mut whole = around("chat.completion", choice);
    whole["usage"] = usage(draft);
    let shows_usage = draft.call.body["stream_options"]["include_usage"] == true;
    let chunk = |delta: Value, finish: Option<&str>| {
        let choices =
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let mut chunk = around("chat.completion.chunk", choices);
        if shows_usage {
            chunk["usage"] = Value::Null;
        }
        Event::Data(chunk)
    };
    let mut events =
        vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), None)];
    events.extend(
        pieces(&thought, 12)
            .into_iter()
            .map(|piece| chunk(json!({"reasoning_content": piece}), None)),
    );
    events
        .extend(pieces(&words, 12).into_iter().map(|piece| chunk(json!({"content": piece}), None)));
    for (index, call) in calls.iter().enumerate() {
        let (kind, key) =
            if call["type"] == "custom" { ("custom", "input") } else { ("function", "arguments") };
        let mut first = call.clone();
        first["index"] = json!(index);
        first[kind][key] = json!("");
        events.push(chunk(json!({"tool_calls": [first]}), None));
        for piece in pieces(call[kind][key].as_str().unwrap_or_default(), 16) {
            events.push(chunk(json!({"tool_calls": [{"index": index, kind: {key: piece}}]}), None));
        }
    }
    events.push(chunk(json!({}), Some(finish)));
    if shows_usage {
        let mut last = around("chat.completion.chunk", json!([]));
        last["usage"] = usage(draft);
        events.push(Event::Data(last));
    }
    events.push(Event::Done);
    Spoken { whole, events, items: Vec::new() }
}

fn call(say: &Say, id: &str) -> Option<Value> {
    match say {
        Say::Call { name, input: Value::String(text) } => {
            Some(json!({"id": id, "type": "custom", "custom": {"name": name, "input": text}}))
        }
        Say::Call { name, input } => {
            let arguments = input.to_string();
            Some(
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
            )
        }
        _ => None,
    }
}

fn usage(draft: &Draft<'_>) -> Value {
    let usage = draft.usage;
    let mut prompt = json!({"cached_tokens": usage.read, "audio_tokens": 0});
    if draft.understood.model.has(Trait::WriteFee) {
        prompt["cache_write_tokens"] = json!(usage.write + usage.write_long);
    }
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}
