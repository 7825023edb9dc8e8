//! Tools of one name, where a provider takes only different ones.

use std::collections::HashSet;

use super::rules::{Finding, Mend, RuleId};
use crate::json::{self, Span};
use crate::request::Request;

/// The names that are there more than once, where each tool lies under `path` in the tool definitions: an empty step goes
/// through the elements of a list.
pub(super) fn repeated(request: &Request, path: &[&str], rule: RuleId) -> Vec<Finding> {
    let source = request.source();
    let mut tools = vec![request.frame.tools];
    for step in path {
        let inner = |span: Span| -> Vec<Span> {
            match (*step, span.of(source).as_bytes().first()) {
                ("", Some(b'[')) => json::elements(source, span).unwrap_or_default(),
                (key, Some(b'{')) if !key.is_empty() => {
                    json::member(source, span, key).into_iter().collect()
                }
                _ => Vec::new(),
            }
        };
        tools = tools.into_iter().flat_map(inner).collect();
    }
    let mut seen = HashSet::new();
    let names = tools.into_iter().filter_map(|tool| {
        let tool = tool.of(source);
        tool.starts_with('{').then(|| json::text_member(tool, "name")).flatten()
    });
    names
        .filter(|name| !seen.insert(name.clone()))
        .map(|detail| Finding { rule, entry: 0, slot: None, detail, mend: Mend::Nothing })
        .collect()
}
