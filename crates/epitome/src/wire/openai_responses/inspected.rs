//! Whether the request is for a model of OpenAI's, and answers to what it asked leave for.

use std::collections::HashSet;

use crate::json;
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part};
use crate::wire::rules::{self, Finding};
use crate::wire::tool_names;

/// Others behind the same format take what they like.
pub(super) fn is_openais(request: &Request) -> bool {
    request.reader().is_none_or(|model| {
        let name = model.rsplit('/').next().unwrap_or_default();
        ["gpt-", "o1", "o3", "o4", "codex", "chatgpt", "computer-use"]
            .iter()
            .any(|start| name.starts_with(start))
    })
}

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = tool_names::repeated(request, &["tools", ""], rules::RESPONSES_TOOL_NAMES);
    findings.extend(unknown_choice(request));
    findings.extend(approvals(request));
    findings.extend(request.transcript.entries().flat_map(shown_by_model));
    findings
}

/// A choice of a function that isn't there, nor where others may come from.
fn unknown_choice(request: &Request) -> Option<Finding> {
    let kind = request.value(&["tool_choice", "type"])?;
    let tools = request.tools().unwrap_or_default();
    let mut entries = request.transcript.entries();
    let adds = |part: Part<'_>| {
        matches!(part.name().as_ref(), "additional_tools" | "tool_search_output" | "item_reference")
    };
    let is_open = ["\"namespace\"", "\"tool_search\""].iter().any(|kind| tools.contains(kind))
        || request.value(&["prompt"]).is_some()
        || entries.any(|entry| entry.parts().any(adds));
    if is_open || !matches!(kind, "\"function\"" | "\"custom\"") {
        return None;
    }
    let (path, choice) = (["tools", ""], ["tool_choice", "name"]);
    tool_names::unknown_choice(request, &path, &choice, rules::RESPONSES_VALUE)
}

/// The model shows nothing.
fn shown_by_model(entry: Entry<'_>) -> Vec<Finding> {
    let is_models = json::text_member(entry.raw(), "role").is_some_and(|role| role == "assistant");
    let media = entry.parts().filter(|part| {
        let kind = json::text_member(part.raw(), "type").filter(|_| part.raw().starts_with('{'));
        matches!(kind.as_deref(), Some("input_image" | "input_file"))
    });
    let of_part = |part: Part<'_>| {
        Finding::of_part(rules::RESPONSES_CONTENT, entry.index, part.slot, part.name())
    };
    if is_models { media.map(of_part).collect() } else { Vec::new() }
}

fn approvals(request: &Request) -> Vec<Finding> {
    // The rest may be where the history is.
    let transcript = &request.transcript;
    let mut entries = transcript.entries();
    let is_elsewhere = |kind: &str| kind == "item_reference";
    let kind = |raw: &str| json::text_member(raw, "type").unwrap_or_default();
    let whole = |raw: &str| raw.starts_with('{');
    if request.keeper().is_some()
        || entries.any(|entry| whole(entry.raw()) && is_elsewhere(&kind(entry.raw())))
    {
        return Vec::new();
    }
    let mut asked: HashSet<String> = HashSet::new();
    let mut findings = Vec::new();
    for entry in transcript.entries() {
        let Some(part) = entry.parts().next().filter(|part| part.is(Marks::STATEFUL)) else {
            continue;
        };
        let raw = entry.raw();
        match part.name().as_ref() {
            "mcp_approval_request" => asked.extend(json::text_member(raw, "id")),
            "mcp_approval_response" => {
                let id = json::text_member(raw, "approval_request_id").unwrap_or_default();
                if !asked.contains(&id) {
                    let rule = rules::RESPONSES_APPROVAL;
                    findings.push(Finding::of_part(rule, entry.index, part.slot, id));
                }
            }
            _ => {}
        }
    }
    findings
}
