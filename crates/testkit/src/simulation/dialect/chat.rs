//! OpenAI Chat Completions, and compatibles that want their reasoning back.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Open, Page, Pair, blocks, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Chat;

const PAIRS: [Pair; 2] = [
    pair(["gpt-4o", "gpt-4.1"], Habit::Sloppy),
    pair(["kimi-k2-thinking", "deepseek-reasoner"], Habit::Careful),
];

fn words(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

impl Dialect for Chat {
    fn format(&self) -> Format {
        Format::OpenaiChat
    }

    fn path(&self, _: &str) -> String {
        "/v1/chat/completions".to_owned()
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"role": "user", "content": words})
    }

    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| json!({"role": "tool", "tool_call_id": open.id, "content": text});
        results.into_iter().map(result).chain(words.map(|words| self.words(words))).collect()
    }

    fn calls(&self, message: &Value) -> Vec<Open> {
        let open =
            |call: &Value| Open { id: text(&call["id"]), name: text(&call["function"]["name"]) };
        list(&message["tool_calls"]).map(open).collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        let mut message = answer["choices"][0]["message"].clone();
        for key in ["annotations", "refusal"] {
            message.as_object_mut().and_then(|message| message.remove(key));
        }
        vec![message]
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        let day = match page.pair.habit {
            Habit::Careful => 1,
            Habit::Sloppy => dice.below(28),
        };
        let system = format!("You fix builds. Never push to main. Today is November {day}.");
        let mut messages = vec![json!({"role": "system", "content": system})];
        messages.extend(page.history.iter().cloned());
        json!({
            "model": page.model,
            "tools": [{"type": "function", "function": {
                "name": "Read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
            "messages": messages,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let said = list(&body["messages"]).filter(|message| message["role"] != "system").cloned();
        let plain = said.map(|mut message| {
            message["content"] = blocks(&message["content"], words);
            message
        });
        std::iter::once(body["tools"].clone()).chain(plain).collect()
    }

    fn resume(&self, history: &mut [Value]) {
        for message in history.iter_mut().filter(|message| message["role"] == "user") {
            message["content"] = blocks(&message["content"], words);
        }
    }
}
