//! Kimi CLI's contexts: Chat messages, one a row, between marks of its own (`context.jsonl`).

use std::sync::Arc;

use epitome::wire::Format;

use crate::body::Body;
use crate::error::ReadError;
use crate::notes::{About, Notes};
use crate::object::{Object, elements, joined, object};
use crate::reader::Reader;
use crate::recording::{Options, Recording, Why};
use crate::rows::{RawRow, rows};

const NAME: &str = "kimi-cli";

/// Roles of rows that the model sees nothing of.
const MARKS: [&str; 2] = ["_checkpoint", "_usage"];

#[derive(Debug)]
pub(crate) struct KimiCli;

impl Reader for KimiCli {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no row with a `role` of `_system_prompt`, `_checkpoint` or `_usage`"
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let role = first.text("role").unwrap_or_default();
        role == "_system_prompt" || MARKS.contains(&role.as_ref())
    }

    fn read(&self, source: &Arc<String>, _options: Options) -> Result<Recording, ReadError> {
        let mut context = Context::default();
        for raw in rows(source) {
            context.row(raw);
        }
        if context.messages.is_empty() {
            return Err(ReadError::no_messages(NAME, context.notes));
        }
        let mut body = Body::new(None);
        for message in &context.messages {
            body.begin().push_str(message);
        }
        let request = body.finish(NAME, Format::OpenaiChat)?;
        Ok(Recording::new(NAME, request, context.notes))
    }
}

/// A file read to its end.
#[derive(Default)]
struct Context {
    messages: Vec<String>,
    notes: Notes,
}

impl Context {
    fn row(&mut self, raw: RawRow<'_>) {
        let row = match Object::read(raw.text) {
            Ok(row) => row.unwrap_or_default(),
            Err(error) => {
                if let Some(pieces) = raw.pieces() {
                    return pieces.into_iter().for_each(|piece| self.row(piece));
                }
                return self.notes.skip(raw.line, Why::broken(raw, error));
            }
        };
        let Some(role) = row.text("role") else {
            return self.notes.skip(raw.line, Why::NotARow);
        };
        self.notes.count(&role);
        match role.as_ref() {
            "_system_prompt" => {
                let role = ("role", "\"system\"".to_owned());
                let content = row.get("content").map(|content| ("content", content.to_owned()));
                self.messages.push(object([Some(role), content].into_iter().flatten()));
            }
            role if MARKS.contains(&role) => {}
            role if role.starts_with('_') => {
                self.notes.take(raw.line, About::UnknownRow { kind: role.to_owned() });
            }
            _ => self.messages.push(sent(&row)),
        }
    }
}

/// A message as it is sent: thoughts stand beside the content.
fn sent(row: &Object<'_>) -> String {
    let blocks = row.get("content").and_then(elements).unwrap_or_default();
    let blocks = blocks.into_iter().map(|raw| (raw, Object::of(raw)));
    let (thought, said): (Vec<_>, Vec<_>) =
        blocks.partition(|(_, block)| block.says("type", "think"));
    if thought.is_empty() {
        return row.whole();
    }
    let reasoning = joined(thought.iter().filter_map(|(_, block)| block.literal("think")));
    let said: Vec<&str> = said.iter().map(|(raw, _)| *raw).collect();
    let content = if said.is_empty() { "null".to_owned() } else { format!("[{}]", said.join(",")) };
    object(row.members().flat_map(|(name, value)| {
        let is_content = name == "content";
        let value = if is_content { content.clone() } else { value.to_owned() };
        let reasoning = is_content.then(|| ("reasoning_content", reasoning.clone()));
        [Some((name, value)), reasoning].into_iter().flatten()
    }))
}
