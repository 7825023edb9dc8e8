//! As Anthropic Messages.

use epitome::transcript::Origin;
use epitome::wire::json::quote;

use super::message::{
    Answer, Call, Frame, Heard, Media, Message, Piece, Raw, Reasoning, SEE_MEDIA, plain_id,
    says_something, text_of,
};
use crate::body::{Body, text_block};
use crate::object::{Object, elements};

pub(super) fn body<'a>(frame: &Frame<'a>, messages: &[Message<'a>]) -> Body {
    let tools = super::message::list(
        frame.tools.iter().map(|tool| format!("{{{}}}", tool.defined("input_schema"))),
    );
    let members = [
        ("model", frame.model.as_deref()),
        ("system", frame.system.as_deref()),
        ("tools", tools.as_deref()),
    ];
    let mut body = Body::framed(&members, "messages");
    for (message, time) in frame.timed(messages) {
        body.now(time);
        match message {
            Message::User(spoken) => {
                let said = super::message::said(spoken, block);
                if !said.is_empty() {
                    body.blocks("user", said.iter().map(|(block, _)| block.as_str()));
                    super::message::tell_origins(&mut body, &said);
                }
            }
            Message::Model(pieces, usage) => {
                let blocks: Vec<String> = pieces.iter().filter_map(block).collect();
                if !blocks.is_empty() {
                    body.blocks("assistant", blocks.iter().map(String::as_str));
                    body.reported(1, *usage);
                }
            }
            Message::Results(answers) => {
                let blocks: Vec<String> = answers.iter().map(result).collect();
                body.blocks("user", blocks.iter().map(String::as_str));
            }
        }
    }
    body
}

fn block(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::Text(text) => says_something(text).then(|| text_block(text)),
        Piece::Reasoning(reasoning) => match &reasoning.signature {
            Some(data) if reasoning.is_redacted => {
                Some(format!("{{\"type\":\"redacted_thinking\",\"data\":{data}}}"))
            }
            Some(signature) => Some(format!(
                "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{signature}}}",
                reasoning.text
            )),
            // Unsigned it isn't taken back as thinking.
            None => says_something(&reasoning.text).then(|| text_block(&reasoning.text)),
        },
        Piece::Call(call) => Some(format!(
            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{}}}",
            plain_id(&call.id),
            call.name,
            call.arguments
        )),
        Piece::Media(media) => Some(media_block(media)),
    }
}

fn media_block(media: &Media<'_>) -> String {
    let kind = if media.is_image() { "image" } else { "document" };
    format!(
        "{{\"type\":\"{kind}\",\"source\":{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}}}",
        media.media_type, media.data
    )
}

fn result(answer: &Answer<'_>) -> String {
    let has_media = answer.content.iter().any(|piece| matches!(piece, Piece::Media(_)));
    let content = if has_media {
        let mut blocks: Vec<String> = answer.content.iter().filter_map(block).collect();
        if !answer.content.iter().any(|piece| matches!(piece, Piece::Text(_))) {
            blocks.insert(0, text_block(&quote(SEE_MEDIA)));
        }
        format!("[{}]", blocks.join(","))
    } else {
        text_of(&answer.content)
    };
    let id = plain_id(&answer.id);
    let error = if answer.is_error { ",\"is_error\":true" } else { "" };
    format!("{{\"type\":\"tool_result\",\"tool_use_id\":{id},\"content\":{content}{error}}}")
}

/// What messages say.
pub(super) fn heard<'a>(messages: &[(Origin, Object<'a>)]) -> Vec<Heard<'a>> {
    let mut heard = Vec::new();
    for (origin, message) in messages {
        if message.says("role", "assistant") {
            heard.push(Heard::model(pieces(message.get("content"))));
            continue;
        }
        let content = message.get("content");
        let blocks = content.and_then(elements).unwrap_or_default().into_iter().map(Object::of);
        for block in blocks.filter(|block| block.says("type", "tool_result")) {
            let id = block.literal("tool_use_id").unwrap_or("\"\"");
            let (id, name) = super::message::answers_to(&heard, id);
            let answer = Answer {
                id,
                name,
                content: pieces(block.get("content")),
                is_error: block.holds("is_error"),
            };
            super::message::answered(&mut heard, answer);
        }
        let said = pieces(content);
        if !said.is_empty() {
            heard.push(Heard::user(*origin, said));
        }
    }
    heard
}

fn pieces(content: Option<&str>) -> Vec<Piece<'_>> {
    match content {
        Some(text) if text.starts_with('"') => vec![Piece::Text(text.into())],
        content => {
            let blocks = content.and_then(elements).unwrap_or_default();
            blocks.into_iter().filter_map(|block| piece(&Object::of(block))).collect()
        }
    }
}

fn piece<'a>(block: &Object<'a>) -> Option<Piece<'a>> {
    let literal = |name| block.literal(name).map(Raw::Borrowed);
    Some(match block.text("type")?.as_ref() {
        "text" => Piece::Text(literal("text")?),
        "thinking" => Piece::Reasoning(Reasoning {
            text: literal("thinking")?,
            signature: literal("signature"),
            is_redacted: false,
        }),
        "redacted_thinking" => Piece::Reasoning(Reasoning {
            text: "\"\"".into(),
            signature: literal("data"),
            is_redacted: true,
        }),
        "tool_use" => Piece::Call(Call {
            id: literal("id")?,
            name: literal("name")?,
            arguments: block.get("input").unwrap_or("{}").into(),
            signature: None,
        }),
        "image" | "document" => {
            let source = block.object("source");
            let (media_type, data) = (source.literal("media_type")?, source.literal("data")?);
            Piece::Media(Media { media_type: media_type.into(), data: data.into() })
        }
        _ => return None,
    })
}
