//! What providers accept, a second time: written from PROVIDERS.md alone, over `serde_json` values,
//! so that `epitome::wire` has an opinion to be held against.
//!
//! Two leniencies, both because a transcript may be taken at any moment: calls at the very end may
//! all be open still, and nothing may have been said yet.

mod around;
mod bedrock;
mod gemini;
mod responses;

use std::collections::HashSet;

use epitome::wire::Format;
use serde_json::Value;

/// Whether the provider of `format` would take `body` (a request or a bare array of messages).
///
/// # Errors
/// The provider's own error text, as far as it is known.
pub fn accepts(format: Format, body: &Value) -> Result<(), String> {
    if format == Format::OpenaiResponses {
        let items = body.as_array().or_else(|| body["input"].as_array());
        return match (items, &body["input"]) {
            (Some(items), _) => responses::accepts(items, body),
            (None, Value::String(_)) => Ok(()),
            (None, _) => Err("Missing required parameter: 'input'.".to_owned()),
        };
    }
    let list = if format == Format::Gemini { "contents" } else { "messages" };
    let messages = body.as_array().or_else(|| body[list].as_array());
    let messages = messages.ok_or_else(|| format!("{list}: Field required"))?;
    match format {
        Format::OpenaiChat => chat(messages, &body["tools"]),
        Format::Anthropic => {
            around::accepts(body, messages)?;
            let continues = body["thread"]["previous_message_id"].is_string();
            anthropic(messages, &body["thinking"]["type"], continues)
        }
        Format::Gemini => gemini::accepts(body, messages),
        Format::Bedrock => bedrock::accepts(body, messages),
        other => Err(format!("no oracle for {other}")),
    }
}

const UNANSWERED: &str = "An assistant message with 'tool_calls' must be followed by tool messages \
    responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ";
const NOT_A_RESPONSE: &str = "Invalid parameter: messages with role 'tool' must be a response to a \
    preceeding message with 'tool_calls'.";

/// PROVIDERS.md B.3.
fn chat(messages: &[Value], tools: &Value) -> Result<(), String> {
    // Ids that the newest assistant message waits for, and those that it has got.
    let mut waiting: Vec<&str> = Vec::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let is_odd = match &message["content"] {
            Value::Array(parts) => parts.iter().any(|part| !part["type"].is_string()),
            content => !(content.is_string() || content.is_null()),
        };
        if is_odd && role != "function" {
            return Err(format!("Invalid type for 'messages[{n}].content'"));
        }
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !waiting.contains(&id) || !answered.insert(id) {
                return Err(format!("{NOT_A_RESPONSE} (messages.[{n}].role)"));
            }
            if is_nothing(&message["content"]) {
                return Err(format!("messages.[{n}].content: expected a string"));
            }
            continue;
        }
        let missing: Vec<_> =
            waiting.iter().filter(|id| !answered.contains(*id)).copied().collect();
        if !missing.is_empty() {
            return Err(format!("{UNANSWERED}{}", missing.join(", ")));
        }
        waiting.clear();
        answered.clear();
        match role {
            "system" | "developer" | "user" if is_nothing(&message["content"]) => {
                return Err(format!(
                    "Invalid value for 'content': expected a string, got null. ({n})"
                ));
            }
            "system" | "developer" | "user" | "function" => {}
            "assistant" => {
                let calls = &message["tool_calls"];
                let is_list = calls
                    .as_array()
                    .is_some_and(|calls| !calls.is_empty() && calls.iter().all(Value::is_object));
                if !(is_list || calls.is_null()) {
                    return Err(format!("Invalid 'messages[{n}].tool_calls': empty array."));
                }
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let id = call["id"].as_str().ok_or(format!("messages.[{n}].tool_calls.id"))?;
                    if waiting.contains(&id) {
                        return Err(format!("Duplicate value for 'tool_call_id' of '{id}'"));
                    }
                    waiting.push(id);
                    let name = call["function"]["name"].as_str().unwrap_or_default();
                    let defines = |tool: &Value| tool["function"]["name"] == name;
                    let is_named = is_plain(name) && !name.is_empty();
                    if !is_named
                        && call["custom"].is_null()
                        && !tools.as_array().is_some_and(|all| all.iter().any(defines))
                    {
                        return Err(format!(
                            "Invalid 'messages[{n}].tool_calls[].function.name': string does not match pattern."
                        ));
                    }
                    let arguments = &call["function"]["arguments"];
                    if !(arguments.is_string() || arguments.is_null()) {
                        return Err(format!(
                            "Invalid type for 'messages[{n}].tool_calls[].function.arguments'"
                        ));
                    }
                }
                let says = ["content", "function_call", "refusal", "audio"];
                if waiting.is_empty() && says.iter().all(|key| is_nothing(&message[*key])) {
                    return Err(format!(
                        "Invalid value for 'content': expected a string, got null. ({n})"
                    ));
                }
            }
            other => {
                return Err(format!("Invalid value: '{other}'. Supported values are: 'system', …"));
            }
        }
    }
    let missing: Vec<_> = waiting.iter().filter(|id| !answered.contains(*id)).copied().collect();
    if !(missing.is_empty() || answered.is_empty()) {
        return Err(format!("{UNANSWERED}{}", missing.join(", ")));
    }
    Ok(())
}

/// `^[a-zA-Z0-9_-]*$`
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// "Content required unless tool_calls": null, left out or a list of nothing. An empty string is one.
fn is_nothing(content: &Value) -> bool {
    content.is_null() || content.as_array().is_some_and(Vec::is_empty)
}

/// A run of messages of one role, which the API reads as one.
struct Turn<'a> {
    role: &'a str,
    /// `None` stands for a plain string (its words are checked where it is read).
    blocks: Vec<Option<&'a Value>>,
}

/// PROVIDERS.md B.1.1 (system in `messages`), B.1.2 and B.1.3.
fn anthropic(messages: &[Value], thinking: &Value, continues: bool) -> Result<(), String> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !["user", "assistant", "system"].contains(&role) {
            return Err(format!(
                "messages.{n}.role: Input should be 'user', 'assistant' or 'system'"
            ));
        }
        let prefill = role == "assistant" && n + 1 == messages.len();
        let blocks =
            if prefill && is_empty(&message["content"]) { Vec::new() } else { blocks(n, message)? };
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    first_role(&turns)?;
    for (n, turn) in turns.iter().enumerate() {
        if turn.role == "system" {
            system_place(&turns, n)?;
        }
    }
    pairs(&turns, continues)?;
    if thinking == "enabled" { begins_with_thinking(&turns) } else { Ok(()) }
}

fn is_empty(content: &Value) -> bool {
    content == "" || content.as_array().is_some_and(Vec::is_empty)
}

fn blocks(n: usize, message: &Value) -> Result<Vec<Option<&Value>>, String> {
    let empty = Err(format!("messages.{n}: text content blocks must be non-empty"));
    match &message["content"] {
        Value::String(text) if text.trim().is_empty() => empty,
        Value::String(_) => Ok(vec![None]),
        // It sets the effort, and says nothing.
        Value::Array(list)
            if list.is_empty()
                && message["role"] == "system"
                && message["output_config"].is_object() =>
        {
            Ok(Vec::new())
        }
        Value::Array(list) if list.is_empty() => {
            Err(format!("messages.{n}: all messages must have non-empty content"))
        }
        Value::Array(list) => {
            for block in list {
                match block["type"].as_str() {
                    None => return Err(format!("messages.{n}.content: Input should be an object")),
                    Some("text") if !block["text"].is_string() => {
                        return Err(format!("messages.{n}.content.text.text: Field required"));
                    }
                    Some("text")
                        if block["text"].as_str().unwrap_or_default().trim().is_empty() =>
                    {
                        return empty;
                    }
                    Some("compaction") if block["content"] == "" => return empty,
                    Some("tool_result") => {
                        let nested = block["content"].as_array().into_iter().flatten();
                        let is_blank =
                            |b: &Value| b["text"].as_str().is_none_or(|t| t.trim().is_empty());
                        if nested.clone().any(|b| b["type"] == "text" && is_blank(b)) {
                            return empty;
                        }
                    }
                    Some("tool_use") => {
                        if !block["input"].is_object() {
                            return Err(format!(
                                "messages.{n}.tool_use.input: Input should be a valid dictionary"
                            ));
                        }
                        if block["name"]
                            .as_str()
                            .is_none_or(|name| name.is_empty() || name.len() > 200)
                        {
                            return Err(format!(
                                "messages.{n}.tool_use.name: String should have 1 to 200 characters"
                            ));
                        }
                    }
                    Some(_) => {}
                }
            }
            Ok(list.iter().map(Some).collect())
        }
        _ => Err(format!("messages.{n}.content: Input should be a valid list")),
    }
}

fn kind(block: Option<&Value>) -> &str {
    block.map_or("text", |block| block["type"].as_str().unwrap_or_default())
}

fn first_kind<'a>(turn: &Turn<'a>) -> &'a str {
    turn.blocks.first().map_or("", |block| kind(*block))
}

/// The API drops what stands before a compaction block, so a turn begins behind it.
fn first_kind_spoken<'a>(turn: &Turn<'a>) -> &'a str {
    let mut kinds = turn.blocks.iter().map(|block| kind(*block));
    kinds.find(|kind| *kind != "compaction").unwrap_or("")
}

fn first_role(turns: &[Turn<'_>]) -> Result<(), String> {
    match turns.first() {
        None => Ok(()),
        Some(first) if first.role == "user" => Ok(()),
        Some(first) if first.role == "assistant" && first_kind(first) == "compaction" => Ok(()),
        Some(_) => Err("messages: first message must use the \"user\" role".to_owned()),
    }
}

fn system_place(turns: &[Turn<'_>], n: usize) -> Result<(), String> {
    let after = n.checked_sub(1).map(|before| &turns[before]).is_some_and(|before| {
        let last = before.blocks.last().map_or("", |block| kind(*block));
        before.role == "user" || last == "server_tool_use" || last.ends_with("_tool_result")
    });
    let before = turns.get(n + 1).is_none_or(|next| next.role == "assistant");
    if after && before { Ok(()) } else { Err(format!("messages.{n}: role 'system' is misplaced")) }
}

/// `continues`: calls may stand before what is here, where the provider keeps it.
fn pairs(turns: &[Turn<'_>], continues: bool) -> Result<(), String> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (n, turn) in turns.iter().enumerate() {
        let results: Vec<&str> = turn
            .blocks
            .iter()
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| block["tool_use_id"].as_str().unwrap_or_default())
            .collect();
        for (m, id) in results.iter().enumerate() {
            let is_elsewhere = continues && n == 0;
            if turn.role != "user" || !open.contains(id) && !is_elsewhere {
                return Err(format!(
                    "messages.{n}.content.{m}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the previous message."
                ));
            }
            if results[..m].contains(id) {
                return Err(format!(
                    "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
                ));
            }
        }
        let leading = turn.blocks.iter().take_while(|block| kind(**block) == "tool_result").count();
        let missing: Vec<_> = open.iter().filter(|id| !results.contains(*id)).copied().collect();
        if !missing.is_empty() || leading < results.len() {
            return Err(format!(
                "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                missing.join(", ")
            ));
        }
        open.clear();
        for block in turn.blocks.iter().flatten().filter(|block| block["type"] == "tool_use") {
            let id = block["id"].as_str().unwrap_or_default();
            if turn.role != "assistant" {
                return Err(format!(
                    "messages.{n}: `tool_use` blocks can only be in `assistant` messages"
                ));
            }
            if !is_plain(id) {
                return Err(
                    "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".to_owned()
                );
            }
            if id.is_empty() || !seen.insert(id) {
                return Err("messages: `tool_use` ids must be unique".to_owned());
            }
            open.push(id);
        }
    }
    Ok(())
}

/// Manual mode: the turn that is still in its tool loop starts with reasoning.
fn begins_with_thinking(turns: &[Turn<'_>]) -> Result<(), String> {
    let has = |turn: &Turn<'_>, what: &str| turn.blocks.iter().any(|block| kind(*block) == what);
    let asks = |turn: &Turn<'_>| turn.role == "user" && !has(turn, "tool_result");
    let is_open =
        turns.last().is_some_and(|last| has(last, "tool_result") || has(last, "tool_use"));
    let start = turns.iter().rposition(asks).map_or(0, |n| n + 1);
    let first = turns[start..].iter().find(|turn| turn.role == "assistant");
    match first.filter(|_| is_open) {
        Some(first) if !matches!(first_kind_spoken(first), "thinking" | "redacted_thinking") => {
            Err(format!(
                "messages.{start}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When \
             `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the \
             lastmost set of `tool_use` and `tool_result` blocks)",
                first_kind_spoken(first)
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chat_wants_each_call_answered_at_once() {
        let made = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        let call = json!({"role": "assistant", "tool_calls": [made("a"), made("b")]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let user = json!({"role": "user", "content": "x"});
        let ok = |messages: &[&Value]| accepts(Format::OpenaiChat, &json!(messages)).is_ok();
        assert!(ok(&[&user, &call, &result("b"), &result("a"), &user]));
        assert!(ok(&[&user, &call]));
        assert!(!ok(&[&user, &call, &result("b")]));
        assert!(!ok(&[&user, &call, &result("b"), &user]));
        assert!(!ok(&[&user, &call, &result("b"), &result("b"), &result("a")]));
        assert!(!ok(&[&user, &result("b")]));
    }

    #[test]
    fn anthropic_merges_runs_of_a_role() {
        let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}}]});
        let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]});
        let user = json!({"role": "user", "content": "x"});
        let ok = |messages: &[&Value]| accepts(Format::Anthropic, &json!(messages)).is_ok();
        assert!(ok(&[&user, &call("a"), &call("b"), &result("a"), &result("b"), &user]));
        assert!(!ok(&[&user, &call("a"), &call("b"), &result("a"), &user, &result("b")]));
        assert!(!ok(&[&user, &call("a"), &user]));
        assert!(!ok(&[&call("a"), &result("a")]));
        assert!(!ok(&[&user, &call("a"), &result("a"), &call("a"), &result("a")]));
        assert!(ok(&[]));
    }
}
