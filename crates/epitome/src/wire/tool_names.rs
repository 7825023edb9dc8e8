//! Tools of one name, where a provider takes only different ones.

use std::collections::HashMap;

use super::rules::{Finding, Mend, RuleId};
use crate::json::{self, Span};
use crate::request::Request;

/// What would leave with a tool, the tool, and its path.
type Tool = (Option<Span>, Span, String);

/// A choice of a tool that isn't defined: its name stands at `choice`, and the tools lie at `path` (see [`repeated`]).
pub(super) fn unknown_choice(
    request: &Request,
    path: &[&str],
    choice: &[&str],
    rule: RuleId,
) -> Option<Finding> {
    let chosen = json::unquote(request.value(choice)?);
    let source = request.source();
    let tools = tools_at(request, path).into_iter();
    let names = |tool: &str| json::text_member(tool, "name").is_some_and(|name| name == chosen);
    let mut tools = tools.map(|(_, span, _)| span.of(source)).filter(|it| it.starts_with('{'));
    (!tools.any(names)).then(|| Finding::of_member(rule, &choice.join("."), chosen))
}

/// The names that are there more than once, where each tool lies at `path`, which begins with the member of the tool
/// definitions: an empty step goes through the elements of a list.
pub(super) fn repeated(request: &Request, path: &[&str], rule: RuleId) -> Vec<Finding> {
    let source = request.source();
    let tools = tools_at(request, path);
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut findings = Vec::new();
    for (hole, span, place) in tools {
        let tool = span.of(source);
        let name = tool.starts_with('{').then(|| json::text_member(tool, "name")).flatten();
        let Some(detail) = name else { continue };
        let Some(first) = seen.get(&detail) else {
            seen.insert(detail, tool);
            continue;
        };
        // The very same tool once more says nothing.
        let mend = hole.filter(|_| *first == tool).map_or(Mend::Nothing, Mend::LeaveOut);
        let member = Some(format!("{place}.name"));
        findings.push(Finding { rule, entry: 0, member, slot: None, detail, mend });
    }
    findings
}

fn tools_at(request: &Request, path: &[&str]) -> Vec<Tool> {
    let source = request.source();
    // Each with what would be removed with it: itself, and the separator before it.
    let (root, path) = path.split_first().expect("a path has steps");
    let mut tools: Vec<Tool> = vec![(None, request.frame.tools, (*root).to_owned())];
    for step in path {
        let inner = |(hole, span, place): Tool| -> Vec<Tool> {
            match (*step, span.of(source).as_bytes().first()) {
                ("", Some(b'[')) => {
                    let items = json::elements(source, span).unwrap_or_default();
                    let behind = |at: usize| {
                        let before = at.checked_sub(1).map(|before| items[before].end);
                        let hole = before.map(|start| Span { start, end: items[at].end });
                        (hole, items[at], format!("{place}[{at}]"))
                    };
                    (0..items.len()).map(behind).collect()
                }
                (key, Some(b'{')) if !key.is_empty() => {
                    let inside = json::member(source, span, key);
                    inside.map(|span| (hole, span, format!("{place}.{key}"))).into_iter().collect()
                }
                _ => Vec::new(),
            }
        };
        tools = tools.into_iter().flat_map(inner).collect();
    }
    tools
}
