//! Drafts as Gemini Interactions writes them: each message of a draft is one step.

use crate::draft::{Block, Draft, Message, Shape};
use crate::pen::Json;
use crate::prose::{self, signature};

/// The body around `steps`.
pub(crate) fn body(draft: &Draft, steps: Vec<Json>) -> Json {
    let mut body = vec![("model", Json::text("gemini-3.8-flash"))];
    if let Some(system) = &draft.system {
        body.push(("system_instruction", Json::text(system)));
    }
    body.push(("store", Json::raw("false")));
    body.push(("tools", Json::raw(r#"[{"type":"function","name":"Read","description":"Reads a file.","parameters":{"type":"object"}}]"#)));
    body.push(("input", Json::List(steps)));
    body.push(("generation_config", Json::raw(r#"{"temperature":1.0,"thinking_level":"high"}"#)));
    Json::Object(body)
}

/// A message of several parts as the steps that it is here.
pub(crate) fn steps(message: Message) -> Vec<Message> {
    let Message { role, blocks, shape } = message;
    if role != "assistant" {
        return vec![Message { role, blocks, shape }];
    }
    let mut steps: Vec<Message> = Vec::new();
    let mut joins = false;
    for block in blocks {
        let is_content = is_content(&block);
        match steps.last_mut().filter(|_| is_content && joins) {
            Some(last) => last.blocks.push(block),
            None => steps.push(Message { role, blocks: vec![block], shape }),
        }
        joins = is_content;
    }
    steps
}

fn is_content(block: &Block) -> bool {
    matches!(
        block,
        Block::Text(_) | Block::Cached(_) | Block::Image(..) | Block::Document | Block::Opaque(_)
    )
}

/// One step.
pub(crate) fn step(message: &Message) -> Json {
    let typed = |kind: &str, mut members: Vec<(&'static str, Json)>| {
        members.insert(0, ("type", Json::text(kind)));
        Json::Object(members)
    };
    let contents = || Json::List(message.blocks.iter().map(content).collect());
    let is_absent = message.blocks.is_empty() && message.shape == Shape::Absent;
    match (message.role, message.blocks.first()) {
        (_, Some(Block::Call { id, name, input })) => {
            let mut members = Vec::new();
            if !id.is_empty() {
                members.push(("id", Json::text(id)));
            }
            members.extend([("name", Json::text(name)), ("arguments", Json::raw(input))]);
            typed("function_call", members)
        }
        (_, Some(Block::Result { id, failed, shape, content: inner })) => {
            let mut members = vec![("call_id", Json::text(id))];
            if *failed {
                members.push(("is_error", Json::raw("true")));
            }
            let result = match inner.as_slice() {
                [] => Json::text(""),
                [Block::Text(text)] if *shape == Shape::String => Json::text(text),
                inner => Json::List(inner.iter().map(content).collect()),
            };
            members.push(("result", result));
            typed("function_result", members)
        }
        (_, Some(Block::Think(words))) => typed("thought", vec![("summary", summary(words))]),
        (_, Some(Block::Signed(words))) => typed(
            "thought",
            vec![("summary", summary(words)), ("signature", Json::text(signature(words)))],
        ),
        (_, Some(Block::Redacted)) => {
            typed("thought", vec![("signature", Json::text(signature("redacted")))])
        }
        ("tool", _) => typed("function_result", Vec::new()),
        ("assistant", _) if is_absent => typed("model_output", Vec::new()),
        ("assistant", _) => typed("model_output", vec![("content", contents())]),
        _ if is_absent => typed("user_input", Vec::new()),
        _ => typed("user_input", vec![("content", contents())]),
    }
}

fn summary(words: &str) -> Json {
    Json::List(vec![text(words)])
}

fn text(words: &str) -> Json {
    Json::Object(vec![("type", Json::text("text")), ("text", Json::text(words))])
}

fn content(block: &Block) -> Json {
    let media = |kind: &str, mime_type: &str, data: &str| {
        let members = [("type", kind), ("mime_type", mime_type), ("data", data)];
        Json::Object(members.map(|(key, value)| (key, Json::text(value))).into())
    };
    match block {
        Block::Text(words) | Block::Cached(words) => text(words),
        Block::Image(width, height) => media("image", "image/png", &prose::png(*width, *height)),
        Block::Document => media("document", "application/pdf", "JVBERi0xLjQK"),
        // A video without frames is known here, and holds nothing.
        Block::Opaque(raw) => Json::raw(raw.replace(r#""type":"video""#, r#""type":"hologram""#)),
        _ => Json::raw(r#"{"type":"moved_step"}"#),
    }
}
