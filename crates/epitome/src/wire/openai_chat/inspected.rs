//! Blocks of Anthropic's in messages of Chat: its calls, results and thinking, which have members of their own here.

use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Part, PartKind};
use crate::wire::rules::{self, Finding};

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let entries = request.transcript.entries();
    let strange = entries.flat_map(|entry| {
        let of_part = move |part: Part<'_>| {
            Finding::of_part(rules::CHAT_BLOCK, entry.index, part.slot, part.name())
        };
        entry.parts().filter(is_strange).map(of_part)
    });
    strange.collect()
}

fn is_strange(part: &Part<'_>) -> bool {
    if part.kind() != PartKind::Opaque || !part.raw().starts_with('{') {
        return false;
    }
    let member = |name| json::member(part.raw(), Span::new(0..part.raw().len()), name);
    match part.name().as_ref() {
        "tool_use" | "server_tool_use" | "tool_result" | "redacted_thinking" => true,
        // Mistral's has a list of texts.
        "thinking" => member("thinking").is_some_and(|said| said.of(part.raw()).starts_with('"')),
        "image" | "document" => member("source").is_some(),
        _ => false,
    }
}
