//! OpenAI's Chat Completions.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::verbatim::Verbatim;
use super::voice::{RecallCall, Round, Voice, parting, said, sent, summed};
use crate::sse::data;

#[derive(Debug, Default)]
pub(super) struct Chat {
    nth: usize,
    /// The id of the first reply, which is that of all.
    id: Verbatim,
    words: String,
    /// Members with thoughts, which some providers want back.
    thoughts: IndexMap<&'static str, Verbatim>,
    /// Calls, each with the number that its pieces have.
    calls: Vec<(u64, Verbatim)>,
    /// Chunks with calls.
    held: Vec<Verbatim>,
    /// What the client was told.
    told: String,
    usage: Value,
    before: Value,
    /// The round ended as it should.
    is_over: bool,
}

const DELTA: &str = "/choices/0/delta";

/// Members of a message that a model thought in, of DeepSeek and of OpenRouter.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The words of a chunk, if it has any, and the rest of it.
fn parted(mut chunk: Verbatim) -> (Option<Verbatim>, Verbatim) {
    let has_words =
        chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|it| !it.is_empty());
    if !has_words {
        return (None, chunk);
    }
    let mut words = chunk.clone();
    if let Some(choice) = words.pointer_mut("/choices/0") {
        choice.set("finish_reason", Verbatim::default());
    }
    if let Some(delta) = words.pointer_mut(DELTA) {
        delta.remove("tool_calls");
    }
    words.remove("usage");
    if let Some(delta) = chunk.pointer_mut(DELTA) {
        delta.remove("content");
    }
    (Some(words), chunk)
}

fn recall_call(call: &Verbatim) -> Option<RecallCall> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or_default().to_owned();
    RecallCall::of(&call["id"], &function["name"], arguments)
}

impl Chat {
    fn recalls(&self) -> bool {
        self.calls.iter().any(|(_, call)| recall_call(call).is_some())
    }

    /// A piece of a call. Some providers give all calls one number: another id is another call.
    fn call(&mut self, piece: &Verbatim) {
        if !piece.is_object() {
            return;
        }
        let at = piece["index"].as_u64().unwrap_or_default();
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let known = self.calls.iter().rposition(|(number, call)| {
            *number == at && id.is_none_or(|id| call["id"].is_null() || call["id"] == id)
        });
        let place = known.unwrap_or_else(|| {
            let new = json!({"type": "function", "function": {"name": "", "arguments": ""}});
            self.calls.push((at, new.into()));
            self.calls.len() - 1
        });
        let call = &mut self.calls[place].1;
        for (name, value) in piece.members() {
            match name {
                "index" => {}
                "function" => {
                    for name in ["name", "arguments"] {
                        let text = call.get_mut("function").and_then(|it| it.entry(name));
                        if let (Some(more), Some(text)) = (value[name].as_str(), text) {
                            text.append(more);
                        }
                    }
                }
                name if !value.is_null() => call.set(name, value.clone()),
                _ => {}
            }
        }
    }

    /// A piece of thoughts, of which there are texts and lists.
    fn thought(&mut self, message: &Verbatim) {
        for name in THOUGHTS {
            let all = self.thoughts.entry(name).or_default();
            if let Some(more) = message[name].as_str() {
                all.append(more);
            }
            for one in message[name].values() {
                all.push(one.clone());
            }
        }
    }

    /// A chunk of a later round, as one of the first reply's.
    fn placed(&self, one: Option<&str>, mut chunk: Verbatim) -> String {
        match one {
            Some(one) if self.nth == 0 => one.to_owned(),
            _ => {
                if !self.id.is_null() {
                    chunk.set("id", self.id.clone());
                }
                if self.nth > 0 && chunk["usage"].is_object() {
                    chunk.set("usage", summed(&self.before, &chunk["usage"].value()));
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
            self.usage = chunk["usage"].value();
        }
        // `told` is what was said before this round.
        if let Some(words) = chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned) {
            let parting = if self.words.is_empty() { parting(&self.told, &words) } else { "" };
            self.words.push_str(&words);
            if let Some(delta) = chunk.pointer_mut(DELTA).filter(|_| !parting.is_empty()) {
                delta.set("content", &*[parting, &words].concat());
            }
        }
        let delta = &chunk["choices"][0]["delta"];
        self.thought(delta);
        let pieces = delta["tool_calls"].values();
        for piece in pieces {
            self.call(piece);
        }
        let has_pieces = !pieces.is_empty();
        let is_over = !chunk["choices"][0]["finish_reason"].is_null();
        self.is_over |= is_over;
        if has_pieces && !is_over {
            let (words, calls) = parted(chunk);
            self.held.push(calls);
            return words.map(|words| self.placed(None, words)).unwrap_or_default();
        }
        if is_over || chunk["choices"].as_list().is_some_and(<[_]>::is_empty) {
            if self.recalls() {
                return parted(chunk).0.map(|words| self.placed(None, words)).unwrap_or_default();
            }
            return format!("{}{}", self.flush(), self.placed(Some(one), chunk));
        }
        self.placed(Some(one), chunk)
    }

    fn whole(&mut self, mut reply: Verbatim) -> Option<Verbatim> {
        if self.nth == 0 {
            self.id = reply["id"].clone();
        }
        self.usage = reply["usage"].value();
        let message = &reply["choices"][0]["message"];
        self.words = message["content"].as_str().unwrap_or_default().into();
        self.thoughts.clear();
        self.thought(message);
        self.calls = (0..).zip(message["tool_calls"].values().iter().cloned()).collect();
        if self.recalls() {
            return None;
        }
        if self.nth > 0 {
            reply.set("id", self.id.clone());
            reply.set("usage", summed(&self.before, &self.usage));
            let message = reply.pointer_mut("/choices/0/message");
            if let Some(message) = message.filter(|it| it.is_object() && !self.told.is_empty()) {
                let told = [&self.told, parting(&self.told, &self.words), &self.words].concat();
                message.set("content", &*told);
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
        let own: Vec<Verbatim> = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|(_, call)| call)
            .filter(|call| recall_call(call).is_some())
            .collect();
        let words = std::mem::take(&mut self.words);
        self.told.push_str(parting(&self.told, &words));
        self.told.push_str(&words);
        let content = if words.is_empty() { Verbatim::default() } else { words.as_str().into() };
        let mut said = Verbatim::object([
            ("role", "assistant".into()),
            ("content", content),
            ("tool_calls", own.into()),
        ]);
        for (name, thought) in std::mem::take(&mut self.thoughts) {
            if !thought.is_null() {
                said.set(name, thought);
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
