//! Which format a text is in, by its content.

use super::{Format, WireError, parse};
use crate::json::{self, Span, unquote};
use crate::request::{Envelope, Request};

/// Reads `source` in the format that its content shows, plain messages as OpenAI Chat.
///
/// # Errors
/// What was wrong with it, read as OpenAI Chat messages, which is the most permissive reading.
pub fn detect(source: impl Into<std::sync::Arc<String>>) -> Result<Request, WireError> {
    let request = parse(Format::OpenaiChat, source)?;
    if is_anthropic(&request) {
        parse(Format::Anthropic, request.source().clone())
    } else {
        Ok(request)
    }
}

fn is_anthropic(request: &Request) -> bool {
    let frame = &request.frame;
    if frame.envelope == Envelope::Body {
        if !frame.system.is_empty() || !frame.thinking.is_empty() {
            return true;
        }
        if let Some(tools) = request.tools() {
            let first = json::elements(tools, Span::new(0..tools.len()))
                .ok()
                .and_then(|t| t.first().copied());
            if let Some(first) = first {
                let has = |name| json::member(tools, first, name).is_some();
                if has("function") {
                    return false;
                }
                if has("input_schema") {
                    return true;
                }
            }
        }
    }
    for entry in request.transcript.entries() {
        if let Some(format) = says(entry.raw()) {
            return format == Format::Anthropic;
        }
    }
    request.model().is_some_and(|model| model.contains("claude"))
}

/// The format that a single message can only be in, if it shows.
fn says(message: &str) -> Option<Format> {
    let whole = Span::new(0..message.len());
    let members = json::members(message, whole).ok()?;
    for (key, value) in members {
        let value = value.of(message);
        match unquote(key.of(message)).as_ref() {
            "tool_calls" | "tool_call_id" | "function_call" if value != "null" => {
                return Some(Format::OpenaiChat);
            }
            "role" if matches!(unquote(value).as_ref(), "tool" | "function" | "developer") => {
                return Some(Format::OpenaiChat);
            }
            "content" if value.starts_with('[') => {
                for block in json::elements(value, Span::new(0..value.len())).ok()? {
                    let Some(kind) = json::member(value, block, "type") else { continue };
                    match unquote(kind.of(value)).as_ref() {
                        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image"
                        | "document" | "server_tool_use" | "compaction" => {
                            return Some(Format::Anthropic);
                        }
                        "image_url" | "input_audio" | "file" | "refusal" => {
                            return Some(Format::OpenaiChat);
                        }
                        _ => {}
                    }
                    if json::member(value, block, "cache_control").is_some() {
                        return Some(Format::Anthropic);
                    }
                }
            }
            _ => {}
        }
    }
    None
}
