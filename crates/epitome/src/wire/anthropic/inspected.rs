//! Which blocks may stand where, and which belong together, as far as no compaction has to know.

use std::collections::{HashMap, HashSet};

use crate::json;
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Slot};
use crate::wire::rules::{self, Finding};

/// Whether the request is for a model of which the SDK's types hold: others behind the same format take what they like.
pub(super) fn is_claudes(request: &Request) -> bool {
    request.reader().is_none_or(|model| model.contains("claude"))
}

pub(super) fn check(request: &Request) -> Vec<Finding> {
    if !is_claudes(request) {
        return Vec::new();
    }
    let mut findings = sides(request);
    findings.extend(served(request));
    findings.extend(references(request));
    findings
}

/// Thinking is the assistant's; images and documents are the user's.
fn sides(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in request.transcript.entries() {
        let strange = match entry.role() {
            Role::User => PartKind::Reasoning,
            Role::Assistant => PartKind::Media,
            _ => continue,
        };
        let is_strange = |part: &Part<'_>| part.kind() == strange && !part.is(Marks::NESTED);
        findings.extend(entry.parts().filter(is_strange).map(|part| {
            let kind = json::text_member(part.raw(), "type").unwrap_or_default();
            Finding::of_part(rules::ANTHROPIC_BLOCK_SIDE, entry.index, part.slot, &kind)
        }));
    }
    findings
}

/// What the provider's own tools were asked is answered before a person speaks again, and asked under an id of its own.
fn served(request: &Request) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut findings = Vec::new();
    let mut open: HashMap<String, (usize, Slot)> = HashMap::new();
    let mut ids: HashSet<String> = HashSet::new();
    for entry in transcript.entries() {
        for part in entry.parts().filter(|part| part.is(Marks::SERVER)) {
            let id = part.id().into_owned();
            match part.kind() {
                PartKind::Call => {
                    if !ids.insert(id.clone()) {
                        let rule = rules::ANTHROPIC_REUSED_SERVED_ID;
                        findings.push(Finding::of_part(rule, entry.index, part.slot, &id));
                    }
                    open.insert(id, (entry.index, part.slot));
                }
                PartKind::Result => {
                    open.remove(&id);
                }
                _ => {}
            }
        }
        let speaks = |part: Part<'_>| part.kind() == PartKind::Text && !part.is(Marks::NESTED);
        // A program goes on when the tools that it called were answered; a pause, when the reply is sent back.
        if entry.role() == Role::User && !entry.has_results() && entry.parts().any(speaks) {
            let rule = rules::ANTHROPIC_UNSERVED;
            findings
                .extend(open.drain().map(|(id, (at, slot))| Finding::of_part(rule, at, slot, &id)));
        }
    }
    findings.sort_by_key(|finding| finding.slot);
    findings
}

/// A reference is to a tool that is defined.
fn references(request: &Request) -> Vec<Finding> {
    let source = request.source();
    let tools = request.frame.tools;
    let defined = json::elements(source, tools).unwrap_or_default();
    if defined.is_empty() || request.value(&["mcp_servers"]).is_some() {
        return Vec::new();
    }
    let mut names: HashSet<String> = HashSet::new();
    for tool in defined {
        let tool = tool.of(source);
        if json::text_member(tool, "type").is_some_and(|kind| kind.ends_with("_toolset")) {
            return Vec::new();
        }
        names.extend(json::text_member(tool, "name"));
    }
    // A tool may have been added.
    let is_fixed = !source.contains("\"tool_addition\"");
    let mut findings = Vec::new();
    for entry in request.transcript.entries() {
        let is_one = |part: &Part<'_>| part.is(Marks::NESTED) && part.name() == "tool_reference";
        for part in entry.parts().filter(is_one) {
            let name = json::text_member(part.raw(), "tool_name").unwrap_or_default();
            if is_fixed && !names.contains(&name) {
                findings.push(Finding::of_part(
                    rules::ANTHROPIC_REFERENCE,
                    entry.index,
                    part.slot,
                    &name,
                ));
            }
        }
    }
    findings
}
