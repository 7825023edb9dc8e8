//! Calls and results (B.1.2).

use std::collections::HashSet;

use super::{Block, Role, Turn, invalid};
use crate::server::error::ApiError;
use crate::server::rules::text;

pub(super) fn check(turns: &[Turn]) -> Result<(), ApiError> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut served: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for turn in turns {
        // System text may stand between a call's turn and its results' only where the rules of roles allow.
        if turn.role == Role::System {
            continue;
        }
        let results: Vec<&Block> = turn.of("tool_result").collect();
        let mut answered: HashSet<&str> = HashSet::new();
        for block in &results {
            let id = text(&block.value["tool_use_id"]);
            if turn.role != Role::User {
                return Err(invalid(format!(
                    "{}: `tool_result` blocks can only be in `user` messages",
                    block.path()
                )));
            }
            if !open.contains(&id) {
                return Err(invalid(format!(
                    "{}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a \
                     corresponding `tool_use` block in the previous message.",
                    block.path()
                )));
            }
            if !answered.insert(id) {
                return Err(invalid(format!(
                    "{}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
                    block.path()
                )));
            }
        }
        let leading: HashSet<&str> = turn
            .blocks
            .iter()
            .take_while(|block| block.is("tool_result"))
            .map(|block| text(&block.value["tool_use_id"]))
            .collect();
        let missing: Vec<&str> = open.iter().copied().filter(|id| !leading.contains(id)).collect();
        if !missing.is_empty() {
            return Err(unanswered(turn.at, &missing));
        }
        open.clear();
        for block in &turn.blocks {
            let kind = block.kind();
            if matches!(kind, "server_tool_use" | "mcp_tool_use") {
                served.insert(text(&block.value["id"]));
            } else if kind.ends_with("_tool_result")
                && !served.contains(text(&block.value["tool_use_id"]))
            {
                return Err(invalid(format!(
                    "{}: Each `{kind}` block must have a corresponding `server_tool_use` block before it",
                    block.path()
                )));
            }
        }
        for block in turn.of("tool_use") {
            let id = text(&block.value["id"]);
            if turn.role != Role::Assistant {
                return Err(invalid(format!(
                    "{}: `tool_use` blocks can only be in `assistant` messages",
                    block.path()
                )));
            }
            if !seen.insert(id) {
                return Err(invalid(format!("{}: `tool_use` ids must be unique", block.path())));
            }
            open.push(id);
        }
    }
    match turns.last() {
        Some(last) if !open.is_empty() => Err(unanswered(last.at, &open)),
        _ => Ok(()),
    }
}

fn unanswered(at: usize, ids: &[&str]) -> crate::server::error::ApiError {
    invalid(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block \
         must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    ))
}
