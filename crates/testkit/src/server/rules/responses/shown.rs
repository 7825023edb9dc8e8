//! What the model is shown: prompt, reasoning that is left out, how far the conversation is.

use serde_json::{Value, json};

use super::invalid;
use super::items::kind;
use crate::server::chain::Chain;
use crate::server::error::ApiError;
use crate::server::models::{Binding, Model, Trait};
use crate::server::prompt::{
    Choice, Compacts, Misplaced, Prompt, Section, Takes, Talk, Tool, Ttl, Understood,
};
use crate::server::rules::binding::{Manner, Verdict};
use crate::server::rules::{Call, Judge, list, text, without};
use crate::server::{Api, Endpoint};

pub(super) fn read(
    judge: &Judge,
    model: Model,
    call: &Call<'_>,
    items: Vec<Value>,
) -> Result<Understood, ApiError> {
    let body = call.body;
    let has_own_turn = model.binding == Binding::DropsSilently;
    let mut chain = chain(judge, &model, body);
    let mut prompt = frame(&model, body);
    let mut talk = Talk::default();
    let mut misplaced = Vec::new();
    let manner = Manner::of(&model, None);
    for (n, item) in items.iter().enumerate() {
        let bare = bare(item);
        match kind(item) {
            "reasoning" => {
                if let Some(out) = reasoning(&mut chain, manner, n, item)? {
                    misplaced.push(out);
                    continue;
                }
            }
            "compaction" => {
                let sealed = text(&item["encrypted_content"]);
                chain.resume("", sealed).map_err(|_| unverified(sealed))?;
            }
            "compaction_trigger" => continue,
            "configuration_update" => {}
            _ => chain.say("item", &bare),
        }
        follow(&mut talk, item);
        prompt.push(Section::Messages, "item", &bare, mark(item));
    }
    if text(&body["prompt_cache_options"]["mode"]) != "explicit" {
        let is_long = text(&body["prompt_cache_options"]["ttl"]) == "12h";
        prompt.mark_last(if is_long { Ttl::Long } else { Ttl::Short });
    }
    if has_own_turn && body["instructions"].is_string() {
        prompt.push(Section::Messages, "instructions", &body["instructions"], None);
    }
    let before = prompt.tokens();
    if call.endpoint != Endpoint::Count && before > model.window {
        truncate(&model, body, &mut prompt)?;
    }
    let forced = text(&body["tool_choice"]["name"]);
    Ok(Understood {
        choice: match body["tool_choice"].as_str() {
            Some("required") => Choice::Any,
            Some("none") => Choice::None,
            _ if !forced.is_empty() => Choice::Named(forced.to_owned()),
            _ => Choice::Auto,
        },
        tools: declared(body, &items),
        thinks: model.has(Trait::Reasons) && text(&body["reasoning"]["effort"]) != "none",
        max_output: body["max_output_tokens"].as_u64(),
        stream: body["stream"] == true,
        compacts: compacts(body, &items, before),
        model,
        prompt,
        chain,
        misplaced,
        talk,
        items,
    })
}

/// B.2.3: asked for in the input, or at a threshold.
fn compacts(body: &Value, items: &[Value], tokens: u64) -> Compacts {
    if items.last().is_some_and(|last| kind(last) == "compaction_trigger") {
        return Compacts::Alone;
    }
    let thresholds = list(&body["context_management"])
        .iter()
        .filter_map(|edit| edit["compact_threshold"].as_u64());
    if thresholds.min().is_some_and(|threshold| tokens >= threshold) {
        Compacts::First
    } else {
        Compacts::No
    }
}

/// B.2.3: `truncation: auto` leaves out items from the beginning; otherwise B.5.
fn truncate(model: &Model, body: &Value, prompt: &mut Prompt) -> Result<(), ApiError> {
    if text(&body["truncation"]) != "auto" {
        return Err(invalid(
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        )
        .code("context_length_exceeded")
        .param("input"));
    }
    let is_said = |section: Section| section == Section::Messages;
    while prompt.tokens() > model.window {
        let Some(first) = prompt.elements.iter().position(|element| is_said(element.section))
        else {
            break;
        };
        prompt.elements.remove(first);
    }
    Ok(())
}

/// Reads one reasoning item; `Some` if it isn't shown.
fn reasoning(
    chain: &mut Chain,
    manner: Manner,
    n: usize,
    item: &Value,
) -> Result<Option<Misplaced>, ApiError> {
    let Some(sealed) = item["encrypted_content"].as_str() else { return Ok(None) };
    match manner.judge(chain, "", sealed) {
        Verdict::Good | Verdict::Allowed(_) => Ok(None),
        Verdict::Dropped(why) => Ok(Some(Misplaced {
            path: format!("input[{n}]"),
            id: text(&item["id"]).to_owned(),
            why,
            is_shown: false,
        })),
        Verdict::Invalid | Verdict::Refused => Err(unverified(sealed)),
    }
}

/// openai/codex#8145.
fn unverified(sealed: &str) -> ApiError {
    let head: String = sealed.chars().take(4).collect();
    let tail: Vec<char> = sealed.chars().rev().take(4).collect();
    let tail: String = tail.into_iter().rev().collect();
    invalid(format!(
        "The encrypted content {head}...{tail} could not be verified. Reason: Encrypted content could not be decrypted or \
         parsed."
    ))
    .code("invalid_encrypted_content")
}

fn chain(judge: &Judge, model: &Model, body: &Value) -> Chain {
    let frame = [instructions(model, body), &body["tools"], &body["text"]["format"]];
    judge.chain(Api::Responses, model, &frame)
}

/// From GPT-6.2 on, instructions are for one turn and stand behind the input (B.2.5).
fn instructions<'a>(model: &Model, body: &'a Value) -> &'a Value {
    if model.binding == Binding::DropsSilently { &Value::Null } else { &body["instructions"] }
}

/// Signs all reasoning where it stands.
pub(crate) fn seal(judge: &Judge, model: &Model, body: &mut Value) {
    let mut chain = chain(judge, model, body);
    for item in body["input"].as_array_mut().into_iter().flatten() {
        match kind(item) {
            "reasoning" if item["encrypted_content"].is_string() => {
                item["encrypted_content"] = json!(chain.sign(""));
            }
            "compaction" => item["encrypted_content"] = json!(chain.compact("")),
            "reasoning" | "compaction_trigger" | "configuration_update" => {}
            _ => chain.say("item", &bare(item)),
        }
    }
}

fn frame(model: &Model, body: &Value) -> Prompt {
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!([model.name, body["prompt_cache_key"], body["text"]["format"]]));
    for tool in list(&body["tools"]) {
        prompt.push(Section::Tools, "tools", tool, None);
    }
    let instructions = instructions(model, body);
    if instructions.is_string() {
        prompt.push(Section::System, "instructions", instructions, None);
    }
    prompt.depends_on(&body["reasoning"]["effort"]);
    prompt
}

fn follow(talk: &mut Talk, item: &Value) {
    let kind = kind(item);
    let id = text(&item["call_id"]);
    match (kind, text(&item["role"])) {
        ("message", "user") => talk.human(),
        ("message", "assistant") => talk.model(),
        _ if kind.ends_with("_output") => talk.result(),
        _ if kind.ends_with("_call") => {
            talk.model();
            talk.calls.insert(id.to_owned());
        }
        _ => {}
    }
}

fn mark(item: &Value) -> Option<Ttl> {
    let marker =
        list(&item["content"]).iter().find(|part| !part["prompt_cache_breakpoint"].is_null())?;
    let is_long = text(&marker["prompt_cache_breakpoint"]["ttl"]) == "12h";
    Some(if is_long { Ttl::Long } else { Ttl::Short })
}

/// As the model reads it: without ids and states; words always as a list.
pub(crate) fn bare(item: &Value) -> Value {
    let mut item = without(item, &["id", "status", "phase", "created_by"]);
    let kind = kind(&item).to_owned();
    let role = text(&item["role"]).to_owned();
    let Some(map) = item.as_object_mut() else { return item };
    map.retain(|_, value| !value.is_null());
    map.insert("type".to_owned(), json!(kind));
    if kind == "message" {
        let words = if role == "assistant" { "output_text" } else { "input_text" };
        let parts = match map.get("content") {
            Some(Value::String(text)) => vec![json!({"type": words, "text": text})],
            Some(Value::Array(parts)) => parts
                .iter()
                .map(|part| without(part, &["annotations", "logprobs", "prompt_cache_breakpoint"]))
                .collect(),
            _ => Vec::new(),
        };
        map.insert("content".to_owned(), Value::Array(parts));
    }
    item
}

/// Tools of the request, and what `additional_tools` items bring; a namespace is the tools in it.
fn declared(body: &Value, items: &[Value]) -> Vec<Tool> {
    let added = items.iter().filter(|item| kind(item) == "additional_tools");
    let all = list(&body["tools"]).iter().chain(added.flat_map(|item| list(&item["tools"])));
    let flat = all.flat_map(|tool| match tool["type"].as_str() {
        Some("namespace") => list(&tool["tools"]).iter().collect(),
        _ => vec![tool],
    });
    flat.filter_map(tool).collect()
}

fn tool(tool: &Value) -> Option<Tool> {
    let name = tool["name"].as_str();
    Some(match tool["type"].as_str()? {
        "function" => {
            Tool { name: name?.to_owned(), takes: Takes::Json(tool["parameters"].clone()) }
        }
        "custom" => Tool { name: name?.to_owned(), takes: Takes::Text },
        kind => Tool { name: kind.to_owned(), takes: Takes::Nothing },
    })
}
