//! As OpenAI Responses: each piece is an item of its own.

use epitome::wire::json::{quote, unquote};

use super::message::{Answer, Frame, Piece, is_json, says_something, shows_media, text_of};
use super::wording::Wording;
use crate::body::Body;
use crate::object::Object;

pub(super) struct OpenaiResponses;

impl Wording for OpenaiResponses {
    fn frame(&self, frame: &Frame<'_>) -> Body {
        let tools =
            frame.tools(|tool| format!(r#"{{"type":"function",{}}}"#, tool.defined("parameters")));
        let members = [
            ("model", frame.model.as_deref()),
            ("instructions", frame.system.as_deref()),
            ("tools", tools.as_deref()),
        ];
        Body::framed(&members, "input")
    }

    fn opening(&self) -> &'static str {
        r#"{"type":"message","role":"user","content":["#
    }

    fn element(&self, piece: &Piece<'_>) -> Option<String> {
        match piece {
            Piece::Text(text) => {
                says_something(text).then(|| format!(r#"{{"type":"input_text","text":{text}}}"#))
            }
            Piece::Media(media) if media.is_image() => Some(format!(
                r#"{{"type":"input_image","detail":"auto","image_url":{}}}"#,
                media.address()
            )),
            Piece::Media(media) => {
                Some(format!(r#"{{"type":"input_file","file_data":{}}}"#, media.address()))
            }
            Piece::Reasoning(_) | Piece::Call(_) => None,
        }
    }

    fn reply(&self, body: &mut Body, _frame: &Frame<'_>, pieces: &[Piece<'_>]) {
        // The provider ties a call's item to the reasoning before it.
        let is_tied = pieces.iter().any(|piece| reasoning(piece).is_some());
        for piece in pieces {
            if let Some(item) = item(piece, is_tied) {
                body.begin().push_str(&item);
            }
        }
    }

    fn results(&self, body: &mut Body, _frame: &Frame<'_>, answers: &[Answer<'_>]) {
        for answer in answers {
            let output = if shows_media(&answer.content) {
                let blocks = answer.content.iter().filter_map(|piece| self.element(piece));
                format!("[{}]", blocks.collect::<Vec<_>>().join(","))
            } else {
                text_of(&answer.content)
            };
            let id = quote(&ids(&answer.id).0);
            let item =
                format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#);
            body.begin().push_str(&item);
        }
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

/// The call's id, and its item's.
fn ids(literal: &str) -> (String, Option<String>) {
    let id = unquote(literal);
    match id.split_once('|') {
        Some((call, item)) => (call.to_owned(), Some(item.to_owned())),
        None => (id.into_owned(), None),
    }
}
