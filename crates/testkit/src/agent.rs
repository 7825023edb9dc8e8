//! Agents that read files until their time is up, each in the words of one API, by whole replies or streams, before a
//! model server that scripts [`Loop`](crate::server::Loop).

use std::collections::BTreeMap;

use crate::prose;
use crate::server::Api;
use serde_json::{Value, json};

/// An agent's loop over its own history.
#[derive(Clone, Debug)]
pub struct Agent {
    api: Api,
    /// Whether it asks for streams.
    pub is_streaming: bool,
    /// What was said, as it sends it.
    pub history: Vec<Value>,
    files: u64,
}

impl Agent {
    /// One that was told its task.
    #[must_use]
    pub fn new(api: Api, is_streaming: bool) -> Self {
        let task = "Find out why the build fails. Never push to main.";
        let first = match api {
            Api::Gemini => json!({"role": "user", "parts": [{"text": task}]}),
            Api::Interactions => {
                json!({"type": "user_input", "content": [{"type": "text", "text": task}]})
            }
            _ => json!({"role": "user", "content": task}),
        };
        Agent { api, is_streaming, history: vec![first], files: 0 }
    }

    /// The model that it uses.
    #[must_use]
    pub fn model(api: Api) -> &'static str {
        match api {
            Api::Anthropic => "claude-opus-5-5",
            Api::Chat => "gpt-4o",
            Api::Responses => "gpt-6.1-sol",
            Api::Interactions => "gemini-3.8-flash",
            _ => "gemini-3.1-pro",
        }
    }

    /// Where its requests go.
    #[must_use]
    pub fn path(&self) -> &'static str {
        match (self.api, self.is_streaming) {
            (Api::Anthropic, _) => "/v1/messages",
            // Some clients are told an address without the version.
            (Api::Chat, false) => "/chat/completions",
            (Api::Chat, true) => "/v1/chat/completions",
            (Api::Responses, _) => "/v1/responses",
            (Api::Interactions, _) => "/v1beta/interactions",
            (_, false) => "/v1beta/models/gemini-3.1-pro:generateContent",
            (_, true) => "/v1beta/models/gemini-3.1-pro:streamGenerateContent?alt=sse",
        }
    }

    /// Its request as it writes it today.
    #[must_use]
    pub fn request(&self) -> Value {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let (model, rules) = (Agent::model(self.api), "You fix builds.");
        let mut body = match self.api {
            Api::Anthropic => json!({
                "model": model, "max_tokens": 256, "thinking": {"type": "adaptive"}, "system": rules,
                "tools": [{"name": "Read", "input_schema": schema}], "messages": self.history,
            }),
            Api::Chat => json!({
                "model": model, "messages": self.history,
                "tools": [{"type": "function", "function": {"name": "Read", "parameters": schema}}],
            }),
            Api::Responses => json!({
                "model": model, "instructions": rules, "store": false, "include": ["reasoning.encrypted_content"],
                "tools": [{"type": "function", "name": "Read", "parameters": schema}], "input": self.history,
            }),
            Api::Interactions => json!({
                "model": model, "system_instruction": rules, "store": false, "input": self.history,
                "tools": [{"type": "function", "name": "Read", "parameters": schema}],
            }),
            _ => json!({
                "systemInstruction": {"parts": [{"text": rules}]}, "contents": self.history,
                "tools": [{"functionDeclarations": [{"name": "Read", "parameters": schema}]}],
            }),
        };
        if self.is_streaming && self.api != Api::Gemini {
            body["stream"] = json!(true);
        }
        body
    }

    /// Takes a reply, and runs its calls, each of which gives so many lines; how many calls that were.
    ///
    /// # Panics
    /// If it isn't a reply with calls.
    pub fn take(&mut self, reply: &str, lines: usize) -> usize {
        let said = if self.is_streaming { self.streamed(reply) } else { self.whole(reply) };
        let mut results = Vec::new();
        for call in said.iter().flat_map(|said| calls(self.api, said)) {
            self.files += 1;
            let text = prose::log(self.files, lines);
            results.push(match self.api {
                Api::Anthropic => json!({"type": "tool_result", "tool_use_id": call["id"], "content": text}),
                Api::Chat => json!({"role": "tool", "tool_call_id": call["id"], "content": text}),
                Api::Responses => json!({"type": "function_call_output", "call_id": call["call_id"], "output": text}),
                Api::Interactions => json!({"type": "function_result", "call_id": call["id"], "name": call["name"], "result": text}),
                _ => json!({"functionResponse": {"name": "Read", "response": {"output": text}}}),
            });
        }
        let called = results.len();
        self.history.extend(said);
        match self.api {
            _ if called == 0 => panic!("the model is to go on: {reply}"),
            Api::Anthropic => self.history.push(json!({"role": "user", "content": results})),
            Api::Gemini => self.history.push(json!({"role": "user", "parts": results})),
            _ => self.history.extend(results),
        }
        called
    }

    fn whole(&self, reply: &str) -> Vec<Value> {
        let reply: Value = serde_json::from_str(reply).expect("JSON");
        match self.api {
            Api::Anthropic => vec![json!({"role": "assistant", "content": reply["content"]})],
            Api::Chat => vec![reply["choices"][0]["message"].clone()],
            Api::Responses => items(&reply),
            Api::Interactions => list(&reply["steps"]),
            _ => vec![reply["candidates"][0]["content"].clone()],
        }
    }

    fn streamed(&self, reply: &str) -> Vec<Value> {
        let data = reply.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).expect("JSON"))
            .collect();
        match self.api {
            Api::Anthropic => vec![blocks(&events)],
            Api::Chat => vec![message(&events)],
            Api::Responses => {
                let last = events.iter().find(|event| event["type"] == "response.completed");
                items(&last.expect("it ends")["response"])
            }
            Api::Interactions => steps(&events),
            _ => {
                let parts = events
                    .iter()
                    .flat_map(|event| list(&event["candidates"][0]["content"]["parts"]));
                vec![json!({"role": "model", "parts": parts.collect::<Vec<_>>()})]
            }
        }
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn calls(api: Api, said: &Value) -> Vec<Value> {
    match api {
        Api::Anthropic => {
            list(&said["content"]).into_iter().filter(|block| block["type"] == "tool_use").collect()
        }
        Api::Chat => list(&said["tool_calls"]),
        Api::Responses | Api::Interactions => {
            [said].into_iter().filter(|item| item["type"] == "function_call").cloned().collect()
        }
        _ => list(&said["parts"])
            .into_iter()
            .filter(|part| part["functionCall"].is_object())
            .collect(),
    }
}

/// Items as clients that keep nothing at the provider send them back.
fn items(response: &Value) -> Vec<Value> {
    list(&response["output"])
}

/// The steps of an interaction from its events.
fn steps(events: &[Value]) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    let mut arguments = String::new();
    for event in events {
        let delta = &event["delta"];
        match (event["event_type"].as_str(), delta["type"].as_str()) {
            (Some("step.start"), _) => steps.push(event["step"].clone()),
            (Some("step.stop"), _) if !arguments.is_empty() => {
                let step = steps.last_mut().expect("it began");
                step["arguments"] = serde_json::from_str(&arguments).expect("JSON");
                arguments.clear();
            }
            (_, Some("arguments_delta")) => {
                arguments.push_str(delta["arguments"].as_str().unwrap_or_default());
            }
            (_, Some("thought_signature")) => {
                steps.last_mut().expect("it began")["signature"] = delta["signature"].clone();
            }
            (_, Some("thought_summary")) => {
                let step = steps.last_mut().expect("it began");
                let mut summary = list(&step["summary"]);
                summary.push(delta["content"].clone());
                step["summary"] = json!(summary);
            }
            (_, Some("text")) => {
                let step = steps.last_mut().expect("it began");
                let before = step["content"][0]["text"].as_str().unwrap_or_default();
                let text = format!("{before}{}", delta["text"].as_str().unwrap_or_default());
                step["content"] = json!([{"type": "text", "text": text}]);
            }
            _ => {}
        }
    }
    steps
}

/// An Anthropic message from its events.
fn blocks(events: &[Value]) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: BTreeMap<usize, String> = BTreeMap::new();
    for event in events {
        let at = event["index"].as_u64().unwrap_or_default() as usize;
        let delta = &event["delta"];
        let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str() {
            Some("content_block_start") => blocks.push(event["content_block"].clone()),
            Some("content_block_delta") => {
                if delta["type"] == "compaction_delta" {
                    blocks[at]["content"] = delta["content"].clone();
                }
                for name in ["text", "thinking", "signature"] {
                    if delta[name].is_string() {
                        let before = blocks[at][name].as_str().unwrap_or_default();
                        blocks[at][name] = json!(format!("{before}{}", text(name)));
                    }
                }
                inputs.entry(at).or_default().push_str(&text("partial_json"));
            }
            _ => {}
        }
    }
    for (at, input) in inputs {
        if blocks[at]["type"] == "tool_use" {
            blocks[at]["input"] = serde_json::from_str(&input).expect("JSON");
        }
    }
    json!({"role": "assistant", "content": blocks})
}

/// A chat message from its chunks.
fn message(events: &[Value]) -> Value {
    let mut words = String::new();
    let mut calls: BTreeMap<u64, Value> = BTreeMap::new();
    for event in events {
        let delta = &event["choices"][0]["delta"];
        words.push_str(delta["content"].as_str().unwrap_or_default());
        for piece in list(&delta["tool_calls"]) {
            let call = calls.entry(piece["index"].as_u64().unwrap_or_default()).or_insert_with(|| {
                json!({"id": piece["id"], "type": "function", "function": {"name": piece["function"]["name"], "arguments": ""}})
            });
            let before = call["function"]["arguments"].as_str().unwrap_or_default();
            let more = piece["function"]["arguments"].as_str().unwrap_or_default();
            call["function"]["arguments"] = json!(format!("{before}{more}"));
        }
    }
    let calls: Vec<Value> = calls.into_values().collect();
    json!({"role": "assistant", "content": words, "tool_calls": calls})
}
