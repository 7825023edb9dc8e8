//! As OpenAI Chat Completions, and its compatibles.

use std::borrow::Cow;

use epitome::transcript::Origin;
use epitome::wire::json::{quote, unquote};

use super::message::{
    ATTACHED, Answer, Frame, Piece, Reasoning, SEE_MEDIA, Spoken, is_json, plain_id,
    says_something, shows_media, text_of,
};
use super::wording::Wording;
use crate::body::{Body, USER, text_block};
use crate::object::{Object, joined};

/// Members in which compatibles take reasoning back. An agent keeps their name as the signature.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) struct OpenaiChat;

impl Wording for OpenaiChat {
    fn frame(&self, frame: &Frame<'_>) -> Body {
        let tools = frame.tools(|tool| {
            format!(r#"{{"type":"function","function":{{{}}}}}"#, tool.defined("parameters"))
        });
        let members = [("model", frame.model.as_deref()), ("tools", tools.as_deref())];
        let mut body = Body::framed(&members, "messages");
        if let Some(system) = &frame.system {
            body.literal("system", system);
        }
        body
    }

    fn opening(&self) -> &'static str {
        USER
    }

    fn element(&self, piece: &Piece<'_>) -> Option<String> {
        match piece {
            Piece::Text(text) => says_something(text).then(|| text_block(text)),
            Piece::Media(media) if media.is_image() => {
                Some(format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, media.address()))
            }
            Piece::Media(media) => {
                Some(format!(r#"{{"type":"file","file":{{"file_data":{}}}}}"#, media.address()))
            }
            Piece::Reasoning(_) | Piece::Call(_) => None,
        }
    }

    fn user(&self, body: &mut Body, spoken: &[Spoken<'_>], elements: &[String]) {
        match spoken {
            [Spoken { piece: Piece::Text(text), .. }] => body.literal("user", text),
            _ => body.listed(self.opening(), elements),
        }
    }

    fn reply(&self, body: &mut Body, _frame: &Frame<'_>, pieces: &[Piece<'_>]) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) if says_something(text) => texts.push(text.as_ref()),
                Piece::Call(call) => calls.push(format!(
                    r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                    plain_bar(&call.id),
                    call.name,
                    quote(&call.arguments)
                )),
                _ => {}
            }
        }
        let content = match texts[..] {
            [] if calls.is_empty() => return,
            [] => "null".to_owned(),
            _ => joined(texts),
        };
        let calls = match calls[..] {
            [] => String::new(),
            _ => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        let reasoning = reasoning(pieces);
        let message = format!(r#"{{"role":"assistant","content":{content}{reasoning}{calls}}}"#);
        body.begin().push_str(&message);
    }

    /// Images that a result can't hold here stand in a message behind the results.
    fn results(&self, body: &mut Body, frame: &Frame<'_>, answers: &[Answer<'_>]) {
        let mut images = Vec::new();
        for answer in answers {
            let text = text_of(&answer.content);
            let shown = answer.content.iter().filter(|piece| matches!(piece, Piece::Media(_)));
            images.extend(shown.filter_map(|piece| self.element(piece)));
            let is_shown = !says_something(&text) && shows_media(&answer.content);
            let content = if is_shown { quote(SEE_MEDIA) } else { text };
            let id = plain_bar(&answer.id);
            let message = format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#);
            body.begin().push_str(&message);
        }
        if !images.is_empty() {
            images.insert(0, text_block(&quote(frame.attached.unwrap_or(ATTACHED))));
            body.listed(self.opening(), &images);
            body.spoken_by(Origin::Tool);
        }
    }
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

/// An id without OpenAI's bar between the call's and the item's; others stay as they are.
fn plain_bar(id: &str) -> Cow<'_, str> {
    if id.contains('|') { plain_id(id) } else { Cow::Borrowed(id) }
}

/// The reasoning in a message, whose member [`reasoning`] would write.
pub(super) fn taken_back<'a>(message: &Object<'a>) -> Option<Reasoning<'a>> {
    let (text, signature) = match message.get("reasoning_details") {
        Some(details) => ("\"\"", details),
        None => REASONING.iter().find_map(|name| Some((message.literal(name)?, *name)))?,
    };
    let signature = Some(quote(signature).into());
    Some(Reasoning { text: text.into(), signature, is_redacted: false })
}
