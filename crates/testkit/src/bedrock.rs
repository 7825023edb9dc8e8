//! Drafts as Bedrock Converse writes them: blocks are elements with one member.

use crate::draft::{Block, Draft, Message, Shape, Thinking};
use crate::pen::Json;
use crate::prose::{self, signature};

/// The body around `messages`.
pub(crate) fn body(draft: &Draft, messages: Vec<Json>) -> Json {
    let mut body = vec![("modelId", Json::text("eu.anthropic.claude-opus-4-8-v1:0"))];
    if let Some(system) = draft.system.as_ref().filter(|system| !system.trim().is_empty()) {
        body.push(("system", Json::List(vec![text(system)])));
    }
    body.push(("inferenceConfig", Json::raw(r#"{"maxTokens":4096}"#)));
    body.push(("toolConfig", Json::raw(r#"{"tools":[{"toolSpec":{"name":"Read","description":"Reads a file.","inputSchema":{"json":{"type":"object"}}}}]}"#)));
    match draft.thinking {
        Thinking::Unset => {}
        Thinking::Adaptive => body.push((
            "additionalModelRequestFields",
            Json::raw(r#"{"thinking":{"type":"adaptive"}}"#),
        )),
        Thinking::Manual => body.push((
            "additionalModelRequestFields",
            Json::raw(r#"{"thinking":{"type":"enabled","budget_tokens":2048}}"#),
        )),
    }
    body.push(("messages", Json::List(messages)));
    Json::Object(body)
}

/// One message.
pub(crate) fn message(message: &Message) -> Json {
    let mut members = vec![("role", Json::text(message.role))];
    let blocks: Vec<Json> = message.blocks.iter().flat_map(block).collect();
    if !(blocks.is_empty() && message.shape == Shape::Absent) {
        members.push(("content", Json::List(blocks)));
    }
    Json::Object(members)
}

fn one(key: &'static str, value: Json) -> Json {
    Json::Object(vec![(key, value)])
}

fn text(words: &str) -> Json {
    one("text", Json::text(words))
}

fn block(block: &Block) -> Vec<Json> {
    let reasoning = |members| one("reasoningContent", one("reasoningText", Json::Object(members)));
    vec![match block {
        Block::Text(words) => text(words),
        Block::Cached(words) => {
            return vec![text(words), Json::raw(r#"{"cachePoint":{"type":"default"}}"#)];
        }
        Block::Think(words) => reasoning(vec![("text", Json::text(words))]),
        Block::Signed(words) => reasoning(vec![
            ("text", Json::text(words)),
            ("signature", Json::text(signature(words))),
        ]),
        Block::Redacted => {
            one("reasoningContent", one("redactedContent", Json::text("EmwKAhgBEgy3va3pzix")))
        }
        Block::Call { id, name, input } => call(id, name, input, None),
        Block::Function { name, input } => call("", name, input, None),
        Block::ServerCall { id, name, input } => call(id, name, input, Some("server_tool_use")),
        Block::Result { id, failed, content, .. } => {
            let mut members = vec![
                ("toolUseId", Json::text(id)),
                ("content", Json::List(content.iter().flat_map(self::block).collect())),
            ];
            if *failed {
                members.push(("status", Json::text("error")));
            }
            one("toolResult", Json::Object(members))
        }
        Block::FunctionResult { name, text: words } => one(
            "toolResult",
            Json::Object(vec![
                ("toolUseId", Json::text(name)),
                ("content", Json::List(vec![text(words)])),
            ]),
        ),
        Block::ServerResult { id, name, text: words } => one(
            "toolResult",
            Json::Object(vec![
                ("toolUseId", Json::text(id)),
                ("type", Json::text(format!("{name}_tool_result"))),
                ("content", Json::List(vec![text(words)])),
            ]),
        ),
        Block::Image(width, height) => one(
            "image",
            Json::Object(vec![
                ("format", Json::text("png")),
                ("source", one("bytes", Json::text(prose::png(*width, *height)))),
            ]),
        ),
        Block::Document => one(
            "document",
            Json::raw(r#"{"format":"pdf","name":"a","source":{"bytes":"JVBERi0xLjQK"}}"#),
        ),
        Block::Opaque(raw) => one("newBlock", Json::raw(raw)),
        Block::Compaction(_) | Block::Signature(_) | Block::Own(_) => {
            panic!("not a block of Converse's: {block:?}")
        }
    }]
}

fn call(id: &str, name: &str, input: &str, kind: Option<&str>) -> Json {
    let mut members = vec![("name", Json::text(name)), ("input", Json::raw(input))];
    if !id.is_empty() {
        members.insert(0, ("toolUseId", Json::text(id)));
    }
    members.extend(kind.map(|kind| ("type", Json::text(kind))));
    one("toolUse", Json::Object(members))
}
