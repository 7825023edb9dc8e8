//! A transcript as the request that would carry it, and as if it had been held with this server.
//!
//! Recordings hold messages without model, tools or limits, they may stop in the middle of a step, and their
//! signatures are of somebody else. [`dressed`] puts around them what a client would, and [`Judge::seal`] signs them.

use serde_json::{Map, Value, json};

use super::rules::{self, Call, Judge, list, text};
use super::{Api, ApiError};

/// Last words of a request that ends with the model's.
pub(super) const ON: &str = "Go on.";

/// The transcript in `body` (a request, or a bare list of entries) as a whole request to `model`: tools that were
/// called are offered, calls that are open at the end are answered, and where it must be, a person speaks last.
///
/// The model of Gemini and Bedrock stands in the path, so nothing is said of it here.
pub fn dressed(api: Api, body: &Value, model: &str) -> Value {
    let key = api.list();
    let mut body = if body.is_array() { json!({key: body}) } else { body.clone() };
    match (api, &body[key]) {
        (Api::Responses, Value::String(words)) => {
            body[key] = json!([{"role": "user", "content": words}]);
        }
        (Api::Interactions, Value::String(words)) => {
            body[key] = json!([{"type": "user_input", "content": words}]);
        }
        (Api::Interactions, content @ Value::Object(_)) => body[key] = json!([content]),
        _ => {}
    }
    if !body[key].is_array() {
        body[key] = json!([]);
    }
    let entries = body[key].take();
    let mut entries = entries.as_array().cloned().unwrap_or_default();
    // A compaction on demand is of what is there.
    if body["compaction"].is_null() {
        finish(api, &mut entries);
    }
    let names = called(api, &entries);
    body[key] = Value::Array(entries);
    frame(api, &mut body, model);
    offer(api, &mut body, &names);
    body
}

fn frame(api: Api, body: &mut Value, model: &str) {
    if !matches!(api, Api::Gemini | Api::Converse) {
        body["model"] = json!(model);
    }
    if api != Api::Anthropic {
        return;
    }
    if body["max_tokens"].is_null() {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or_default();
        body["max_tokens"] = json!(4_096 + budget);
    }
    let mut blocks = list(&body["messages"]).iter().flat_map(|message| list(&message["content"]));
    if body["thinking"].is_null() && blocks.any(|block| text(&block["type"]).ends_with("thinking"))
    {
        body["thinking"] = json!({"type": "adaptive"});
    }
}

/// Answers the calls of the last step, if it waits for all of them, and lets a person have the last word.
fn finish(api: Api, entries: &mut Vec<Value>) {
    let (role, call) = match api {
        Api::Anthropic => ("assistant", "tool_use"),
        Api::Converse => ("assistant", "toolUse"),
        Api::Gemini => ("model", "functionCall"),
        Api::Chat => return finish_chat(entries),
        Api::Responses => return finish_responses(entries),
        Api::Interactions => return finish_interactions(entries),
    };
    let start = entries.iter().rposition(|entry| entry["role"] != role).map_or(0, |at| at + 1);
    let last = &entries[start..];
    // Anthropic's last reply may be empty.
    let says_nothing = |entry: &Value| {
        entry["content"] == "" || entry["content"].as_array().is_some_and(Vec::is_empty)
    };
    if last.is_empty() || last.len() == 1 && api == Api::Anthropic && says_nothing(&last[0]) {
        return;
    }
    let blocks =
        last.iter().flat_map(|entry| list(&entry["content"]).iter().chain(list(&entry["parts"])));
    let results: Vec<Value> = match api {
        Api::Anthropic => blocks
            .filter(|block| block["type"] == call)
            .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": ON}))
            .collect(),
        Api::Converse => blocks
            .map(|block| rules::client(block, call))
            .filter(|called| called.is_object())
            .map(|called| &called["toolUseId"])
            .map(|id| json!({"toolResult": {"toolUseId": id, "content": [{"text": ON}]}}))
            .collect(),
        _ => blocks
            .map(|part| rules::field(part, call))
            .filter(|called| called.is_object())
            .map(|called| json!({"functionResponse": {"name": called["name"], "response": {"output": ON}}}))
            .collect(),
    };
    let words = if api == Api::Anthropic {
        json!({"type": "text", "text": ON})
    } else {
        json!({"text": ON})
    };
    // Gemini goes on from its own words; a person's would begin another turn.
    if results.is_empty() && api == Api::Gemini {
        return;
    }
    let content = if results.is_empty() { json!([words]) } else { json!(results) };
    let key = if api == Api::Gemini { "parts" } else { "content" };
    entries.push(json!({"role": "user", key: content}));
}

fn finish_chat(entries: &mut Vec<Value>) {
    let last = entries.last().filter(|last| last["role"] == "assistant");
    let calls = last.map(|last| list(&last["tool_calls"]).to_vec()).unwrap_or_default();
    entries.extend(
        calls.iter().map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": ON})),
    );
    speak_last(entries);
}

/// Where the model's words are the last, a person's follow (OpenAI's formats).
fn speak_last(entries: &mut Vec<Value>) {
    let is_reply = |last: &Value| last["role"] == "assistant";
    if entries.last().is_some_and(is_reply) {
        entries.push(json!({"role": "user", "content": ON}));
    }
}

fn finish_responses(entries: &mut Vec<Value>) {
    let is_heard = |entry: &Value| {
        let asks = ["compaction_trigger", "mcp_approval_response", "additional_tools"];
        text(&entry["type"]).ends_with("_output") && entry["execution"] != "server"
            || asks.contains(&text(&entry["type"]))
            || entry["role"].as_str().is_some_and(|role| role != "assistant")
    };
    let start = entries.iter().rposition(is_heard).map_or(0, |at| at + 1);
    let outputs: Vec<Value> = entries[start..].iter().filter_map(output).collect();
    entries.extend(outputs);
    speak_last(entries);
}

fn finish_interactions(entries: &mut Vec<Value>) {
    let is_heard = |step: &Value| ["user_input", "function_result"].contains(&text(&step["type"]));
    let start = entries.iter().rposition(is_heard).map_or(0, |at| at + 1);
    let calls = entries[start..].iter().filter(|step| step["type"] == "function_call");
    let results: Vec<Value> = calls
        .map(|call| json!({"type": "function_result", "call_id": call["id"], "result": ON}))
        .collect();
    entries.extend(results);
}

/// The output of a call of Responses, if it waits for one.
fn output(call: &Value) -> Option<Value> {
    let said = match text(&call["type"]) {
        "function_call" | "custom_tool_call" | "local_shell_call" => json!({"output": ON}),
        "shell_call" => json!({"output": [
            {"stdout": ON, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
        "apply_patch_call" => json!({"status": "completed", "output": ON}),
        "computer_call" => json!({"output": {"type": "computer_screenshot", "file_id": "file_1"}}),
        "tool_search_call" if call["execution"] != "server" && call["call_id"].is_string() => {
            return Some(
                json!({"type": "tool_search_output", "call_id": call["call_id"], "tools": []}),
            );
        }
        _ => return None,
    };
    let mut output = said;
    let id = if call["call_id"].is_string() { &call["call_id"] } else { &call["id"] };
    output["type"] = json!(format!("{}_output", text(&call["type"])));
    output["call_id"] = id.clone();
    Some(output)
}

/// Names of the tools that were called.
fn called(api: Api, entries: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let inside = match api {
            Api::Anthropic | Api::Converse => list(&entry["content"]),
            Api::Gemini => list(&entry["parts"]),
            Api::Chat => list(&entry["tool_calls"]),
            Api::Responses | Api::Interactions => std::slice::from_ref(entry),
        };
        names.extend(inside.iter().filter_map(|part| {
            match api {
                Api::Anthropic => part["name"].as_str().filter(|_| part["type"] == "tool_use"),
                Api::Converse => rules::client(part, "toolUse")["name"].as_str(),
                Api::Gemini => rules::field(part, "functionCall")["name"].as_str(),
                Api::Chat => part["function"]["name"].as_str(),
                Api::Responses | Api::Interactions => {
                    part["name"].as_str().filter(|_| part["type"] == "function_call")
                }
            }
            .map(str::to_owned)
        }));
    }
    // Some take longer names in calls than in tools.
    let is_lawful = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    names.retain(|name| (1..=64).contains(&name.len()) && name.chars().all(is_lawful));
    names.sort();
    names.dedup();
    names
}

/// Offers tools of these names, where no tools are offered.
fn offer(api: Api, body: &mut Value, names: &[String]) {
    let schema = json!({"type": "object", "properties": {}});
    let tools = |tool: &dyn Fn(&String) -> Value| -> Value { names.iter().map(tool).collect() };
    if names.is_empty() {
        return;
    }
    let (key, tools) = match api {
        Api::Anthropic => ("tools", tools(&|name| json!({"name": name, "input_schema": schema}))),
        Api::Responses | Api::Interactions => (
            "tools",
            tools(&|name| json!({"type": "function", "name": name, "parameters": schema})),
        ),
        Api::Chat => (
            "tools",
            tools(
                &|name| json!({"type": "function", "function": {"name": name, "parameters": schema}}),
            ),
        ),
        Api::Gemini => {
            ("tools", json!([{"functionDeclarations": tools(&|name| json!({"name": name}))}]))
        }
        Api::Converse => (
            "toolConfig",
            json!({"tools": tools(&|name| json!({"toolSpec": {"name": name, "inputSchema": {"json": schema}}}))}),
        ),
    };
    if body[key].is_null() {
        body[key] = tools;
    }
}

impl Judge {
    /// The same conversation, its reasoning signed as if it had been held here.
    ///
    /// # Errors
    /// There is no such model.
    pub fn seal(&self, call: &Call<'_>) -> Result<Value, ApiError> {
        let model = self.model(call)?;
        let mut body = call.body.clone();
        match call.api {
            Api::Anthropic => rules::seal_anthropic(self, &model, &mut body),
            Api::Responses => rules::seal_responses(self, &model, &mut body),
            Api::Converse => rules::seal_converse(self, &model, &mut body),
            Api::Gemini => seal_gemini(&mut body),
            Api::Chat | Api::Interactions => {}
        }
        Ok(body)
    }
}

/// Steps whose first call has no signature get the one that stands for none.
fn seal_gemini(body: &mut Value) {
    let Some(contents) = body["contents"].as_array_mut() else { return };
    for content in contents.iter_mut().filter(|content| content["role"] == "model") {
        let parts = content["parts"].as_array_mut().into_iter().flatten();
        let mut calls = parts.filter(|part| !rules::field(part, "functionCall").is_null());
        let Some(first) = calls.next().and_then(Value::as_object_mut) else { continue };
        if !has_signature(first) {
            first.insert("thoughtSignature".to_owned(), json!(rules::SENTINEL));
        }
    }
}

fn has_signature(part: &Map<String, Value>) -> bool {
    ["thoughtSignature", "thought_signature"]
        .iter()
        .any(|key| part.get(*key).is_some_and(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_lists_become_requests_that_are_taken() {
        let anthropic = json!([
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "of somebody else"},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
        ]);
        let chat = json!([
            {"role": "user", "content": "Go."},
            {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        ]);
        let responses = json!([
            {"role": "user", "content": "Go."},
            {"type": "reasoning", "summary": [], "encrypted_content": "of somebody else"},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        ]);
        let gemini = json!([
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g"}}]},
        ]);
        let interactions = json!([
            {"type": "user_input", "content": [{"type": "text", "text": "Go."}]},
            {"type": "thought", "signature": "of somebody else"},
            {"type": "function_call", "id": "a", "name": "f", "arguments": {}},
        ]);
        let converse = json!([
            {"role": "user", "content": [{"text": "Go."}]},
            {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {}}}]},
        ]);
        for (api, model, list) in [
            (Api::Anthropic, "claude-opus-5-5", anthropic),
            (Api::Chat, "gpt-4o", chat),
            (Api::Responses, "gpt-6.2-sol", responses),
            (Api::Gemini, "gemini-3.1-pro", gemini),
            (Api::Converse, "anthropic.claude-opus-5-5", converse),
            (Api::Interactions, "gemini-3.8-flash", interactions),
        ] {
            let judge = Judge::default();
            let body = dressed(api, &list, model);
            let body =
                judge.seal(&Call { model: Some(model), ..Call::new(api, &body) }).expect("known");
            let understood = judge.validate(&Call { model: Some(model), ..Call::new(api, &body) });
            let understood =
                understood.unwrap_or_else(|refusal| panic!("{api}: {}\n{body:#}", refusal.message));
            assert!(understood.misplaced.is_empty(), "{api}");
        }
    }
}
