//! How the model is to answer: what is said of it in more than one format.

use serde_json::{Map, Value, json};

use super::lost::{Loss, Lost};
use super::neutral::{Neutral, Tool, ToolInput};
use crate::json::{self, Span, unquote};
use crate::model::Registry;
use crate::request::{Envelope, Request};
use crate::wire::Format;

/// Parameters, each by its key.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    values: Vec<(Key, Value)>,
    choice: Option<Choice>,
    /// Whether several tools may be called at once.
    parallel: Option<bool>,
}

/// A parameter that several formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// The most tokens of an answer.
    Most,
    Temperature,
    TopP,
    TopK,
    /// Words that end the answer.
    Stop,
    Seed,
    Presence,
    Frequency,
    Stream,
    /// How long to think.
    Effort,
    /// What OpenAI's both formats have under the same name.
    Shared(&'static str),
}

/// Which tool is to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Auto,
    None,
    Any,
    Tool(String),
}

const KEYS: [Key; 16] = [
    Key::Most,
    Key::Temperature,
    Key::TopP,
    Key::TopK,
    Key::Stop,
    Key::Seed,
    Key::Presence,
    Key::Frequency,
    Key::Stream,
    Key::Effort,
    Key::Shared("metadata"),
    Key::Shared("prompt_cache_key"),
    Key::Shared("safety_identifier"),
    Key::Shared("service_tier"),
    Key::Shared("store"),
    Key::Shared("user"),
];

/// Where a format says it (the SDKs' types; Bedrock: `InferenceConfiguration` of the service model).
fn path(format: Format, key: Key) -> Option<&'static str> {
    use Format::{Anthropic, Bedrock, Gemini, OpenaiChat, OpenaiResponses};
    Some(match (key, format) {
        (Key::Most, OpenaiChat) => "max_completion_tokens",
        (Key::Most, OpenaiResponses) => "max_output_tokens",
        (Key::Most, Anthropic) => "max_tokens",
        (Key::Most, Gemini) => "generationConfig.maxOutputTokens",
        (Key::Most, Bedrock) => "inferenceConfig.maxTokens",
        (Key::Temperature, Gemini) => "generationConfig.temperature",
        (Key::Temperature, Bedrock) => "inferenceConfig.temperature",
        (Key::Temperature, _) => "temperature",
        (Key::TopP, Gemini) => "generationConfig.topP",
        (Key::TopP, Bedrock) => "inferenceConfig.topP",
        (Key::TopP, _) => "top_p",
        (Key::TopK, Anthropic) => "top_k",
        (Key::TopK, Gemini) => "generationConfig.topK",
        (Key::Stop, OpenaiChat) => "stop",
        (Key::Stop, Anthropic) => "stop_sequences",
        (Key::Stop, Gemini) => "generationConfig.stopSequences",
        (Key::Stop, Bedrock) => "inferenceConfig.stopSequences",
        (Key::Seed, OpenaiChat) => "seed",
        (Key::Seed, Gemini) => "generationConfig.seed",
        (Key::Presence, OpenaiChat) => "presence_penalty",
        (Key::Presence, Gemini) => "generationConfig.presencePenalty",
        (Key::Frequency, OpenaiChat) => "frequency_penalty",
        (Key::Frequency, Gemini) => "generationConfig.frequencyPenalty",
        // Gemini and Bedrock say it by the address that is asked.
        (Key::Stream, OpenaiChat | OpenaiResponses | Anthropic) => "stream",
        (Key::Effort, OpenaiChat) => "reasoning_effort",
        (Key::Effort, OpenaiResponses) => "reasoning.effort",
        (Key::Shared(name), OpenaiChat | OpenaiResponses) => name,
        _ => return None,
    })
}

/// Whether a format takes a value that another took.
fn takes(format: Format, key: Key, value: &Value) -> bool {
    let number = value.as_f64();
    match (key, format) {
        // "integer_below_min_value … >= 16" (Responses).
        (Key::Most, Format::OpenaiResponses) => value.as_u64().is_some_and(|most| most >= 16),
        (Key::Most, _) => value.as_u64().is_some_and(|most| most > 0),
        (Key::Temperature, Format::Anthropic | Format::Bedrock) => {
            number.is_some_and(|warmth| (0.0..=1.0).contains(&warmth))
        }
        (Key::Temperature | Key::TopP | Key::Presence | Key::Frequency, _) => number.is_some(),
        (Key::TopK | Key::Seed, _) => value.is_i64() || value.is_u64(),
        (Key::Stop, _) => {
            let most = match format {
                Format::OpenaiChat => 4,
                Format::Gemini => 5,
                _ => usize::MAX,
            };
            value.as_array().is_some_and(|all| (1..=most).contains(&all.len()))
        }
        (Key::Stream | Key::Shared("store"), _) => value.is_boolean(),
        (Key::Effort, _) => value.is_string(),
        (Key::Shared(_), _) => true,
    }
}

/// Members of a body that are read elsewhere, in all formats' spellings.
const READ: [&str; 9] = [
    "messages",
    "input",
    "contents",
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "tools",
    "toolConfig",
];

/// Members whose members are parameters.
const GROUPS: [&str; 4] = ["generationConfig", "generation_config", "inferenceConfig", "reasoning"];

/// Reads the members of a body on its way to `to`; what isn't carried over is listed.
pub(super) fn read(request: &Request, to: Format, neutral: &mut Neutral) {
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
            "cachedContent" | "cached_content" | "previous_response_id" | "conversation" => {
                neutral.lose(None, Loss::History, name);
            }
            "thread" if request.keeper().is_some() => neutral.lose(None, Loss::History, name),
            "functions" if request.format == Format::OpenaiChat => {}
            "tool_choice"
            | "toolConfig"
            | "tool_config"
            | "parallel_tool_calls"
            | "function_call" => {
                choice(request.format, &name, value, neutral);
            }
            read if READ.contains(&read) => {}
            group if GROUPS.contains(&group) && value.starts_with('{') => {
                let members = json::members(value, Span::new(0..value.len())).unwrap_or_default();
                for (inner, inside) in members {
                    let inner = unquote(inner.of(value));
                    if inside.of(value) != "null" {
                        let path = format!("{}.{}", camel(group), camel(&inner));
                        parameter(request.format, to, &path, inside.of(value), neutral);
                    }
                }
            }
            name => parameter(request.format, to, name, value, neutral),
        }
    }
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

fn parameter(from: Format, to: Format, name: &str, value: &str, neutral: &mut Neutral) {
    // The older name, which compatibles know.
    let known = if from == Format::OpenaiChat && name == "max_tokens" {
        Some(Key::Most)
    } else {
        KEYS.into_iter().find(|key| path(from, *key) == Some(name))
    };
    let value: Option<Value> = serde_json::from_str(value).ok();
    let value = value.map(|value| match (known, value) {
        (Some(Key::Stop), Value::String(only)) => json!([only]),
        (_, value) => value,
    });
    match (known, value) {
        (Some(key), Some(value)) if path(to, key).is_some() && takes(to, key, &value) => {
            neutral.parameters.values.push((key, value));
        }
        _ => neutral.lose(None, Loss::Parameter, name),
    }
}

/// Leaves out what models of OpenAI's that reason refuse (PROVIDERS.md B.3).
pub(super) fn leave_out(neutral: &mut Neutral, to: Format, model: &str) {
    let is_openai = matches!(to, Format::OpenaiChat | Format::OpenaiResponses);
    let reasons = match Registry::built_in().get(model) {
        Some(model) => model.vendor == "openai" && model.thinking.is_some(),
        None => is_of_a_kind_that_reasons(model),
    };
    let values = &mut neutral.parameters.values;
    let is_off = values.iter().any(|(key, value)| *key == Key::Effort && value == "none");
    if !is_openai || !reasons || is_off {
        return;
    }
    let is_refused = |key: Key| {
        matches!(key, Key::Temperature | Key::TopP | Key::Presence | Key::Frequency | Key::Stop)
    };
    let refused: Vec<Key> =
        values.extract_if(.., |(key, _)| is_refused(*key)).map(|(key, _)| key).collect();
    for name in refused.into_iter().filter_map(|key| path(to, key)) {
        neutral.lose(None, Loss::Parameter, name);
    }
}

/// Whether a model that isn't known is called like those of OpenAI's that reason: `o…`, and `gpt-5` or later.
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

fn choice(format: Format, name: &str, raw: &str, neutral: &mut Neutral) {
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    let word = |value: &Value| match value.as_str() {
        Some("auto") => Some(Choice::Auto),
        Some("none") => Some(Choice::None),
        Some("required" | "any") => Some(Choice::Any),
        _ => None,
    };
    let tool = |value: &Value| value.as_str().map(|name| Choice::Tool(name.to_owned()));
    if name == "parallel_tool_calls" {
        neutral.parameters.parallel = value.as_bool();
        return;
    }
    let choice = match format {
        Format::OpenaiChat | Format::OpenaiResponses => {
            let holders = [&value["function"], &value["custom"], &value];
            let is_one = name == "function_call"
                || matches!(value["type"].as_str(), Some("function" | "custom"));
            let named = holders.into_iter().filter(|_| is_one).find_map(|one| tool(&one["name"]));
            word(&value).or(named)
        }
        Format::Anthropic => {
            neutral.parameters.parallel =
                value["disable_parallel_tool_use"].as_bool().map(|only_one| !only_one);
            word(&value["type"]).or_else(|| tool(&value["name"]))
        }
        Format::Gemini => {
            let config = [&value["functionCallingConfig"], &value["function_calling_config"]];
            let config = config.into_iter().find(|config| config.is_object());
            let Some(config) = config else {
                return neutral.lose(None, Loss::Parameter, name);
            };
            let names = [&config["allowedFunctionNames"], &config["allowed_function_names"]];
            let names = names.into_iter().find_map(Value::as_array).map_or(&[][..], Vec::as_slice);
            match (config["mode"].as_str(), names) {
                (Some("AUTO"), []) => Some(Choice::Auto),
                (Some("NONE"), []) => Some(Choice::None),
                (Some("ANY"), []) => Some(Choice::Any),
                (Some("ANY"), [only]) => tool(only),
                _ => None,
            }
        }
        Format::Bedrock => match &value["toolChoice"] {
            Value::Null => return,
            choice if choice["auto"].is_object() => Some(Choice::Auto),
            choice if choice["any"].is_object() => Some(Choice::Any),
            choice => tool(&choice["tool"]["name"]),
        },
    };
    match choice {
        Some(choice) => neutral.parameters.choice = Some(choice),
        None => neutral.lose(None, Loss::Parameter, name),
    }
}

/// The body's members that say how to answer; and Bedrock's choice among tools, which stands where they do.
pub(super) fn write(neutral: &mut Neutral, to: Format) -> (Vec<String>, Option<Value>) {
    let parameters = std::mem::take(&mut neutral.parameters);
    let mut members: Map<String, Value> = Map::new();
    for (key, value) in parameters.values {
        let path = path(to, key).expect("only what the format has was carried");
        match path.split_once('.') {
            Some((group, name)) => {
                let group = members.entry(group).or_insert_with(|| json!({}));
                group[name] = value;
            }
            None => {
                members.insert(path.to_owned(), value);
            }
        }
    }
    let choice = parameters.choice.filter(|choice| {
        let is_there = match choice {
            Choice::Tool(name) => neutral.tools.iter().any(|tool| tool.name == *name),
            _ => !neutral.tools.is_empty(),
        };
        if !is_there {
            neutral.lost.push(Lost::new(None, Loss::Parameter, "tool_choice"));
        }
        is_there
    });
    let parallel = parameters.parallel.filter(|_| !neutral.tools.is_empty());
    let is_lost = match to {
        Format::OpenaiChat | Format::OpenaiResponses => false,
        Format::Anthropic => choice == Some(Choice::None),
        Format::Gemini | Format::Bedrock => true,
    };
    if parameters.parallel.is_some() && (is_lost || parallel.is_none()) {
        neutral.lose(None, Loss::Parameter, "parallel_tool_calls");
    }
    if to == Format::Bedrock && choice == Some(Choice::None) {
        neutral.lose(None, Loss::Parameter, "tool_choice");
    }
    let parallel = parallel.filter(|_| !is_lost);
    if let Some((key, value)) = chosen(choice.as_ref(), parallel, &neutral.tools, to) {
        members.insert(key.to_owned(), value);
    }
    if let (Some(parallel), Format::OpenaiChat | Format::OpenaiResponses) = (parallel, to) {
        members.insert("parallel_tool_calls".to_owned(), json!(parallel));
    }
    let beside_tools = members.remove(BESIDE_TOOLS);
    (members.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect(), beside_tools)
}

const BESIDE_TOOLS: &str = "toolChoice";

/// The member that says which tool is to be called.
fn chosen(
    choice: Option<&Choice>,
    parallel: Option<bool>,
    tools: &[Tool],
    to: Format,
) -> Option<(&'static str, Value)> {
    let takes_words = |name: &String| {
        tools.iter().any(|t| t.name == *name && matches!(t.form, ToolInput::Words(_)))
    };
    Some(match to {
        Format::OpenaiChat | Format::OpenaiResponses => {
            let value = match choice? {
                Choice::Auto => json!("auto"),
                Choice::None => json!("none"),
                Choice::Any => json!("required"),
                Choice::Tool(name) => {
                    let kind = if takes_words(name) { "custom" } else { "function" };
                    match to {
                        Format::OpenaiChat => json!({"type": kind, kind: {"name": name}}),
                        _ => json!({"type": kind, "name": name}),
                    }
                }
            };
            ("tool_choice", value)
        }
        Format::Anthropic => {
            let mut value = match choice.or(parallel.map(|_| &Choice::Auto))? {
                Choice::Auto => json!({"type": "auto"}),
                Choice::None => json!({"type": "none"}),
                Choice::Any => json!({"type": "any"}),
                Choice::Tool(name) => json!({"type": "tool", "name": name}),
            };
            if let Some(parallel) = parallel {
                value["disable_parallel_tool_use"] = json!(!parallel);
            }
            ("tool_choice", value)
        }
        Format::Gemini => {
            let config = match choice? {
                Choice::Auto => json!({"mode": "AUTO"}),
                Choice::None => json!({"mode": "NONE"}),
                Choice::Any => json!({"mode": "ANY"}),
                Choice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
            };
            ("toolConfig", json!({"functionCallingConfig": config}))
        }
        Format::Bedrock => {
            let value = match choice? {
                Choice::Auto => json!({"auto": {}}),
                Choice::Any => json!({"any": {}}),
                Choice::Tool(name) => json!({"tool": {"name": name}}),
                Choice::None => return None,
            };
            (BESIDE_TOOLS, value)
        }
    })
}

impl Parameters {
    /// The tool that is named, where one must be called.
    pub(super) fn named_mut(&mut self) -> Option<&mut String> {
        match &mut self.choice {
            Some(Choice::Tool(name)) => Some(name),
            _ => None,
        }
    }

    /// Sets how long an answer may be, where nobody said.
    pub(super) fn at_most(&mut self, tokens: Option<u64>) {
        if let Some(tokens) = tokens.filter(|_| !self.says_most()) {
            self.values.push((Key::Most, json!(tokens)));
        }
    }

    /// Whether it is said how long an answer may be.
    pub(super) fn says_most(&self) -> bool {
        self.values.iter().any(|(key, _)| *key == Key::Most)
    }
}
