//! What an agent wrote down of a session, against what it sent in the same session.

use epitome::Format;
use epitome::wire::check;
use serde_json::{Value, json};
use testkit::captures::Capture;

use crate::{LAST, detected, recording};

/// What was said, without what a client adds for the way: its instructions, cache markers, states, and whether a text
/// stands in a list.
fn said(body: &str, format: Format) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).expect("a body");
    let key = format.list();
    let all = body[key].as_array().unwrap_or_else(|| panic!("no {key}"));
    let is_instruction =
        |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let mut said: Vec<Value> = Vec::new();
    for message in all.iter().skip_while(is_instruction) {
        let message = plain(message);
        match said.last_mut() {
            // Contents of one role are one content.
            Some(last) if format == Format::Gemini && last["role"] == message["role"] => {
                let parts = message["parts"].as_array().expect("parts").clone();
                last["parts"].as_array_mut().expect("parts").extend(parts);
            }
            _ => said.push(message),
        }
    }
    said
}

fn plain(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(map) => {
            let is_message = map.get("role").is_some();
            let is_call = map.get("type") == Some(&json!("function_call"));
            let mut map = map.clone();
            for key in ["cache_control", "status", "annotations", "logprobs"] {
                map.remove(key);
            }
            // `original` is what Codex writes down for pictures whose detail it doesn't send.
            let is_usual = |key: &str, value: &Value| match key {
                "is_error" => *value == json!(false),
                "detail" => *value == json!("auto") || *value == json!("original"),
                // Ids of items, where they may be left out.
                "id" => is_message || is_call,
                _ => false,
            };
            map.retain(|key, value| !is_usual(key, value));
            if is_message {
                // An item may leave out that it is one.
                map.remove("type");
                match map.get("content") {
                    Some(Value::String(text)) if text.is_empty() => map["content"] = Value::Null,
                    Some(Value::Array(list)) => {
                        if let [one] = list.as_slice()
                            && let Some(text) = one.get("text")
                        {
                            map["content"] = text.clone();
                        }
                    }
                    _ => {}
                }
            }
            map.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn a_recording_is_what_was_sent_last_and_the_reply() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for capture in Capture::all() {
        let Some(source) = capture.recorded() else { continue };
        let kind = detected(&source).unwrap_or_else(|| panic!("{}: of no kind", capture.name));
        let read = recording(kind, source, LAST);
        assert_eq!(check(&read.request), [], "{}", capture.name);
        assert!(read.skipped.is_empty(), "{}: {:?}", capture.name, read.skipped);
        let last = capture.requests.last().expect("requests");
        // A request that was refused has no reply, and Gemini CLI writes another history down than it sends.
        if last.refused.is_some() {
            continue;
        }
        assert_eq!(read.request.format, last.format(), "{}", capture.name);
        let (read, sent) =
            (said(read.request.source(), last.format()), said(&last.body, last.format()));
        let differs = read.iter().zip(&sent).position(|(read, sent)| read != sent);
        if let Some(nth) = differs {
            wrong.push(format!("{}, {nth}:\n {}\n {}", capture.name, read[nth], sent[nth]));
        }
        assert!(read.len() > sent.len(), "{}: the reply is missing", capture.name);
        let is_model =
            |said: &Value| matches!(said["role"].as_str(), None | Some("assistant" | "model"));
        assert!(read[sent.len()..].iter().all(is_model), "{}", capture.name);
        compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 8, "{compared}");
}
