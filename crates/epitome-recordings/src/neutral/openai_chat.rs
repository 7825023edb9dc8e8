//! As OpenAI Chat Completions, and its compatibles.

use std::borrow::Cow;

use epitome::transcript::Origin;
use epitome::wire::json::{quote, unquote};

use super::message::{
    ATTACHED, Answer, Call, Frame, Heard, Media, Message, Piece, Reasoning, SEE_MEDIA, Spoken,
    is_json, plain_id, says_something, text_of,
};
use crate::body::{Body, text_block};
use crate::object::{Object, elements, joined};

/// Members in which compatibles take reasoning back. An agent keeps their name as the signature.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) fn body<'a>(frame: &Frame<'a>, messages: &[Message<'a>]) -> Body {
    let attached = frame.attached.unwrap_or(ATTACHED);
    let tools = super::message::list(frame.tools.iter().map(|tool| {
        format!("{{\"type\":\"function\",\"function\":{{{}}}}}", tool.defined("parameters"))
    }));
    let members = [("model", frame.model.as_deref()), ("tools", tools.as_deref())];
    let mut body = Body::framed(&members, "messages");
    if let Some(system) = &frame.system {
        body.literal("system", system);
    }
    for (message, time) in frame.timed(messages) {
        body.now(time);
        match message {
            Message::User(spoken) => user(&mut body, spoken),
            Message::Model(pieces, usage) => {
                if assistant(&mut body, pieces) {
                    body.reported(1, *usage);
                }
            }
            Message::Results(answers) => results(&mut body, answers, attached),
        }
    }
    body
}

fn user(body: &mut Body, spoken: &[Spoken<'_>]) {
    let said = super::message::said(spoken, block);
    if said.is_empty() {
        return;
    }
    match spoken {
        [Spoken { piece: Piece::Text(text), .. }] => body.literal("user", text),
        _ => body.blocks("user", said.iter().map(|(block, _)| block.as_str())),
    }
    super::message::tell_origins(body, &said);
}

fn block(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::Text(text) => says_something(text).then(|| text_block(text)),
        Piece::Media(media) if media.is_image() => Some(format!(
            "{{\"type\":\"image_url\",\"image_url\":{{\"url\":{}}}}}",
            media.address()
        )),
        Piece::Media(media) => {
            Some(format!("{{\"type\":\"file\",\"file\":{{\"file_data\":{}}}}}", media.address()))
        }
        Piece::Reasoning(_) | Piece::Call(_) => None,
    }
}

fn assistant(body: &mut Body, pieces: &[Piece<'_>]) -> bool {
    let texts: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) if says_something(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    let calls: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Call(call) => Some(format!(
                "{{\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":{}}}}}",
                plain_bar(&call.id),
                call.name,
                quote(&call.arguments)
            )),
            _ => None,
        })
        .collect();
    if texts.is_empty() && calls.is_empty() {
        return false;
    }
    let content = match texts.as_slice() {
        [] => "null".to_owned(),
        [text] => (*text).to_owned(),
        texts => joined(texts.iter().copied()),
    };
    let reasoning = reasoning(pieces);
    let calls = if calls.is_empty() {
        String::new()
    } else {
        format!(",\"tool_calls\":[{}]", calls.join(","))
    };
    let message = format!("{{\"role\":\"assistant\",\"content\":{content}{reasoning}{calls}}}");
    body.begin().push_str(&message);
    true
}

/// The member that takes the reasoning back; empty if there is none.
fn reasoning(pieces: &[Piece<'_>]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut name = None;
    for piece in pieces {
        let Piece::Reasoning(reasoning) = piece else { continue };
        let signature = reasoning.signature.as_deref().map(unquote).unwrap_or_default();
        if signature.starts_with('[') && is_json(&signature) {
            // Structured details, kept as their JSON.
            return format!(",\"reasoning_details\":{signature}");
        }
        if !says_something(&reasoning.text) {
            continue;
        }
        name = name.or_else(|| REASONING.into_iter().find(|known| *known == signature));
        if !lines.is_empty() {
            lines.push("\"\\n\"");
        }
        lines.push(&reasoning.text);
    }
    if lines.is_empty() {
        return String::new();
    }
    format!(",\"{}\":{}", name.unwrap_or(REASONING[0]), joined(lines))
}

/// Writes results, and the images that a result can't hold here in a message behind them.
fn results(body: &mut Body, answers: &[Answer<'_>], attached: &str) {
    let mut images = Vec::new();
    for answer in answers {
        let text = text_of(&answer.content);
        let shown = answer.content.iter().filter(|piece| matches!(piece, Piece::Media(_)));
        let before = images.len();
        images.extend(shown.filter_map(block));
        let content = match (says_something(&text), images.len() > before) {
            (false, true) => quote(SEE_MEDIA),
            _ => text,
        };
        let message = format!(
            "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{content}}}",
            plain_bar(&answer.id)
        );
        body.begin().push_str(&message);
    }
    if !images.is_empty() {
        images.insert(0, text_block(&quote(attached)));
        body.blocks("user", images.iter().map(String::as_str));
        body.spoken_by(Origin::Tool);
    }
}

/// An id without OpenAI's bar between the call's and the item's; others stay as they are.
fn plain_bar(id: &str) -> Cow<'_, str> {
    if id.contains('|') { plain_id(id) } else { Cow::Borrowed(id) }
}

/// What messages say.
pub(super) fn heard<'a>(messages: &[(Origin, Object<'a>)]) -> Vec<Heard<'a>> {
    let mut heard: Vec<Heard<'a>> = Vec::new();
    for (origin, message) in messages {
        match message.text("role").unwrap_or_default().as_ref() {
            "assistant" => heard.push(Heard::model(said_by_model(message))),
            "tool" => {
                let id = message.literal("tool_call_id").unwrap_or("\"\"");
                let (id, name) = super::message::answers_to(&heard, id);
                let answer =
                    Answer { id, name, content: pieces(message.get("content")), is_error: false };
                super::message::answered(&mut heard, answer);
            }
            "user" => {
                let mut said = pieces(message.get("content"));
                let is_attached =
                    matches!(said.first(), Some(Piece::Text(text)) if unquote(text) == ATTACHED);
                match heard.last_mut() {
                    // The images belong to the results before, to the last of which they go.
                    Some(Heard { message: Message::Results(answers), .. }) if is_attached => {
                        said.remove(0);
                        let last = answers.last_mut().expect("there are results");
                        last.content.append(&mut said);
                    }
                    _ => heard.push(Heard::user(*origin, said)),
                }
            }
            // It is the frame's.
            _ => {}
        }
    }
    heard
}

fn said_by_model<'a>(message: &Object<'a>) -> Vec<Piece<'a>> {
    let mut said = Vec::new();
    if let Some(details) = message.get("reasoning_details") {
        said.push(Piece::Reasoning(Reasoning {
            text: "\"\"".into(),
            signature: Some(quote(details).into()),
            is_redacted: false,
        }));
    } else if let Some((name, text)) =
        REASONING.iter().find_map(|name| Some((name, message.literal(name)?)))
    {
        said.push(Piece::Reasoning(Reasoning {
            text: text.into(),
            signature: Some(quote(name).into()),
            is_redacted: false,
        }));
    }
    said.extend(pieces(message.get("content")));
    for call in message.list("tool_calls").unwrap_or_default() {
        let call = Object::of(call);
        let function = call.object("function");
        let (Some(id), Some(name)) = (call.literal("id"), function.literal("name")) else {
            continue;
        };
        said.push(Piece::Call(Call {
            id: id.into(),
            name: name.into(),
            arguments: function.text("arguments").unwrap_or_else(|| "{}".into()),
            signature: None,
        }));
    }
    said
}

fn pieces(content: Option<&str>) -> Vec<Piece<'_>> {
    match content {
        Some(text) if text.starts_with('"') => vec![Piece::Text(text.into())],
        content => {
            let blocks = content.and_then(elements).unwrap_or_default().into_iter().map(Object::of);
            let media = |address: &str| Media::in_address(address).map(Piece::Media);
            let piece = |block: Object<'_>| match block.text("type")?.as_ref() {
                "image_url" => media(block.object("image_url").literal("url")?),
                "file" => media(block.object("file").literal("file_data")?),
                _ => None,
            };
            blocks
                .filter_map(|block| match block.literal("text") {
                    Some(text) => Some(Piece::Text(text.into())),
                    None => piece(block),
                })
                .collect()
        }
    }
}
