//! AWS Bedrock Converse (PROVIDERS.md B.4b): blocks are elements with one member.

mod block;
mod conversion;
mod inspected;
mod rules;
mod shapes;
mod terms;

use super::clean::Past;
use super::message::{self, Spelling};
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult, keyed_parts};
use crate::json::{self, JsonError, Scanner, Span, quote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, PartRow, Role, Transcript};
use crate::wire::openai_chat::row;

pub(super) struct Bedrock;

impl Dialect for Bedrock {
    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        let spelling =
            Spelling { content: "content", read: read_content, role: message::plain_role };
        message::read(spelling, scanner, parts)
    }

    fn result_words(&self, _result: &Part<'_>, text: &str) -> String {
        keyed_parts::one_text(text)
    }

    fn thinking_type(&self, mode: &str) -> Option<String> {
        let thinking = json::member(mode, Span::new(0..mode.len()), "thinking")?;
        json::text_member(thinking.of(mode), "type")
    }

    fn forces_call(&self, request: &Request) -> bool {
        request.value(&["toolConfig", "toolChoice", "auto"]).is_none()
            && request.value(&["toolConfig", "toolChoice"]).is_some()
    }

    fn demands_form(&self, request: &Request) -> bool {
        request.value(&["outputConfig", "textFormat"]).is_some()
    }

    fn is_cache_marker(&self, part: &Part<'_>) -> bool {
        part.kind() == PartKind::Opaque && part.name() == "cachePoint"
    }

    fn id_key(&self, _kind: PartKind) -> &'static str {
        "toolUseId"
    }

    fn called_tools(&self, transcript: &Transcript) -> Option<String> {
        Some(rules::called_tools(transcript))
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

    fn inspect(&self, request: &Request) -> Vec<Finding> {
        let mut findings = rules::inspect(request);
        findings.extend(inspected::check(request));
        findings
    }

    fn shapes(&self, _request: &Request) -> Option<&'static Shapes> {
        Some(&shapes::SHAPES)
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
