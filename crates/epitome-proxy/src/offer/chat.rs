//! OpenAI's Chat Completions.

use serde_json::{Map, Value, json};

use super::voice::{RecallCall, Round, Voice, append, parting, said, sent, summed};
use crate::sse::data;

#[derive(Debug, Default)]
pub(super) struct Chat {
    nth: usize,
    /// The id of the first reply, which is that of all.
    id: Value,
    words: String,
    /// Members with thoughts, which some providers want back.
    thoughts: Map<String, Value>,
    /// Calls, each with the number that its pieces have.
    calls: Vec<(u64, Value)>,
    /// Chunks with calls.
    held: Vec<Value>,
    /// What the client was told.
    told: String,
    usage: Value,
    before: Value,
    /// The round ended as it should.
    is_over: bool,
}

/// Members of a message that a model thought in, of DeepSeek and of OpenRouter.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The words of a chunk, if it has any, and the rest of it.
fn parted(mut chunk: Value) -> (Option<Value>, Value) {
    let has_words =
        chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|it| !it.is_empty());
    if !has_words {
        return (None, chunk);
    }
    let mut words = chunk.clone();
    let choice = &mut words["choices"][0];
    choice["finish_reason"] = Value::Null;
    if let Some(delta) = choice["delta"].as_object_mut() {
        delta.remove("tool_calls");
    }
    if let Some(words) = words.as_object_mut() {
        words.remove("usage");
    }
    if let Some(delta) = chunk["choices"][0]["delta"].as_object_mut() {
        delta.remove("content");
    }
    (Some(words), chunk)
}

fn recall_call(call: &Value) -> Option<RecallCall> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or_default().to_owned();
    RecallCall::of(&call["id"], &function["name"], arguments)
}

impl Chat {
    fn recalls(&self) -> bool {
        self.calls.iter().any(|(_, call)| recall_call(call).is_some())
    }

    /// A piece of a call. Some providers give all calls one number: another id is another call.
    fn call(&mut self, piece: &Value) {
        let Some(members) = piece.as_object() else { return };
        let at = piece["index"].as_u64().unwrap_or_default();
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let known = self.calls.iter().rposition(|(number, call)| {
            *number == at && id.is_none_or(|id| call["id"].is_null() || call["id"] == id)
        });
        let place = known.unwrap_or_else(|| {
            let new = json!({"type": "function", "function": {"name": "", "arguments": ""}});
            self.calls.push((at, new));
            self.calls.len() - 1
        });
        let call = &mut self.calls[place].1;
        for (name, value) in members {
            match name.as_str() {
                "index" => {}
                "function" => {
                    for name in ["name", "arguments"] {
                        if let Some(more) = value[name].as_str() {
                            append(&mut call["function"][name], more);
                        }
                    }
                }
                name if !value.is_null() => call[name] = value.clone(),
                _ => {}
            }
        }
    }

    /// A piece of thoughts, of which there are texts and lists.
    fn thought(&mut self, message: &Value) {
        for name in THOUGHTS {
            let all = self.thoughts.entry(name).or_insert(Value::Null);
            match (&message[name], &mut *all) {
                (Value::String(more), _) => append(all, more),
                (Value::Array(more), Value::Array(all)) => all.extend(more.iter().cloned()),
                (Value::Array(more), all) => *all = Value::Array(more.clone()),
                _ => {}
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
        let Some(mut chunk) = said(one) else { return one.to_owned() };
        if self.nth == 0 && self.id.is_null() {
            self.id = chunk["id"].clone();
        }
        if chunk["usage"].is_object() {
            self.usage = chunk["usage"].clone();
        }
        // `told` is what was said before this round.
        let content = chunk.pointer_mut("/choices/0/delta/content");
        if let Some(Value::String(words)) = content {
            let is_first = self.words.is_empty();
            self.words.push_str(words);
            if is_first {
                words.insert_str(0, parting(&self.told, &self.words));
            }
        }
        let delta = &chunk["choices"][0]["delta"];
        self.thought(delta);
        let pieces = delta["tool_calls"].as_array().cloned().unwrap_or_default();
        for piece in &pieces {
            self.call(piece);
        }
        let is_over = !chunk["choices"][0]["finish_reason"].is_null();
        self.is_over |= is_over;
        if !pieces.is_empty() && !is_over {
            let (words, calls) = parted(chunk);
            self.held.push(calls);
            return words.map(|words| self.placed(None, words)).unwrap_or_default();
        }
        if is_over || chunk["choices"].as_array().is_some_and(Vec::is_empty) {
            if self.recalls() {
                return parted(chunk).0.map(|words| self.placed(None, words)).unwrap_or_default();
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
        self.words = message["content"].as_str().unwrap_or_default().into();
        self.thoughts.clear();
        self.thought(&message.clone());
        let message = &reply["choices"][0]["message"];
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        self.calls = (0..).zip(calls).collect();
        if self.recalls() {
            return None;
        }
        if self.nth > 0 {
            reply["id"] = self.id.clone();
            reply["usage"] = summed(&self.before, &self.usage);
            let message = reply.pointer_mut("/choices/0/message").and_then(Value::as_object_mut);
            if let Some(message) = message.filter(|_| !self.told.is_empty()) {
                let told = [&self.told, parting(&self.told, &self.words), &self.words].concat();
                message.insert("content".to_owned(), json!(told));
            }
        }
        Some(reply)
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over && self.recalls()
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> =
            self.calls.iter().filter_map(|(_, call)| recall_call(call)).collect();
        if calls.is_empty() {
            return None;
        }
        let own: Vec<Value> = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|(_, call)| call)
            .filter(|call| recall_call(call).is_some())
            .collect();
        let words = std::mem::take(&mut self.words);
        self.told.push_str(parting(&self.told, &words));
        self.told.push_str(&words);
        let mut said = json!({"role": "assistant", "content": null, "tool_calls": own});
        if !words.is_empty() {
            said["content"] = json!(words);
        }
        for (name, thought) in std::mem::take(&mut self.thoughts) {
            if !thought.is_null() {
                said[name] = thought;
            }
        }
        self.before = summed(&self.before, &self.usage.take());
        self.nth += 1;
        self.is_over = false;
        self.held.clear();
        Some(Round { said: vec![said], calls, container: None })
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
