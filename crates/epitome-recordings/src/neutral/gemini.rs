//! As Gemini contents.

use epitome::wire::json::{quote, unquote};

use super::message::{Answer, Frame, Piece, SEE_MEDIA, says_something, shows_media, text_of};
use super::wording::Wording;
use crate::body::Body;

/// What the provider takes where a signature should be, of calls that it didn't sign itself.
pub(crate) const UNSIGNED: &str = "\"skip_thought_signature_validator\"";

/// Whether a model wants a signature with the first call of each message.
pub(crate) fn wants_signatures(model: &str) -> bool {
    !["gemini-1", "gemini-2"].iter().any(|old| model.starts_with(old))
}

pub(super) struct Gemini;

impl Wording for Gemini {
    fn frame(&self, frame: &Frame<'_>) -> Body {
        let tools = frame.tools(|tool| format!("{{{}}}", tool.defined("parameters")));
        let tools = tools.map(|tools| format!(r#"[{{"functionDeclarations":{tools}}}]"#));
        let system =
            frame.system.as_ref().map(|system| format!(r#"{{"parts":[{{"text":{system}}}]}}"#));
        let members = [
            ("model", frame.model.as_deref()),
            ("systemInstruction", system.as_deref()),
            ("tools", tools.as_deref()),
        ];
        Body::framed(&members, "contents")
    }

    fn opening(&self) -> &'static str {
        r#"{"role":"user","parts":["#
    }

    fn element(&self, piece: &Piece<'_>) -> Option<String> {
        match piece {
            Piece::Text(text) => says_something(text).then(|| format!(r#"{{"text":{text}}}"#)),
            Piece::Reasoning(reasoning) => says_something(&reasoning.text).then(|| {
                let signature = signature(reasoning.signature.as_deref());
                format!(r#"{{"text":{},"thought":true{signature}}}"#, reasoning.text)
            }),
            Piece::Media(media) => Some(format!(
                r#"{{"inlineData":{{"mimeType":{},"data":{}}}}}"#,
                media.media_type, media.data
            )),
            Piece::Call(_) => None,
        }
    }

    /// Where the first call has no signature and must have one, it is marked.
    fn reply(&self, body: &mut Body, frame: &Frame<'_>, pieces: &[Piece<'_>]) {
        let model = frame.model.as_deref().map(unquote).unwrap_or_default();
        let mut stand_in = wants_signatures(&model).then_some(UNSIGNED);
        let part = |piece: &Piece<'_>| match piece {
            Piece::Call(call) => {
                let stand_in = stand_in.take();
                Some(format!(
                    r#"{{"functionCall":{{"id":{},"name":{},"args":{}}}{}}}"#,
                    call.id,
                    call.name,
                    call.arguments,
                    signature(call.signature.as_deref().or(stand_in))
                ))
            }
            piece => self.element(piece),
        };
        let parts: Vec<String> = pieces.iter().filter_map(part).collect();
        if !parts.is_empty() {
            body.listed(r#"{"role":"model","parts":["#, &parts);
        }
    }

    fn results(&self, body: &mut Body, _frame: &Frame<'_>, answers: &[Answer<'_>]) {
        let parts: Vec<String> = answers.iter().flat_map(results).collect();
        body.listed(self.opening(), &parts);
    }
}

fn signature(literal: Option<&str>) -> String {
    literal.map_or_else(String::new, |signature| format!(r#","thoughtSignature":{signature}"#))
}

/// The result, and behind it the media that it can't hold.
fn results(answer: &Answer<'_>) -> Vec<String> {
    let media = answer.content.iter().filter(|piece| matches!(piece, Piece::Media(_)));
    let text = text_of(&answer.content);
    let is_shown = !says_something(&text) && shows_media(&answer.content);
    let text = if is_shown { quote(SEE_MEDIA) } else { text };
    let key = if answer.is_error { "error" } else { "output" };
    let result = format!(
        r#"{{"functionResponse":{{"id":{},"name":{},"response":{{"{key}":{text}}}}}}}"#,
        answer.id, answer.name
    );
    std::iter::once(result).chain(media.filter_map(|piece| Gemini.element(piece))).collect()
}
