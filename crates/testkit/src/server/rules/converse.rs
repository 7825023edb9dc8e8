//! AWS Bedrock Converse (PROVIDERS.md B.4b).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::binding::{Manner, Verdict};
use super::{Call, Judge, list, text};
use crate::server::chain::Chain;
use crate::server::error::ApiError;
use crate::server::models::Model;
use crate::server::prompt::{
    Choice, Compacts, Misplaced, Prompt, Section, Takes, Talk, Tool, Ttl, Understood,
};
use crate::server::{Api, Endpoint};
use epitome::word_list::words;

const CONTENT: [&str; 14] = words!(
    "text image document video audio toolUse toolResult reasoningContent cachePoint guardContent \
     citationsContent searchResult toolAddition toolRemoval"
);
/// Of ids and of names.
const LONGEST: usize = 64;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Converse, message)
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let model = judge.model(call)?;
    let whole = &call.body["input"]["converse"];
    let body = if whole.is_object() { whole } else { call.body };
    let messages = list(&body["messages"]);
    if messages.is_empty() {
        return Err(invalid(
            "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must have \
                            length greater than or equal to 1",
        ));
    }
    roles(judge, messages)?;
    let mut names = HashSet::new();
    for tool in list(&body["toolConfig"]["tools"]) {
        let name = text(&tool["toolSpec"]["name"]);
        if !name.is_empty() && !names.insert(name) {
            return Err(invalid("tools: Tool names must be unique."));
        }
    }
    for (n, message) in messages.iter().enumerate() {
        let members = message.as_object().into_iter().flat_map(Map::keys);
        if let Some(key) =
            members.into_iter().find(|key| !matches!(key.as_str(), "role" | "content"))
        {
            return Err(invalid(format!(
                "Unknown parameter in messages[{n}]: \"{key}\", must be one of: role, content"
            )));
        }
        shape(judge, &model, n, message)?;
    }
    tool_config(body, messages)?;
    pairs(messages)?;
    thinking(body, messages)?;
    let understood = read(judge, model, call, body, messages)?;
    if call.endpoint != Endpoint::Count && understood.prompt.tokens() > understood.model.window {
        return Err(invalid("Input is too long for requested model."));
    }
    Ok(understood)
}

fn roles(judge: &Judge, messages: &[Value]) -> Result<(), ApiError> {
    for (n, message) in messages.iter().enumerate() {
        match text(&message["role"]) {
            "assistant" if n == 0 => {
                return Err(invalid(
                    "A conversation must start with a user message. Try again with a conversation that starts with a user \
                     message.",
                ));
            }
            "user" | "assistant" => {}
            // Instructions in mid-conversation take no turn.
            "system" if judge.is_lenient() => continue,
            role => {
                return Err(invalid(format!(
                    "1 validation error detected: Value '{role}' at 'messages.{}.member.role' failed to satisfy constraint: \
                     Member must satisfy enum value set: [user, assistant]",
                    n + 1
                )));
            }
        }
        if n > 0 && messages[n - 1]["role"] == message["role"] {
            return Err(invalid(
                "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between \
                 user and assistant roles and try again.",
            ));
        }
    }
    Ok(())
}

fn shape(judge: &Judge, model: &Model, n: usize, message: &Value) -> Result<(), ApiError> {
    let blocks = list(&message["content"]);
    if blocks.is_empty() {
        return Err(invalid(format!(
            "The content field in the Message object at messages.{n} is empty. Add a ContentBlock object to the content field \
             and try again."
        )));
    }
    for (m, block) in blocks.iter().enumerate() {
        let at = format!("messages.{n}.content.{m}");
        one_member(judge, &at, block)?;
        let result = client(block, "toolResult");
        if result["status"] == "error" && list(&result["content"]).is_empty() {
            return Err(invalid(format!(
                "The content field at {at}.toolResult cannot be empty when status value is error."
            )));
        }
        for (k, inner) in list(&result["content"]).iter().enumerate() {
            one_member(judge, &format!("{at}.toolResult.content.{k}"), inner)?;
        }
        let call = client(block, "toolUse");
        if call.is_object() {
            called(&at, call)?;
        }
    }
    let is_result = |block: &&Value| !block["toolResult"].is_null();
    let beside = |block: &&Value| block["toolResult"].is_null() && block["cachePoint"].is_null();
    if !model.name.starts_with("claude")
        && blocks.iter().any(|block| is_result(&block))
        && blocks.iter().any(|block| beside(&block))
    {
        return Err(invalid(
            "Conversation blocks and tool result blocks cannot be provided in the same turn.",
        ));
    }
    Ok(())
}

/// A call or a result of a client's tool; what the provider ran itself has a type.
pub(crate) fn client<'a>(block: &'a Value, kind: &str) -> &'a Value {
    if block[kind]["type"].is_null() { &block[kind] } else { &Value::Null }
}

fn one_member(judge: &Judge, at: &str, block: &Value) -> Result<(), ApiError> {
    let kinds = CONTENT.into_iter().filter(|kind| !block[*kind].is_null()).count();
    let is_stranger = block.as_object().is_some_and(|members| !members.is_empty());
    if kinds != 1 && !(kinds == 0 && is_stranger && judge.is_lenient()) {
        return Err(invalid(format!(
            "The content block at {at} must have exactly one member set."
        )));
    }
    if block["text"].as_str().is_some_and(|text| text.trim().is_empty()) {
        return Err(invalid(format!(
            "The text field in the ContentBlock object at {at} is blank. Add text to the text field, and try again."
        )));
    }
    Ok(())
}

fn called(at: &str, call: &Value) -> Result<(), ApiError> {
    for (key, others) in [("toolUseId", "_.:-"), ("name", "_-")] {
        let value = text(&call[key]);
        let is_legal = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        if value.is_empty() || value.len() > LONGEST || !value.chars().all(is_legal) {
            return Err(invalid(format!(
                "1 validation error detected: Value '{value}' at '{at}.toolUse.{key}' failed to satisfy constraint: Member \
                 must satisfy regular expression pattern: [a-zA-Z0-9{others}]+ and have length less than or equal to {LONGEST}"
            )));
        }
    }
    if call["input"].is_object() {
        return Ok(());
    }
    Err(invalid(format!(
        "The value at {at}.toolUse.input is empty or not an object. Provide a JSON object and try again."
    )))
}

fn tool_config(body: &Value, messages: &[Value]) -> Result<(), ApiError> {
    let mut blocks = messages.iter().flat_map(|message| list(&message["content"]));
    let is_used = blocks
        .any(|block| ["toolUse", "toolResult"].iter().any(|kind| client(block, kind).is_object()));
    if is_used && list(&body["toolConfig"]["tools"]).is_empty() {
        return Err(invalid(
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        ));
    }
    Ok(())
}

fn ids<'a>(message: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a str> {
    let blocks = list(&message["content"]).iter().map(move |block| client(block, kind));
    blocks.filter(|held| held.is_object()).map(|held| text(&held["toolUseId"]))
}

fn pairs(messages: &[Value]) -> Result<(), ApiError> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let results: Vec<&str> = ids(message, "toolResult").collect();
        let calls: Vec<&str> = ids(message, "toolUse").collect();
        let (misplaced, side) = match text(&message["role"]) {
            "user" => (!calls.is_empty(), "toolUse"),
            "assistant" => (!results.is_empty(), "toolResult"),
            _ => (!(calls.is_empty() && results.is_empty()), "toolUse or toolResult"),
        };
        if misplaced {
            return Err(invalid(format!(
                "The {side} blocks at messages.{n}.content can't be in a message of this role."
            )));
        }
        for (ids, kind) in [(&results, "toolResult"), (&calls, "toolUse")] {
            let mut seen = HashSet::new();
            if let Some(id) = ids.iter().find(|id| !seen.insert(**id)) {
                return Err(invalid(format!(
                    "The {kind} blocks at messages.{n}.content contain duplicate Ids: {id}"
                )));
            }
        }
        // Results come first, as at Anthropic's.
        let leading = list(&message["content"]).iter();
        let leading: Vec<&str> =
            leading.map_while(|block| client(block, "toolResult")["toolUseId"].as_str()).collect();
        let missing: Vec<&str> = open.iter().copied().filter(|id| !leading.contains(id)).collect();
        if !missing.is_empty() {
            return Err(invalid(format!(
                "Expected toolResult blocks at messages.{n}.content for the following Ids: {}",
                missing.join(", ")
            )));
        }
        if results.iter().any(|id| !open.contains(id)) {
            return Err(invalid(format!(
                "The number of toolResult blocks at messages.{n}.content exceeds the number of toolUse blocks of previous turn."
            )));
        }
        open = calls;
    }
    if open.is_empty() {
        return Ok(());
    }
    Err(invalid(format!(
        "Expected toolResult blocks at messages.{}.content for the following Ids: {}",
        messages.len(),
        open.join(", ")
    )))
}

/// Manual mode: the turn that is still in its tool loop starts with reasoning, as at Anthropic's.
fn thinking(body: &Value, messages: &[Value]) -> Result<(), ApiError> {
    let is_answered = |message: &Value| ids(message, "toolResult").next().is_some();
    if text(&body["additionalModelRequestFields"]["thinking"]["type"]) != "enabled"
        || !messages.last().is_some_and(is_answered)
    {
        return Ok(());
    }
    let asks = |message: &Value| message["role"] == "user" && !is_answered(message);
    let start = messages.iter().rposition(asks).map_or(0, |at| at + 1);
    match messages[start..].iter().find(|message| message["role"] == "assistant") {
        Some(first) if !first["content"][0]["reasoningContent"].is_object() => {
            Err(invalid("Expected `thinking` or `redacted_thinking`, but found something else."))
        }
        _ => Ok(()),
    }
}

fn read(
    judge: &Judge,
    model: Model,
    call: &Call<'_>,
    body: &Value,
    messages: &[Value],
) -> Result<Understood, ApiError> {
    let extra = &body["additionalModelRequestFields"];
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!(model.name));
    for tool in list(&body["toolConfig"]["tools"]) {
        push(&mut prompt, Section::Tools, "tools", tool);
    }
    for block in list(&body["system"]) {
        push(&mut prompt, Section::System, "system", block);
    }
    prompt.depends_on(&body["toolConfig"]["toolChoice"]);
    let mut chain = chain(judge, &model, body);
    let asked = extra["thinking"]["block_binding"]["prefix_mismatch_behavior"].as_str();
    let manner = Manner::of(&model, asked);
    let mut talk = Talk::default();
    let mut misplaced = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let who = text(&message["role"]);
        let results = ids(message, "toolResult").count();
        match who {
            "assistant" => talk.model(),
            _ if results == 0 => talk.human(),
            _ => (0..results).for_each(|_| talk.result()),
        }
        talk.calls.extend(ids(message, "toolUse").map(str::to_owned));
        for (m, block) in list(&message["content"]).iter().enumerate() {
            if block["reasoningContent"].is_null() && block["cachePoint"].is_null() {
                chain.say(who, block);
            }
            let path = format!("messages.{n}.content.{m}");
            let out = reasoning(&mut chain, manner, block, path)?;
            if out.as_ref().is_none_or(|out| out.is_shown) {
                push(&mut prompt, Section::Messages, who, block);
            }
            misplaced.extend(out);
        }
    }
    let choice = &body["toolConfig"]["toolChoice"];
    Ok(Understood {
        choice: match choice["tool"]["name"].as_str() {
            Some(name) => Choice::Named(name.to_owned()),
            None if choice["any"].is_object() => Choice::Any,
            None => Choice::Auto,
        },
        tools: list(&body["toolConfig"]["tools"]).iter().filter_map(tool).collect(),
        thinks: matches!(text(&extra["thinking"]["type"]), "enabled" | "adaptive"),
        max_output: body["inferenceConfig"]["maxTokens"].as_u64(),
        stream: call.endpoint == Endpoint::Stream,
        items: Vec::new(),
        model,
        prompt,
        chain,
        misplaced,
        compacts: Compacts::No,
        talk,
    })
}

fn chain(judge: &Judge, model: &Model, body: &Value) -> Chain {
    let plain = |value: &Value| {
        let is_read = |block: &&Value| block["cachePoint"].is_null();
        Value::Array(list(value).iter().filter(is_read).cloned().collect())
    };
    let frame = [plain(&body["system"]), plain(&body["toolConfig"]["tools"])];
    judge.chain(Api::Converse, model, &[&frame[0], &frame[1]])
}

/// Signs all reasoning where it stands.
pub(crate) fn seal(judge: &Judge, model: &Model, body: &mut Value) {
    let mut chain = chain(judge, model, body);
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        let who = text(&message["role"]).to_owned();
        for block in message["content"].as_array_mut().into_iter().flatten() {
            if let Some(reasoning) = block.pointer_mut("/reasoningContent/reasoningText") {
                reasoning["signature"] = json!(chain.sign(text(&reasoning["text"])));
            } else if block["cachePoint"].is_null() {
                chain.say(&who, block);
            }
        }
    }
}

/// Reads a block if it is reasoning; `Some` if it doesn't belong here.
fn reasoning(
    chain: &mut Chain,
    manner: Manner,
    block: &Value,
    path: String,
) -> Result<Option<Misplaced>, ApiError> {
    let reasoning = &block["reasoningContent"]["reasoningText"];
    let Some(signature) = reasoning["signature"].as_str() else { return Ok(None) };
    let (why, is_shown) = match manner.judge(chain, text(&reasoning["text"]), signature) {
        Verdict::Good => return Ok(None),
        Verdict::Dropped(why) => (why, false),
        Verdict::Allowed(why) => (why, true),
        Verdict::Invalid => {
            return Err(invalid(format!("{path}: Invalid `signature` in `thinking` block")));
        }
        Verdict::Refused => {
            return Err(invalid(format!(
                "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
                 block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
            )));
        }
    };
    Ok(Some(Misplaced { path, id: String::new(), why, is_shown }))
}

/// A cache point marks what stands before it.
fn push(prompt: &mut Prompt, section: Section, who: &str, block: &Value) {
    let point = &block["cachePoint"];
    if point.is_null() {
        prompt.push(section, who, block, None);
    } else {
        prompt.mark_last(if text(&point["ttl"]) == "1h" { Ttl::Long } else { Ttl::Short });
    }
}

fn tool(tool: &Value) -> Option<Tool> {
    let name = tool["toolSpec"]["name"].as_str()?.to_owned();
    Some(Tool { name, takes: Takes::Json(tool["toolSpec"]["inputSchema"]["json"].clone()) })
}
