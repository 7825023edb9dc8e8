//! Where reasoning must stand (B.1.3), and whether it is what was said, where it was said (B.1.4).

use serde_json::Value;

use super::frame::BINDING_CONTROLS;
use super::{Block, Role, Turn, invalid};
use crate::server::chain::Chain;
use crate::server::error::ApiError;
use crate::server::models::Model;
use crate::server::prompt::Misplaced;
use crate::server::rules::binding::{Manner, Verdict};
use crate::server::rules::{Call, text};

/// Manual mode: the turn that is still in its tool loop starts with reasoning.
pub(super) fn starts(turns: &[Turn], body: &Value) -> Result<(), ApiError> {
    if text(&body["thinking"]["type"]) != "enabled" {
        return Ok(());
    }
    let is_open = turns.last().is_some_and(|last| last.has("tool_result"));
    let start = turns.iter().rposition(Turn::is_human).map_or(0, |n| n + 1);
    let first = turns[start..].iter().find(|turn| turn.role == Role::Assistant);
    let Some(block) = first
        .filter(|_| is_open)
        .and_then(|turn| turn.blocks.iter().find(|block| !block.is("compaction")))
    else {
        return Ok(());
    };
    if block.is_reasoning() {
        return Ok(());
    }
    Err(invalid(format!(
        "{}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final \
         `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and \
         `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this \
         requirement, disable `thinking`.",
        block.path(),
        block.kind()
    )))
}

pub(super) fn manner(model: &Model, body: &Value) -> Manner {
    Manner::of(model, body["thinking"]["block_binding"]["prefix_mismatch_behavior"].as_str())
}

/// Reads one block of reasoning; `Some` if it doesn't belong here.
pub(super) fn read(
    chain: &mut Chain,
    block: &Block,
    call: &Call<'_>,
    manner: Manner,
) -> Result<Option<Misplaced>, ApiError> {
    let value = &block.value;
    let (words, signature) = match block.kind() {
        "thinking" => (text(&value["thinking"]), text(&value["signature"])),
        _ => ("", text(&value["data"])),
    };
    let misplaced =
        |why, is_shown| Some(Misplaced { path: block.path(), id: String::new(), why, is_shown });
    match manner.judge(chain, words, signature) {
        Verdict::Good => Ok(None),
        Verdict::Dropped(why) => Ok(misplaced(why, false)),
        Verdict::Allowed(why) => Ok(misplaced(why, true)),
        Verdict::Refused => Err(invalid(refusal(block, call))),
        Verdict::Invalid => Err(invalid(format!(
            "{}: Invalid `signature` in `{}` block",
            block.path(),
            block.kind()
        ))),
    }
}

fn refusal(block: &Block, call: &Call<'_>) -> String {
    let header = if call.has_beta(BINDING_CONTROLS) {
        String::new()
    } else {
        format!(
            " That setting requires the `{BINDING_CONTROLS}` value in the `anthropic-beta` header."
        )
    };
    format!(
        "{}: Invalid `signature` in `{}` block. The block is bound to a different conversation. Remove the block, or set \
         `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".{header}",
        block.path(),
        block.kind()
    )
}
