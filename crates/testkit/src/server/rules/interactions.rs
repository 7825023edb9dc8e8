//! Gemini Interactions (PROVIDERS.md B.4c).

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Call, Judge, list, text, without};
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::prompt::{
    Choice, Compacts, Prompt, Section, Takes, Talk, Tool, Ttl, Understood,
};
use crate::server::{Api, Endpoint};

/// Types of contents, with the members of which one has to be there.
const CONTENTS: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "uri"]),
    ("audio", &["data", "uri"]),
    ("document", &["data", "uri"]),
    ("video", &["data", "uri"]),
];

/// Longest name of a function.
const LONGEST_NAME: usize = 128;

/// What the newest turn of the model's waits for.
#[derive(Default)]
struct Open<'a> {
    calls: Vec<&'a str>,
    /// The model still speaks.
    is_models: bool,
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let model = judge.model(call)?;
    let body = call.body;
    let continues =
        ["previous_interaction_id", "cached_content"].iter().any(|key| !body[*key].is_null());
    let mut steps = call.history.to_vec();
    match &body["input"] {
        Value::Array(given) => steps.extend(given.iter().cloned()),
        words @ Value::String(_) => steps.push(json!({"type": "user_input", "content": words})),
        content @ Value::Object(_) => steps.push(content.clone()),
        Value::Null if continues => {}
        _ => return Err(invalid("input: required")),
    }
    if steps.is_empty() && !continues {
        return Err(invalid("Request must contain at least one step in `input`."));
    }
    let mut names = HashSet::new();
    for tool in list(&body["tools"]) {
        if let Some(name) = tool["name"].as_str().filter(|name| !names.insert(*name)) {
            return Err(invalid(format!("Duplicate function declaration found: {name}")));
        }
    }
    pairs(&steps, continues && call.history.is_empty()).map_err(invalid)?;
    let understood = read(judge, model, call, steps);
    let (tokens, window) = (understood.prompt.tokens(), understood.model.window);
    if call.endpoint != Endpoint::Count && tokens > window {
        return Err(invalid(format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        )));
    }
    Ok(understood)
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Interactions, message)
}

fn read(judge: &Judge, model: Model, call: &Call<'_>, steps: Vec<Value>) -> Understood {
    let body = call.body;
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!([model.name, body["cached_content"]]));
    prompt.push(Section::System, "system", &body["system_instruction"], None);
    let tools: Vec<&Value> =
        list(&body["tools"]).iter().filter(|tool| tool["type"] == "function").collect();
    for tool in &tools {
        prompt.push(Section::Tools, "tools", tool, None);
    }
    let mut talk = Talk::default();
    for step in &steps {
        match text(&step["type"]) {
            "user_input" => talk.human(),
            "function_result" => talk.result(),
            _ => talk.model(),
        }
        prompt.push(Section::Messages, "step", &without(step, &["signature"]), None);
    }
    prompt.mark_last(Ttl::Short);
    let config = &body["generation_config"];
    let allowed = &config["tool_choice"]["allowed_tools"];
    let mode = config["tool_choice"].as_str().or_else(|| allowed["mode"].as_str());
    Understood {
        choice: match mode {
            Some("any") => list(&allowed["tools"])
                .first()
                .map_or(Choice::Any, |name| Choice::Named(text(name).to_owned())),
            Some("none") => Choice::None,
            _ => Choice::Auto,
        },
        tools: tools
            .iter()
            .map(|tool| Tool {
                name: text(&tool["name"]).to_owned(),
                takes: Takes::Json(tool["parameters"].clone()),
            })
            .collect(),
        thinks: model.has(Trait::WantsReasoning) || config["thinking_level"].is_string(),
        max_output: config["max_output_tokens"].as_u64(),
        stream: body["stream"] == true,
        chain: judge.chain(Api::Interactions, &model, &[]),
        misplaced: Vec::new(),
        compacts: Compacts::No,
        items: steps,
        model,
        prompt,
        talk,
    }
}

/// `is_open`: what was said before is kept where nobody here can look.
fn pairs(steps: &[Value], is_open: bool) -> Result<(), String> {
    let mut open = Open::default();
    let mut ids = HashSet::new();
    let mut kept = is_open.then(HashSet::new);
    for (n, step) in steps.iter().enumerate() {
        let at = format!("input[{n}]");
        let Some(kind) = step["type"].as_str() else {
            return Err(format!("Invalid value at '{at}': expected a step with a `type`."));
        };
        match kind {
            "user_input" => {
                contents(&at, step)?;
                open.close()?;
            }
            "model_output" => {
                contents(&at, step)?;
                open.models()?;
            }
            "thought" => open.models()?,
            "function_call" => {
                open.models()?;
                let (id, name) = (text(&step["id"]), text(&step["name"]));
                if id.is_empty() || !ids.insert(id) {
                    return Err(format!("Invalid value at '{at}.id': {id}"));
                }
                if name.is_empty() || name.chars().count() > LONGEST_NAME {
                    return Err(format!("Invalid value at '{at}.name': {name}"));
                }
                if !step["arguments"].is_object() {
                    return Err(format!("Invalid value at '{at}.arguments'"));
                }
                open.calls.push(id);
            }
            "function_result" => {
                let result = &step["result"];
                if !(result.is_string() || result.is_array() || result.is_object()) {
                    return Err(format!("Invalid value at '{at}.result'"));
                }
                for (m, content) in list(result).iter().enumerate() {
                    content_of(&format!("{at}.result[{m}]"), content)?;
                }
                let id = text(&step["call_id"]);
                let elsewhere = kept.as_mut().filter(|_| !id.is_empty());
                match elsewhere.map(|kept| kept.insert(id)) {
                    Some(true) => {}
                    Some(false) => return Err(format!("{id} is answered twice")),
                    None => open.answer(id)?,
                }
            }
            // What the provider runs itself.
            _ if kind.ends_with("_call") && !text(&step["id"]).is_empty() => open.models()?,
            _ if kind.ends_with("_result") && !text(&step["call_id"]).is_empty() => {
                open.is_models = false;
            }
            _ if CONTENTS.iter().any(|(known, _)| *known == kind) => {
                content_of(&at, step)?;
                open.close()?;
            }
            _ => open.close()?,
        }
        if !matches!(kind, "function_result") && !kind.ends_with("_result") {
            kept = None;
        }
    }
    open.close()
}

impl<'a> Open<'a> {
    /// Something is said that is no result.
    fn close(&mut self) -> Result<(), String> {
        let calls = std::mem::take(&mut self.calls);
        self.is_models = false;
        if calls.is_empty() {
            return Ok(());
        }
        Err(format!(
            "Please ensure that the number of function response parts is equal to the number of function call parts of the \
             function call turn. ({})",
            calls.join(", ")
        ))
    }

    /// The model speaks.
    fn models(&mut self) -> Result<(), String> {
        if !self.is_models {
            self.close()?;
        }
        self.is_models = true;
        Ok(())
    }

    fn answer(&mut self, id: &'a str) -> Result<(), String> {
        let Some(at) = self.calls.iter().position(|call| *call == id) else {
            return Err(
                "Please ensure that function response turn comes immediately after a function call turn."
                    .to_owned(),
            );
        };
        self.calls.remove(at);
        self.is_models = false;
        Ok(())
    }
}

fn contents(at: &str, step: &Value) -> Result<(), String> {
    // A string stands for one text.
    if step["content"].as_str().is_some_and(|words| !words.is_empty()) {
        return Ok(());
    }
    let contents = list(&step["content"]);
    if contents.is_empty() {
        return Err(format!("Invalid value at '{at}.content': content must not be empty."));
    }
    for (m, content) in contents.iter().enumerate() {
        content_of(&format!("{at}.content[{m}]"), content)?;
    }
    Ok(())
}

fn content_of(at: &str, content: &Value) -> Result<(), String> {
    let refused = || Err(format!("Invalid value at '{at}'"));
    let Some(kind) = content["type"].as_str() else { return refused() };
    match CONTENTS.iter().find(|(known, _)| *known == kind) {
        Some((_, members)) if !members.iter().any(|key| content[*key].is_string()) => refused(),
        _ => Ok(()),
    }
}
