//! As OpenAI Responses: each piece is an item of its own.

use epitome::transcript::Origin;
use epitome::wire::json::{quote, unquote};

use super::message::{
    Answer, Call, Frame, Heard, Media, Message, Piece, Reasoning, is_json, says_something, text_of,
};
use crate::body::Body;
use crate::object::{Object, elements};

pub(super) fn body<'a>(frame: &Frame<'a>, messages: &[Message<'a>]) -> Body {
    let tools = super::message::list(
        frame
            .tools
            .iter()
            .map(|tool| format!("{{\"type\":\"function\",{}}}", tool.defined("parameters"))),
    );
    let members = [
        ("model", frame.model.as_deref()),
        ("instructions", frame.system.as_deref()),
        ("tools", tools.as_deref()),
    ];
    let mut body = Body::framed(&members, "input");
    for (message, time) in frame.timed(messages) {
        body.now(time);
        match message {
            Message::User(spoken) => {
                let said = super::message::said(spoken, content);
                if !said.is_empty() {
                    let blocks: Vec<&str> = said.iter().map(|(block, _)| block.as_str()).collect();
                    let content = blocks.join(",");
                    let item = body.begin();
                    item.push_str("{\"type\":\"message\",\"role\":\"user\",\"content\":[");
                    item.push_str(&content);
                    item.push_str("]}");
                    super::message::tell_origins(&mut body, &said);
                }
            }
            Message::Model(pieces, usage) => {
                let before = body.len();
                // The provider ties a call's item to the reasoning before it.
                let is_tied = pieces.iter().any(|piece| reasoning(piece).is_some());
                for piece in pieces {
                    if let Some(item) = item(piece, is_tied) {
                        body.begin().push_str(&item);
                    }
                }
                if body.len() > before {
                    body.reported(body.len() - before, *usage);
                }
            }
            Message::Results(answers) => {
                for answer in answers {
                    body.begin().push_str(&output(answer));
                }
            }
        }
    }
    body
}

fn content(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::Text(text) => {
            says_something(text).then(|| format!("{{\"type\":\"input_text\",\"text\":{text}}}"))
        }
        Piece::Media(media) if media.is_image() => Some(format!(
            "{{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":{}}}",
            media.address()
        )),
        Piece::Media(media) => {
            Some(format!("{{\"type\":\"input_file\",\"file_data\":{}}}", media.address()))
        }
        Piece::Reasoning(_) | Piece::Call(_) => None,
    }
}

/// The item that the provider wants back: agents keep it whole.
fn reasoning(piece: &Piece<'_>) -> Option<String> {
    let Piece::Reasoning(reasoning) = piece else { return None };
    let item = unquote(reasoning.signature.as_deref()?).into_owned();
    (is_json(&item) && Object::of(&item).says("type", "reasoning")).then_some(item)
}

/// The model's items; `is_tied` if there is reasoning that needs the ids of the next items.
fn item(piece: &Piece<'_>, is_tied: bool) -> Option<String> {
    match piece {
        Piece::Text(text) => says_something(text).then(|| {
            format!(
                "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":{text}}}]}}"
            )
        }),
        Piece::Reasoning(_) => reasoning(piece),
        Piece::Call(call) => {
            let (call_id, item_id) = ids(&call.id);
            let item_id = item_id
                .filter(|id| is_tied && id.starts_with("fc_"))
                .map_or_else(String::new, |id| format!("\"id\":{},", quote(&id)));
            Some(format!(
                "{{\"type\":\"function_call\",{item_id}\"call_id\":{},\"name\":{},\"arguments\":{}}}",
                quote(&call_id),
                call.name,
                quote(&call.arguments)
            ))
        }
        Piece::Media(_) => None,
    }
}

fn output(answer: &Answer<'_>) -> String {
    let has_media = answer.content.iter().any(|piece| matches!(piece, Piece::Media(_)));
    let output = if has_media {
        let blocks: Vec<String> = answer.content.iter().filter_map(content).collect();
        format!("[{}]", blocks.join(","))
    } else {
        text_of(&answer.content)
    };
    let call_id = quote(&ids(&answer.id).0);
    format!("{{\"type\":\"function_call_output\",\"call_id\":{call_id},\"output\":{output}}}")
}

/// The call's id, and its item's.
fn ids(literal: &str) -> (String, Option<String>) {
    let id = unquote(literal);
    match id.split_once('|') {
        Some((call, item)) => (call.to_owned(), Some(item.to_owned())),
        None => (id.into_owned(), None),
    }
}

/// The content of items; those of one reply follow each other.
pub(super) fn heard<'a>(items: &[(Origin, Object<'a>)]) -> Vec<Heard<'a>> {
    let mut heard: Vec<Heard<'a>> = Vec::new();
    for (origin, item) in items {
        let piece = match item.text("type").unwrap_or_default().as_ref() {
            "message" | "" if item.says("role", "user") => {
                heard.push(Heard::user(*origin, pieces(item.get("content"))));
                continue;
            }
            "function_call_output" => {
                let id = item.literal("call_id").unwrap_or("\"\"");
                let (id, name) = super::message::answers_to(&heard, id);
                let answer =
                    Answer { id, name, content: pieces(item.get("output")), is_error: false };
                super::message::answered(&mut heard, answer);
                continue;
            }
            "message" | "" => pieces(item.get("content")),
            "reasoning" => vec![Piece::Reasoning(Reasoning {
                text: "\"\"".into(),
                signature: Some(quote(&item.whole()).into()),
                is_redacted: false,
            })],
            "function_call" => called(item).into_iter().collect(),
            _ => continue,
        };
        match heard.last_mut() {
            Some(Heard { message: Message::Model(said, _), .. }) => said.extend(piece),
            _ => heard.push(Heard::model(piece)),
        }
    }
    heard
}

fn called<'a>(item: &Object<'a>) -> Option<Piece<'a>> {
    let (id, name) = (item.literal("call_id")?, item.literal("name")?);
    let id = match item.text("id") {
        Some(of_item) => quote(&format!("{}|{of_item}", unquote(id))).into(),
        None => id.into(),
    };
    let arguments = item.text("arguments").unwrap_or_else(|| "{}".into());
    Some(Piece::Call(Call { id, name: name.into(), arguments, signature: None }))
}

fn pieces(content: Option<&str>) -> Vec<Piece<'_>> {
    match content {
        Some(text) if text.starts_with('"') => vec![Piece::Text(text.into())],
        content => {
            let blocks = content.and_then(elements).unwrap_or_default().into_iter().map(Object::of);
            let piece = |block: Object<'_>| {
                let address = block.literal("image_url").or_else(|| block.literal("file_data"))?;
                Media::in_address(address).map(Piece::Media)
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
