//! Bedrock Converse: user and assistant take turns, the model stands in the path.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Mode, Open, Page, Pair, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Converse;

const PAIRS: [Pair; 2] = [
    pair(
        ["us.anthropic.claude-opus-5-5-v1:0", "us.anthropic.claude-sonnet-5-5-v1:0"],
        Habit::Careful,
    ),
    Pair {
        mode: Mode::Manual,
        ..pair(
            ["anthropic.claude-opus-4-5-v1:0", "anthropic.claude-sonnet-4-5-v1:0"],
            Habit::Sloppy,
        )
    },
];

impl Dialect for Converse {
    fn format(&self) -> Format {
        Format::Bedrock
    }

    fn path(&self, model: &str) -> String {
        format!("/model/{model}/converse")
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"role": "user", "content": [{"text": words}]})
    }

    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| json!({"toolResult": {"toolUseId": open.id, "content": [{"text": text}]}});
        let mut content: Vec<Value> = results.into_iter().map(result).collect();
        content.extend(words.map(|words| json!({"text": words})));
        vec![json!({"role": "user", "content": content})]
    }

    fn calls(&self, message: &Value) -> Vec<Open> {
        let calls = list(&message["content"]).map(|block| &block["toolUse"]);
        let calls = calls.filter(|call| call.is_object());
        calls.map(|call| Open { id: text(&call["toolUseId"]), name: text(&call["name"]) }).collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        vec![answer["output"]["message"].clone()]
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        let mut messages = page.history.to_vec();
        if page.pair.habit == Habit::Sloppy && dice.one_in(2) {
            let content = messages.last_mut().and_then(|last| last["content"].as_array_mut());
            if let Some(content) = content {
                content.push(json!({"cachePoint": {"type": "default"}}));
            }
        }
        let thinking = match page.pair.mode {
            Mode::Adaptive => json!({"type": "adaptive"}),
            Mode::Manual => json!({"type": "enabled", "budget_tokens": 1_024}),
        };
        json!({
            "system": [{"text": "You fix builds. Never push to main."}],
            "inferenceConfig": {"maxTokens": 2_048},
            "additionalModelRequestFields": {"thinking": thinking},
            "toolConfig": {"tools": [{"toolSpec": {"name": "Read", "inputSchema": {"json":
                {"type": "object", "properties": {"path": {"type": "string"}}}}}}]},
            "messages": messages,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let plain = list(&body["messages"]).cloned().map(|mut message| {
            if let Some(content) = message["content"].as_array_mut() {
                content.retain(|block| block["cachePoint"].is_null());
            }
            message
        });
        [body["toolConfig"].clone(), body["system"].clone()].into_iter().chain(plain).collect()
    }

    fn resume(&self, _: &mut [Value]) {}
}
