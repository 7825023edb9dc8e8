//! PROVIDERS.md B.4.

use serde_json::Value;

/// What has no words of its own in an element.
const ABOUT: [&str; 10] = [
    "thought",
    "thoughtSignature",
    "thought_signature",
    "videoMetadata",
    "video_metadata",
    "mediaResolution",
    "media_resolution",
    "partMetadata",
    "part_metadata",
    "mediaProcessing",
];

const DATA: [(&str, &str); 8] = [
    ("inlineData", "inline_data"),
    ("fileData", "file_data"),
    ("functionCall", "function_call"),
    ("functionResponse", "function_response"),
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
    ("toolCall", "tool_call"),
    ("toolResponse", "tool_response"),
];

const UNEQUAL: &str = "Please ensure that the number of function response parts is equal to the number of function \
    call parts of the function call turn.";
const BAD_CALL: &str = "Please ensure that function call turn comes immediately after a user turn or after a function \
    response turn.";
const BAD_RESPONSE: &str =
    "Please ensure that function response turn comes immediately after a function call turn.";

pub(super) fn accepts(body: &Value, contents: &[Value]) -> Result<(), String> {
    let is_set = |names: &[&str]| names.iter().any(|name| !body[*name].is_null());
    let is_cached = is_set(&["cachedContent", "cached_content"]);
    if is_cached
        && is_set(&["systemInstruction", "system_instruction", "tools"])
        && !contents.is_empty()
    {
        return Err(
            "CachedContent can not be used with GenerateContent request setting …".to_owned()
        );
    }
    let contents: Vec<Content<'_>> = contents
        .iter()
        .enumerate()
        .map(|(n, content)| Content::read(n, content))
        .collect::<Result<_, _>>()?;
    turns(&contents, is_cached)?;
    match body["model"].as_str() {
        Some(model) if is_third(model) => signatures(&contents),
        _ => Ok(()),
    }
}

/// A content, checked by itself.
struct Content<'a> {
    is_model: bool,
    parts: &'a [Value],
}

impl<'a> Content<'a> {
    fn read(n: usize, content: &'a Value) -> Result<Self, String> {
        let is_model = match &content["role"] {
            Value::Null => false,
            role => match role.as_str() {
                Some("user" | "function" | "tool") => false,
                Some("model") => true,
                _ => return Err("Please use a valid role: user, model.".to_owned()),
            },
        };
        let empty = || format!("contents[{n}].parts: contents.parts must not be empty.");
        let parts = content["parts"].as_array().ok_or_else(empty)?;
        if parts.is_empty() {
            return Err(empty());
        }
        let content = Content { is_model, parts };
        for (m, part) in parts.iter().enumerate() {
            content.part(part).map_err(|why| format!("contents[{n}].parts[{m}]: {why}"))?;
        }
        Ok(content)
    }

    fn part(&self, part: &Value) -> Result<(), String> {
        let members = part.as_object().ok_or("not an object")?;
        let data = members
            .iter()
            .filter(|(key, value)| !value.is_null() && !ABOUT.contains(&key.as_str()))
            .count();
        if data == 0 && seal(part).is_none() {
            return Err("required oneof field 'data' must have one initialized field".to_owned());
        }
        let known = DATA.iter().filter(|name| member(part, **name).is_some()).count();
        if known + usize::from(!part["text"].is_null()) > 1 {
            return Err("oneof field 'data' is already set".to_owned());
        }
        if part["text"] == "" && seal(part).is_none() && part["thought"] != true {
            return Err("empty text parameter".to_owned());
        }
        if let Some(call) = call(part) {
            if !self.is_model {
                return Err(BAD_CALL.to_owned());
            }
            let length = call["name"].as_str().unwrap_or_default().chars().count();
            if !(1..=128).contains(&length) {
                return Err("function_call.name: Name cannot be empty.".to_owned());
            }
            if !(call["args"].is_object() || call["args"].is_null()) {
                return Err("Invalid value at 'function_call.args'".to_owned());
            }
        }
        if let Some(response) = response(part) {
            if response["name"].as_str().unwrap_or_default().is_empty() {
                return Err("function_response.name: Name cannot be empty.".to_owned());
            }
            if !(response["response"].is_object() || response["response"].is_null()) {
                return Err("Invalid value at 'function_response.response'".to_owned());
            }
        }
        Ok(())
    }

    fn calls(&self) -> Vec<&'a Value> {
        self.parts.iter().filter_map(call).collect()
    }

    fn responses(&self) -> Vec<&'a Value> {
        self.parts.iter().filter_map(response).collect()
    }
}

fn member<'a>(part: &'a Value, (camel, snake): (&str, &str)) -> Option<&'a Value> {
    [&part[camel], &part[snake]].into_iter().find(|value| !value.is_null())
}

fn call(part: &Value) -> Option<&Value> {
    member(part, ("functionCall", "function_call"))
}

fn response(part: &Value) -> Option<&Value> {
    member(part, ("functionResponse", "function_response"))
}

fn seal(part: &Value) -> Option<&str> {
    let seal = member(part, ("thoughtSignature", "thought_signature"))?.as_str()?;
    Some(seal).filter(|seal| !seal.is_empty())
}

fn turns(contents: &[Content<'_>], is_cached: bool) -> Result<(), String> {
    for (n, content) in contents.iter().enumerate() {
        let before = n.checked_sub(1).map(|before| &contents[before]);
        let calls = content.calls();
        if !calls.is_empty() {
            if before.map_or(!is_cached, |before| before.is_model) {
                return Err(BAD_CALL.to_owned());
            }
            if contents.get(n + 1).is_some_and(|next| next.is_model || next.responses().is_empty())
            {
                return Err(UNEQUAL.to_owned());
            }
        }
        let responses = content.responses();
        if responses.is_empty() {
            continue;
        }
        let called =
            before.filter(|before| before.is_model).map(Content::calls).unwrap_or_default();
        let continues_cache = is_cached && contents[..=n].iter().all(|content| !content.is_model);
        if continues_cache {
            continue;
        }
        if called.is_empty() || content.is_model {
            return Err(BAD_RESPONSE.to_owned());
        }
        if called.len() != responses.len() || !are_answered(called, &responses) {
            return Err(UNEQUAL.to_owned());
        }
    }
    Ok(())
}

/// By id where both have one, else by name, in order.
fn are_answered(mut calls: Vec<&Value>, responses: &[&Value]) -> bool {
    let id = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
    let (with, without): (Vec<&&Value>, Vec<&&Value>) = responses.iter().partition(|response| {
        calls.iter().any(|call| id(call) == id(response) && !id(call).is_empty())
    });
    for response in with.into_iter().chain(without) {
        let same_id = |call: &&Value| !id(call).is_empty() && id(call) == id(response);
        let same_name = |call: &&Value, call_has_id: bool| {
            call["name"] == response["name"]
                && id(call).is_empty() != call_has_id
                && (id(call).is_empty() || id(response).is_empty())
        };
        let found = calls
            .iter()
            .position(same_id)
            .or_else(|| calls.iter().position(|call| same_name(call, false)))
            .or_else(|| calls.iter().position(|call| same_name(call, true)));
        match found {
            Some(at) => calls.remove(at),
            None => return false,
        };
    }
    true
}

/// The generation number behind `gemini-`.
fn is_third(model: &str) -> bool {
    let version = model.split("gemini-").nth(1).unwrap_or_default();
    let major = version.split(['.', '-']).next().unwrap_or_default();
    major.parse::<u32>().is_ok_and(|major| major >= 3) && !version.contains("image")
}

/// The current turn begins behind the newest content of the user's that isn't only responses; each of
/// its steps has a signature on its first call.
fn signatures(contents: &[Content<'_>]) -> Result<(), String> {
    let starts = |content: &Content<'_>| {
        !content.is_model && content.parts.iter().any(|part| response(part).is_none())
    };
    let start = contents.iter().rposition(starts).map_or(0, |at| at + 1);
    for content in contents[start..].iter().filter(|content| content.is_model) {
        let first = content.parts.iter().find(|part| call(part).is_some());
        if first.is_some_and(|first| seal(first).is_none()) {
            return Err(
                "Function call is missing a thought_signature in functionCall parts.".to_owned()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn turns_are_even_and_in_order() {
        let call = |ids: &[&str]| {
            let parts: Vec<Value> = ids
                .iter()
                .map(|id| json!({"functionCall": {"id": id, "name": "f", "args": {}}}))
                .collect();
            json!({"role": "model", "parts": parts})
        };
        let result = |ids: &[&str]| {
            let parts: Vec<Value> = ids
                .iter()
                .map(|id| json!({"functionResponse": {"id": id, "name": "f", "response": {}}}))
                .collect();
            json!({"role": "user", "parts": parts})
        };
        let user = json!({"parts": [{"text": "x"}]});
        let said = json!({"role": "model", "parts": [{"text": "x"}]});
        let ok = |contents: &[&Value]| {
            let contents: Vec<Value> = contents.iter().map(|content| (*content).clone()).collect();
            accepts(&Value::Null, &contents).is_ok()
        };
        assert!(ok(&[&user, &call(&["a", "b"]), &result(&["b", "a"]), &said]));
        assert!(ok(&[&user, &call(&["a"])]));
        assert!(!ok(&[&call(&["a"]), &result(&["a"])]));
        assert!(!ok(&[&user, &said, &call(&["a"]), &result(&["a"])]));
        assert!(!ok(&[&user, &call(&["a", "b"]), &result(&["a"])]));
        assert!(!ok(&[&user, &call(&["a", "b"]), &result(&["a"]), &result(&["b"])]));
        assert!(!ok(&[&user, &call(&["a"]), &user, &result(&["a"])]));
        assert!(!ok(&[&user, &result(&["a"])]));
    }
}
