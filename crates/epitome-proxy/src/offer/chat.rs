//! OpenAI's Chat Completions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::voice::{RecallCall, Round, Voice, append, said, sent, summed};
use crate::sse::data;

#[derive(Debug, Default)]
pub(super) struct Chat {
    nth: usize,
    /// The id of the first reply, which is that of all.
    id: Value,
    words: String,
    reasoning: String,
    calls: BTreeMap<u64, Value>,
    /// Chunks with calls.
    held: Vec<Value>,
    /// What the client was told, of whole replies.
    told: String,
    usage: Value,
    before: Value,
    /// The round ended as it should.
    is_over: bool,
}

fn recall_call(call: &Value) -> Option<RecallCall> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or_default().to_owned();
    RecallCall::of(&call["id"], &function["name"], arguments)
}

impl Chat {
    fn recalls(&self) -> bool {
        self.calls.values().any(|call| recall_call(call).is_some())
    }

    fn call(&mut self, piece: &Value) {
        let at = piece["index"].as_u64().unwrap_or_default();
        let call = self.calls.entry(at).or_insert_with(
            || json!({"id": piece["id"], "type": "function", "function": {"name": "", "arguments": ""}}),
        );
        for name in ["name", "arguments"] {
            if let Some(more) = piece["function"][name].as_str() {
                append(&mut call["function"][name], more);
            }
        }
    }

    /// A chunk of a later round, as one of the first reply's.
    fn placed(&self, one: Option<&str>, mut chunk: Value) -> String {
        match one {
            Some(one) if self.nth == 0 => one.to_owned(),
            _ => {
                if !self.id.is_null() {
                    chunk["id"] = self.id.clone();
                }
                if self.nth > 0 && chunk["usage"].is_object() {
                    chunk["usage"] = summed(&self.before, &chunk["usage"]);
                }
                sent("", &chunk)
            }
        }
    }

    fn flush(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        held.into_iter().map(|chunk| self.placed(None, chunk)).collect()
    }
}

impl Voice for Chat {
    fn event(&mut self, one: &str) -> String {
        if data(one).is_some_and(|data| data.trim() == "[DONE]") {
            return if self.recalls() { String::new() } else { format!("{}{one}", self.flush()) };
        }
        let Some(chunk) = said(one) else { return one.to_owned() };
        if self.nth == 0 && self.id.is_null() {
            self.id = chunk["id"].clone();
        }
        if chunk["usage"].is_object() {
            self.usage = chunk["usage"].clone();
        }
        let delta = &chunk["choices"][0]["delta"];
        self.words.push_str(delta["content"].as_str().unwrap_or_default());
        self.reasoning.push_str(delta["reasoning_content"].as_str().unwrap_or_default());
        let pieces = delta["tool_calls"].as_array().cloned().unwrap_or_default();
        for piece in &pieces {
            self.call(piece);
        }
        let is_over = !chunk["choices"][0]["finish_reason"].is_null();
        self.is_over |= is_over;
        if !pieces.is_empty() && !is_over {
            self.held.push(chunk);
            return String::new();
        }
        if is_over || chunk["choices"].as_array().is_some_and(Vec::is_empty) {
            if self.recalls() {
                return String::new();
            }
            return format!("{}{}", self.flush(), self.placed(Some(one), chunk));
        }
        self.placed(Some(one), chunk)
    }

    fn whole(&mut self, mut reply: Value) -> Option<Value> {
        if self.nth == 0 {
            self.id = reply["id"].clone();
        }
        self.usage = reply["usage"].clone();
        let message = &reply["choices"][0]["message"];
        let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
        (self.words, self.reasoning) = (text("content"), text("reasoning_content"));
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        self.calls = (0..).zip(calls).collect();
        self.told.push_str(&self.words);
        if self.recalls() {
            return None;
        }
        if self.nth > 0 {
            reply["id"] = self.id.clone();
            reply["usage"] = summed(&self.before, &self.usage);
            let message = reply.pointer_mut("/choices/0/message").and_then(Value::as_object_mut);
            if let Some(message) = message.filter(|_| !self.told.is_empty()) {
                message.insert("content".to_owned(), json!(self.told));
            }
        }
        Some(reply)
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over && self.recalls()
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> = self.calls.values().filter_map(recall_call).collect();
        if calls.is_empty() {
            return None;
        }
        let own: Vec<Value> = std::mem::take(&mut self.calls)
            .into_values()
            .filter(|call| recall_call(call).is_some())
            .collect();
        let words = std::mem::take(&mut self.words);
        let mut said = json!({"role": "assistant", "content": null, "tool_calls": own});
        if !words.is_empty() {
            said["content"] = json!(words);
        }
        let reasoning = std::mem::take(&mut self.reasoning);
        if !reasoning.is_empty() {
            said["reasoning_content"] = json!(reasoning);
        }
        self.before = summed(&self.before, &self.usage);
        self.nth += 1;
        self.is_over = false;
        self.held.clear();
        Some(Round { said: vec![said], calls })
    }

    fn rest(&mut self) -> String {
        self.flush()
    }

    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value> {
        let answer = |(call, answer): &(RecallCall, Result<String, String>)| {
            let words = answer.as_ref().unwrap_or_else(|why| why);
            json!({"role": "tool", "tool_call_id": call.id, "content": words})
        };
        calls.iter().map(answer).collect()
    }
}
