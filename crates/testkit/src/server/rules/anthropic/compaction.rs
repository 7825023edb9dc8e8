//! The provider's own compaction: on demand and at a threshold (PROVIDERS.md B.1.5).

use serde_json::Value;

use super::{Block, Role, Turn, invalid};
use crate::server::chain::{Broken, Chain};
use crate::server::error::ApiError;
use crate::server::prompt::Prompt;
use crate::server::rules::{Call, list, text};

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

/// What a compaction is made of.
pub(super) fn place(call: &Call<'_>, turns: &[Turn]) -> Result<(), ApiError> {
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
