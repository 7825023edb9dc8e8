//! What Bedrock Converse demands: turns that alternate, results first in the user's next turn, names and
//! ids of certain letters, tools defined where any was called.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::block::BLOCKS;
use crate::json::{self, Span, quote, unquote};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::arguments::as_object;
use crate::wire::clean::Past;
use crate::wire::id_charset::{Letters, ids};
use crate::wire::layout::joins;
use crate::wire::pairing::{PairRules, Scope};
use crate::wire::rules::{self, Finding, Mend, RuleId, stranger};
use crate::wire::turns::{pairs, runs, thinking_first};
use crate::wire::{keyed_parts, members, tool_names, untyped};

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut findings = Vec::from_iter(rules::nothing_said(request, rules::BEDROCK_NONE));
    let mixes = takes_mixed(request);
    for entry in past.rest(transcript) {
        members::of_entry(
            request.source(),
            entry,
            &["role", "content"],
            rules::BEDROCK_MEMBER,
            &mut findings,
        );
        shape(entry, &mut findings);
        if !mixes {
            mixed(entry, &mut findings);
        }
    }
    let runs = runs(transcript, past);
    order(transcript, &runs, &mut findings);
    findings.extend(thinking_first(request, rules::BEDROCK_THINKING_FIRST));
    let pair_rules = PairRules {
        answered: rules::BEDROCK_ANSWERED,
        orphan: rules::BEDROCK_ORPHAN,
        duplicate: rules::BEDROCK_DUPLICATE,
        place: rules::BEDROCK_PLACE,
        reused: rules::BEDROCK_REUSED_ID,
        unique: Scope::Batch,
    };
    findings.extend(pairs(request, &runs, pair_rules, past));
    let letters = Letters { others: "_.:-", longest: LONGEST };
    findings.extend(ids(transcript, letters, rules::BEDROCK_ID, past));
    tool_config(request, past, &mut findings);
    let path = ["toolConfig", "tools", "", "toolSpec"];
    findings.extend(tool_names::repeated(request, &path, rules::BEDROCK_TOOL_NAMES));
    findings
}

/// What the rules of entries ask the frame.
pub(super) fn asked_of_frame(request: &Request) -> String {
    let tools = request.tools().map(|_| "tools");
    format!("{:?} {tools:?} {}", request.keeper(), takes_mixed(request))
}

/// Whether the model accepts words beside results. An unnamed model may: a request that came so is compacted so.
fn takes_mixed(request: &Request) -> bool {
    request.reader().is_none_or(|model| model.contains("claude"))
}

/// Where nobody names the model, it is taken for the strictest one by who only looks, or writes a request anew.
pub(super) fn inspect(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    if request.reader().is_none() {
        request.transcript.entries().for_each(|entry| mixed(entry, &mut findings));
    }
    findings
}

/// In characters, for names and ids (`ToolName` and `ToolUseId` of the service model).
const LONGEST: usize = 64;

/// What names are made of.
const NAME: Letters = Letters { others: "_-", longest: LONGEST };

/// The name of a tool as it may stand here.
pub(in crate::wire) fn tool_name(name: &str) -> String {
    if name.is_empty() { "unknown".to_owned() } else { NAME.lawful(name, LONGEST) }
}

fn shape(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let mut find = |rule: RuleId, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    if entry.role() == Role::Other {
        return find(rules::BEDROCK_SHAPE, None, "no known role", stranger(entry));
    }
    if entry.parts().next().is_none() {
        return find(rules::BEDROCK_EMPTY, None, "no content", Mend::DropEntry);
    }
    for part in entry.parts() {
        let slot = Some(part.slot);
        match part.kind() {
            PartKind::Opaque => match members(part.raw()) {
                Some(1) if part.is_element() => {}
                Some(2..) if part.is_element() => {
                    find(rules::BEDROCK_BLOCK, slot, "several members", Mend::Nothing);
                }
                members => {
                    let said = if members.is_some_and(|count| count > 0) {
                        "a block by itself"
                    } else {
                        "no block"
                    };
                    let mend = rules::replaced(part.slot, untyped::keyed(&part));
                    find(rules::BEDROCK_BLOCK, slot, said, mend);
                }
            },
            PartKind::Text if part.text().trim().is_empty() => {
                find(rules::BEDROCK_BLANK, slot, "", Mend::DropPart(part.slot));
            }
            PartKind::Result
                if !part.is(Marks::SERVER)
                    && part.is(Marks::LITERAL)
                    && part.text().trim().is_empty() =>
            {
                let mend = Mend::Rewrite { slot: part.slot, json: quote(rules::EMPTY_RESULT) };
                find(rules::BEDROCK_BLANK, slot, "a result", mend);
            }
            PartKind::Result if part.is(Marks::ERROR) && matches!(part.raw_body(), "" | "[]") => {
                let json = keyed_parts::one_text(rules::EMPTY_RESULT);
                let mend = Mend::Rewrite { slot: part.slot, json };
                find(rules::BEDROCK_EMPTY_ERROR, slot, &part.id(), mend);
            }
            PartKind::Call if !part.is(Marks::SERVER) && entry.role() != Role::Assistant => {
                find(rules::BEDROCK_SIDE, slot, &part.name(), Mend::DropPart(part.slot));
            }
            PartKind::Call if !part.is(Marks::SERVER) => {
                let name = part.name();
                if name.is_empty() || !NAME.are_those_of(&name) {
                    let mend = Mend::CallTool { slot: part.slot, name: tool_name(&name) };
                    find(rules::BEDROCK_NAME, slot, &name, mend);
                }
                if !part.raw_body().starts_with('{') {
                    let json = as_object(part.raw_body()).unwrap_or_else(|| "{}".to_owned());
                    find(
                        rules::BEDROCK_INPUT,
                        slot,
                        &name,
                        Mend::Rewrite { slot: part.slot, json },
                    );
                }
            }
            _ => {}
        }
    }
}

/// How many members of a block an element has, one that isn't known if there is no other; `None` if it
/// is no object.
fn members(raw: &str) -> Option<usize> {
    let members = json::members(raw, Span::new(0..raw.len())).ok()?;
    let names: BTreeSet<_> = members.iter().map(|(key, _)| unquote(key.of(raw))).collect();
    let known = names.iter().filter(|name| BLOCKS.contains(&name.as_ref())).count();
    Some(known.max(usize::from(!names.is_empty())))
}

/// Words beside results, where the model doesn't take them.
fn mixed(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let speaks =
        |p: &Part<'_>| !p.is(Marks::NESTED) && matches!(p.kind(), PartKind::Text | PartKind::Media);
    let words = entry.parts().find(speaks).filter(|_| entry.has_results());
    if let Some(words) = words {
        let (rule, detail) = (rules::BEDROCK_MIXED, "words beside results");
        findings.push(Finding::of_part(rule, entry.index, words.slot, detail));
    }
}

fn order(transcript: &Transcript, runs: &[Range<usize>], findings: &mut Vec<Finding>) {
    let first = runs.first().filter(|run| run.start == 0);
    if first.is_some_and(|first| transcript.entry(first.start).role() == Role::Assistant) {
        findings.push(Finding::of_entry(rules::BEDROCK_FIRST, 0, None, "assistant", Mend::LeadIn));
    }
    let takes_turns = |run: &&Range<usize>| {
        matches!(transcript.entry(run.start).role(), Role::User | Role::Assistant)
    };
    for run in runs.iter().filter(takes_turns) {
        findings.extend(joins(transcript, run, "content").map(|(entry, mend)| {
            Finding::of_entry(rules::BEDROCK_ALTERNATES, entry, None, "the same role again", mend)
        }));
    }
}

fn tool_config(request: &Request, past: &Past, findings: &mut Vec<Finding>) {
    if request.tools().is_some() || request.frame.envelope != Envelope::Body {
        return;
    }
    // A result without a call leaves, and needs no tool.
    let used = past.rest(&request.transcript).find(Entry::has_calls);
    if let Some(used) = used {
        let is_there = !request.frame.tools.is_empty();
        findings.push(Finding::of_entry(
            rules::BEDROCK_TOOLS,
            used.index,
            None,
            "no toolConfig",
            if is_there { Mend::Nothing } else { Mend::DefineTools },
        ));
    }
}

/// The member of a body that defines the tools that were called.
pub(in crate::wire) fn called_tools(transcript: &Transcript) -> String {
    let calls = transcript.entries().flat_map(|entry| entry.parts());
    let mut seen = HashSet::new();
    let tools: Vec<String> = calls
        .filter(|part| part.kind() == PartKind::Call && !part.is(Marks::SERVER))
        .map(|part| tool_name(&part.name()))
        .filter(|name| seen.insert(name.clone()))
        .collect();
    let spec = |name: &String| {
        format!(
            r#"{{"toolSpec":{{"name":{},"inputSchema":{{"json":{{"type":"object"}}}}}}}}"#,
            quote(name)
        )
    };
    let tools: Vec<String> = tools.iter().map(spec).collect();
    format!(r#""toolConfig":{{"tools":[{}]}}"#, tools.join(","))
}
