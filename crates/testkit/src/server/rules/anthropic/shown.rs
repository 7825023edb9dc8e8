//! What the model is shown: prompt, reasoning that is left out, how far the conversation is.

use serde_json::{Value, json};

use super::{Block, Role, Turn, compaction, thinking};
use crate::server::Api;
use crate::server::chain::Chain;
use crate::server::error::ApiError;
use crate::server::models::{Model, Trait};
use crate::server::prompt::{
    Choice, Compacts, Mismatch, Misplaced, Prompt, Section, Talk, Ttl, Understood,
};
use crate::server::rules::binding::Manner;
use crate::server::rules::{Call, Judge, list, text, without};

/// A text at the head of the system prompt that changes with every request of a client (B.7); the provider
/// reads it itself, so it is no part of what reasoning is bound to.
const BILLING: &str = "x-anthropic-billing-header";

pub(super) fn read(
    judge: &Judge,
    model: Model,
    call: &Call<'_>,
    turns: &[Turn],
) -> Result<Understood, ApiError> {
    let body = call.body;
    let mut walk = Walk::along(judge, &model, call, turns)?;
    if let Some(ttl) = ttl(&body["cache_control"]) {
        walk.prompt.mark_last(ttl);
    }
    let choice = match text(&body["tool_choice"]["type"]) {
        "any" => Choice::Any,
        "none" => Choice::None,
        "tool" => Choice::Named(text(&body["tool_choice"]["name"]).to_owned()),
        _ => Choice::Auto,
    };
    Ok(Understood {
        tools: super::tools(body),
        choice,
        thinks: matches!(text(&body["thinking"]["type"]), "enabled" | "adaptive"),
        max_output: body["max_tokens"].as_u64(),
        stream: body["stream"] == true,
        compacts: Compacts::No,
        items: Vec::new(),
        model,
        prompt: walk.prompt,
        chain: walk.chain,
        misplaced: walk.misplaced,
        talk: walk.talk,
    })
}

/// The conversation from its beginning to its end.
struct Walk {
    prompt: Prompt,
    chain: Chain,
    talk: Talk,
    misplaced: Vec<Misplaced>,
}

impl Walk {
    fn along(
        judge: &Judge,
        model: &Model,
        call: &Call<'_>,
        turns: &[Turn],
    ) -> Result<Walk, ApiError> {
        let mut walk = Walk {
            prompt: frame(model, call.body),
            chain: chain(judge, model, call.body),
            talk: Talk::default(),
            misplaced: Vec::new(),
        };
        let manner = thinking::manner(model, call.body);
        let newest_human = turns.iter().rposition(Turn::is_human).unwrap_or(0);
        for (n, turn) in turns.iter().enumerate() {
            match turn.role {
                Role::User if turn.is_human() => walk.talk.human(),
                Role::User => turn.of("tool_result").for_each(|_| walk.talk.result()),
                Role::Assistant => walk.talk.model(),
                Role::System => {}
            }
            let is_stripped = !model.has(Trait::KeepsThinking) && n < newest_human;
            for block in &turn.blocks {
                if block.is_reasoning() {
                    walk.reasoning(block, call, manner, is_stripped)?;
                } else {
                    walk.said(block, turn.role)?;
                }
            }
        }
        Ok(walk)
    }

    fn reasoning(
        &mut self,
        block: &Block,
        call: &Call<'_>,
        manner: Manner,
        is_stripped: bool,
    ) -> Result<(), ApiError> {
        let is_gone = |out: &Misplaced| out.why == Mismatch::Prefix && !out.is_shown;
        let out = if self.misplaced.iter().any(is_gone) {
            // Once one is dropped, every later one is (B.1.4).
            Some(Misplaced {
                path: block.path(),
                id: String::new(),
                why: Mismatch::Prefix,
                is_shown: false,
            })
        } else {
            thinking::read(&mut self.chain, block, call, manner)?
        };
        if !is_stripped && out.as_ref().is_none_or(|out| out.is_shown) {
            let mark = ttl(&block.value["cache_control"]);
            self.prompt.push(Section::Messages, "assistant", &bare(&block.value), mark);
        }
        self.misplaced.extend(out);
        Ok(())
    }

    fn said(&mut self, block: &Block, role: Role) -> Result<(), ApiError> {
        let bare = bare(&block.value);
        let who = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        if block.is("compaction") {
            compaction::read(&mut self.chain, &mut self.prompt, block)?;
        } else if block.value["clear_at"].is_null() {
            self.chain.say(who, &bare);
        }
        if block.is("tool_use") {
            self.talk.calls.insert(text(&block.value["id"]).to_owned());
        }
        let mark = ttl(&block.value["cache_control"]);
        self.prompt.push(Section::Messages, who, &bare, mark);
        Ok(())
    }
}

/// Signs all reasoning where it stands.
pub(crate) fn seal(judge: &Judge, model: &Model, body: &mut Value) {
    let mut chain = chain(judge, model, body);
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        let who = text(&message["role"]).to_owned();
        if let Some(words) = message["content"].as_str() {
            chain.say(&who, &json!({"type": "text", "text": words}));
        }
        for block in message["content"].as_array_mut().into_iter().flatten() {
            match text(&block["type"]) {
                "thinking" => block["signature"] = json!(chain.sign(text(&block["thinking"]))),
                "redacted_thinking" => block["data"] = json!(chain.sign("")),
                "compaction" if block["content"].is_null() => {}
                "compaction" => {
                    block["signature"] = json!(chain.compact(text(&block["content"])));
                }
                _ if block["clear_at"].is_null() => chain.say(&who, &bare(block)),
                _ => {}
            }
        }
    }
}

fn chain(judge: &Judge, model: &Model, body: &Value) -> Chain {
    let mut tools: Vec<Value> =
        list(&body["tools"]).iter().map(|tool| without(tool, &["cache_control"])).collect();
    tools.sort_by(|a, b| text(&a["name"]).cmp(text(&b["name"])));
    judge.chain(Api::Anthropic, model, &[&Value::Array(system(body)), &Value::Array(tools)])
}

/// Tools and system, in the order of the cache (B.1.6), and what invalidates what.
fn frame(model: &Model, body: &Value) -> Prompt {
    let mut prompt = Prompt::default();
    prompt.depends_on(&json!(model.name));
    for tool in list(&body["tools"]) {
        prompt.push(
            Section::Tools,
            "tools",
            &without(tool, &["cache_control"]),
            ttl(&tool["cache_control"]),
        );
    }
    prompt.depends_on(&body["speed"]);
    match &body["system"] {
        Value::String(text) if !text.is_empty() => {
            prompt.push(Section::System, "system", &json!({"type": "text", "text": text}), None);
        }
        blocks => {
            for block in list(blocks) {
                prompt.push(Section::System, "system", &bare(block), ttl(&block["cache_control"]));
            }
        }
    }
    let mut thinking = body["thinking"].clone();
    if let Some(map) = thinking.as_object_mut() {
        map.remove("block_binding");
    }
    prompt.depends_on(&json!([
        body["tool_choice"],
        thinking,
        body["output_config"]["effort"],
        has_images(body)
    ]));
    prompt
}

fn system(body: &Value) -> Vec<Value> {
    match &body["system"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        blocks => {
            let is_bound = |block: &&Value| !text(&block["text"]).starts_with(BILLING);
            list(blocks).iter().filter(is_bound).map(bare).collect()
        }
    }
}

/// As the model reads it: without cache markers and empty fields; results always as lists.
pub(crate) fn bare(block: &Value) -> Value {
    let mut block = without(block, &["cache_control", "clear_at"]);
    let Some(map) = block.as_object_mut() else { return block };
    map.retain(|_, value| !value.is_null());
    if map.get("type").is_some_and(|kind| kind == "tool_result") {
        map.retain(|key, value| !(key == "is_error" && *value == false));
        if let Some(Value::String(text)) = map.get("content") {
            let text = json!([{"type": "text", "text": text}]);
            map.insert("content".to_owned(), text);
        }
        if let Some(Value::Array(parts)) = map.get_mut("content") {
            *parts = parts.iter().map(|part| without(part, &["cache_control"])).collect();
        }
    }
    block
}

fn ttl(marker: &Value) -> Option<Ttl> {
    match marker["ttl"].as_str() {
        _ if marker.is_null() => None,
        Some("1h") => Some(Ttl::Long),
        _ => Some(Ttl::Short),
    }
}

fn has_images(body: &Value) -> bool {
    let blocks = list(&body["messages"]).iter().flat_map(|message| list(&message["content"]));
    let mut all = blocks.flat_map(|block| list(&block["content"]).iter().chain([block]));
    all.any(|block| text(&block["type"]) == "image")
}
