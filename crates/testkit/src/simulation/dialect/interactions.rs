//! Gemini Interactions, without state at the provider.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Open, Page, Pair, blocks, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Interactions;

const PAIRS: [Pair; 1] = [pair(["gemini-3.1-pro", "gemini-3.8-flash"], Habit::Sloppy)];

fn block(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

impl Dialect for Interactions {
    fn format(&self) -> Format {
        Format::GeminiInteractions
    }

    fn path(&self, _: &str) -> String {
        "/v1beta/interactions".to_owned()
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"type": "user_input", "content": [block(&words)]})
    }

    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| json!({"type": "function_result", "call_id": open.id, "name": open.name, "result": text});
        results.into_iter().map(result).chain(words.map(|words| self.words(words))).collect()
    }

    fn is_reply(&self, step: &Value) -> bool {
        step["type"] != "user_input" && step["type"] != "function_result"
    }

    fn calls(&self, step: &Value) -> Vec<Open> {
        let open = Open { id: text(&step["id"]), name: text(&step["name"]) };
        (step["type"] == "function_call").then_some(open).into_iter().collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        list(&answer["steps"]).cloned().collect()
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        json!({
            "model": page.model,
            "store": false,
            "system_instruction": "You fix builds. Never push to main.",
            "generation_config": {"thinking_summaries": "auto"},
            "labels": {"turn": dice.roll().to_string()},
            "tools": [{"type": "function", "name": "Read",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "input": page.history,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let plain = list(&body["input"]).cloned().map(|mut step| {
            if step["type"] == "user_input" {
                step["content"] = blocks(&step["content"], block);
            }
            step
        });
        [body["tools"].clone(), body["system_instruction"].clone()]
            .into_iter()
            .chain(plain)
            .collect()
    }

    fn resume(&self, history: &mut [Value]) {
        for step in history.iter_mut().filter(|step| step["type"] == "user_input") {
            if let Some(words) = step["content"][0]["text"].as_str() {
                step["content"] = json!(words);
            }
        }
    }
}
