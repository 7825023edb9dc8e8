//! Tools of one name, where a provider takes only different ones.

use std::collections::HashMap;

use super::rules::{Finding, Mend, RuleId};
use crate::json::{self, Span};
use crate::request::Request;

/// The names that are there more than once, where each tool lies under `path` in the tool definitions: an empty step goes
/// through the elements of a list.
pub(super) fn repeated(request: &Request, path: &[&str], rule: RuleId) -> Vec<Finding> {
    let source = request.source();
    // Each with what would leave with it: it, and what separates it from the one before it.
    let mut tools = vec![(None, request.frame.tools)];
    for step in path {
        let inner = |(hole, span): (Option<Span>, Span)| -> Vec<(Option<Span>, Span)> {
            match (*step, span.of(source).as_bytes().first()) {
                ("", Some(b'[')) => {
                    let items = json::elements(source, span).unwrap_or_default();
                    let behind = |pair: &[Span]| {
                        (Some(Span { start: pair[0].end, end: pair[1].end }), pair[1])
                    };
                    let first = items.first().map(|first| (None, *first));
                    first.into_iter().chain(items.windows(2).map(behind)).collect()
                }
                (key, Some(b'{')) if !key.is_empty() => {
                    json::member(source, span, key).map(|span| (hole, span)).into_iter().collect()
                }
                _ => Vec::new(),
            }
        };
        tools = tools.into_iter().flat_map(inner).collect();
    }
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut findings = Vec::new();
    for (hole, span) in tools {
        let tool = span.of(source);
        let name = tool.starts_with('{').then(|| json::text_member(tool, "name")).flatten();
        let Some(detail) = name else { continue };
        let Some(first) = seen.get(&detail) else {
            seen.insert(detail, tool);
            continue;
        };
        // The very same tool once more says nothing.
        let mend = hole.filter(|_| *first == tool).map_or(Mend::Nothing, Mend::LeaveOut);
        findings.push(Finding { rule, entry: 0, slot: None, detail, mend });
    }
    findings
}
