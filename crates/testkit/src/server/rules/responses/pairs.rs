//! Calls and outputs by `call_id`, reasoning and what it belongs to (B.2.2).

use std::collections::HashSet;

use serde_json::Value;

use super::invalid;
use super::items::{is_known, kind};
use crate::server::error::ApiError;
use crate::server::rules::{Judge, text};

/// A kind of call, the outputs that answer it, and what the errors call it.
const PAIRS: [(&str, &[&str], &str); 7] = [
    ("function_call", &["function_call_output"], "function call"),
    ("custom_tool_call", &["custom_tool_call_output"], "custom tool call"),
    // A local shell's call may have a function's output.
    ("local_shell_call", &["local_shell_call_output", "function_call_output"], "local shell call"),
    ("shell_call", &["shell_call_output"], "shell call"),
    ("apply_patch_call", &["apply_patch_call_output"], "apply patch call"),
    ("computer_call", &["computer_call_output"], "computer call"),
    ("tool_search_call", &["tool_search_output", "tool_search_call_output"], "tool search call"),
];
/// Digits of the id of reasoning at the end of the id of what it belongs to ([`follows`]).
const REASONING_ID: usize = 32;
const OWN_ID: usize = 24;

/// `is_whole`: nothing of the conversation is kept elsewhere.
pub(super) fn check(judge: &Judge, items: &[Value], is_whole: IsWhole) -> Result<(), ApiError> {
    unique(items)?;
    for (at, item) in items.iter().enumerate() {
        let Some((_, _, name)) = PAIRS.iter().find(|(_, outputs, _)| outputs.contains(&kind(item)))
        else {
            continue;
        };
        let id = call_id(item);
        let is_free =
            item["execution"] == "server" || id.is_empty() && !text(&item["name"]).is_empty();
        let answers = |call: &Value| answers(call, item);
        if !is_free && !items[..at].iter().any(answers) && is_whole.at(items, at) {
            return Err(invalid(format!(
                "No tool call found for {name} output with call_id {id}."
            ))
            .param("input"));
        }
    }
    for (at, item) in items.iter().enumerate() {
        let Some((_, _, name)) = PAIRS.iter().find(|(call, ..)| *call == kind(item)) else {
            continue;
        };
        // What the provider runs needs no output from us, what runs on its own may still be running.
        let is_free = item["execution"] == "server"
            || item["async"] == true
            || kind(item) == "tool_search_call" && !item["call_id"].is_string();
        let is_answered = items[at..].iter().any(|output| answers(item, output));
        let is_referred = items[at..].iter().any(|item| kind(item) == "item_reference");
        if !(is_free || is_answered || is_referred) {
            return Err(invalid(format!("No tool output found for {name} {}.", call_id(item)))
                .param("input"));
        }
    }
    reasoning(judge, items, is_whole)?;
    let trigger = items.iter().position(|item| kind(item) == "compaction_trigger");
    if trigger.is_some_and(|at| at + 1 < items.len()) {
        return Err(invalid("'compaction_trigger' must be the final input item.").param("input"));
    }
    Ok(())
}

/// Where the rest of a conversation may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsWhole {
    /// Everything is here, but for what items refer to.
    Yes,
    /// The provider keeps what came before, and we weren't told.
    No,
}

impl IsWhole {
    fn at(self, items: &[Value], at: usize) -> bool {
        self == IsWhole::Yes && !items[..at].iter().any(|item| kind(item) == "item_reference")
    }
}

fn answers(call: &Value, output: &Value) -> bool {
    let fits = |(name, outputs, _): &(&str, &[&str], &str)| {
        *name == kind(call) && outputs.contains(&kind(output))
    };
    PAIRS.iter().any(fits) && call_id(call) == call_id(output)
}

/// The older shell names its call by `id`.
fn call_id(item: &Value) -> &str {
    item["call_id"].as_str().unwrap_or_else(|| text(&item["id"]))
}

/// Calls, outputs and items are there once.
fn unique(items: &[Value]) -> Result<(), ApiError> {
    let mut ids = HashSet::new();
    let mut calls = HashSet::new();
    for item in items {
        let id = text(&item["id"]);
        if !id.is_empty() && kind(item) != "local_shell_call_output" && !ids.insert(id) {
            return Err(invalid(format!(
                "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            ))
            .param("input"));
        }
        let call = text(&item["call_id"]);
        let is_pair = PAIRS
            .iter()
            .any(|(call, outputs, _)| *call == kind(item) || outputs.contains(&kind(item)));
        let is_output = kind(item).ends_with("_output");
        if is_pair && !call.is_empty() && !calls.insert((is_output, call)) {
            return Err(
                invalid(format!("Duplicate {} for call_id '{call}'.", kind(item))).param("input")
            );
        }
    }
    Ok(())
}

/// With ids, reasoning stands before what it belongs to, and that not without it.
fn reasoning(judge: &Judge, items: &[Value], is_whole: IsWhole) -> Result<(), ApiError> {
    for (n, item) in items.iter().enumerate() {
        let id = text(&item["id"]);
        if kind(item) == "reasoning" && !id.is_empty() {
            let next = items[n + 1..].iter().find(|next| kind(next) != "reasoning");
            let is_said = |next| is_said_by_model(next) || judge.is_lenient() && !is_known(next);
            if is_whole == IsWhole::Yes && !next.is_some_and(is_said) {
                return Err(invalid(format!(
                    "Item '{id}' of type 'reasoning' was provided without its required following item."
                ))
                .param("input"));
            }
        }
        if let Some(required) = follows(id) {
            let before = items[..n].iter().rev().find(|before| text(&before["id"]) == required);
            if before.is_none() {
                return Err(invalid(format!(
                    "Item '{id}' of type '{}' was provided without its required 'reasoning' item: '{required}'.",
                    kind(item)
                ))
                .param("input"));
            }
        }
    }
    Ok(())
}

fn is_said_by_model(item: &Value) -> bool {
    match kind(item) {
        "message" => text(&item["role"]) == "assistant",
        kind => {
            kind.ends_with("_call")
                || matches!(
                    kind,
                    "program"
                        | "mcp_approval_request"
                        | "mcp_list_tools"
                        | "item_reference"
                        | "compaction"
                )
        }
    }
}

/// The reasoning that an item of this id belongs to: the server writes it into the ids that it gives out, and generated
/// transcripts have it as in `fc_4_of_rs_3`.
fn follows(id: &str) -> Option<String> {
    if let Some((_, thought)) = id.split_once("_of_") {
        return Some(thought.to_owned());
    }
    let (kind, digits) = id.split_once('_')?;
    let is_ours = digits.len() == OWN_ID + REASONING_ID
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && kind != "rs";
    is_ours.then(|| format!("rs_{}", &digits[OWN_ID..]))
}
