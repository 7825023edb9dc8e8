//! Anthropic Messages, as Claude Code writes them.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Mode, Open, Page, Pair, blocks, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Anthropic;

const PAIRS: [Pair; 6] = [
    pair(["claude-opus-5-5", "claude-sonnet-5-5"], Habit::Careful),
    pair(["claude-opus-4-8", "claude-opus-5"], Habit::Sloppy),
    // To a model that binds, and back.
    pair(["claude-opus-4-7", "claude-sonnet-5-5"], Habit::Careful),
    Pair { mode: Mode::Manual, ..pair(["claude-opus-4-5", "claude-sonnet-4-5"], Habit::Sloppy) },
    Pair { mode: Mode::Manual, ..pair(["claude-opus-5-5", "claude-haiku-5-5"], Habit::Careful) },
    // To one that binds, inside an open loop that must start with its reasoning, and back.
    Pair { mode: Mode::Manual, ..pair(["claude-opus-4-5", "claude-haiku-5-5"], Habit::Careful) },
];

/// Takes system text in mid-conversation.
const NOTED: [&str; 2] = PAIRS[1].models;

fn words(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

impl Dialect for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"role": "user", "content": words})
    }

    fn results(&self, results: Vec<(Open, String)>, said: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| json!({"type": "tool_result", "tool_use_id": open.id, "content": text});
        let mut content: Vec<Value> = results.into_iter().map(result).collect();
        content.extend(said.as_deref().map(words));
        vec![json!({"role": "user", "content": content})]
    }

    fn calls(&self, message: &Value) -> Vec<Open> {
        let calls = list(&message["content"]).filter(|block| block["type"] == "tool_use");
        calls.map(|call| Open { id: text(&call["id"]), name: text(&call["name"]) }).collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        vec![json!({"role": "assistant", "content": answer["content"]})]
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        let mut messages = page.history.to_vec();
        let marked = messages.len().saturating_sub(1 + dice.below(3));
        if let Some(last) =
            messages[marked]["content"].as_array_mut().and_then(|all| all.last_mut())
            && last["type"] != "thinking"
        {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        if NOTED.contains(&page.model) && dice.one_in(3) {
            let left = 1_000 + dice.below(100_000);
            let note = format!("<total_tokens>{left} left</total_tokens>");
            messages.push(json!({"role": "system", "content": note}));
        }
        let nonce = match page.pair.habit {
            Habit::Careful => 0,
            Habit::Sloppy => dice.roll(),
        };
        let thinking = match page.pair.mode {
            Mode::Adaptive => json!({"type": "adaptive"}),
            Mode::Manual => json!({"type": "enabled", "budget_tokens": 1_024}),
        };
        json!({
            "model": page.model,
            "max_tokens": 2_048,
            "thinking": thinking,
            "system": [words(&format!("x-anthropic-billing-header: cch={nonce};")), words("You fix builds. Never push to main.")],
            "tools": [{"name": "Read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "messages": messages,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let said = list(&body["messages"]).filter(|message| message["role"] != "system").cloned();
        let plain = said.map(|mut message| {
            message["content"] = blocks(&message["content"], words);
            for block in message["content"].as_array_mut().into_iter().flatten() {
                block.as_object_mut().and_then(|block| block.remove("cache_control"));
            }
            message
        });
        [body["tools"].clone(), body["system"][1].clone()].into_iter().chain(plain).collect()
    }

    /// A string becomes a list of one text (PROVIDERS.md B.7).
    fn resume(&self, history: &mut [Value]) {
        for message in history {
            message["content"] = blocks(&message["content"], words);
        }
    }
}
