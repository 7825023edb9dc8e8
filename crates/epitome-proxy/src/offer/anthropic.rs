//! Anthropic's messages.
//!
//! A call is forwarded only once it is known whether the model recalls in the same round: then its other calls are dropped, which
//! nobody has made yet, and the model makes them again with the result. Thinking of later rounds isn't forwarded: it is signed
//! over rounds that the client's history doesn't have.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::verbatim::Verbatim;
use super::voice::{RecallCall, Round, Voice, said, sent, summed};

#[derive(Debug, Default)]
pub(super) struct Messages {
    nth: usize,
    /// What was said in this round, by the places that it has there.
    blocks: BTreeMap<usize, Verbatim>,
    inputs: BTreeMap<usize, String>,
    /// Places of blocks in what the client is told.
    told: BTreeMap<usize, u64>,
    next: u64,
    /// Events of calls.
    held: Vec<Verbatim>,
    /// What the client was told, of whole replies.
    visible: Vec<Verbatim>,
    /// What this round reports, and the sum of those before.
    usage: Value,
    before: Value,
    /// Where the provider ran code.
    container: Verbatim,
    /// The round ended as it should.
    is_over: bool,
}

fn newer(now: &Verbatim, before: &Verbatim) -> Verbatim {
    if now.is_object() { now.clone() } else { before.clone() }
}

fn is_thinking(block: &Verbatim) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn recall_call(block: &Verbatim) -> Option<RecallCall> {
    let is_call = block["type"] == "tool_use";
    RecallCall::of(&block["id"], &block["name"], block["input"].to_string()).filter(|_| is_call)
}

impl Messages {
    fn recalls(&self) -> bool {
        self.blocks.values().any(|block| recall_call(block).is_some())
    }

    fn delta(&mut self, at: usize, delta: &Verbatim) {
        let Some(block) = self.blocks.get_mut(&at) else { return };
        for name in ["text", "thinking", "signature", "content"] {
            if let Some(more) = delta[name].as_str()
                && let Some(text) = block.entry(name)
            {
                text.append(more);
            }
        }
        if let Some(more) = delta["partial_json"].as_str() {
            self.inputs.entry(at).or_default().push_str(more);
        }
        if delta["citation"].is_object()
            && let Some(citations) = block.entry("citations")
        {
            citations.push(delta["citation"].clone());
        }
    }

    /// An event of a block, as the client is told it.
    fn placed(&mut self, mut event: Verbatim) -> String {
        let at = event["index"].as_u64().unwrap_or_default() as usize;
        let next = &mut self.next;
        let place = *self.told.entry(at).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        event.set("index", place);
        sent(event["type"].as_str().unwrap_or_default(), &event)
    }

    /// What was held back; where the model recalls, all but calls.
    fn flush(&mut self) -> String {
        let mut held = std::mem::take(&mut self.held);
        if self.recalls() {
            let is_call =
                |at: usize| self.blocks.get(&at).is_some_and(|it| it["type"] == "tool_use");
            held.retain(|event| !event["index"].as_u64().is_some_and(|at| is_call(at as usize)));
        }
        held.into_iter().map(|event| self.placed(event)).collect()
    }

    fn of_block(&mut self, one: &str, event: Verbatim) -> String {
        let at = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str() {
            Some("content_block_start") => {
                let block = event.get("content_block").filter(|block| block.is_object());
                self.blocks.insert(at, block.cloned().unwrap_or_default());
            }
            Some("content_block_delta") => self.delta(at, &event["delta"]),
            _ => {
                if let Some(input) = self.inputs.get(&at)
                    && let Some(block) = self.blocks.get_mut(&at)
                    && let Some(input) = Verbatim::read(input)
                {
                    block.set("input", input);
                }
            }
        }
        let block = self.blocks.get(&at);
        if self.nth > 0 && block.is_some_and(is_thinking) {
            return String::new();
        }
        let is_call = block.is_some_and(|block| block["type"] == "tool_use");
        if is_call || !self.held.is_empty() {
            self.held.push(event);
            return String::new();
        }
        if self.nth == 0 && self.told.get(&at).map_or(self.next, |place| *place) == at as u64 {
            self.placed(event);
            return one.to_owned();
        }
        self.placed(event)
    }
}

impl Voice for Messages {
    fn event(&mut self, one: &str) -> String {
        let Some(mut event) = said(one) else { return one.to_owned() };
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "message_start" => {
                self.usage = event["message"]["usage"].value();
                self.container = newer(&event["message"]["container"], &self.container);
                if self.nth > 0 { String::new() } else { one.to_owned() }
            }
            "content_block_start" | "content_block_delta" | "content_block_stop" => {
                self.of_block(one, event)
            }
            "message_delta" => {
                if let (Some(usage), Value::Object(more)) =
                    (self.usage.as_object_mut(), event["usage"].value())
                {
                    // Later events only have changes.
                    usage.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
                }
                self.container = newer(&event["delta"]["container"], &self.container);
                let calls = self.flush();
                if self.recalls() {
                    self.is_over = true;
                    return calls;
                }
                if self.nth == 0 {
                    return format!("{calls}{one}");
                }
                event.set("usage", summed(&self.before, &self.usage));
                if let Some(delta) = event.get_mut("delta").filter(|_| self.container.is_object()) {
                    delta.set("container", self.container.clone());
                }
                format!("{calls}{}", sent(&kind, &event))
            }
            "message_stop" if self.recalls() => String::new(),
            _ => one.to_owned(),
        }
    }

    fn whole(&mut self, mut reply: Verbatim) -> Option<Verbatim> {
        self.blocks = reply["content"].values().iter().cloned().enumerate().collect();
        self.usage = reply["usage"].value();
        self.container = newer(&reply["container"], &self.container);
        let recalls = self.recalls();
        let nth = self.nth;
        let is_told = |block: &&Verbatim| {
            !(nth > 0 && is_thinking(block) || recalls && block["type"] == "tool_use")
        };
        self.visible.extend(self.blocks.values().filter(is_told).cloned());
        if recalls {
            return None;
        }
        if nth > 0 {
            reply.set("content", self.visible.clone());
            reply.set("usage", summed(&self.before, &self.usage));
            if self.container.is_object() {
                reply.set("container", self.container.clone());
            }
        }
        Some(reply)
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over && self.recalls()
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> = self.blocks.values().filter_map(recall_call).collect();
        if calls.is_empty() {
            return None;
        }
        let is_said = |block: &Verbatim| match block["type"].as_str() {
            Some("tool_use") => recall_call(block).is_some(),
            _ => !block.is_null(),
        };
        let said = std::mem::take(&mut self.blocks).into_values();
        let content: Vec<Verbatim> = said.filter(is_said).collect();
        self.before = summed(&self.before, &self.usage.take());
        self.nth += 1;
        self.is_over = false;
        (self.inputs, self.told, self.held) = Default::default();
        let said =
            vec![Verbatim::object([("role", "assistant".into()), ("content", content.into())])];
        Some(Round { said, calls, container: self.container["id"].as_str().map(str::to_owned) })
    }

    fn rest(&mut self) -> String {
        self.flush()
    }

    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value> {
        let results = calls.iter().map(|(call, answer)| {
            let mut result = json!({"type": "tool_result", "tool_use_id": call.id});
            result["content"] = json!(answer.as_ref().unwrap_or_else(|why| why));
            if answer.is_err() {
                result["is_error"] = json!(true);
            }
            result
        });
        vec![json!({"role": "user", "content": results.collect::<Vec<_>>()})]
    }
}
