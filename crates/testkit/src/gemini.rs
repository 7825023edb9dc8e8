//! Drafts as Gemini writes them: contents with parts, each an element with one data member.

use std::collections::HashMap;

use epitome::wire::Envelope;

use crate::draft::{Block, Draft, Message, Shape, Thinking};
use crate::pen::Json;
use crate::prose::{self, signature};

/// The body around `contents`.
pub(crate) fn body(draft: &Draft, contents: Vec<Json>) -> Json {
    let mut body = Vec::new();
    if let Some(model) = model(draft.thinking) {
        body.push(("model", Json::text(model)));
    }
    if is_elsewhere(draft) {
        body.push(("cachedContent", Json::text("cachedContents/7f3a99")));
    } else {
        if let Some(system) = &draft.system {
            let part = Json::Object(vec![("text", Json::text(system))]);
            let key = if system.len().is_multiple_of(2) {
                "systemInstruction"
            } else {
                "system_instruction"
            };
            body.push((key, Json::Object(vec![("parts", Json::List(vec![part]))])));
        }
        body.push(("tools", Json::raw(r#"[{"functionDeclarations":[{"name":"Read","description":"Reads a file.","parameters":{"type":"OBJECT"}}]}]"#)));
    }
    body.push(("contents", Json::List(contents)));
    body.push((
        "generationConfig",
        Json::raw(r#"{"temperature":1.0,"thinkingConfig":{"includeThoughts":true}}"#),
    ));
    Json::Object(body)
}

/// The model that goes with a reasoning mode: one that demands signatures, one that doesn't, none.
fn model(thinking: Thinking) -> Option<&'static str> {
    match thinking {
        Thinking::Unset => None,
        Thinking::Adaptive => Some("models/gemini-2.5-pro"),
        Thinking::Manual => Some("gemini-3-pro-preview"),
    }
}

/// Whether the body is on top of cached content.
pub(crate) fn is_elsewhere(draft: &Draft) -> bool {
    draft.envelope == Envelope::Body
        && draft.system.as_ref().is_none_or(|system| system.len().is_multiple_of(2))
        && draft.thinking == Thinking::Adaptive
}

/// The names of tools by the ids of their calls: a response has both.
pub(crate) fn names(draft: &Draft) -> HashMap<&str, &str> {
    let blocks = draft.messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| match block {
        Block::Call { id, name, .. } if !id.is_empty() => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    calls.collect()
}

/// One content.
pub(crate) fn content(message: &Message, names: &HashMap<&str, &str>) -> Json {
    let spelling = Spelling::of(message);
    let mut elements: Vec<Vec<(&'static str, Json)>> = Vec::new();
    let mut parts: Vec<Json> = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Opaque(raw) => {
                flush(&mut elements, &mut parts);
                parts.push(Json::raw(raw));
            }
            Block::Signature(seal) => {
                let seal = (spelling.pick("thoughtSignature"), Json::text(signature(seal)));
                match elements.last_mut().filter(|last| last.len() == 1) {
                    Some(last) => last.push(seal),
                    None => elements.push(vec![("text", Json::text("")), seal]),
                }
            }
            other => elements.push(element(other, spelling, names)),
        }
    }
    flush(&mut elements, &mut parts);
    let mut members = Vec::new();
    match message.role {
        "user" if is_nameless(message) => {}
        "assistant" => members.push(("role", Json::text("model"))),
        role => members.push(("role", Json::text(role))),
    }
    match message.shape {
        Shape::Absent if parts.is_empty() => {}
        _ => members.push(("parts", Json::List(parts))),
    }
    Json::Object(members)
}

/// Whether the role is left out, since it is the user's anyway.
pub(crate) fn is_nameless(message: &Message) -> bool {
    message.role == "user" && message.shape == Shape::String && !message.blocks.is_empty()
}

fn flush(elements: &mut Vec<Vec<(&'static str, Json)>>, parts: &mut Vec<Json>) {
    parts.extend(elements.drain(..).map(Json::Object));
}

/// How members are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Camel,
    Snake,
}

impl Spelling {
    pub(crate) fn of(message: &Message) -> Self {
        if message.shape == Shape::Absent { Spelling::Snake } else { Spelling::Camel }
    }

    fn pick(self, camel: &'static str) -> &'static str {
        match (self, camel) {
            (Spelling::Camel, camel) => camel,
            (_, "thoughtSignature") => "thought_signature",
            (_, "functionCall") => "function_call",
            (_, "functionResponse") => "function_response",
            (_, "inlineData") => "inline_data",
            (_, "mimeType") => "mime_type",
            (_, camel) => camel,
        }
    }
}

fn element(
    block: &Block,
    spelling: Spelling,
    names: &HashMap<&str, &str>,
) -> Vec<(&'static str, Json)> {
    let said = |text: &str| ("text", Json::text(text));
    let call = |id: &str, name: &str, input: &str| {
        let mut members = vec![("name", Json::text(name)), ("args", Json::raw(input))];
        if !id.is_empty() {
            members.insert(0, ("id", Json::text(id)));
        }
        vec![(spelling.pick("functionCall"), Json::Object(members))]
    };
    match block {
        Block::Text(text) | Block::Cached(text) => vec![said(text)],
        Block::Think(text) => vec![said(text), ("thought", Json::raw("true"))],
        Block::Signed(text) => vec![
            said(text),
            ("thought", Json::raw("true")),
            (spelling.pick("thoughtSignature"), Json::text(signature(text))),
        ],
        Block::Redacted => {
            vec![said(""), (spelling.pick("thoughtSignature"), Json::text("EmwKAhgBEgy3va3pzix"))]
        }
        Block::Call { id, name, input } => call(id, name, input),
        Block::Function { name, input } => call("", name, input),
        Block::Result { id, failed, shape, content } => {
            let name = names.get(id.as_str()).copied().unwrap_or_default();
            let mut members = vec![("name", Json::text(name))];
            if !id.is_empty() {
                members.insert(0, ("id", Json::text(id)));
            }
            members.push(("response", response(*failed, *shape, content)));
            let media: Vec<Json> = content
                .iter()
                .filter(|block| matches!(block, Block::Image(..) | Block::Document))
                .map(|block| Json::Object(element(block, spelling, names)))
                .collect();
            if !media.is_empty() {
                members.push(("parts", Json::List(media)));
            }
            vec![(spelling.pick("functionResponse"), Json::Object(members))]
        }
        Block::FunctionResult { name, text } => vec![(
            spelling.pick("functionResponse"),
            Json::Object(vec![
                ("name", Json::text(name)),
                ("response", Json::Object(vec![("result", Json::text(text))])),
            ]),
        )],
        Block::Image(width, height) => {
            vec![blob(spelling, "image/png", &prose::png(*width, *height))]
        }
        Block::Document => vec![blob(spelling, "application/pdf", "JVBERi0xLjQK")],
        Block::ServerCall { id, name, input } => vec![(
            "toolCall",
            Json::Object(vec![
                ("id", Json::text(id)),
                ("toolType", Json::text(name)),
                ("args", Json::raw(input)),
            ]),
        )],
        Block::ServerResult { id, name, text } => {
            let found = Json::Object(vec![("title", Json::text(text))]);
            vec![(
                "toolResponse",
                Json::Object(vec![
                    ("id", Json::text(id)),
                    ("toolType", Json::text(name)),
                    ("response", Json::Object(vec![("content", Json::List(vec![found]))])),
                ]),
            )]
        }
        Block::Compaction(_) | Block::Opaque(_) | Block::Signature(_) | Block::Own(_) => {
            panic!("not an element of Gemini's by itself: {block:?}")
        }
    }
}

fn blob(spelling: Spelling, kind: &str, data: &str) -> (&'static str, Json) {
    let members = vec![(spelling.pick("mimeType"), Json::text(kind)), ("data", Json::text(data))];
    (spelling.pick("inlineData"), Json::Object(members))
}

/// Words under the documented keys, or an object of any other kind.
fn response(failed: bool, shape: Shape, content: &[Block]) -> Json {
    let key = if failed { "error" } else { "output" };
    let words: Vec<&String> = content
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Cached(text) => Some(text),
            _ => None,
        })
        .collect();
    match (shape, words.as_slice()) {
        (_, []) => Json::Object(Vec::new()),
        (Shape::String, [text]) => Json::Object(vec![(key, Json::text(*text))]),
        _ => {
            let list = words.into_iter().map(Json::text).collect();
            Json::Object(vec![("lines", Json::List(list)), ("exitCode", Json::raw("0"))])
        }
    }
}
