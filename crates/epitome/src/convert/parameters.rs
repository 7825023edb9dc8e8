//! Parameters of the answer that more than one format has.

use serde_json::{Map, Value, json};

use crate::json::{self, Span, unquote};
use crate::model::Registry;
use crate::request::{Envelope, Request};
use crate::wire::conversion::CallDemand;
use crate::wire::neutral::{Loss, Neutral, Object, ParameterKey, ToolChoice};
use crate::wire::{Dialect, Feature};
use crate::word_list::words;

/// Where a format says it.
pub(super) fn path(format: &dyn Dialect, key: ParameterKey) -> Option<&'static str> {
    format.terms().parameters.iter().find(|(known, _)| *known == key).map(|(_, path)| *path)
}

/// Members of a body that are read elsewhere, in all formats' spellings.
const READ: [&str; 9] = words!(
    "messages input contents system instructions systemInstruction system_instruction tools \
     toolConfig"
);

/// Members whose members are parameters.
const GROUPS: [&str; 4] = ["generationConfig", "generation_config", "inferenceConfig", "reasoning"];

/// Reads the members of a body on its way to `to`; what isn't carried over is listed.
pub(super) fn read(request: &Request, to: &dyn Dialect, neutral: &mut Neutral) {
    let from = request.format.dialect();
    if request.frame.envelope != Envelope::Body {
        return;
    }
    let text = request.source().trim_start_matches('\u{feff}');
    let start = text.len() - text.trim_start().len();
    for (key, value) in json::members(text, Span::new(start..text.len())).unwrap_or_default() {
        let (name, value) = (unquote(key.of(text)), value.of(text));
        if value == "null" {
            continue;
        }
        match name.as_ref() {
            "model" | "modelId" => neutral.lose(None, Loss::Model, unquote(value)),
            "cachedContent"
            | "cached_content"
            | "previous_response_id"
            | "previous_interaction_id"
            | "conversation" => {
                neutral.lose(None, Loss::History, name);
            }
            "thread" if request.keeper().is_some() => neutral.lose(None, Loss::History, name),
            key if from.terms().older_tools == Some(key) => {}
            "tool_choice"
            | "toolConfig"
            | "tool_config"
            | "parallel_tool_calls"
            | "function_call" => {
                choice(from, &name, value, neutral);
            }
            read if READ.contains(&read) => {}
            group if GROUPS.contains(&group) && value.starts_with('{') => {
                let members = json::members(value, Span::new(0..value.len())).unwrap_or_default();
                for (inner, inside) in members {
                    let inner = unquote(inner.of(value));
                    match inside.of(value) {
                        "null" => {}
                        inside if inner == "tool_choice" => choice(from, &inner, inside, neutral),
                        inside => {
                            let path = spelled(from, group, &inner);
                            parameter(from, to, &path, inside, neutral);
                        }
                    }
                }
            }
            "text" if from.terms().form == Some("text.format") && value.starts_with('{') => {
                for (inner, inside) in &Object::of(value).0 {
                    match inner.as_str() {
                        "format" => form(to, "text.format", inside, neutral),
                        inner => neutral.lose(None, Loss::Parameter, format!("text.{inner}")),
                    }
                }
            }
            name if from.terms().form == Some(name) => form(to, name, value, neutral),
            name => parameter(from, to, name, value, neutral),
        }
    }
}

/// The form of the answer. Chat wraps a schema once more.
fn form(to: &dyn Dialect, name: &str, raw: &str, neutral: &mut Neutral) {
    let said = Object::of(raw);
    let kind = said.text("type").unwrap_or_default();
    let is_known = matches!(kind.as_str(), "text" | "json_object" | "json_schema");
    if to.terms().form.is_none() || !is_known {
        return neutral.lose(None, Loss::Parameter, name);
    }
    let schema = said.object("json_schema").unwrap_or(Object(Vec::new()));
    let members = said.0.iter().filter(|(key, _)| key != "json_schema").chain(&schema.0);
    neutral.parameters.form = Some(object(members));
}

fn object<'a>(members: impl Iterator<Item = &'a (String, &'a str)>) -> String {
    let members: Vec<String> =
        members.map(|(key, value)| format!("{}:{value}", json::quote(key))).collect();
    format!("{{{}}}", members.join(","))
}

/// The member of the body that says the form, where the format has one.
fn form_of(to: &dyn Dialect, form: &str) -> Option<String> {
    let path = to.terms().form?;
    if path == "text.format" {
        return Some(format!(r#""text":{{"format":{form}}}"#));
    }
    let said = Object::of(form);
    if said.text("type").as_deref() != Some("json_schema") {
        return Some(format!("{}:{form}", json::quote(path)));
    }
    let schema = object(said.0.iter().filter(|(key, _)| key != "type"));
    Some(format!(r#"{}:{{"type":"json_schema","json_schema":{schema}}}"#, json::quote(path)))
}

/// The path of a member of a group, as the format has it.
fn spelled(from: &dyn Dialect, group: &str, inner: &str) -> String {
    let path = format!("{group}.{inner}");
    let is_known = from.terms().parameters.iter().any(|(_, known)| *known == path);
    if is_known { path } else { format!("{}.{}", camel(group), camel(inner)) }
}

/// Gemini reads both spellings.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

fn parameter(from: &dyn Dialect, to: &dyn Dialect, name: &str, value: &str, neutral: &mut Neutral) {
    let known = from.terms().parameters.iter().find(|(_, path)| *path == name).map(|(key, _)| *key);
    let value: Option<Value> = serde_json::from_str(value).ok();
    let value = value.map(|value| match (known, value) {
        (Some(ParameterKey::Stop), Value::String(only)) => json!([only]),
        (_, value) => value,
    });
    match (known, value) {
        (Some(key), Some(value)) if path(to, key).is_some() && key.takes(&value, to.terms()) => {
            neutral.parameters.values.push((key, value));
        }
        _ => neutral.lose(None, Loss::Parameter, name),
    }
}

/// Leaves out what models of OpenAI's that reason refuse (PROVIDERS.md B.3).
pub(super) fn leave_out(neutral: &mut Neutral, to: &dyn Dialect, model: &str) {
    let reasons = match Registry::built_in().get(model) {
        Some(model) => model.vendor == "openai" && model.thinking.is_some(),
        None => is_of_a_kind_that_reasons(model),
    };
    let values = &mut neutral.parameters.values;
    let is_off = values.iter().any(|(key, value)| *key == ParameterKey::Effort && value == "none");
    if !to.has(Feature::OpenaiModels) || !reasons || is_off {
        return;
    }
    let is_refused = |key: ParameterKey| {
        matches!(
            key,
            ParameterKey::Temperature
                | ParameterKey::TopP
                | ParameterKey::Presence
                | ParameterKey::Frequency
                | ParameterKey::Stop
        )
    };
    let refused: Vec<ParameterKey> =
        values.extract_if(.., |(key, _)| is_refused(*key)).map(|(key, _)| key).collect();
    for name in refused.into_iter().filter_map(|key| path(to, key)) {
        neutral.lose(None, Loss::Parameter, name);
    }
}

/// Whether an unknown model is named like OpenAI's reasoning models: `o…`, and `gpt-5` or later.
fn is_of_a_kind_that_reasons(model: &str) -> bool {
    let number = |name: &str| -> Option<u32> {
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let name = model.rsplit('/').next().unwrap_or_default();
    match (name.strip_prefix("gpt-"), name.strip_prefix('o')) {
        (Some(version), _) => number(version).is_some_and(|version| version >= 5),
        (None, Some(version)) => number(version).is_some(),
        (None, None) => false,
    }
}

fn choice(from: &dyn Dialect, name: &str, raw: &str, neutral: &mut Neutral) {
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    if name == "parallel_tool_calls" {
        neutral.parameters.parallel = value.as_bool();
    } else if from.read_choice(name, &value, &mut neutral.parameters).is_none() {
        neutral.lose(None, Loss::Parameter, name);
    }
}

/// The body's members that define the tools and say how to answer.
pub(super) fn write(neutral: &mut Neutral, to: &dyn Dialect, model: Option<&str>) -> Vec<String> {
    let parameters = std::mem::take(&mut neutral.parameters);
    let mut members: Map<String, Value> = Map::new();
    let mut put = |path: &str, value: Value| match path.split_once('.') {
        Some((group, name)) => {
            let group = members.entry(group).or_insert_with(|| json!({}));
            group[name] = value;
        }
        None => {
            members.insert(path.to_owned(), value);
        }
    };
    for (key, value) in parameters.values {
        let path = path(to, key).expect("only what the format has was carried");
        put(model.map_or(path, |model| to.named_for(model, path)), value);
    }
    let said = parameters.choice.as_ref();
    let choice = said.filter(|choice| match choice {
        ToolChoice::Tool(name) => neutral.tools.iter().any(|tool| tool.name == *name),
        _ => !neutral.tools.is_empty(),
    });
    if said.is_some() && choice.is_none() {
        neutral.lose(None, Loss::Parameter, "tool_choice");
    }
    let can_limit = !neutral.tools.is_empty() && to.can_limit_calls(choice);
    let parallel = parameters.parallel.filter(|_| can_limit);
    if parameters.parallel.is_some() && !can_limit {
        neutral.lose(None, Loss::Parameter, "parallel_tool_calls");
    }
    if choice == Some(&ToolChoice::None) && !to.has(Feature::NoCalls) {
        neutral.lose(None, Loss::Parameter, "tool_choice");
    }
    for (key, value) in to.choice(&CallDemand { choice, parallel, tools: &neutral.tools }) {
        put(key, value);
    }
    let tools: Vec<String> = neutral.tools.iter().map(|tool| to.definition(tool)).collect();
    let tools = (!tools.is_empty()).then(|| to.tools(&tools.join(","), choice));
    let members = members.iter().map(|(key, value)| format!("{}:{value}", json!(key)));
    let form = parameters.form.as_deref().and_then(|form| form_of(to, form));
    tools.into_iter().chain(members).chain(form).collect()
}
