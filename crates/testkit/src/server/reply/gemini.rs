//! Gemini: one response, or one per piece of text and per call.

use serde_json::{Value, json};

use super::{Draft, Event, Spoken, pieces};
use crate::server::Endpoint;
use crate::server::models::Trait;
use crate::server::rules::field;
use crate::server::script::Say;

pub(super) fn speak(mut draft: Draft<'_>) -> Spoken {
    if draft.call.endpoint == Endpoint::Count {
        let tokens = draft.usage.prompt;
        let whole = json!({"totalTokens": tokens, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]});
        return Spoken { whole, events: Vec::new(), items: Vec::new() };
    }
    let parts = parts(&mut draft);
    let finish = draft.stop.unwrap_or("STOP").to_owned();
    let id = draft.ids.hex(22);
    let response = |parts: Value, finish: Option<&str>| {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({
            "candidates": [candidate],
            "usageMetadata": usage(&draft),
            "modelVersion": draft.model(),
            "responseId": id,
        })
    };
    let whole = response(json!(parts), Some(&finish));
    let streamed: Vec<Value> = parts.iter().flat_map(split).collect();
    let last = streamed.len().saturating_sub(1);
    let events = streamed.into_iter().enumerate();
    let events = events.map(|(n, part)| {
        Event::Data(response(json!([part]), (n == last).then_some(finish.as_str())))
    });
    Spoken { events: events.collect(), whole, items: Vec::new() }
}

/// Text comes in pieces; its signature is on the last one.
fn split(part: &Value) -> Vec<Value> {
    let Some(words) = part["text"].as_str() else { return vec![part.clone()] };
    let pieces = pieces(words, 24);
    let last = pieces.len().saturating_sub(1);
    let piece = |(n, piece): (usize, &str)| {
        let mut out = part.clone();
        out["text"] = json!(piece);
        if let Some(map) = out.as_object_mut().filter(|_| n != last) {
            map.remove("thoughtSignature");
        }
        out
    };
    pieces.into_iter().enumerate().map(piece).collect()
}

fn parts(draft: &mut Draft<'_>) -> Vec<Value> {
    let config = field(field(draft.call.body, "generationConfig"), "thinkingConfig");
    let shows = field(config, "includeThoughts") == &json!(true);
    let signs = draft.understood.model.has(Trait::WantsReasoning);
    let mut parts: Vec<Value> = Vec::new();
    let mut has_call = false;
    for say in draft.say {
        match say {
            Say::Think(words) if shows && draft.understood.thinks => {
                parts.push(json!({"text": words, "thought": true}));
            }
            Say::Think(_) | Say::Redacted => {}
            Say::Text(words) => parts.push(json!({"text": words})),
            Say::Call { name, input } => {
                let args = if input.is_object() { input.clone() } else { json!({"input": input}) };
                let mut part = json!({"functionCall": {"name": name, "args": args}});
                if signs {
                    part["functionCall"]["id"] = json!(draft.ids.hex(8));
                    // With calls in parallel only the first has one.
                    if !has_call {
                        part["thoughtSignature"] = json!(draft.understood.chain.sign(name));
                    }
                }
                has_call = true;
                parts.push(part);
            }
            Say::Search { query, found } => {
                let hits: Vec<String> =
                    found.iter().map(|(title, url)| format!("{title}: {url}")).collect();
                parts.push(json!({"text": format!("{query}: {}", hits.join("; "))}));
            }
        }
    }
    if signs
        && !has_call
        && let Some(last) = parts.last_mut().filter(|part| part.get("thought").is_none())
    {
        last["thoughtSignature"] = json!(draft.understood.chain.sign("text"));
    }
    parts
}

fn usage(draft: &Draft<'_>) -> Value {
    let usage = draft.usage;
    let said = usage.output - usage.reasoning;
    let mut out = json!({
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": said,
        "totalTokenCount": usage.prompt + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt}],
    });
    if usage.reasoning > 0 {
        out["thoughtsTokenCount"] = json!(usage.reasoning);
    }
    if usage.read > 0 {
        out["cachedContentTokenCount"] = json!(usage.read);
        out["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.read}]);
    }
    out
}
