//! As Anthropic Messages.

use epitome::wire::json::quote;

use super::message::{
    Answer, Frame, Media, Piece, SEE_MEDIA, plain_id, says_something, shows_media, text_of,
};
use super::wording::Wording;
use crate::body::{ASSISTANT, Body, USER, text_block};

pub(super) struct Anthropic;

impl Wording for Anthropic {
    fn frame(&self, frame: &Frame<'_>) -> Body {
        let tools = frame.tools(|tool| format!("{{{}}}", tool.defined("input_schema")));
        let members = [
            ("model", frame.model.as_deref()),
            ("system", frame.system.as_deref()),
            ("tools", tools.as_deref()),
        ];
        Body::framed(&members, "messages")
    }

    fn opening(&self) -> &'static str {
        USER
    }

    fn element(&self, piece: &Piece<'_>) -> Option<String> {
        match piece {
            Piece::Text(text) => says_something(text).then(|| text_block(text)),
            Piece::Reasoning(reasoning) => match &reasoning.signature {
                Some(data) if reasoning.is_redacted => {
                    Some(format!(r#"{{"type":"redacted_thinking","data":{data}}}"#))
                }
                Some(signature) => Some(format!(
                    r#"{{"type":"thinking","thinking":{},"signature":{signature}}}"#,
                    reasoning.text
                )),
                // Unsigned it isn't taken back as thinking.
                None => says_something(&reasoning.text).then(|| text_block(&reasoning.text)),
            },
            Piece::Call(call) => Some(format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                plain_id(&call.id),
                call.name,
                call.arguments
            )),
            Piece::Media(media) => Some(media_block(media)),
        }
    }

    fn reply(&self, body: &mut Body, _frame: &Frame<'_>, pieces: &[Piece<'_>]) {
        let blocks: Vec<String> = pieces.iter().filter_map(|piece| self.element(piece)).collect();
        if !blocks.is_empty() {
            body.listed(ASSISTANT, &blocks);
        }
    }

    fn results(&self, body: &mut Body, _frame: &Frame<'_>, answers: &[Answer<'_>]) {
        let blocks: Vec<String> = answers.iter().map(result).collect();
        body.listed(self.opening(), &blocks);
    }
}

fn media_block(media: &Media<'_>) -> String {
    let kind = if media.is_image() { "image" } else { "document" };
    let Media { media_type, data } = media;
    format!(
        r#"{{"type":"{kind}","source":{{"type":"base64","media_type":{media_type},"data":{data}}}}}"#
    )
}

fn result(answer: &Answer<'_>) -> String {
    let content = if shows_media(&answer.content) {
        let blocks = answer.content.iter().filter_map(|piece| Anthropic.element(piece));
        let has_text = answer.content.iter().any(|piece| matches!(piece, Piece::Text(_)));
        let note = (!has_text).then(|| text_block(&quote(SEE_MEDIA)));
        format!("[{}]", note.into_iter().chain(blocks).collect::<Vec<_>>().join(","))
    } else {
        text_of(&answer.content)
    };
    let id = plain_id(&answer.id);
    let error = if answer.is_error { r#","is_error":true"# } else { "" };
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}{error}}}"#)
}
