//! Gemini `generateContent` (PROVIDERS.md B.4).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Call, Judge, list, text, without};
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::prompt::{
    Choice, Compacts, Prompt, Section, Takes, Talk, Tool, Ttl, Understood,
};
use crate::server::{Api, Endpoint};
use epitome::word_list::words;

/// What stands for a signature on calls that another model made.
pub(crate) const SENTINEL: &str = "skip_thought_signature_validator";

/// Longest name of a function.
const LONGEST_NAME: usize = 128;

/// What a part may hold, one of them.
const DATA: [&str; 9] = words!(
    "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult \
     toolCall toolResponse"
);

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Gemini, message)
}

/// Protocol buffers are read from JSON in camel case and in snake case.
pub(crate) fn field<'a>(value: &'a Value, camel: &str) -> &'a Value {
    if let Some(found) = value.get(camel) {
        return found;
    }
    &value[snake(camel)]
}

fn snake(camel: &str) -> String {
    camel.chars().fold(String::new(), |mut out, c| {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        out
    })
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let model = judge.model(call)?;
    // Counting takes either the contents or a whole request.
    let whole = field(call.body, "generateContentRequest");
    let body = if whole.is_object() { whole } else { call.body };
    let own = ["systemInstruction", "tools", "toolConfig"];
    if !field(body, "cachedContent").is_null() && own.iter().any(|key| !field(body, key).is_null())
    {
        return Err(invalid(
            "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
        ));
    }
    // Nobody makes cached contents here.
    if !field(body, "cachedContent").is_null() {
        let gone = "CachedContent not found (or permission denied)";
        return Err(ApiError::new(Api::Gemini, 403, gone));
    }
    let contents = contents(body)?;
    let declared =
        list(&body["tools"]).iter().flat_map(|tool| list(field(tool, "functionDeclarations")));
    let mut names = HashSet::new();
    for name in declared.map(|function| text(&function["name"])) {
        if !names.insert(name) {
            return Err(invalid(format!("Duplicate function declaration found: {name}")));
        }
    }
    for (n, content) in contents.iter().enumerate() {
        let members = content.as_object().into_iter().flat_map(Map::keys);
        if let Some(key) = members.into_iter().find(|key| !matches!(key.as_str(), "role" | "parts"))
        {
            return Err(invalid(format!(
                "Invalid JSON payload received. Unknown name \"{key}\" at 'contents[{n}]': Cannot find field."
            )));
        }
        shape(judge, n, content)?;
    }
    turns(&contents)?;
    signatures(&model, &contents)?;
    let understood = read(judge, model, call, body, &contents);
    let (tokens, window) = (understood.prompt.tokens(), understood.model.window);
    if call.endpoint != Endpoint::Count && tokens > window {
        return Err(invalid(format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        )));
    }
    Ok(understood)
}

fn contents(body: &Value) -> Result<Vec<Value>, ApiError> {
    let contents = match &body["contents"] {
        Value::Array(contents) => contents.clone(),
        content @ Value::Object(_) => vec![content.clone()],
        _ => Vec::new(),
    };
    if contents.is_empty() {
        return Err(invalid("* GenerateContentRequest.contents: contents is not specified\n"));
    }
    Ok(contents)
}

fn shape(judge: &Judge, n: usize, content: &Value) -> Result<(), ApiError> {
    match content["role"].as_str() {
        None if content["role"].is_null() => {}
        Some("" | "user" | "model" | "function" | "tool") => {}
        _ => return Err(invalid("Please use a valid role: user, model.")),
    }
    let parts = list(&content["parts"]);
    if parts.is_empty() {
        return Err(invalid(format!(
            "* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty.\n"
        )));
    }
    for (m, part) in parts.iter().enumerate() {
        let held: Vec<&str> = DATA.into_iter().filter(|key| !field(part, key).is_null()).collect();
        let at = format!("contents[{n}].parts[{m}]");
        match held[..] {
            // A signature may come by itself, as the last of a stream does.
            [] if is_signed(part) => {}
            [] if judge.is_lenient() && holds_a_stranger(part) => {}
            ["text"] if part["text"] == "" && !is_signed(part) && part["thought"] != true => {
                return Err(invalid(
                    "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.",
                ));
            }
            [] => {
                return Err(invalid(format!(
                    "* GenerateContentRequest.{at}.data: required oneof field 'data' must have one initialized field\n"
                )));
            }
            [key @ ("functionCall" | "functionResponse")] => {
                let (value, inner) =
                    (field(part, key), if key == "functionCall" { "args" } else { "response" });
                if text(&value["name"]).is_empty() {
                    let name = snake(key);
                    return Err(invalid(format!(
                        "* GenerateContentRequest.{at}.{name}.name: Name cannot be empty.\n"
                    )));
                }
                if text(&value["name"]).chars().count() > LONGEST_NAME {
                    return Err(invalid(format!(
                        "* GenerateContentRequest.{at}.{}.name: Invalid function name. Must start with a letter or an \
                         underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes \
                         (-), with a maximum length of {LONGEST_NAME}.\n",
                        snake(key)
                    )));
                }
                if !(value[inner].is_object() || value[inner].is_null()) {
                    return Err(invalid(format!(
                        "Invalid value at '{at}.{}.{inner}' (type.googleapis.com/google.protobuf.Struct)",
                        snake(key)
                    )));
                }
            }
            [_] => {}
            _ => {
                return Err(invalid(format!(
                    "Invalid value at '{at}' (oneof), oneof field 'data' is already set. Cannot set '{}'",
                    snake(held[1])
                )));
            }
        }
    }
    Ok(())
}

/// Whether data of a kind that nobody here knows is in it.
fn holds_a_stranger(part: &Value) -> bool {
    let about = words!(
        "thought thoughtSignature videoMetadata mediaResolution partMetadata mediaProcessing"
    );
    let is_data = |key: &String| !about.iter().any(|about| key == about || *key == snake(about));
    part.as_object()
        .is_some_and(|members| members.iter().any(|(key, value)| !value.is_null() && is_data(key)))
}

fn is_signed(part: &Value) -> bool {
    !text(field(part, "thoughtSignature")).is_empty()
}

fn count(content: &Value, key: &str) -> usize {
    list(&content["parts"]).iter().filter(|part| !field(part, key).is_null()).count()
}

pub(crate) fn is_model(content: &Value) -> bool {
    content["role"] == "model"
}

/// Calls come behind a user's turn or results; results are as many as the calls before them.
fn turns(contents: &[Value]) -> Result<(), ApiError> {
    for (n, content) in contents.iter().enumerate() {
        let before = n.checked_sub(1).map(|before| &contents[before]);
        let calls = count(content, "functionCall");
        if calls > 0 && (!is_model(content) || before.is_none_or(is_model)) {
            return Err(invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
            ));
        }
        let results = count(content, "functionResponse");
        let calls = before
            .filter(|before| is_model(before))
            .map_or(0, |before| count(before, "functionCall"));
        if results > 0 && (calls == 0 || is_model(content)) {
            return Err(invalid(
                "Please ensure that function response turn comes immediately after a function call turn.",
            ));
        }
        let is_unanswered =
            is_model(content) && count(content, "functionCall") > 0 && n + 1 == contents.len();
        let answered = before.is_none_or(|before| results == 0 || are_answered(before, content));
        if results != calls || is_unanswered || !answered {
            return Err(invalid(
                "Please ensure that the number of function response parts is equal to the number of function call parts of \
                 the function call turn.",
            ));
        }
    }
    Ok(())
}

/// Each response has a call: by id where both have one, else by name.
fn are_answered(calls: &Value, responses: &Value) -> bool {
    let held = |content: &Value, key: &str| -> Vec<(String, String)> {
        let values = list(&content["parts"]).iter().map(|part| field(part, key).clone());
        let values = values.filter(|value| !value.is_null());
        values
            .map(|value| (text(&value["id"]).to_owned(), text(&value["name"]).to_owned()))
            .collect()
    };
    let mut calls = held(calls, "functionCall");
    let mut responses = held(responses, "functionResponse");
    responses.retain(|(id, _)| {
        let found = calls.iter().position(|(call, _)| call == id && !id.is_empty());
        found.map(|at| calls.remove(at)).is_none()
    });
    responses.iter().all(|(id, name)| {
        let found = calls
            .iter()
            .position(|(call, called)| called == name && (call.is_empty() || id.is_empty()));
        found.map(|at| calls.remove(at)).is_some()
    })
}

/// Where the current turn begins: at the newest words of the user.
pub(crate) fn current_turn(contents: &[Value]) -> usize {
    let is_other = |part: &Value| field(part, "functionResponse").is_null();
    let begins =
        |content: &Value| !is_model(content) && list(&content["parts"]).iter().any(is_other);
    contents.iter().rposition(begins).unwrap_or(0)
}

/// Each step of the current turn has a signature on its first call.
fn signatures(model: &Model, contents: &[Value]) -> Result<(), ApiError> {
    if !model.has(Trait::WantsReasoning) {
        return Ok(());
    }
    let start = current_turn(contents);
    for (n, content) in
        contents.iter().enumerate().skip(start).filter(|(_, content)| is_model(content))
    {
        let parts = list(&content["parts"]);
        let Some(at) = parts.iter().position(|part| !field(part, "functionCall").is_null()) else {
            continue;
        };
        let signature = text(field(&parts[at], "thoughtSignature"));
        if signature.is_empty() {
            return Err(invalid(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
                 call `default_api:{}` , position {}.",
                text(&field(&parts[at], "functionCall")["name"]),
                n + 1
            )));
        }
        if signature != SENTINEL && !is_base64(signature) {
            return Err(invalid(format!(
                "Invalid value at 'contents[{n}].parts[{at}].thought_signature' (TYPE_BYTES), Base64 decoding failed for \
                 \"{signature}\""
            )));
        }
    }
    Ok(())
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len() - body.len() <= 2
        && body.len() % 4 != 1
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))
}

fn read(
    judge: &Judge,
    model: Model,
    call: &Call<'_>,
    body: &Value,
    contents: &[Value],
) -> Understood {
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!([model.name, field(body, "cachedContent")]));
    let system = field(body, "systemInstruction");
    for part in system
        .as_object()
        .map_or(&[][..], |system| list(system.get("parts").unwrap_or(&Value::Null)))
    {
        prompt.push(Section::System, "system", part, None);
    }
    for tool in list(&body["tools"]) {
        for function in list(field(tool, "functionDeclarations")) {
            prompt.push(Section::Tools, "tools", function, None);
        }
    }
    let mut talk = Talk::default();
    for content in contents {
        if is_model(content) {
            talk.model();
        } else if count(content, "functionResponse") == 0 {
            talk.human();
        }
        let who = if is_model(content) { "model" } else { "user" };
        for part in list(&content["parts"]) {
            if !field(part, "functionResponse").is_null() {
                talk.result();
            }
            // The name of a signature isn't read, and differs between the two spellings.
            let shown = without(part, &["thoughtSignature", "thought_signature"]);
            prompt.push(Section::Messages, who, &shown, None);
        }
    }
    prompt.mark_last(Ttl::Short);
    let config = field(body, "generationConfig");
    let calling = field(field(body, "toolConfig"), "functionCallingConfig");
    let allowed = list(field(calling, "allowedFunctionNames"));
    let declared =
        list(&body["tools"]).iter().flat_map(|tool| list(field(tool, "functionDeclarations")));
    Understood {
        choice: match text(&calling["mode"]) {
            "ANY" => {
                allowed.first().map_or(Choice::Any, |name| Choice::Named(text(name).to_owned()))
            }
            "NONE" => Choice::None,
            _ => Choice::Auto,
        },
        tools: declared.filter_map(tool).collect(),
        thinks: model.has(Trait::WantsReasoning) || field(config, "thinkingConfig").is_object(),
        max_output: field(config, "maxOutputTokens").as_u64(),
        stream: call.endpoint == Endpoint::Stream,
        chain: judge.chain(Api::Gemini, &model, &[]),
        misplaced: Vec::new(),
        compacts: Compacts::No,
        items: Vec::new(),
        model,
        prompt,
        talk,
    }
}

fn tool(function: &Value) -> Option<Tool> {
    let name = function["name"].as_str()?.to_owned();
    let schema = match function.get("parameters") {
        Some(schema) => schema,
        None => field(function, "parametersJsonSchema"),
    };
    Some(Tool {
        name,
        takes: Takes::Json(Value::Object(schema.as_object().cloned().unwrap_or_else(Map::new))),
    })
}
