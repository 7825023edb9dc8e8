//! What entries and parts say beside what is carried over.

use super::lost::Loss;
use super::neutral::Neutral;
use crate::json::{self, Span, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role};
use crate::wire::Format;

/// What a tool is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallForm {
    /// A function's arguments.
    Function,
    /// Words.
    Words,
    /// A form of its own.
    Own,
}

/// The form of a call.
pub(super) fn form(request: &Request, call: &Part<'_>) -> CallForm {
    let has = |raw: &str, key: &str| {
        raw.starts_with('{') && json::member(raw, Span::new(0..raw.len()), key).is_some()
    };
    match request.format {
        Format::OpenaiChat if has(call.raw(), "custom") => CallForm::Words,
        Format::OpenaiResponses => {
            let entry = request.transcript.entry(request.transcript.entry_of(call.slot));
            let raw = entry.raw();
            let kind = json::member(raw, Span::new(0..raw.len()), "type");
            match kind.map(|kind| unquote(kind.of(raw))).as_deref() {
                Some("function_call") => CallForm::Function,
                Some("custom_tool_call") => CallForm::Words,
                _ => CallForm::Own,
            }
        }
        _ => CallForm::Function,
    }
}

/// Members of an entry that are read; `None` where its parts say all.
fn known(format: Format, role: Role) -> Option<&'static [&'static str]> {
    Some(match format {
        Format::OpenaiChat if role == Role::Tool => &["role", "content", "tool_call_id", "name"],
        Format::OpenaiChat => &[
            "role",
            "content",
            "tool_calls",
            "function_call",
            "refusal",
            "audio",
            "reasoning",
            "reasoning_content",
            "reasoning_details",
        ],
        Format::Anthropic | Format::Bedrock => &["role", "content"],
        Format::Gemini => &["role", "parts"],
        Format::OpenaiResponses => return None,
    })
}

/// Lists what an entry says beside its parts.
pub(super) fn members(format: Format, entry: Entry<'_>, neutral: &mut Neutral) {
    let Some(known) = known(format, entry.role()) else { return };
    let raw = entry.raw();
    if !raw.starts_with('{') {
        return;
    }
    for (key, value) in json::members(raw, Span::new(0..raw.len())).unwrap_or_default() {
        let name = unquote(key.of(raw));
        if !known.contains(&name.as_ref()) && value.of(raw) != "null" {
            neutral.lose(Some(entry.index), Loss::Member, name.as_ref());
        }
        if format == Format::Gemini && name == "parts" && value.of(raw).starts_with('[') {
            beside_data(entry.index, raw, value, neutral);
        }
    }
}

/// What Gemini says about a part beside its data.
const BESIDE: [&str; 8] = [
    "videoMetadata",
    "video_metadata",
    "mediaResolution",
    "media_resolution",
    "mediaProcessing",
    "media_processing",
    "partMetadata",
    "part_metadata",
];

fn beside_data(at: usize, raw: &str, parts: Span, neutral: &mut Neutral) {
    for element in json::elements(raw, parts).unwrap_or_default() {
        if !element.of(raw).starts_with('{') {
            continue;
        }
        for (key, _) in json::members(raw, element).unwrap_or_default() {
            let name = unquote(key.of(raw));
            if BESIDE.contains(&name.as_ref()) {
                neutral.lose(Some(at), Loss::Member, name);
            }
        }
    }
}

/// Members of blocks that are read, or say nothing.
const READ: [&str; 24] = [
    "type",
    "text",
    "id",
    "name",
    "input",
    "tool_use_id",
    "content",
    "is_error",
    "source",
    "title",
    "image_url",
    "detail",
    "file",
    "filename",
    "file_data",
    "file_url",
    "file_id",
    "input_audio",
    "refusal",
    "function",
    "custom",
    "toolUseId",
    "status",
    "format",
];

/// Lists what a block says beside what it is: cache markers, citations, annotations.
pub(super) fn part(format: Format, at: usize, part: &Part<'_>, neutral: &mut Neutral) {
    let is_carried =
        matches!(part.kind(), PartKind::Text | PartKind::Media | PartKind::Call | PartKind::Result);
    let raw = part.raw();
    if !is_carried || part.is(Marks::SERVER) || !raw.starts_with('{') || format == Format::Gemini {
        return;
    }
    // An item is described by its parts, and a chat result's payload isn't a block.
    let is_payload = matches!(part.kind(), PartKind::Call | PartKind::Result)
        && matches!(format, Format::OpenaiResponses)
        || part.kind() == PartKind::Result && format == Format::OpenaiChat;
    if is_payload {
        return;
    }
    for (key, value) in json::members(raw, Span::new(0..raw.len())).unwrap_or_default() {
        let name = unquote(key.of(raw));
        if matches!(value.of(raw), "null" | "[]" | "{}") {
            continue;
        }
        // Of Chat's older calls.
        if name == "arguments" && format == Format::OpenaiChat {
            continue;
        }
        if name == "cache_control" || name == "prompt_cache_breakpoint" {
            neutral.lose(Some(at), Loss::CacheMarker, "");
        } else if !READ.contains(&name.as_ref()) {
            neutral.lose(Some(at), Loss::Member, name);
        }
    }
}
