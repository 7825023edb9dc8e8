//! Gemini, as Gemini CLI writes it.

use epitome::wire::Format;
use serde_json::{Value, json};

use super::{Dialect, Habit, Open, Page, Pair, list, pair, text};
use epitome_bench::dice::Dice;

pub(super) struct Gemini;

const PAIRS: [Pair; 2] = [
    pair(["gemini-3.1-pro", "gemini-3.8-flash"], Habit::Sloppy),
    pair(["gemini-2.5-pro", "gemini-2.5-flash"], Habit::Sloppy),
];

/// What the session is about, said again by each process.
const CONTEXT: &str = "<session_context>";

impl Dialect for Gemini {
    fn format(&self) -> Format {
        Format::Gemini
    }

    fn path(&self, model: &str) -> String {
        format!("/v1beta/models/{model}:generateContent")
    }

    fn pairs(&self) -> &'static [Pair] {
        &PAIRS
    }

    fn words(&self, words: String) -> Value {
        json!({"role": "user", "parts": [{"text": words}]})
    }

    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value> {
        let result = |(open, text): (Open, String)| {
            let mut response = json!({"name": open.name, "response": {"output": text}});
            if !open.id.is_empty() {
                response["id"] = json!(open.id);
            }
            json!({"functionResponse": response})
        };
        let mut parts: Vec<Value> = results.into_iter().map(result).collect();
        parts.extend(words.map(|words| json!({"text": words})));
        vec![json!({"role": "user", "parts": parts})]
    }

    fn is_reply(&self, content: &Value) -> bool {
        content["role"] == "model"
    }

    fn calls(&self, content: &Value) -> Vec<Open> {
        let calls = list(&content["parts"]).map(|part| &part["functionCall"]);
        let calls = calls.filter(|call| call.is_object());
        calls.map(|call| Open { id: text(&call["id"]), name: text(&call["name"]) }).collect()
    }

    fn said(&self, answer: &Value) -> Vec<Value> {
        vec![answer["candidates"][0]["content"].clone()]
    }

    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value {
        let mut contents = page.history.to_vec();
        if page.pair.habit == Habit::Sloppy {
            let context =
                format!("{CONTEXT}Today is November {}.</session_context>", dice.below(28));
            if let Some(parts) = contents[0]["parts"].as_array_mut() {
                parts.insert(0, json!({"text": context}));
            }
        }
        json!({
            "systemInstruction": {"parts": [{"text": "You fix builds. Never push to main."}]},
            "generationConfig": {"thinkingConfig": {"includeThoughts": true}},
            "tools": [{"functionDeclarations": [{"name": "Read",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}]}],
            "contents": contents,
        })
    }

    fn elements(&self, body: &Value) -> Vec<Value> {
        let plain = list(&body["contents"]).cloned().map(|mut content| {
            for part in content["parts"].as_array_mut().into_iter().flatten() {
                if text(&part["text"]).starts_with(CONTEXT) {
                    part["text"] = json!(CONTEXT);
                }
                if !part["thoughtSignature"].is_null() {
                    part["thoughtSignature"] = json!("any");
                }
            }
            content
        });
        [body["tools"].clone(), body["systemInstruction"].clone()]
            .into_iter()
            .chain(plain)
            .collect()
    }

    /// A word that stands for any signature takes their place (crates/epitome-tests/tests/it/volatile.md).
    fn resume(&self, history: &mut [Value]) {
        for content in history {
            for part in content["parts"].as_array_mut().into_iter().flatten() {
                if !part["thoughtSignature"].is_null() {
                    part["thoughtSignature"] = json!("skip_thought_signature_validator");
                }
            }
        }
    }
}
