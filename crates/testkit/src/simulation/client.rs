//! A client: an agent's loop over its own history, as it writes it today.

use epitome::Request;
use epitome::session::SessionId;
use epitome::wire::{self, Format};
use serde_json::{Value, json};

use super::MODELS;
use crate::dice::Dice;
use crate::prose;
use crate::server::{Reply, Say};

#[derive(Clone)]
pub(super) struct Client {
    pub(super) tenant: String,
    /// The messages, as the client holds them.
    pub(super) history: Vec<Value>,
    pub(super) window: usize,
    /// What was sent last: session, epoch, elements, and the client's own elements.
    pub(super) sent: Option<(SessionId, u32, Vec<Value>, Vec<Value>)>,
}

impl Client {
    /// The client's next message: results for open calls, else words.
    pub(super) fn speak(&mut self, dice: &mut Dice) {
        let client = self;
        let calls: Vec<String> = client
            .history
            .last()
            .filter(|last| last["role"] == "assistant")
            .and_then(|last| last["content"].as_array())
            .into_iter()
            .flatten()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str().map(str::to_owned))
            .collect();
        if calls.is_empty() {
            if client.history.last().is_some_and(|last| last["role"] == "user") {
                // The provider never answered; the client asks again.
                return;
            }
            let words = format!("{} {}", prose::lorem(3 + dice.below(60)), dice.roll());
            client.history.push(json!({"role": "user", "content": words}));
            return;
        }
        let mut blocks: Vec<Value> = calls
            .iter()
            .map(|id| {
                let lines = if dice.one_in(12) { 600 } else { 1 + dice.below(60) };
                let text = prose::log(dice.roll(), lines);
                json!({"type": "tool_result", "tool_use_id": id, "content": text})
            })
            .collect();
        if dice.one_in(8) {
            blocks.push(json!({"type": "text", "text": format!("And {}.", dice.roll())}));
        }
        client.history.push(json!({"role": "user", "content": blocks}));
    }

    /// The request as the client writes it today: with markers on its newest messages.
    pub(super) fn request(&self, model: &str, dice: &mut Dice) -> Request {
        let mut messages = self.history.clone();
        let marked = messages.len().saturating_sub(1 + dice.below(3));
        if let Some(blocks) = messages[marked]["content"].as_array_mut()
            && let Some(last) = blocks.last_mut()
            && last["type"] != "thinking"
        {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        let is_bound = model == MODELS[0];
        if !is_bound && dice.one_in(3) {
            let left = 1_000 + dice.below(100_000);
            let note = format!("<total_tokens>{left} left</total_tokens>");
            messages.push(json!({"role": "system", "content": note}));
        }
        let nonce = if is_bound { 0 } else { dice.roll() };
        let body = json!({
            "model": model,
            "max_tokens": 256,
            "thinking": {"type": "adaptive"},
            "system": [
                {"type": "text", "text": format!("x-anthropic-billing-header: cch={nonce};")},
                {"type": "text", "text": "You fix builds. Never push to main."},
            ],
            "tools": [{"name": "Read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "messages": messages,
        });
        let text = if dice.one_in(2) {
            body.to_string()
        } else {
            serde_json::to_string_pretty(&body).expect("JSON")
        };
        wire::parse(Format::Anthropic, text).expect("a body")
    }
}

/// Tools, system and messages, without markers, notes for one request, and the client's nonce.
pub(super) fn elements(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_str(request.source()).expect("it was parsed");
    let mut all = vec![body["tools"].clone(), body["system"][1].clone()];
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "system" {
            continue;
        }
        let mut message = message.clone();
        if let Some(text) = message["content"].as_str() {
            message["content"] = json!([{"type": "text", "text": text}]);
        }
        for block in message["content"].as_array_mut().into_iter().flatten() {
            if let Some(block) = block.as_object_mut() {
                block.remove("cache_control");
            }
        }
        all.push(message);
    }
    all
}

/// Whether a history may end here, so that the client speaks next.
pub(super) fn closes(message: &Value) -> bool {
    let calls = message["content"].as_array().into_iter().flatten();
    message["role"] == "assistant" && !calls.into_iter().any(|block| block["type"] == "tool_use")
}

pub(super) fn reply(dice: &mut Dice) -> Reply {
    let mut say = Vec::new();
    if dice.one_in(2) {
        say.push(Say::Think(prose::lorem(4 + dice.below(30))));
    }
    if dice.one_in(2) {
        say.push(Say::Text(format!("{} {}.", prose::lorem(3 + dice.below(30)), dice.roll())));
    }
    for _ in 0..dice.pick(&[0, 1, 1, 1, 2, 3]) {
        say.push(Say::Call {
            name: "Read".to_owned(),
            input: json!({"path": prose::file(dice.roll())}),
        });
    }
    if say.iter().all(|said| matches!(said, Say::Think(_))) {
        say.push(Say::Text("Done.".to_owned()));
    }
    Reply { say, ..Reply::default() }
}
