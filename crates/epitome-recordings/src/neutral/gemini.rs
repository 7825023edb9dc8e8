//! As Gemini contents.

use epitome::transcript::Origin;
use epitome::wire::json::{quote, unquote};

use super::message::{
    Answer, Call, Frame, Heard, Media, Message, Piece, Raw, Reasoning, SEE_MEDIA, says_something,
    text_of,
};
use crate::body::Body;
use crate::object::Object;

/// What the provider takes where a signature should be, of calls that it didn't sign itself.
pub(crate) const UNSIGNED: &str = "\"skip_thought_signature_validator\"";

/// Whether a model wants a signature with the first call of each message.
pub(crate) fn wants_signatures(model: &str) -> bool {
    !["gemini-1", "gemini-2"].iter().any(|old| model.starts_with(old))
}

pub(super) fn body<'a>(frame: &Frame<'a>, messages: &[Message<'a>]) -> Body {
    let tools = super::message::list(
        frame.tools.iter().map(|tool| format!("{{{}}}", tool.defined("parameters"))),
    );
    let tools = tools.map(|tools| format!("[{{\"functionDeclarations\":{tools}}}]"));
    let system =
        frame.system.as_ref().map(|system| format!("{{\"parts\":[{{\"text\":{system}}}]}}"));
    let members = [
        ("model", frame.model.as_deref()),
        ("systemInstruction", system.as_deref()),
        ("tools", tools.as_deref()),
    ];
    let must_sign = wants_signatures(&frame.model.as_deref().map(unquote).unwrap_or_default());
    let mut body = Body::framed(&members, "contents");
    for (message, time) in frame.timed(messages) {
        body.now(time);
        match message {
            Message::User(spoken) => {
                let said = super::message::said(spoken, part);
                if !said.is_empty() {
                    content(&mut body, "user", said.iter().map(|(part, _)| part.as_str()));
                    super::message::tell_origins(&mut body, &said);
                }
            }
            Message::Model(pieces, usage) => {
                let parts = model_parts(pieces, must_sign);
                if !parts.is_empty() {
                    content(&mut body, "model", parts.iter().map(String::as_str));
                    body.reported(1, *usage);
                }
            }
            Message::Results(answers) => {
                let parts: Vec<String> = answers.iter().flat_map(results).collect();
                content(&mut body, "user", parts.iter().map(String::as_str));
            }
        }
    }
    body
}

fn content<'p>(body: &mut Body, role: &str, parts: impl Iterator<Item = &'p str>) {
    let parts: Vec<&str> = parts.collect();
    let content = format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","));
    body.begin().push_str(&content);
}

/// The model's parts; where the first call has no signature and must have one, it is marked.
fn model_parts(pieces: &[Piece<'_>], must_sign: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let mut must_sign = must_sign;
    for piece in pieces {
        let Piece::Call(call) = piece else {
            parts.extend(part(piece));
            continue;
        };
        let stand_in = if must_sign { Some(UNSIGNED) } else { None };
        must_sign = false;
        parts.push(format!(
            "{{\"functionCall\":{{\"id\":{},\"name\":{},\"args\":{}}}{}}}",
            call.id,
            call.name,
            call.arguments,
            signature(call.signature.as_deref().or(stand_in))
        ));
    }
    parts
}

fn signature(literal: Option<&str>) -> String {
    literal.map_or_else(String::new, |signature| format!(",\"thoughtSignature\":{signature}"))
}

fn part(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::Text(text) => says_something(text).then(|| format!("{{\"text\":{text}}}")),
        Piece::Reasoning(reasoning) => says_something(&reasoning.text).then(|| {
            let signature = signature(reasoning.signature.as_deref());
            format!("{{\"text\":{},\"thought\":true{signature}}}", reasoning.text)
        }),
        Piece::Media(media) => Some(format!(
            "{{\"inlineData\":{{\"mimeType\":{},\"data\":{}}}}}",
            media.media_type, media.data
        )),
        Piece::Call(_) => None,
    }
}

/// The result, and behind it the media that it can't hold.
fn results(answer: &Answer<'_>) -> Vec<String> {
    let media = answer.content.iter().filter(|piece| matches!(piece, Piece::Media(_)));
    let media: Vec<String> = media.filter_map(part).collect();
    let text = text_of(&answer.content);
    let text = match (says_something(&text), media.is_empty()) {
        (false, false) => quote(SEE_MEDIA),
        _ => text,
    };
    let key = if answer.is_error { "error" } else { "output" };
    let mut parts = vec![format!(
        "{{\"functionResponse\":{{\"id\":{},\"name\":{},\"response\":{{\"{key}\":{text}}}}}}}",
        answer.id, answer.name
    )];
    parts.extend(media);
    parts
}

/// What contents say.
pub(super) fn heard<'a>(contents: &[(Origin, Object<'a>)]) -> Vec<Heard<'a>> {
    let mut heard: Vec<Heard<'a>> = Vec::new();
    for (origin, content) in contents {
        let parts = content.list("parts").unwrap_or_default().into_iter().map(Object::of);
        if content.says("role", "model") {
            heard.push(Heard::model(parts.filter_map(|part| piece(&part)).collect()));
            continue;
        }
        let mut said = Vec::new();
        let mut answers: Vec<Answer<'a>> = Vec::new();
        for part in parts {
            let response = part.object("functionResponse");
            if !response.is_empty() {
                answers.extend(answer(&response));
                continue;
            }
            match (piece(&part), answers.last_mut()) {
                // A result's media stand behind it.
                (Some(media @ Piece::Media(_)), Some(answer)) => answer.content.push(media),
                (piece, _) => said.extend(piece),
            }
        }
        for answer in answers {
            super::message::answered(&mut heard, answer);
        }
        if !said.is_empty() {
            heard.push(Heard::user(*origin, said));
        }
    }
    heard
}

fn answer<'a>(response: &Object<'a>) -> Option<Answer<'a>> {
    let said = response.object("response");
    let (error, output) = (said.literal("error"), said.literal("output"));
    let text = error.or(output).unwrap_or("\"\"");
    Some(Answer {
        id: response.literal("id")?.into(),
        name: response.literal("name")?.into(),
        content: vec![Piece::Text(text.into())],
        is_error: error.is_some(),
    })
}

fn piece<'a>(part: &Object<'a>) -> Option<Piece<'a>> {
    let signature = || part.literal("thoughtSignature").map(Raw::Borrowed);
    if let Some(text) = part.literal("text") {
        return Some(if part.holds("thought") {
            let (text, signature) = (text.into(), signature());
            Piece::Reasoning(Reasoning { text, signature, is_redacted: false })
        } else {
            Piece::Text(text.into())
        });
    }
    let call = part.object("functionCall");
    if let Some(name) = call.literal("name") {
        let arguments = call.get("args").unwrap_or("{}").into();
        let id = call.literal("id").unwrap_or("\"\"").into();
        let signature = signature().filter(|signature| signature != UNSIGNED);
        return Some(Piece::Call(Call { id, name: name.into(), arguments, signature }));
    }
    let media = part.object("inlineData");
    let (media_type, data) = (media.literal("mimeType")?, media.literal("data")?);
    Some(Piece::Media(Media { media_type: media_type.into(), data: data.into() }))
}
