//! AWS Bedrock Converse (PROVIDERS.md B.4b): blocks are elements with one member.

mod block;
mod rules;

use super::clean::Past;
use super::message::{self, Spelling};
use super::{Dialect, Field, Finding, MissingResult, keyed_parts};
use crate::json::{self, JsonError, Scanner, Span, Splices, quote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, PartRow, Role};
use crate::view::PartEdit;
use crate::wire::openai_chat::row;

pub(super) use rules::called_tools;

pub(super) struct Bedrock;

impl Dialect for Bedrock {
    fn list_key(&self) -> &'static str {
        "messages"
    }

    fn field(&self, key: &str) -> Option<Field> {
        match key {
            "modelId" => Some(Field::Model),
            "system" => Some(Field::System),
            "toolConfig" => Some(Field::Tools),
            "additionalModelRequestFields" => Some(Field::Thinking),
            _ => None,
        }
    }

    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        let spelling =
            Spelling { content: "content", read: read_content, role: message::plain_role };
        message::read(spelling, scanner, parts)
    }

    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"text":{}}}"#, quote(text))
    }

    fn user_message(&self, text: &str) -> String {
        format!(r#"{{"role":"user","content":{}}}"#, keyed_parts::one_text(text))
    }

    fn result_words(&self, _result: &Part<'_>, text: &str) -> String {
        keyed_parts::one_text(text)
    }

    fn alternates(&self) -> bool {
        true
    }

    fn splices(&self, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
        keyed_parts::splices(self, "content", entry, edits)
    }

    fn as_dialect(&self) -> &dyn Dialect {
        self
    }

    fn has_thinking_modes(&self) -> bool {
        true
    }

    fn thinking_type(&self, mode: &str) -> Option<String> {
        let thinking = json::member(mode, Span::new(0..mode.len()), "thinking")?;
        json::text_member(thinking.of(mode), "type")
    }

    fn has_model_in_url(&self) -> bool {
        true
    }

    fn reply_limit(&self, request: &Request) -> Option<u64> {
        request.number(&["inferenceConfig", "maxTokens"])
    }

    fn forces_call(&self, request: &Request) -> bool {
        request.value(&["toolConfig", "toolChoice", "auto"]).is_none()
            && request.value(&["toolConfig", "toolChoice"]).is_some()
    }

    fn demands_form(&self, _request: &Request) -> bool {
        false
    }

    fn is_cache_marker(&self, part: &Part<'_>) -> bool {
        part.kind() == PartKind::Opaque && part.name() == "cachePoint"
    }

    fn id_key(&self, _kind: PartKind) -> &'static str {
        "toolUseId"
    }

    fn gathers_results(&self) -> bool {
        true
    }

    fn missing_result(&self, id: &str, _name: &str) -> MissingResult {
        MissingResult::Block(format!(
            r#"{{"toolResult":{{"toolUseId":{},"content":{},"status":"error"}}}}"#,
            quote(id),
            keyed_parts::one_text(super::rules::NO_RESULT)
        ))
    }

    fn payload_key(&self, _entry: Entry<'_>, part: &Part<'_>) -> &'static str {
        if part.kind() == PartKind::Call { "input" } else { "content" }
    }

    fn check(&self, request: &Request, past: &Past) -> Vec<Finding> {
        rules::check(request, past)
    }

    fn asked_of_frame(&self, request: &Request) -> String {
        rules::asked_of_frame(request)
    }
}

fn read_content(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<(), JsonError> {
    if scanner.peek() == Some(b'[') {
        scanner.array(|scanner| block::read(scanner, Marks::default(), parts))?;
        return Ok(());
    }
    let span = scanner.value()?;
    if span.of(scanner.text()) != "null" {
        parts.push(row(PartKind::Opaque, span, span));
    }
    Ok(())
}
