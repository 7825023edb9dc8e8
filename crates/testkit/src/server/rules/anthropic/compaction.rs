//! The provider's own compaction: on demand and at a threshold (PROVIDERS.md B.1.5).

use serde_json::Value;

use super::frame::{ON_DEMAND, THRESHOLD};
use super::{Block, Role, Turn, invalid};
use crate::server::chain::{Broken, Chain};
use crate::server::error::ApiError;
use crate::server::prompt::{Compacts, Prompt};
use crate::server::rules::{Call, list, text};

/// Tokens at which a threshold compaction begins, where the request doesn't say.
const USUAL_THRESHOLD: u64 = 150_000;
const LONGEST_INSTRUCTIONS: usize = 16_384;

fn refused(code: &str, message: &str) -> ApiError {
    invalid(message).code(code)
}

/// What a request for a compaction may not hold beside it.
pub(super) fn frame(body: &Value) -> Result<(), ApiError> {
    let compaction = &body["compaction"];
    if compaction.is_null() {
        return Ok(());
    }
    if text(&compaction["type"]) != "summarize" {
        return Err(invalid("compaction.type: Input should be 'summarize'"));
    }
    if text(&compaction["instructions"]).chars().count() > LONGEST_INSTRUCTIONS {
        return Err(invalid(format!(
            "compaction.instructions: String should have at most {LONGEST_INSTRUCTIONS} characters"
        )));
    }
    let config = &body["output_config"];
    let beside = [
        ("stop_sequences", !list(&body["stop_sequences"]).is_empty()),
        ("output_config.format", !config["format"].is_null()),
        ("tool_choice", matches!(text(&body["tool_choice"]["type"]), "any" | "tool")),
        ("context_management", !body["context_management"].is_null()),
        ("output_config.task_budget.remaining", !config["task_budget"]["remaining"].is_null()),
    ];
    match beside.into_iter().find(|(_, is_there)| *is_there) {
        Some((name, _)) => {
            Err(invalid(format!("{name}: not supported together with `compaction`")))
        }
        None => Ok(()),
    }
}

/// Where blocks of earlier compactions stand, and what a new one is made of.
pub(super) fn place(call: &Call<'_>, turns: &[Turn]) -> Result<(), ApiError> {
    if call.has_beta(ON_DEMAND) && !call.has_beta(THRESHOLD) {
        let is_full = |block: &&Block| block.is("compaction") && !block.value["content"].is_null();
        let all: Vec<&Block> = turns.iter().flat_map(|turn| &turn.blocks).filter(is_full).collect();
        if all.len() > 1 {
            return Err(refused(
                "compaction_block_ambiguous",
                "messages: more than one `compaction` block with content. Send only the block that was returned last.",
            ));
        }
        let in_system =
            turns.iter().any(|turn| turn.role == Role::System && turn.has("compaction"));
        let is_first = turns[0].blocks.first().is_some_and(|block| block.is("compaction"));
        if let Some(block) = all.first().filter(|_| in_system || !is_first) {
            return Err(refused(
                "compaction_block_misplaced",
                &format!(
                    "{}: the `compaction` block must be the first block of the conversation",
                    block.path()
                ),
            ));
        }
    }
    if call.body["compaction"].is_null() {
        return Ok(());
    }
    let says = |turn: &Turn| {
        turn.role != Role::System && turn.blocks.iter().any(|block| !block.is("compaction"))
    };
    if !turns.iter().any(says) {
        return Err(refused(
            "compaction_nothing_to_summarize",
            "messages: there is nothing to summarize",
        ));
    }
    let last = turns.last().expect("there is at least one message");
    if last.role == Role::Assistant && last.has("tool_use") {
        return Err(refused(
            "compaction_incomplete_turn",
            &format!(
                "messages.{}: the last assistant turn has tool calls without results",
                last.at
            ),
        ));
    }
    Ok(())
}

/// What a block stands for isn't shown any longer.
pub(super) fn read(chain: &mut Chain, prompt: &mut Prompt, block: &Block) -> Result<(), ApiError> {
    let Some(content) = block.value["content"].as_str() else {
        // A failed compaction is no event.
        return Ok(());
    };
    prompt.forget_messages();
    let Some(signature) = block.value["signature"].as_str() else {
        chain.begin_behind(content);
        return Ok(());
    };
    match chain.resume(content, signature) {
        Ok(()) => Ok(()),
        Err(Broken::Edited) => Err(refused(
            "compaction_content_mismatch",
            &format!("{}: `content` differs from the text that `signature` records", block.path()),
        )),
        Err(_) => Err(refused(
            "compaction_signature_invalid",
            &format!("{}: Invalid `signature` in `compaction` block", block.path()),
        )),
    }
}

/// Whether this request is answered by a compaction, or with one before the answer.
pub(super) fn wanted(body: &Value, tokens: u64) -> Compacts {
    if !body["compaction"].is_null() {
        return Compacts::Alone;
    }
    let edits = list(&body["context_management"]["edits"]);
    let Some(edit) = edits.iter().find(|edit| text(&edit["type"]) == "compact_20260112") else {
        return Compacts::No;
    };
    let threshold = edit["trigger"]["value"].as_u64().unwrap_or(USUAL_THRESHOLD);
    match edit["pause_after_compaction"] == true {
        _ if tokens < threshold => Compacts::No,
        true => Compacts::Paused,
        false => Compacts::First,
    }
}
