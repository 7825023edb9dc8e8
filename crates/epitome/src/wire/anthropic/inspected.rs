//! Which blocks may stand where, and which belong together, as far as no compaction has to know.

use std::collections::HashSet;

use super::served;
use crate::json::{self, Span, quote};
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role};
use crate::wire::rules::{self, Finding, Mend};
use crate::wire::thinking::Thinking;
use crate::word_list::words;

/// Whether the request is for a model of which the SDK's types hold: others behind the same format take what they like.
pub(super) fn is_claudes(request: &Request) -> bool {
    request.reader().is_none_or(|model| model.contains("claude"))
}

pub(super) fn check(request: &Request) -> Vec<Finding> {
    if !is_claudes(request) {
        return Vec::new();
    }
    let mut findings = sides(request);
    findings.extend(served::check(request));
    findings.extend(references(request));
    findings.extend(last_block(request));
    findings.extend(citations(request));
    findings.extend(beside_thinking(request));
    findings.extend(limit(request));
    findings
}

/// Nothing is written on behind thinking, or behind white space. A session that has ended is no request: only one that says how long
/// an answer may be asks for more.
fn last_block(request: &Request) -> Option<Finding> {
    request.value(&["max_tokens"])?;
    let last = request.transcript.entries().next_back()?;
    let block = last.parts().rfind(|part| !part.is(Marks::NESTED))?;
    let find = |rule, detail: &str, mend| {
        Some(Finding::of_entry(rule, last.index, Some(block.slot), detail, mend))
    };
    match block.kind() {
        _ if last.role() != Role::Assistant => None,
        PartKind::Reasoning if block.name() == "thinking" => {
            let (rule, mend) = (rules::ANTHROPIC_BLOCK_SIDE, Mend::DropPart(block.slot));
            find(rule, "thinking is the last block", mend)
        }
        PartKind::Text if block.is(Marks::LITERAL) => {
            let text = block.text();
            let said = text.trim_end();
            if said.is_empty() || said.len() == text.len() {
                return None;
            }
            let mend = Mend::Rewrite { slot: block.slot, json: quote(said) };
            find(rules::ANTHROPIC_VALUE, "the last text ends with white space", mend)
        }
        _ => None,
    }
}

/// A limit that is missing where an answer is asked for: a count of tokens, which needs none, has none of these members.
fn limit(request: &Request) -> Option<Finding> {
    const ASKS: [&str; 6] = words!("stream temperature top_k top_p stop_sequences metadata");
    let asks = ASKS.iter().any(|name| request.value(&[name]).is_some());
    let lacks = asks && request.value(&["max_tokens"]).is_none();
    lacks.then(|| Finding::of_member(rules::ANTHROPIC_MISSING, "max_tokens", "no max_tokens"))
}

/// What doesn't go with thinking that is enabled by hand (PROVIDERS.md B.1.3).
fn beside_thinking(request: &Request) -> Vec<Finding> {
    if Thinking::of(request) != Thinking::Manual {
        return Vec::new();
    }
    let number = |name| request.value(&[name]).and_then(|raw| raw.parse::<f64>().ok());
    let is_forced = request.says_other(&["tool_choice", "type"], &["auto", "none"]);
    let members = [
        ("tool_choice", is_forced),
        ("temperature", number("temperature").is_some_and(|warmth| warmth < 1.0)),
        ("top_k", number("top_k").is_some()),
        ("top_p", number("top_p").is_some_and(|share| share < 0.95)),
    ];
    let of_member =
        |member: &str| Finding::of_member(rules::ANTHROPIC_VALUE, member, "beside thinking");
    let mut findings: Vec<Finding> =
        members.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| of_member(name)).collect();
    findings.extend(prefill(request));
    findings
}

/// The beginning of an answer, in which nothing was thought.
fn prefill(request: &Request) -> Option<Finding> {
    let entries = request.transcript.entries().rev();
    let mut parts = entries
        .take_while(|entry| entry.role() == Role::Assistant)
        .flat_map(|entry| entry.parts().rev());
    let last = parts.next().filter(|last| last.kind() == PartKind::Text)?;
    if parts.any(|part| part.kind() == PartKind::Reasoning || part.is(Marks::SERVER)) {
        return None;
    }
    let at = request.transcript.entry_of(last.slot);
    let detail = "the last message starts without thinking";
    Some(Finding::of_part(rules::ANTHROPIC_THINKING_FIRST, at, last.slot, detail))
}

/// Documents without citations where others have them.
fn citations(request: &Request) -> Vec<Finding> {
    let entries = request.transcript.entries();
    let parts = entries.flat_map(|entry| entry.parts().map(move |part| (entry.index, part)));
    let document = |(at, part): (usize, Part<'_>)| {
        let is_one = part.kind() == PartKind::Media && !part.is(Marks::NESTED);
        let raw = Some(part.raw()).filter(|raw| is_one && raw.starts_with('{'))?;
        json::text_member(raw, "type").filter(|kind| kind == "document")?;
        let citations = json::member(raw, Span::new(0..raw.len()), "citations");
        let enabled = citations.filter(|it| it.of(raw).starts_with('{'));
        let enabled = enabled.and_then(|it| json::member(raw, it, "enabled"));
        Some((at, part.slot, enabled.is_some_and(|enabled| enabled.of(raw) == "true")))
    };
    let documents: Vec<_> = parts.filter_map(document).collect();
    let (cited, plain): (Vec<_>, Vec<_>) = documents.into_iter().partition(|(.., cites)| *cites);
    let of_part = |(at, slot, _)| {
        let detail = "a document without citations beside one that has them";
        Finding::of_part(rules::ANTHROPIC_VALUE, at, slot, detail)
    };
    plain.into_iter().filter(|_| !cited.is_empty()).map(of_part).collect()
}

/// Thinking, and what the provider's own tools were asked and gave, is the assistant's; images and documents are the user's.
fn sides(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in request.transcript.entries() {
        let is_of_other = |part: &Part<'_>| match entry.role() {
            Role::User => part.kind() == PartKind::Reasoning || part.is(Marks::SERVER),
            Role::Assistant => part.kind() == PartKind::Media,
            // A system message says texts, and which tools there are.
            Role::System => matches!(part.kind(), PartKind::Media | PartKind::Reasoning),
            _ => false,
        };
        let is_strange = |part: &Part<'_>| is_of_other(part) && !part.is(Marks::NESTED);
        findings.extend(entry.parts().filter(is_strange).map(|part| {
            let kind = json::text_member(part.raw(), "type").unwrap_or_default();
            Finding::of_part(rules::ANTHROPIC_BLOCK_SIDE, entry.index, part.slot, &kind)
        }));
    }
    findings
}

/// A reference, and a choice, is of a tool that is defined.
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
    let chosen = request.value(&["tool_choice", "name"]).map(|name| json::unquote(name));
    let chosen = chosen.filter(|name| is_fixed && !names.contains(name.as_ref()));
    let of_choice = |name| Finding::of_member(rules::ANTHROPIC_REFERENCE, "tool_choice.name", name);
    let mut findings = Vec::from_iter(chosen.map(of_choice));
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
