//! The system prompt and the tools, which newer sessions tell by their changes.

use epitome::wire::json::{quote, unquote};

use crate::neutral::{Frame, Tool};
use crate::object::object;
use crate::object::{Object, joined};

/// What the rows have said so far.
#[derive(Debug, Default)]
pub(super) struct Prompt<'a> {
    /// Texts, as literals.
    base: Vec<&'a str>,
    /// Named pieces, in the order of their first mention.
    sections: Vec<(String, &'a str)>,
    tools: Vec<(String, &'a str)>,
}

impl<'a> Prompt<'a> {
    /// Takes in a system message.
    pub(super) fn change(&mut self, message: &Object<'a>) {
        if let Some(text) = message.literal("content") {
            self.base.push(text);
        } else {
            let blocks = message.list("content").unwrap_or_default();
            let texts = blocks.into_iter().filter_map(|block| Object::of(block).literal("text"));
            self.base.extend(texts);
        }
        self.base.retain(|text| !unquote(text).is_empty());
        for (name, text) in message.object("sections").members() {
            set(&mut self.sections, name, Some(text).filter(|text| text.starts_with('"')));
        }
        for tool in message.list("toolsRemoved").unwrap_or_default() {
            if let Some(name) = Object::of(tool).text("name") {
                set(&mut self.tools, &name, None);
            }
        }
        for tool in message.list("toolsAdded").unwrap_or_default() {
            if let Some(name) = Object::of(tool).text("name") {
                set(&mut self.tools, &name, Some(tool));
            }
        }
    }

    /// Puts a complete one in the place of all that was said.
    pub(super) fn restart(&mut self, message: &Object<'a>) {
        *self = Prompt::default();
        self.change(message);
    }

    /// All of it as one system message; `None` if nothing was said.
    pub(super) fn system_message(&self, millis: u64) -> Option<String> {
        if self.base.is_empty() && self.sections.is_empty() && self.tools.is_empty() {
            return None;
        }
        let texts = self
            .base
            .iter()
            .map(|text| object([("type", quote("text")), ("text", (*text).to_owned())]));
        let content = match self.base.as_slice() {
            [] => quote(""),
            [text] => (*text).to_owned(),
            _ => format!("[{}]", texts.collect::<Vec<_>>().join(",")),
        };
        let sections = self.sections.iter().map(|(name, text)| format!("{}:{text}", quote(name)));
        let tools = self.tools.iter().map(|(_, tool)| *tool);
        Some(object([
            ("role", quote("system")),
            ("content", content),
            ("sections", format!("{{{}}}", sections.collect::<Vec<_>>().join(","))),
            ("toolsAdded", format!("[{}]", tools.collect::<Vec<_>>().join(","))),
            ("timestamp", millis.to_string()),
        ]))
    }

    pub(super) fn frame(self) -> Frame<'a> {
        let texts = self.base.iter().chain(self.sections.iter().map(|(_, text)| text));
        let mut pieces = Vec::new();
        for text in texts.filter(|text| !unquote(text).is_empty()) {
            if !pieces.is_empty() {
                pieces.push("\"\\n\\n\"");
            }
            pieces.push(*text);
        }
        let tools = self.tools.iter().map(|(name, raw)| {
            let tool = Object::of(raw);
            Tool {
                name: tool.literal("name").map_or_else(|| quote(name).into(), Into::into),
                description: tool.literal("description").map(Into::into),
                parameters: tool.get("parameters").unwrap_or("{\"type\":\"object\"}").into(),
            }
        });
        Frame {
            attached: None,
            model: None,
            system: (!pieces.is_empty()).then(|| joined(pieces).into()),
            tools: tools.collect(),
            times: Vec::new(),
        }
    }
}

/// Sets, replaces or removes what has a name.
fn set<'a>(all: &mut Vec<(String, &'a str)>, name: &str, value: Option<&'a str>) {
    let known = all.iter().position(|(known, _)| known == name);
    match (known, value) {
        (Some(at), Some(value)) => all[at].1 = value,
        (Some(at), None) => {
            all.remove(at);
        }
        (None, Some(value)) => all.push((name.to_owned(), value)),
        (None, None) => {}
    }
}
