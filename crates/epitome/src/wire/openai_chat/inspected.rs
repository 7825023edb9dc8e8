//! Rules only for an inspection: Anthropic's blocks in messages of Chat, which have members of their own here, and what
//! only OpenAI itself refuses.

use super::OpenaiChat;
use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Entry, Part, PartKind, Role};
use crate::wire::conversion::Conversion;
use crate::wire::id_charset::{longer, others_than};
use crate::wire::rules::{self, Finding, Mend};
use crate::wire::tool_names::{self, repeated};
use crate::word_list::words;

/// Whether a part of this type, which is another format's, is found here.
pub(super) fn is_of_others(kind: &str) -> bool {
    ANTHROPICS.contains(&kind) || RESPONSES.contains(&kind)
}

/// Types of Anthropic's blocks.
const ANTHROPICS: [&str; 7] =
    words!("tool_use server_tool_use tool_result redacted_thinking thinking image document");
/// Types of parts of Responses'.
const RESPONSES: [&str; 4] = words!("input_text output_text input_image input_file");

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let is_for_openai = is_for_openai(request);
    let entries = request.transcript.entries();
    let strange = entries.flat_map(|entry| {
        let of_part = move |part: Part<'_>| {
            Finding::of_part(rules::CHAT_BLOCK, entry.index, part.slot, part.name())
        };
        entry.parts().filter(move |part| is_strange(part, is_for_openai)).map(of_part)
    });
    let mut findings: Vec<Finding> = strange.collect();
    findings.extend(request.transcript.entries().flat_map(of_responses));
    // Of the model's own length (PROVIDERS.md B.3).
    if let Some(length) = request.reader().and_then(|model| OpenaiChat.id_length(&model)) {
        findings.extend(others_than(&request.transcript, length, rules::CHAT_LENGTH));
    }
    if is_for_openai {
        findings.extend(longer(&request.transcript, LONGEST_ID, rules::CHAT_LENGTH));
        findings.extend(request.transcript.entries().flat_map(longer_names));
        findings.extend(request.transcript.entries().flat_map(refusals));
        findings.extend(idle_choice(request));
        findings.extend(unknown_choice(request));
        for kind in KINDS {
            findings.extend(repeated(request, &["tools", "", kind], rules::CHAT_TOOL_NAMES));
        }
    }
    findings
}

/// In characters (PROVIDERS.md B.3).
const LONGEST_ID: usize = 40;
const LONGEST_NAME: usize = 64;

/// Kinds of tools, each with a member of its name.
const KINDS: [&str; 2] = ["function", "custom"];

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

/// Texts and images that are called as in Responses.
fn of_responses(entry: Entry<'_>) -> Vec<Finding> {
    let found = |part: Part<'_>| {
        let kind = part.name().into_owned();
        let mend = match kind.as_str() {
            "input_text" | "output_text" if part.kind() == PartKind::Text => {
                Mend::Retype { slot: part.slot, to: "text".to_owned() }
            }
            "input_image" if part.raw_body().starts_with('"') => {
                let whole = Span::new(0..part.raw().len());
                let detail = json::member(part.raw(), whole, "detail");
                let detail = detail.map(|detail| format!(r#","detail":{}"#, detail.of(part.raw())));
                let (url, detail) = (part.raw_body(), detail.unwrap_or_default());
                let image =
                    format!(r#"{{"type":"image_url","image_url":{{"url":{url}{detail}}}}}"#);
                Mend::Replace(part.slot, image)
            }
            kind if RESPONSES.contains(&kind) => Mend::Nothing,
            _ => return None,
        };
        let found = Finding::of_part(rules::CHAT_PART, entry.index, part.slot, kind);
        Some(Finding { mend, ..found })
    };
    entry
        .parts()
        .filter(|part| !matches!(part.kind(), PartKind::Result))
        .filter_map(found)
        .collect()
}

/// A choice where there is nothing to choose.
fn idle_choice(request: &Request) -> Option<Finding> {
    let choice = request.value(&["tool_choice"]).filter(|choice| *choice != "\"none\"")?;
    let has_tools = request.tools().is_some() || request.value(&["functions"]).is_some();
    let finding =
        Finding::of_member(rules::CHAT_KIND, "tool_choice", format!("{choice}, no tools"));
    (!has_tools).then_some(finding)
}

/// A choice of a tool that isn't there.
fn unknown_choice(request: &Request) -> Option<Finding> {
    request.tools()?;
    let said = request.value(&["tool_choice", "type"])?;
    let kind = KINDS.into_iter().find(|kind| *kind == json::unquote(said))?;
    let choice = ["tool_choice", kind, "name"];
    tool_names::unknown_choice(request, &["tools", "", kind], &choice, rules::CHAT_KIND)
}

/// Only the model refuses. Images that others than the user show aren't refused by all models (PROVIDERS.md B.3).
fn refusals(entry: Entry<'_>) -> Vec<Finding> {
    let is_one = |part: &Part<'_>| part.kind() == PartKind::Opaque && part.name() == "refusal";
    let found = |part: Part<'_>| {
        Finding::of_part(rules::CHAT_KIND, entry.index, part.slot, "a refusal of another's")
    };
    let is_models = matches!(entry.role(), Role::Assistant | Role::Other);
    entry.parts().filter(|part| !is_models && is_one(part)).map(found).collect()
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

/// Whether a part is a block of Anthropic's. Others than OpenAI have blocks that are called as some of these are.
fn is_strange(part: &Part<'_>, is_for_openai: bool) -> bool {
    if part.kind() != PartKind::Opaque || !part.raw().starts_with('{') {
        return false;
    }
    let member = |name| json::member(part.raw(), Span::new(0..part.raw().len()), name);
    match part.name().as_ref() {
        kind if is_for_openai => ANTHROPICS.contains(&kind),
        // Mistral's has a list of texts.
        "thinking" => member("thinking").is_some_and(|said| said.of(part.raw()).starts_with('"')),
        "image" | "document" => member("source").is_some(),
        kind => ANTHROPICS.contains(&kind),
    }
}
