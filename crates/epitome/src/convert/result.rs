//! A call's result, in each format's words.

use super::lost::Loss;
use super::media;
use super::neutral::{Answer, CallOutcome, Piece, Side};
use super::write::{Writer, failed, text};
use crate::json::{self, Scanner, Span, quote};
use crate::wire::Format;

/// A piece of a result, as far as it is written.
pub(super) enum Inside {
    Text(String),
    Shown(String),
}

/// A result's content: words, and media where the format shows them in results.
pub(super) fn inside(writer: &mut Writer<'_>, answer: &Answer) -> Vec<Inside> {
    // Anthropic takes nothing but text in a result that is an error.
    let is_words_only = writer.to == Format::OpenaiChat
        || writer.to == Format::Anthropic && answer.outcome == CallOutcome::Failed;
    let mut inside = Vec::new();
    for piece in &answer.content {
        match piece {
            Piece::Text(text) if writer.refuses(text) => {
                writer.neutral.lose(None, Loss::Blank, "in a result");
            }
            Piece::Text(text) | Piece::Refusal(text) => inside.push(Inside::Text(text.clone())),
            Piece::Media(medium) => {
                writer.files += 1;
                let shown = (!is_words_only)
                    .then(|| media::write(medium, writer.to, writer.files))
                    .flatten();
                inside.push(shown.map_or_else(
                    || {
                        writer.lose_medium(medium);
                        Inside::Text(medium.instead())
                    },
                    Inside::Shown,
                ));
            }
            Piece::Call(_) | Piece::Result(_) | Piece::Instruction(_) => {}
        }
    }
    inside
}

/// Writes a result: a message, an item or a block.
pub(super) fn write(to: Format, answer: &Answer, content: &[Inside]) -> String {
    let elements: Vec<String> = content
        .iter()
        .map(|piece| match piece {
            Inside::Text(words) => text(to, words, Side::User),
            Inside::Shown(medium) => medium.clone(),
        })
        .collect();
    let elements = elements.join(",");
    let words = match content {
        [] => quote(""),
        [Inside::Text(text)] => quote(text),
        _ => format!("[{elements}]"),
    };
    let id = quote(&answer.id);
    match to {
        Format::OpenaiChat => {
            format!(r#"{{"role":"tool","tool_call_id":{id},"content":{words}}}"#)
        }
        Format::OpenaiResponses => {
            let kind =
                if answer.to_words { "custom_tool_call_output" } else { "function_call_output" };
            format!(r#"{{"type":"{kind}","call_id":{id},"output":{words}}}"#)
        }
        Format::Anthropic => {
            let content = match content {
                [] => String::new(),
                _ => format!(r#","content":{words}"#),
            };
            let error = failed(answer.outcome, r#","is_error":true"#);
            format!(r#"{{"type":"tool_result","tool_use_id":{id}{content}{error}}}"#)
        }
        Format::Bedrock => {
            let status = failed(answer.outcome, r#","status":"error""#);
            format!(r#"{{"toolResult":{{"toolUseId":{id},"content":[{elements}]{status}}}}}"#)
        }
        Format::Gemini => gemini(answer, content),
    }
}

/// "Use `output` key to specify function output and `error` key to specify error details"; what is an
/// object already stays one.
fn gemini(answer: &Answer, content: &[Inside]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    for piece in content {
        match piece {
            Inside::Text(text) => texts.push(text),
            Inside::Shown(medium) => shown.push(medium),
        }
    }
    let has_failed = answer.outcome == CallOutcome::Failed;
    let response = match texts.as_slice() {
        [] if !has_failed => "{}".to_owned(),
        [only] if comes_back(only, has_failed) => (*only).to_owned(),
        texts => {
            let key = if has_failed { "error" } else { "output" };
            format!(r#"{{"{key}":{}}}"#, quote(&texts.join("\n")))
        }
    };
    let media = match shown.as_slice() {
        [] => String::new(),
        shown => format!(r#","parts":[{}]"#, shown.join(",")),
    };
    let (id, name) = (quote(&answer.id), quote(&answer.name));
    format!(r#"{{"functionResponse":{{"id":{id},"name":{name},"response":{response}{media}}}}}"#)
}

/// Whether a text is an object that is read as the same text again, and as the same outcome.
fn comes_back(text: &str, has_failed: bool) -> bool {
    let mut scanner = Scanner::new(text);
    if !text.starts_with('{') || scanner.value().is_err() || scanner.end().is_err() {
        return false;
    }
    let members = json::members(text, Span::new(0..text.trim_end().len())).unwrap_or_default();
    let is_error =
        |(key, value): &(Span, Span)| json::key_is(text, *key, "error") && value.of(text) != "null";
    match members.as_slice() {
        [] => false,
        [(_, value)] if value.of(text).starts_with('"') => false,
        members => text.ends_with('}') && members.iter().any(is_error) == has_failed,
    }
}
