//! Anthropic Messages (PROVIDERS.md B.1).

mod blocks;
mod compaction;
mod frame;
mod members;
mod pairs;
mod shown;
mod thinking;

pub(crate) use frame::{BINDING_CONTROLS, INTERLEAVED};
pub(crate) use shown::{bare, seal};

use serde_json::Value;

use super::{Call, Judge};
use crate::server::error::ApiError;
use crate::server::models::OverWindow;
use crate::server::prompt::{Takes, Tool, Understood};
use crate::server::{Api, Endpoint};

/// A run of messages of one role, which the API reads as one.
#[derive(Debug)]
pub(crate) struct Turn {
    pub role: Role,
    pub blocks: Vec<Block>,
    /// Index of its last message.
    pub at: usize,
}

/// A block and where it stands: message, and index in the message.
#[derive(Debug)]
pub(crate) struct Block {
    pub message: usize,
    pub index: usize,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
    System,
}

impl Block {
    pub(crate) fn kind(&self) -> &str {
        self.value["type"].as_str().unwrap_or_default()
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind() == kind
    }

    pub(crate) fn is_reasoning(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    pub(crate) fn path(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }
}

impl Turn {
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.blocks.iter().any(|block| block.is(kind))
    }

    pub(crate) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| block.is(kind))
    }

    /// A person's turn, and not only what their tools gave back.
    pub(crate) fn is_human(&self) -> bool {
        self.role == Role::User && !self.has("tool_result")
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid(Api::Anthropic, message)
}

pub(super) fn validate(judge: &Judge, call: &Call<'_>) -> Result<Understood, ApiError> {
    let model = judge.model(call)?;
    frame::check(judge, &model, call)?;
    let turns = blocks::turns(judge, &model, call)?;
    compaction::place(call, &turns)?;
    pairs::check(&turns)?;
    thinking::starts(&turns, call.body)?;
    let understood = shown::read(judge, model, call, &turns)?;
    if call.endpoint != Endpoint::Count {
        window(&understood)?;
    }
    Ok(understood)
}

/// B.5, first row.
fn window(understood: &Understood) -> Result<(), ApiError> {
    let (model, tokens) = (&understood.model, understood.prompt.tokens());
    let window = model.window;
    if tokens > window {
        return Err(invalid(format!("prompt is too long: {tokens} tokens > {window} maximum")));
    }
    let most = understood.max_output.unwrap_or_default();
    if model.over_window == OverWindow::Refuses && tokens + most > window {
        return Err(invalid(format!(
            "input length and `max_tokens` exceed context limit: {tokens} + {most} > {window}, decrease input length or \
             `max_tokens` and try again"
        )));
    }
    Ok(())
}

/// The tools of a request; what the provider runs has a type that is neither absent nor `custom`.
pub(crate) fn tools(body: &Value) -> Vec<Tool> {
    let tool = |tool: &Value| {
        let name = tool["name"].as_str()?.to_owned();
        let kind = tool["type"].as_str().unwrap_or("custom");
        let by_client = ["custom", "bash", "text_editor", "computer", "memory"];
        let takes = if kind == "custom" {
            Takes::Json(tool["input_schema"].clone())
        } else if by_client.iter().any(|start| kind.starts_with(start)) {
            Takes::Json(Value::Null)
        } else {
            Takes::Nothing
        };
        Some(Tool { name, takes })
    };
    super::list(&body["tools"]).iter().filter_map(tool).collect()
}
