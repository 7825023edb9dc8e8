//! Tool definitions: functions with a JSON schema, and tools that take words. Schemas stay as they were
//! written, since the model reads their members in order.

use super::{Loss, Neutral, Strictness, Tool, ToolInput};
use crate::json::{self, Span, quote, unquote};
use crate::wire::Feature;
use crate::wire::conversion::Conversion;
use crate::word_list::words;

/// A tool without a schema takes anything.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a tool that takes words takes as a function.
const WORDS: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// An object's members.
pub(crate) struct Object<'a>(pub(crate) Vec<(String, &'a str)>);

impl<'a> Object<'a> {
    pub(crate) fn of(raw: &'a str) -> Self {
        let members = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
        let read = |(key, value): (Span, Span)| (unquote(key.of(raw)).into_owned(), value.of(raw));
        Object(members.into_iter().map(read).filter(|(_, value)| *value != "null").collect())
    }

    pub(crate) fn get(&self, keys: &[&str]) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|(key, _)| keys.contains(&key.as_str()));
        found.map(|(_, value)| *value)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(&[key]).filter(|raw| raw.starts_with('"')).map(|raw| unquote(raw).into_owned())
    }

    pub(crate) fn object(&self, key: &str) -> Option<Object<'a>> {
        self.get(&[key]).filter(|raw| raw.starts_with('{')).map(Object::of)
    }
}

/// The elements of a list.
pub(crate) fn list(raw: &str) -> impl Iterator<Item = &str> {
    let elements = if raw.starts_with('[') {
        json::elements(raw, Span::new(0..raw.len())).unwrap_or_default()
    } else {
        Vec::new()
    };
    elements.into_iter().map(move |span| span.of(raw))
}

/// Reads definitions on their way to a format.
pub(crate) struct ToolReader<'a> {
    pub(crate) to: &'a dyn Conversion,
    pub(crate) neutral: &'a mut Neutral,
}

impl ToolReader<'_> {
    /// The definitions of a list.
    pub(crate) fn list(&mut self, from: &(impl Conversion + ?Sized), raw: &str) {
        for item in list(raw).filter(|item| item.starts_with('{')) {
            from.read_tool(&Object::of(item), self);
        }
    }

    /// A function with a schema.
    pub(crate) fn function(&mut self, function: &Object<'_>, schema: Option<&str>) {
        let schema = schema.filter(|schema| schema.starts_with('{')).unwrap_or(ANY_OBJECT);
        let plain = self.to.has(Feature::PlainSchemas).then(|| self.plain(function, schema));
        let schema = plain.flatten().unwrap_or_else(|| schema.to_owned());
        self.add(function, ToolInput::Schema(schema));
    }

    /// The schema without a choice at its top; `None` if it has none.
    fn plain(&mut self, function: &Object<'_>, schema: &str) -> Option<String> {
        let is_choice = |key: &String| matches!(key.as_str(), "oneOf" | "anyOf" | "allOf");
        let (choices, others): (Vec<_>, Vec<_>) =
            Object::of(schema).0.into_iter().partition(|(key, _)| is_choice(key));
        let name = function.text("name").unwrap_or_default();
        for (key, _) in &choices {
            self.neutral.lose(None, Loss::Member, format!("{key} of {name}"));
        }
        let member = |(key, value): &(String, &str)| format!("{}:{value}", quote(key));
        let others: Vec<String> = others.iter().map(member).collect();
        (!choices.is_empty()).then(|| format!("{{{}}}", others.join(",")))
    }

    /// A tool that takes words.
    pub(crate) fn words(&mut self, tool: &Object<'_>) {
        let format = tool.object("format").map(|format| {
            // Chat wraps a grammar once more.
            let grammar = format.object("grammar").unwrap_or(Object(Vec::new()));
            let said = format.0.iter().filter(|(key, _)| key != "grammar").chain(&grammar.0);
            let said: Vec<_> = said.map(|(key, value)| format!("{}:{value}", quote(key))).collect();
            format!("{{{}}}", said.join(","))
        });
        if !self.to.has(Feature::WordTools) {
            let name = tool.text("name").unwrap_or_default();
            if format.as_ref().is_some_and(|format| format.contains("\"grammar\"")) {
                self.neutral.lose(None, Loss::Member, format!("grammar of {name}"));
            }
            self.neutral.lose(None, Loss::CallKind, name);
        }
        self.add(tool, ToolInput::Words(format));
    }

    /// What is no such tool.
    pub(crate) fn other(&mut self, item: &Object<'_>) {
        let named = item.text("name").or_else(|| item.text("type"));
        self.neutral.lose(None, Loss::Tool, named.unwrap_or_else(|| "without a name".into()));
    }

    fn add(&mut self, tool: &Object<'_>, form: ToolInput) {
        let name = tool.text("name").unwrap_or_default();
        for (key, value) in &tool.0 {
            match key.as_str() {
                "cache_control" => self.neutral.lose(None, Loss::CacheMarker, name.as_str()),
                "strict" if !self.to.has(Feature::StrictTools) && *value == "true" => {
                    self.neutral.lose(None, Loss::Member, format!("strict of {name}"));
                }
                key if MEMBERS.contains(&key) => {}
                key => self.neutral.lose(None, Loss::Member, format!("{key} of {name}")),
            }
        }
        let strict = Strictness::of(tool.get(&["strict"]));
        let description = tool.text("description").filter(|said| !said.is_empty());
        self.neutral.tools.push(Tool { name, description, strict, form });
    }
}

/// Members of a definition that are read.
const MEMBERS: [&str; 11] = words!(
    "type name description strict format parameters parametersJsonSchema parameters_json_schema \
     input_schema inputSchema cache_control"
);

/// The name of a tool in a namespace, where there are none: as agents spell the tools of an MCP server.
pub(crate) fn flat(space: &str, name: &str) -> String {
    match space.trim_end_matches('_') {
        "" => name.to_owned(),
        space => format!("{space}__{name}"),
    }
}

impl Tool {
    /// Its name and description, as members.
    pub(crate) fn members(&self) -> Vec<String> {
        let description = self.description.as_ref();
        let description = description.map(|said| format!(r#""description":{}"#, quote(said)));
        let name = format!(r#""name":{}"#, quote(&self.name));
        [Some(name), description].into_iter().flatten().collect()
    }

    /// Its schema, as a function.
    pub(crate) fn schema(&self) -> &str {
        match &self.form {
            ToolInput::Schema(schema) => schema,
            ToolInput::Words(_) => WORDS,
        }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.strict == Strictness::Strict
    }
}
