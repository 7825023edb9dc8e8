//! Context editing: what the provider clears before the model sees it (PROVIDERS.md B.1.5).
//!
//! The client keeps the whole history, so nothing here touches what reasoning is bound to.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Role, Turn};
use crate::server::count;
use crate::server::rules::{list, text};

/// Tool calls that stay, and tokens that trigger, where the request doesn't say.
const USUAL_KEEP: u64 = 3;
const USUAL_TRIGGER: u64 = 100_000;
/// What stands for a cleared result.
const CLEARED: &str = "[cleared to save context]";

/// What is cleared, and the provider's account of it.
#[derive(Debug, Default)]
pub(super) struct Cleared {
    /// Ids of tool calls whose results aren't shown.
    pub results: HashSet<String>,
    /// Ids of tool calls whose input isn't shown either.
    pub inputs: HashSet<String>,
    /// Turns whose reasoning isn't shown.
    pub thinking: HashSet<usize>,
    /// `context_management.applied_edits`.
    pub applied: Vec<Value>,
}

pub(super) fn clear(body: &Value, turns: &[Turn], tokens: u64) -> Cleared {
    let mut cleared = Cleared::default();
    for edit in list(&body["context_management"]["edits"]) {
        match text(&edit["type"]) {
            "clear_thinking_20251015" => thinking(edit, turns, &mut cleared),
            "clear_tool_uses_20250919" => tool_uses(edit, turns, tokens, &mut cleared),
            _ => {}
        }
    }
    cleared
}

fn thinking(edit: &Value, turns: &[Turn], cleared: &mut Cleared) {
    // Without `keep`, the reasoning of the newest assistant turn stays.
    let keep = match &edit["keep"] {
        Value::String(all) if all == "all" => return,
        keep if text(&keep["type"]) == "all" => return,
        keep => keep["value"].as_u64().unwrap_or(1) as usize,
    };
    let thinks = |turn: &Turn| {
        turn.role == Role::Assistant && turn.blocks.iter().any(super::Block::is_reasoning)
    };
    let with: Vec<usize> = (0..turns.len()).filter(|n| thinks(&turns[*n])).collect();
    let gone = &with[..with.len().saturating_sub(keep)];
    if gone.is_empty() {
        return;
    }
    let blocks = gone.iter().flat_map(|n| &turns[*n].blocks).filter(|block| block.is_reasoning());
    let tokens: u64 = blocks.map(|block| count::element(&block.value)).sum();
    cleared.thinking.extend(gone);
    cleared.applied.push(json!({
        "type": "clear_thinking_20251015", "cleared_thinking_turns": gone.len(), "cleared_input_tokens": tokens,
    }));
}

fn tool_uses(edit: &Value, turns: &[Turn], tokens: u64, cleared: &mut Cleared) {
    let excluded: Vec<&str> = list(&edit["exclude_tools"]).iter().map(text).collect();
    let calls = || turns.iter().flat_map(|turn| turn.of("tool_use"));
    let trigger = edit["trigger"]["value"].as_u64().unwrap_or(USUAL_TRIGGER);
    let size =
        if text(&edit["trigger"]["type"]) == "tool_uses" { calls().count() as u64 } else { tokens };
    if size <= trigger {
        return;
    }
    let keep = edit["keep"]["value"].as_u64().unwrap_or(USUAL_KEEP) as usize;
    let all: Vec<_> =
        calls().filter(|call| !excluded.contains(&text(&call.value["name"]))).collect();
    let gone = &all[..all.len().saturating_sub(keep)];
    let ids: HashSet<&str> = gone.iter().map(|call| text(&call.value["id"])).collect();
    let results = turns.iter().flat_map(|turn| turn.of("tool_result"));
    let results = results.filter(|result| ids.contains(text(&result.value["tool_use_id"])));
    let placeholder = count::text(CLEARED);
    let mut saved: u64 = results
        .map(|result| count::element(&result.value).saturating_sub(count::ELEMENT + placeholder))
        .sum();
    let inputs: Vec<_> = gone
        .iter()
        .filter(|call| match &edit["clear_tool_inputs"] {
            Value::Bool(all) => *all,
            names => list(names).iter().any(|name| name == &call.value["name"]),
        })
        .collect();
    saved += inputs.iter().map(|call| count::text(&call.value["input"].to_string())).sum::<u64>();
    if gone.is_empty()
        || edit["clear_at_least"]["value"].as_u64().is_some_and(|least| saved < least)
    {
        return;
    }
    cleared.results.extend(ids.into_iter().map(str::to_owned));
    cleared.inputs.extend(inputs.iter().map(|call| text(&call.value["id"]).to_owned()));
    cleared.applied.push(json!({
        "type": "clear_tool_uses_20250919", "cleared_tool_uses": gone.len(), "cleared_input_tokens": saved,
    }));
}

impl Cleared {
    /// A block as the model sees it.
    pub(super) fn shown(&self, block: &Value) -> Value {
        let mut block = block.clone();
        if self.results.contains(text(&block["tool_use_id"])) {
            block["content"] = json!([{"type": "text", "text": CLEARED}]);
        }
        if self.inputs.contains(text(&block["id"])) {
            block["input"] = json!({});
        }
        block
    }
}
