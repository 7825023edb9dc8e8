//! What only a look at a request asks: blocks of Anthropic's in messages of Chat, which have members of their own here,
//! and what only OpenAI itself refuses.

use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Entry, Part, PartKind};
use crate::wire::id_charset::longer;
use crate::wire::rules::{self, Finding, Mend};

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let entries = request.transcript.entries();
    let strange = entries.flat_map(|entry| {
        let of_part = move |part: Part<'_>| {
            Finding::of_part(rules::CHAT_BLOCK, entry.index, part.slot, part.name())
        };
        entry.parts().filter(is_strange).map(of_part)
    });
    let mut findings: Vec<Finding> = strange.collect();
    if is_for_openai(request) {
        findings.extend(longer(&request.transcript, LONGEST_ID, rules::CHAT_LENGTH));
        findings.extend(request.transcript.entries().flat_map(longer_names));
    }
    findings
}

/// In characters (PROVIDERS.md B.3).
const LONGEST_ID: usize = 40;
const LONGEST_NAME: usize = 64;

/// Whether OpenAI itself reads it.
pub(super) fn is_for_openai(request: &Request) -> bool {
    request.reader().is_some_and(|model| is_openais(&model))
}

/// Whether OpenAI serves the model. Its open ones are served by others.
fn is_openais(model: &str) -> bool {
    let name = model.strip_prefix("openai/").unwrap_or(model);
    let has_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let is_gpt = name.starts_with("gpt-") && !name.starts_with("gpt-oss");
    is_gpt || name.starts_with("chatgpt-") || name.strip_prefix('o').is_some_and(has_number)
}

fn longer_names(entry: Entry<'_>) -> Vec<Finding> {
    let calls = entry.parts().filter(|part| part.kind() == PartKind::Call);
    let long = calls.filter(|call| call.name().chars().count() > LONGEST_NAME).map(|call| {
        let name: String = call.name().chars().take(LONGEST_NAME).collect();
        let found = Finding::of_part(rules::CHAT_LENGTH, entry.index, call.slot, call.name());
        Finding { mend: Mend::CallTool { slot: call.slot, name }, ..found }
    });
    long.collect()
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
