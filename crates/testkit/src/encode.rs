//! Drafts become JSON, as each format writes it.

use std::collections::HashMap;

use epitome::wire::{Envelope, Format};

use crate::bedrock;
use crate::draft::{Block, Draft, Message, Model, Shape, Thinking};
use crate::features::Features;
use crate::gemini;
use crate::interactions;
use crate::observe::observe;
use crate::pen::{Json, Pen};
use crate::prose;
use crate::responses;

impl Draft {
    /// The request as JSON text, in the handwriting of `ink`.
    pub fn write(&self, ink: u64) -> (String, Features) {
        let pen = Pen::new(ink);
        let mut pen = match self.format {
            Format::OpenaiChat | Format::OpenaiResponses => pen,
            // The others refuse members that they don't know.
            _ => pen.adding_nothing(),
        };
        let names = gemini::names(self);
        let messages: Vec<Json> =
            self.messages.iter().map(|entry| message(self.format, entry, &names)).collect();
        let text = match self.envelope {
            Envelope::Array => pen.write(&Json::List(messages)),
            // Lines of nothing are no input at all.
            Envelope::Lines if !messages.is_empty() => {
                let mut text = String::new();
                for message in &messages {
                    text.push_str(&pen.write(message));
                    text.push_str(pen.between_lines());
                }
                text
            }
            Envelope::Body | Envelope::Lines => pen.write(&body(self, messages)),
        };
        let mut features = observe(self);
        features.extend(pen.used());
        (text, features)
    }
}

/// The body around `messages`.
fn body(draft: &Draft, messages: Vec<Json>) -> Json {
    if draft.format == Format::Gemini {
        return gemini::body(draft, messages);
    }
    if draft.format == Format::OpenaiResponses {
        return responses::body(draft, messages);
    }
    if draft.format == Format::Bedrock {
        return bedrock::body(draft, messages);
    }
    if draft.format == Format::GeminiInteractions {
        return interactions::body(draft, messages);
    }
    let mut body = Vec::new();
    if draft.format == Format::Anthropic {
        let model = match draft.model {
            Model::Free => "claude-opus-4-8",
            Model::Bound => "claude-opus-5-5",
        };
        body.push(("model", Json::text(model)));
        body.push(("max_tokens", Json::raw("4096")));
        if let Some(system) = &draft.system {
            body.push(("system", Json::text(system)));
        }
        match draft.thinking {
            Thinking::Unset => {}
            Thinking::Adaptive => body.push(("thinking", Json::raw(r#"{"type":"adaptive"}"#))),
            Thinking::Manual => {
                body.push(("thinking", Json::raw(r#"{"type":"enabled","budget_tokens":2048}"#)));
            }
        }
        body.push(("tools", Json::raw(r#"[{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}}]"#)));
    } else {
        body.push(("model", Json::text("gpt-5.4")));
        body.push(("temperature", Json::raw("1.0")));
        body.push(("tools", Json::raw(r#"[{"type":"function","function":{"name":"Read","parameters":{"type":"object"}}}]"#)));
    }
    body.push(("messages", Json::List(messages)));
    body.push(("stream", Json::raw("true")));
    Json::Object(body)
}

/// One entry.
fn message(format: Format, message: &Message, names: &HashMap<&str, &str>) -> Json {
    if let ("", Some(Block::Opaque(raw))) = (message.role, message.blocks.first()) {
        return Json::raw(raw);
    }
    if format == Format::Gemini {
        return gemini::content(message, names);
    }
    if format == Format::OpenaiResponses {
        return responses::item(message);
    }
    if format == Format::Bedrock {
        return bedrock::message(message);
    }
    if format == Format::GeminiInteractions {
        return interactions::step(message);
    }
    if format == Format::Anthropic {
        let content = content(message, &|block| anthropic(block));
        return Json::Object(vec![("role", Json::text(message.role)), ("content", content)]);
    }
    let mut members = vec![("role", Json::text(message.role))];
    match message.blocks.first() {
        Some(Block::Result { id, shape, content: inner, .. }) if message.role == "tool" => {
            members.push(("tool_call_id", Json::text(id)));
            let inner = Message { role: "tool", blocks: inner.clone(), shape: *shape };
            members.push(("content", content(&inner, &chat)));
        }
        Some(Block::FunctionResult { name, text }) => {
            members.push(("name", Json::text(name)));
            members.push(("content", Json::text(text)));
        }
        _ => spoken(message, &mut members),
    }
    Json::Object(members)
}

/// A message's content: a string where that is asked for and possible, else a list.
fn content(message: &Message, block: &dyn Fn(&Block) -> Json) -> Json {
    match (message.shape, message.blocks.as_slice()) {
        (Shape::Absent, []) => Json::raw("null"),
        (Shape::String, []) => Json::text(""),
        (Shape::String, [Block::Text(text)]) => Json::text(text),
        (_, blocks) => Json::List(blocks.iter().map(block).collect()),
    }
}

/// A chat message of any role but `tool`: members beside the content hold reasoning and calls.
fn spoken(message: &Message, members: &mut Vec<(&'static str, Json)>) {
    let mut inside = Message { role: message.role, blocks: Vec::new(), shape: message.shape };
    let mut calls = Vec::new();
    let mut details = Vec::new();
    let mut function = None;
    for block in &message.blocks {
        match block {
            Block::Think(text) => members.push(("reasoning_content", Json::text(text))),
            Block::Signed(text) => details.push(Json::Object(vec![
                ("type", Json::text("reasoning.text")),
                ("text", Json::text(text)),
                ("signature", Json::text(prose::signature(text))),
            ])),
            Block::Redacted => {
                details.push(Json::raw(r#"{"type":"reasoning.encrypted","data":"gAAAAAB0"}"#));
            }
            Block::Call { id, name, input } => {
                let function = vec![("name", Json::text(name)), ("arguments", Json::text(input))];
                let mut call =
                    vec![("type", Json::text("function")), ("function", Json::Object(function))];
                if !id.is_empty() {
                    call.insert(0, ("id", Json::text(id)));
                }
                calls.push(Json::Object(call));
            }
            Block::Function { name, input } => {
                function = Some(Json::Object(vec![
                    ("name", Json::text(name)),
                    ("arguments", Json::text(input)),
                ]));
            }
            other => inside.blocks.push(other.clone()),
        }
    }
    if !details.is_empty() {
        members.push(("reasoning_details", Json::List(details)));
    }
    let works = !calls.is_empty() || function.is_some();
    if inside.blocks.is_empty() && works {
        // Absent in a third way: not there at all.
        if message.shape != Shape::List {
            members.push(("content", Json::raw("null")));
        }
    } else {
        members.push(("content", content(&inside, &chat)));
    }
    if !calls.is_empty() {
        members.push(("tool_calls", Json::List(calls)));
    } else if message.role == "assistant" && message.shape == Shape::Absent {
        members.push(("tool_calls", Json::raw("null")));
    }
    if let Some(function) = function {
        members.push(("function_call", function));
    }
}

/// A content part of a chat message.
fn chat(block: &Block) -> Json {
    match block {
        Block::Image(width, height) => {
            let url = format!("data:image/png;base64,{}", prose::png(*width, *height));
            Json::Object(vec![
                ("type", Json::text("image_url")),
                (
                    "image_url",
                    Json::Object(vec![("url", Json::text(url)), ("detail", Json::text("auto"))]),
                ),
            ])
        }
        Block::Document => Json::raw(
            r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}}"#,
        ),
        other => anthropic(other),
    }
}

/// A content block of an Anthropic message; most of them go anywhere, so that breaches can be built.
fn anthropic(block: &Block) -> Json {
    let typed = |kind: &str, mut members: Vec<(&'static str, Json)>| {
        members.insert(0, ("type", Json::text(kind)));
        Json::Object(members)
    };
    let named = |id: &str, name: &str, input: &str| {
        let mut members = vec![("name", Json::text(name)), ("input", Json::raw(input))];
        if !id.is_empty() {
            members.insert(0, ("id", Json::text(id)));
        }
        members
    };
    match block {
        Block::Text(text) => typed("text", vec![("text", Json::text(text))]),
        Block::Cached(text) => typed(
            "text",
            vec![
                ("text", Json::text(text)),
                ("cache_control", Json::raw(r#"{"type":"ephemeral"}"#)),
            ],
        ),
        Block::Think(text) => {
            typed("thinking", vec![("thinking", Json::text(text)), ("signature", Json::text(""))])
        }
        Block::Signed(text) => typed(
            "thinking",
            vec![("thinking", Json::text(text)), ("signature", Json::text(prose::signature(text)))],
        ),
        Block::Redacted => {
            typed("redacted_thinking", vec![("data", Json::text("EmwKAhgBEgy3va3pzix"))])
        }
        Block::Call { id, name, input } => typed("tool_use", named(id, name, input)),
        Block::Function { name, input } => typed("tool_use", named("", name, input)),
        Block::Result { id, failed, shape, content: inner } => {
            let mut members = vec![("tool_use_id", Json::text(id))];
            if *shape != Shape::Absent {
                let inner = Message { role: "user", blocks: inner.clone(), shape: *shape };
                members.push(("content", content(&inner, &anthropic)));
            }
            if *failed {
                members.push(("is_error", Json::raw("true")));
            }
            typed("tool_result", members)
        }
        Block::FunctionResult { name, text } => typed(
            "tool_result",
            vec![("tool_use_id", Json::text(name)), ("content", Json::text(text))],
        ),
        Block::Image(width, height) => typed(
            "image",
            vec![(
                "source",
                Json::Object(vec![
                    ("type", Json::text("base64")),
                    ("media_type", Json::text("image/png")),
                    ("data", Json::text(prose::png(*width, *height))),
                ]),
            )],
        ),
        Block::Document => Json::raw(
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"}}"#,
        ),
        Block::ServerCall { id, name, input } => typed("server_tool_use", named(id, name, input)),
        Block::ServerResult { id, name, text } => {
            let found = Json::Object(vec![
                ("type", Json::text("web_search_result")),
                ("title", Json::text(text)),
                ("url", Json::text("https://example.org/")),
                ("encrypted_content", Json::text("EqgfCioIARgB")),
            ]);
            typed(
                &format!("{name}_tool_result"),
                vec![("tool_use_id", Json::text(id)), ("content", Json::List(vec![found]))],
            )
        }
        Block::Compaction(text) => typed(
            "compaction",
            vec![("content", text.as_ref().map_or(Json::raw("null"), Json::text))],
        ),
        Block::Opaque(raw) => Json::raw(raw),
        Block::Signature(_) => panic!("a signature beside a block is Gemini's"),
        Block::Own(_) => panic!("items are of Responses"),
    }
}
