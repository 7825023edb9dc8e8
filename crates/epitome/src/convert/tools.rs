//! Tool definitions: functions with a JSON schema, and tools that take words. Schemas stay as they were
//! written, since the model reads their members in order.

use serde_json::Value;

use super::lost::Loss;
use super::neutral::{Neutral, Strictness, Tool, ToolInput};
use crate::json::{self, Span, quote, unquote};
use crate::request::Request;
use crate::wire::Format;

/// A tool takes anything where nobody said what it takes.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a tool that takes words takes as a function.
const WORDS: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// An object's members.
struct Object<'a>(Vec<(String, &'a str)>);

impl<'a> Object<'a> {
    fn of(raw: &'a str) -> Self {
        let members = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
        let read = |(key, value): (Span, Span)| (unquote(key.of(raw)).into_owned(), value.of(raw));
        Object(members.into_iter().map(read).filter(|(_, value)| *value != "null").collect())
    }

    fn get(&self, keys: &[&str]) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|(key, _)| keys.contains(&key.as_str()));
        found.map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(&[key]).filter(|raw| raw.starts_with('"')).map(|raw| unquote(raw).into_owned())
    }

    fn object(&self, key: &str) -> Option<Object<'a>> {
        self.get(&[key]).filter(|raw| raw.starts_with('{')).map(Object::of)
    }
}

/// The elements of a list.
fn list(raw: &str) -> impl Iterator<Item = &str> {
    let elements = if raw.starts_with('[') {
        json::elements(raw, Span::new(0..raw.len())).unwrap_or_default()
    } else {
        Vec::new()
    };
    elements.into_iter().map(move |span| span.of(raw))
}

/// Reads the definitions of a request into `neutral`.
pub(super) fn read(request: &Request, to: Format, neutral: &mut Neutral) {
    // The older form of Chat's has nothing around a function.
    let older = (request.format == Format::OpenaiChat).then(|| request.value(&["functions"]));
    for function in older.flatten().into_iter().flat_map(list).map(Object::of) {
        Reader { to, neutral }.function(&function, function.get(&["parameters"]));
    }
    let Some(raw) = request.tools() else { return };
    let raw = match request.format {
        Format::Bedrock => Object::of(raw).get(&["tools"]).unwrap_or_default(),
        _ => raw,
    };
    let mut reader = Reader { to, neutral };
    list(raw).filter(|item| item.starts_with('{')).for_each(|item| {
        reader.item(request.format, &Object::of(item));
    });
}

struct Reader<'a> {
    to: Format,
    neutral: &'a mut Neutral,
}

impl Reader<'_> {
    fn item(&mut self, format: Format, item: &Object<'_>) {
        let kind = item.text("type");
        match (format, kind.as_deref()) {
            (Format::Gemini, _) => {
                for (key, value) in &item.0 {
                    if matches!(key.as_str(), "functionDeclarations" | "function_declarations") {
                        list(value).for_each(|one| self.gemini(&Object::of(one)));
                    } else {
                        self.neutral.lose(None, Loss::Tool, key.as_str());
                    }
                }
            }
            (Format::OpenaiChat, Some("custom")) => {
                if let Some(custom) = item.object("custom") {
                    self.words(&custom);
                }
            }
            (Format::OpenaiChat, _) if item.object("function").is_some() => {
                let function = item.object("function").expect("it was just looked at");
                self.function(&function, function.get(&["parameters"]));
            }
            (Format::OpenaiResponses, Some("function")) => {
                self.function(item, item.get(&["parameters"]));
            }
            (Format::OpenaiResponses, Some("custom")) => self.words(item),
            (Format::OpenaiResponses, Some("namespace")) => self.space(item),
            (Format::Anthropic, None | Some("custom")) => {
                self.function(item, item.get(&["input_schema"]));
            }
            (Format::Bedrock, _) if item.object("toolSpec").is_some() => {
                let spec = item.object("toolSpec").expect("it was just looked at");
                let schema = spec.object("inputSchema");
                self.function(&spec, schema.and_then(|schema| schema.get(&["json"])));
            }
            (Format::Bedrock, _) if item.get(&["cachePoint"]).is_some() => {
                self.neutral.lose(None, Loss::CacheMarker, "of tools");
            }
            _ => {
                let named = item.text("name").or(kind).unwrap_or_else(|| "without a name".into());
                self.neutral.lose(None, Loss::Tool, named);
            }
        }
    }

    /// Tools under one name: no other format has that, so each gets a name of both.
    fn space(&mut self, space: &Object<'_>) {
        let name = space.text("name").unwrap_or_default();
        if space.get(&["description"]).is_some() {
            self.neutral.lose(None, Loss::Member, format!("description of {name}"));
        }
        let known = self.neutral.tools.len();
        for tool in space.get(&["tools"]).into_iter().flat_map(list) {
            self.item(Format::OpenaiResponses, &Object::of(tool));
        }
        let mut spelled = Vec::new();
        for tool in &mut self.neutral.tools[known..] {
            spelled.push(format!("{} of {name}", tool.name));
            tool.name = flat(&name, &tool.name);
        }
        for tool in spelled {
            self.neutral.lose(None, Loss::ToolName, tool);
        }
    }

    /// Its own schema spells types in capitals; the JSON schema beside it doesn't.
    fn gemini(&mut self, function: &Object<'_>) {
        let json = function.get(&["parametersJsonSchema", "parameters_json_schema"]);
        match (json, function.get(&["parameters"])) {
            (None, Some(own)) => self.function(function, Some(&lowered(own, 0))),
            (json, _) => self.function(function, json),
        }
    }

    fn function(&mut self, function: &Object<'_>, schema: Option<&str>) {
        let schema = schema.filter(|schema| schema.starts_with('{')).unwrap_or(ANY_OBJECT);
        self.add(function, ToolInput::Schema(schema.to_owned()));
    }

    fn words(&mut self, tool: &Object<'_>) {
        let format = tool.object("format").map(|format| {
            // Chat wraps a grammar once more.
            let grammar = format.object("grammar").unwrap_or(Object(Vec::new()));
            let said = format.0.iter().filter(|(key, _)| key != "grammar").chain(&grammar.0);
            let said: Vec<_> = said.map(|(key, value)| format!("{}:{value}", quote(key))).collect();
            format!("{{{}}}", said.join(","))
        });
        if !takes_words(self.to) {
            let name = tool.text("name").unwrap_or_default();
            self.neutral.lose(None, Loss::CallKind, name);
        }
        self.add(tool, ToolInput::Words(format));
    }

    fn add(&mut self, tool: &Object<'_>, form: ToolInput) {
        let name = tool.text("name").unwrap_or_default();
        for (key, value) in &tool.0 {
            match key.as_str() {
                "cache_control" => self.neutral.lose(None, Loss::CacheMarker, name.as_str()),
                "strict" if !has_strict(self.to) && *value == "true" => {
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
const MEMBERS: [&str; 11] = [
    "type",
    "name",
    "description",
    "strict",
    "format",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "input_schema",
    "inputSchema",
    "cache_control",
];

/// The name of a tool in a namespace, where there are none: as agents spell the tools of an MCP server.
pub(super) fn flat(space: &str, name: &str) -> String {
    match space.trim_end_matches('_') {
        "" => name.to_owned(),
        space => format!("{space}__{name}"),
    }
}

/// Whether tools may take words.
pub(super) fn takes_words(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::OpenaiResponses)
}

fn has_strict(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::OpenaiResponses | Format::Anthropic)
}

/// How deep schemas are looked into.
const DEEPEST: usize = 64;

/// A schema with its types in small letters.
fn lowered(raw: &str, depth: usize) -> String {
    let whole = Span::new(0..raw.len());
    if depth > DEEPEST {
        return raw.to_owned();
    }
    if raw.starts_with('[') {
        let items: Vec<String> = list(raw).map(|item| lowered(item, depth + 1)).collect();
        return format!("[{}]", items.join(","));
    }
    if !raw.starts_with('{') {
        return raw.to_owned();
    }
    let members = json::members(raw, whole).unwrap_or_default().into_iter().map(|(key, value)| {
        let value = value.of(raw);
        let is_type = json::key_is(raw, key, "type") && value.starts_with('"');
        let value = if is_type { value.to_ascii_lowercase() } else { lowered(value, depth + 1) };
        format!("{}:{value}", key.of(raw))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The member of a body that defines the tools; `None` if there are none. `choice` is Bedrock's, which
/// stands beside them.
pub(super) fn write(tools: &[Tool], format: Format, choice: Option<&Value>) -> Option<String> {
    if tools.is_empty() {
        return None;
    }
    let list: Vec<String> = tools.iter().map(|tool| definition(tool, format)).collect();
    let list = list.join(",");
    Some(match format {
        Format::Gemini => format!(r#""tools":[{{"functionDeclarations":[{list}]}}]"#),
        Format::Bedrock => {
            let choice = choice.map(|one| format!(r#","toolChoice":{one}"#)).unwrap_or_default();
            format!(r#""toolConfig":{{"tools":[{list}]{choice}}}"#)
        }
        _ => format!(r#""tools":[{list}]"#),
    })
}

/// A format of words as Chat has it.
fn wrapped(form: &str) -> String {
    let form = Object::of(form);
    if form.text("type").as_deref() != Some("grammar") {
        return r#"{"type":"text"}"#.to_owned();
    }
    let grammar = form.0.iter().filter(|(key, _)| key != "type");
    let grammar: Vec<_> = grammar.map(|(key, value)| format!("{}:{value}", quote(key))).collect();
    format!(r#"{{"type":"grammar","grammar":{{{}}}}}"#, grammar.join(","))
}

fn definition(tool: &Tool, format: Format) -> String {
    let mut members = vec![format!(r#""name":{}"#, quote(&tool.name))];
    if let Some(description) = &tool.description {
        members.push(format!(r#""description":{}"#, quote(description)));
    }
    if let (ToolInput::Words(form), true) = (&tool.form, takes_words(format)) {
        let form = form.as_deref().map(|form| match format {
            Format::OpenaiChat => wrapped(form),
            _ => form.to_owned(),
        });
        members.extend(form.map(|form| format!(r#""format":{form}"#)));
        let members = members.join(",");
        return match format {
            Format::OpenaiChat => format!(r#"{{"type":"custom","custom":{{{members}}}}}"#),
            _ => format!(r#"{{"type":"custom",{members}}}"#),
        };
    }
    let schema = match &tool.form {
        ToolInput::Schema(schema) => schema.as_str(),
        ToolInput::Words(_) => WORDS,
    };
    match (tool.strict, format) {
        (Strictness::Strict, format) if has_strict(format) => {
            members.push(r#""strict":true"#.to_owned());
        }
        // It is strict where nothing is said; the others aren't.
        (_, Format::OpenaiResponses) => members.push(r#""strict":false"#.to_owned()),
        _ => {}
    }
    members.push(match format {
        Format::OpenaiChat | Format::OpenaiResponses => format!(r#""parameters":{schema}"#),
        Format::Anthropic => format!(r#""input_schema":{schema}"#),
        Format::Gemini => format!(r#""parametersJsonSchema":{schema}"#),
        Format::Bedrock => format!(r#""inputSchema":{{"json":{schema}}}"#),
    });
    let members = members.join(",");
    match format {
        Format::OpenaiChat => format!(r#"{{"type":"function","function":{{{members}}}}}"#),
        Format::OpenaiResponses => format!(r#"{{"type":"function",{members}}}"#),
        Format::Bedrock => format!(r#"{{"toolSpec":{{{members}}}}}"#),
        _ => format!("{{{members}}}"),
    }
}
