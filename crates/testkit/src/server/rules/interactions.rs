//! Gemini Interactions (PROVIDERS.md B.4c).

use std::collections::HashSet;

use serde_json::Value;

use super::{list, text};

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
    /// A result came.
    is_begun: bool,
    /// The model still speaks.
    is_models: bool,
}

/// Whether the provider takes a request, or a bare list of steps: what isn't known is let through.
///
/// # Errors
/// The provider's refusal.
pub(crate) fn accepts(body: &Value) -> Result<(), String> {
    let is_elsewhere =
        ["previous_interaction_id", "cached_content"].iter().any(|key| !body[*key].is_null());
    let input = if body.is_array() { body } else { &body["input"] };
    let steps = match input {
        Value::Array(steps) => steps.as_slice(),
        Value::String(words) if !words.is_empty() => return Ok(()),
        content @ Value::Object(_) => std::slice::from_ref(content),
        _ => return Err("input: required".to_owned()),
    };
    if steps.is_empty() && !is_elsewhere {
        return Err("Request must contain at least one step in `input`.".to_owned());
    }
    let mut names = HashSet::new();
    for tool in list(&body["tools"]) {
        if let Some(name) = tool["name"].as_str().filter(|name| !names.insert(*name)) {
            return Err(format!("Duplicate function declaration found: {name}"));
        }
    }
    let mut open = Open::default();
    let mut ids = HashSet::new();
    let mut kept = is_elsewhere.then(HashSet::new);
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
    // A turn that nothing came after is open; one that is answered in part isn't.
    if open.is_begun { open.close() } else { Ok(()) }
}

impl<'a> Open<'a> {
    /// Something is said that is no result.
    fn close(&mut self) -> Result<(), String> {
        let calls = std::mem::take(&mut self.calls);
        (self.is_begun, self.is_models) = (false, false);
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
        (self.is_begun, self.is_models) = (true, false);
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
