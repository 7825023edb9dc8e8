//! Interactions: the steps of the model's turn, whole or begun, filled and ended one after the other.

use serde_json::{Value, json};

use super::{Draft, Event, Spoken, pieces};
use crate::server::error::ApiError;
use crate::server::script::Say;

pub(super) fn speak(mut draft: Draft<'_>) -> Spoken {
    let steps = steps(&mut draft);
    let id = draft.ids.next("v1_", 32);
    let status = match draft.stop {
        Some(_) => "incomplete",
        None if draft.calls() => "requires_action",
        None => "completed",
    };
    let state = |status: &str| json!({"id": id, "object": "interaction", "model": draft.model(), "status": status});
    let mut end = state(status);
    end["usage"] = usage(&draft);
    let mut whole = end.clone();
    whole["steps"] = json!(steps);
    let mut events = vec![
        json!({"event_type": "interaction.created", "interaction": state("in_progress")}),
        json!({"event_type": "interaction.status_update", "interaction_id": id, "status": "in_progress"}),
    ];
    for (index, step) in steps.iter().enumerate() {
        let (begun, deltas) = split(step);
        events.push(json!({"event_type": "step.start", "index": index, "step": begun}));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"event_type": "step.delta", "index": index, "delta": delta})),
        );
        events.push(json!({"event_type": "step.stop", "index": index}));
    }
    events.push(json!({"event_type": "interaction.completed", "interaction": end}));
    let mut events: Vec<Event> = events.into_iter().map(named).collect();
    events.push(Event::Done);
    Spoken { events, whole, items: steps }
}

/// An error inside a stream that began well.
pub(super) fn failed(error: &ApiError) -> Event {
    named(json!({"event_type": "error", "error": {"code": error.kind, "message": error.message}}))
}

fn named(data: Value) -> Event {
    Event::Named(data["event_type"].as_str().unwrap_or_default().to_owned(), data)
}

/// A step as it begins, and what is added to it.
fn split(step: &Value) -> (Value, Vec<Value>) {
    let mut begun = step.clone();
    let deltas = match step["type"].as_str() {
        Some("function_call") => {
            begun["arguments"] = json!({});
            let arguments = step["arguments"].to_string();
            pieces(&arguments, 16)
                .into_iter()
                .map(|piece| json!({"type": "arguments_delta", "arguments": piece}))
                .collect()
        }
        Some("thought") => {
            begun = json!({"type": "thought"});
            let summary = step["summary"].as_array().into_iter().flatten();
            let signature = json!({"type": "thought_signature", "signature": step["signature"]});
            summary
                .map(|content| json!({"type": "thought_summary", "content": content}))
                .chain([signature])
                .collect()
        }
        _ => {
            begun = json!({"type": "model_output"});
            let words = step["content"][0]["text"].as_str().unwrap_or_default();
            pieces(words, 24)
                .into_iter()
                .map(|piece| json!({"type": "text", "text": piece}))
                .collect()
        }
    };
    (begun, deltas)
}

fn steps(draft: &mut Draft<'_>) -> Vec<Value> {
    let shows = draft.call.body["generation_config"]["thinking_summaries"] == "auto";
    let mut steps = Vec::new();
    for say in draft.say {
        let words = |words: &str| json!([{"type": "text", "text": words}]);
        steps.push(match say {
            Say::Think(_) | Say::Redacted if !draft.understood.thinks => continue,
            Say::Think(thought) => {
                let signature = draft.understood.chain.sign(thought);
                let mut step = json!({"type": "thought", "signature": signature});
                if shows {
                    step["summary"] = words(thought);
                }
                step
            }
            Say::Redacted => continue,
            Say::Text(said) => json!({"type": "model_output", "content": words(said)}),
            Say::Call { name, input } => {
                let arguments =
                    if input.is_object() { input.clone() } else { json!({"input": input}) };
                json!({"type": "function_call", "id": draft.ids.hex(8), "name": name, "arguments": arguments})
            }
            Say::Search { query, found } => {
                let hits: Vec<String> =
                    found.iter().map(|(title, url)| format!("{title}: {url}")).collect();
                json!({"type": "model_output", "content": words(&format!("{query}: {}", hits.join("; ")))})
            }
        });
    }
    steps
}

fn usage(draft: &Draft<'_>) -> Value {
    let usage = draft.usage;
    json!({
        "total_input_tokens": usage.prompt,
        "total_cached_tokens": usage.read,
        "total_output_tokens": usage.output - usage.reasoning,
        "total_thought_tokens": usage.reasoning,
        "total_tokens": usage.prompt + usage.output,
    })
}
