//! Gemini's side of conversion.

use serde_json::{Value, json};

use super::shapes::may_be_shown;
use super::{Gemini, terms::TERMS};
use crate::json::{self, Scanner, Span, quote};
use crate::transcript::{Part, PartKind};
use crate::wire::conversion::{CallDemand, Conversion, Inside, Members, Seal, texts};
use crate::wire::neutral::{
    CallOutcome, Data, Instruction, Loss, Medium, Object, Parameters, ShownMedium, Tool,
    ToolAnswer, ToolCall, ToolChoice, ToolReader, by_name, list, text,
};
use crate::wire::{FOREIGN_CALL, Terms};
use crate::word_list::words;

impl Conversion for Gemini {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    /// A part is the value of a member; of a medium it is its data.
    fn is_block(&self, part: &Part<'_>) -> bool {
        matches!(part.kind(), PartKind::Call | PartKind::Result)
    }

    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"text":{}}}"#, quote(text))
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        let member = |camel: &str, snake: &str| text(&value[camel]).or_else(|| text(&value[snake]));
        let kind = member("mimeType", "mime_type").unwrap_or_default();
        if let Some(data) = text(&value["data"]) {
            return Some(Medium::new(kind, Data::Base64(data)));
        }
        let url = member("fileUri", "file_uri")?;
        let kind = if kind.is_empty() { by_name(&url).to_owned() } else { kind };
        Some(Medium::new(kind, Data::Url(url)))
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        for (key, value) in &item.0 {
            if matches!(key.as_str(), "functionDeclarations" | "function_declarations") {
                list(value).for_each(|function| read_function(&Object::of(function), reader));
            } else {
                reader.neutral.lose(None, Loss::Tool, key.as_str());
            }
        }
    }

    fn read_choice(&self, _name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        let config = [&value["functionCallingConfig"], &value["function_calling_config"]];
        let config = config.into_iter().find(|config| config.is_object())?;
        let names = [&config["allowedFunctionNames"], &config["allowed_function_names"]];
        let names = names.into_iter().find_map(Value::as_array).map_or(&[][..], Vec::as_slice);
        parameters.choice = Some(match (config["mode"].as_str(), names) {
            (Some("AUTO"), []) => ToolChoice::Auto,
            (Some("NONE"), []) => ToolChoice::None,
            (Some("ANY"), []) => ToolChoice::Any,
            (Some("ANY"), [only]) => ToolChoice::of_name(only)?,
            _ => return None,
        });
        Some(())
    }

    fn system(&self, system: &[Instruction]) -> (Option<String>, Vec<String>) {
        let texts = texts(self, system);
        (Some(format!(r#""systemInstruction":{{"parts":[{texts}]}}"#)), Vec::new())
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        members.push(format!(r#""parametersJsonSchema":{}"#, tool.schema()));
        format!("{{{}}}", members.join(","))
    }

    fn tools(&self, list: &str, _choice: Option<&ToolChoice>) -> String {
        format!(r#""tools":[{{"functionDeclarations":[{list}]}}]"#)
    }

    fn choice(&self, wish: &CallDemand<'_>) -> Members {
        let Some(choice) = wish.choice else { return Vec::new() };
        let config = match choice {
            ToolChoice::Auto => json!({"mode": "AUTO"}),
            ToolChoice::None => json!({"mode": "NONE"}),
            ToolChoice::Any => json!({"mode": "ANY"}),
            ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        };
        vec![("toolConfig", json!({"functionCallingConfig": config}))]
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let kind = shown.kind;
        let medium = match &shown.medium.data {
            Data::Base64(data) => json!({"inlineData": {"mimeType": kind, "data": data}}),
            Data::Url(url) => match if kind.contains('/') { kind } else { by_name(url) } {
                "" => json!({"fileData": {"fileUri": url}}),
                kind => json!({"fileData": {"mimeType": kind, "fileUri": url}}),
            },
            Data::Text(_) | Data::Elsewhere(_) => return None,
        };
        may_be_shown(kind).then_some(medium)
    }

    fn call(&self, call: &ToolCall, seal: Seal) -> String {
        let (id, name, args) = (quote(&call.id), quote(&call.name), call.arguments());
        let seal = match seal {
            Seal::Foreign => format!(r#","thoughtSignature":{}"#, quote(FOREIGN_CALL)),
            Seal::None => String::new(),
        };
        format!(r#"{{"functionCall":{{"id":{id},"name":{name},"args":{args}}}{seal}}}"#)
    }

    /// "Use `output` key to specify function output and `error` key to specify error details"; what is an
    /// object already stays one.
    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let mut texts: Vec<&str> = Vec::new();
        let mut shown: Vec<&str> = Vec::new();
        for piece in content {
            match piece {
                Inside::Text(text) => texts.push(text),
                Inside::Shown(medium) => shown.push(medium),
            }
        }
        let response = match texts.as_slice() {
            [] if answer.outcome == CallOutcome::Fine => "{}".to_owned(),
            [only] if comes_back(only, answer.outcome) => (*only).to_owned(),
            texts => {
                let key = if answer.outcome == CallOutcome::Failed { "error" } else { "output" };
                format!(r#"{{"{key}":{}}}"#, quote(&texts.join("\n")))
            }
        };
        let media = match shown.as_slice() {
            [] => String::new(),
            shown => format!(r#","parts":[{}]"#, shown.join(",")),
        };
        let (id, name) = (quote(&answer.id), quote(&answer.name));
        format!(
            r#"{{"functionResponse":{{"id":{id},"name":{name},"response":{response}{media}}}}}"#
        )
    }
}

/// Its own schema spells types in capitals; the JSON schema beside it doesn't.
fn read_function(function: &Object<'_>, reader: &mut ToolReader<'_>) {
    let json = function.get(&["parametersJsonSchema", "parameters_json_schema"]);
    match (json, function.get(&["parameters"])) {
        (None, Some(own)) => reader.function(function, Some(&lowered(own, 0))),
        (json, _) => reader.function(function, json),
    }
}

/// Members of a schema that count something.
const COUNTS: [&str; 6] =
    words!("minItems maxItems minLength maxLength minProperties maxProperties");

/// How deep schemas are looked into.
const DEEPEST: usize = 64;

/// A schema with its types in lower case, without unspecified types, and with its counts as numbers, which protocol buffers
/// write as strings.
fn lowered(raw: &str, depth: usize) -> String {
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
    let members = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
    let members = members.into_iter().filter_map(|(key, value)| {
        let value = value.of(raw);
        let is_one_of = |names: &[&str]| names.iter().any(|name| json::key_is(raw, key, name));
        let value = match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
            Some("TYPE_UNSPECIFIED") if is_one_of(&["type"]) => return None,
            Some(_) if is_one_of(&["type"]) => value.to_ascii_lowercase(),
            Some(count) if is_one_of(&COUNTS) && count.parse::<u64>().is_ok() => count.to_owned(),
            _ => lowered(value, depth + 1),
        };
        Some(format!("{}:{value}", key.of(raw)))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Whether a text is an object that is read as the same text again, and as the same outcome.
fn comes_back(text: &str, outcome: CallOutcome) -> bool {
    let mut scanner = Scanner::new(text);
    if !text.starts_with('{') || scanner.value().is_err() || scanner.end().is_err() {
        return false;
    }
    let members = json::members(text, Span::new(0..text.trim_end().len())).unwrap_or_default();
    let is_error =
        |(key, value): &(Span, Span)| json::key_is(text, *key, "error") && value.of(text) != "null";
    match members.as_slice() {
        [] => false,
        [(_, value)] if value.of(text).starts_with('"') => false,
        members => {
            let has_failed = outcome == CallOutcome::Failed;
            text.ends_with('}') && members.iter().any(is_error) == has_failed
        }
    }
}
