//! Sessions as chat requests.

use epitome::{Format, Request, wire};
use epitome_bench::dice::Dice;
use serde_json::{Value, json};

/// A session that grows.
#[derive(Default)]
pub(crate) struct Chat(Vec<Value>);

impl Chat {
    pub(crate) fn says(&mut self, role: &str, text: &str) -> &mut Self {
        self.0.push(json!({"role": role, "content": text}));
        self
    }

    /// The model says something, calls a tool, and the tool answers.
    pub(crate) fn calls(
        &mut self,
        text: &str,
        name: &str,
        arguments: &Value,
        result: &str,
    ) -> &mut Self {
        let id = format!("call_{}", self.0.len());
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = json!({"id": id, "type": "function", "function": function});
        self.0.push(json!({"role": "assistant", "content": text, "tool_calls": [call]}));
        self.0.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn request(&self) -> Request {
        let body = json!({"model": "gpt-6-sol", "messages": self.0}).to_string();
        wire::parse(Format::OpenaiChat, body).expect("a request")
    }
}

/// A session of so many steps in which files are read, and what stands in them is used later.
pub(crate) fn working(steps: usize) -> Request {
    let (mut chat, mut dice) = (Chat::default(), Dice::new(3));
    chat.says("system", "You work on the shop. See docs/handbook.md.");
    chat.says("user", "Tidy the limits. The staging port is 8442.");
    let mut known: Vec<String> = vec!["src/part_0.rs".to_owned()];
    for step in 0..steps {
        if step % 9 == 8 {
            chat.says("user", &format!("Fine. Ticket OPS-{} is next. Don't stop.", 4_000 + step));
        }
        let old = known[dice.below(known.len())].clone();
        let file = format!("src/part_{}.rs", dice.below(steps));
        let found = format!("limit_{}_{}", dice.below(900), step);
        let lines: Vec<String> = (0..12)
            .map(|line| format!("{line} let filler_{step}_{line} = {};", dice.below(9_999)))
            .collect();
        let text = format!("I look at {old} again because of {file}.");
        let result = format!(
            "pub const {found}: u32 = {};\n{}\n",
            1_000 + dice.below(8_999),
            lines.join("\n")
        );
        chat.calls(&text, "read_file", &json!({"path": file}), &result);
        known.extend([file, found]);
    }
    chat.says("assistant", "Done.");
    chat.request()
}
