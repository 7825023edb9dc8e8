//! The provider's rules for the members around the messages (PROVIDERS.md B.1.1, B.1.5). None of them can be repaired:
//! only the author knows the intent.

use serde::Deserialize;
use serde_json::Value;

use crate::request::{Envelope, Request};
use crate::transcript::Role;
use crate::wire::rules::{self, Finding, RuleId};

/// Messages in one request.
const MOST_MESSAGES: usize = 100_000;
/// Tokens that thinking gets at least.
const LEAST_BUDGET: i64 = 1_024;
/// Tokens at which the provider may begin to compact.
const LEAST_TRIGGER: u64 = 50_000;

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |rule: RuleId, member: &str, detail: String| {
        findings.push(Finding::of_member(rule, member, detail));
    };
    let count = request.transcript.len();
    if count > MOST_MESSAGES {
        find(rules::ANTHROPIC_MOST, "messages", format!("{count} messages"));
    }
    if request.frame.envelope != Envelope::Body {
        return findings;
    }
    let Ok(frame) = serde_json::from_str::<Frame>(&request.slim()) else {
        return findings;
    };
    let budget = frame.thinking["budget_tokens"].as_i64();
    if let Some(budget) = budget.filter(|_| frame.thinking["type"] == "enabled") {
        // Between the calls of tools it may think several times, of which the budget is the sum.
        let most = frame.max_tokens.as_i64().filter(|_| request.tools().is_none());
        if budget < LEAST_BUDGET || most.is_some_and(|most| most <= budget) {
            let of = most.map(|most| format!(" of {most}")).unwrap_or_default();
            find(rules::ANTHROPIC_BUDGET, "thinking.budget_tokens", format!("{budget} tokens{of}"));
        }
    }
    if !(frame.context_management.is_null() || frame.compaction.is_null()) {
        find(rules::ANTHROPIC_EITHER, "compaction", "both are asked for".to_owned());
    }
    if !frame.compaction.is_null() {
        if let Some(what) = frame.beside_compaction() {
            find(rules::ANTHROPIC_ON_DEMAND, what, "beside `compaction`".to_owned());
        }
        let last = request.transcript.entries().next_back();
        if let Some(last) = last.filter(|last| last.role() == Role::Assistant && last.has_calls()) {
            let at = format!("messages[{}]", last.index);
            find(rules::ANTHROPIC_ON_DEMAND, &at, "an open call".to_owned());
        }
    }
    let edits = frame.context_management["edits"].as_array();
    for (at, edit) in edits.into_iter().flatten().enumerate() {
        let kind = edit["type"].as_str().unwrap_or_default();
        if kind.starts_with("clear_thinking") && at > 0 {
            find(
                rules::ANTHROPIC_CLEAR_FIRST,
                &of_edit(at, "type"),
                format!("it is edit {}", at + 1),
            );
        }
        let tokens = edit["trigger"]["value"].as_u64().filter(|tokens| *tokens < LEAST_TRIGGER);
        if let Some(tokens) = tokens.filter(|_| kind.starts_with("compact_")) {
            find(
                rules::ANTHROPIC_THRESHOLD,
                &of_edit(at, "trigger.value"),
                format!("{tokens} tokens"),
            );
        }
    }
    findings
}

/// The path of a member of an edit.
fn of_edit(at: usize, member: &str) -> String {
    format!("context_management.edits[{at}].{member}")
}

/// The members that rules speak of.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Frame {
    max_tokens: Value,
    thinking: Value,
    context_management: Value,
    compaction: Value,
    stop_sequences: Value,
    tool_choice: Value,
    output_config: Value,
}

impl Frame {
    /// What a request for a compaction may not ask for besides.
    fn beside_compaction(&self) -> Option<&'static str> {
        let is_forced = matches!(self.tool_choice["type"].as_str(), Some("any" | "tool"));
        let stops = self.stop_sequences.as_array().is_some_and(|all| !all.is_empty());
        match () {
            () if is_forced => Some("tool_choice"),
            () if stops => Some("stop_sequences"),
            () if !self.output_config["format"].is_null() => Some("output_config.format"),
            () if !self.output_config["task_budget"]["remaining"].is_null() => {
                Some("output_config.task_budget.remaining")
            }
            () => None,
        }
    }
}
