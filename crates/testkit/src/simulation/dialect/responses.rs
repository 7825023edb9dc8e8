//! OpenAI Responses, without state at the provider.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Open, Page, Pair, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Responses;

const PAIRS: [Pair; 3] = [
    pair(["gpt-6.1-sol", "gpt-6-luna"], Habit::Sloppy),
    pair(["gpt-6.2-sol", "gpt-6.2-astra"], Habit::Careful),
    // To a model that binds.
    pair(["gpt-6.1-terra", "gpt-6.2-astra"], Habit::Careful),
];

const RULES: &str = "You fix builds. Never push to main.";

impl Dialect for Responses {
    fn format(&self) -> Format {
        Format::OpenaiResponses
    }

    fn path(&self, _: &str) -> String {
        "/v1/responses".to_owned()
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]})
    }

    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| json!({"type": "function_call_output", "call_id": open.id, "output": text});
        results.into_iter().map(result).chain(words.map(|words| self.words(words))).collect()
    }

    fn is_reply(&self, item: &Value) -> bool {
        item["role"] == "assistant"
            || item["type"] == "reasoning"
            || item["type"] == "function_call"
    }

    /// Reasoning is never the last thing.
    fn closes(&self, item: &Value) -> bool {
        self.is_reply(item) && item["type"] != "reasoning"
    }

    fn calls(&self, item: &Value) -> Vec<Open> {
        let is_call = item["type"] == "function_call";
        let open = Open { id: text(&item["call_id"]), name: text(&item["name"]) };
        is_call.then_some(open).into_iter().collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        list(&answer["output"]).cloned().collect()
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        // To models before GPT-6.2 reasoning is bound behind `instructions`, to later ones it isn't (B.2.5).
        let (turn, instructions, opening) = match page.pair.habit {
            Habit::Careful => {
                (0, Value::Null, Some(json!({"role": "developer", "content": RULES})))
            }
            Habit::Sloppy => (dice.roll(), json!(RULES), None),
        };
        let input: Vec<Value> = opening.into_iter().chain(page.history.iter().cloned()).collect();
        json!({
            "model": page.model,
            "instructions": instructions,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "medium", "summary": "auto"},
            "client_metadata": {"turn": turn.to_string()},
            "tools": [{"type": "function", "name": "Read",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "input": input,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let plain = list(&body["input"]).cloned().map(|mut item| {
            if let Some(words) = item["content"].as_str() {
                let kind = if item["role"] == "assistant" { "output_text" } else { "input_text" };
                item["content"] = json!([{"type": kind, "text": words}]);
            }
            item
        });
        [body["tools"].clone(), body["instructions"].clone()].into_iter().chain(plain).collect()
    }

    fn resume(&self, history: &mut [Value]) {
        for item in history.iter_mut().filter(|item| item["role"] == "user") {
            if let Some(words) = item["content"][0]["text"].as_str() {
                item["content"] = json!(words);
            }
        }
    }
}
