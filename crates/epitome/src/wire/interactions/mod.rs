//! Gemini Interactions (PROVIDERS.md B.4c).
//!
//! Steps are flat, as the items of Responses are: a user's message, a model's message, a thought, a call and its result are
//! entries of their own. Instead of steps the input may be plain words, the contents of one user message, or a single content.

mod conversion;
mod inspected;
mod rules;
mod shapes;
mod step;
mod terms;

use super::clean::Past;
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult};
use crate::json::{JsonError, Scanner, quote};
use crate::request::Request;
use crate::transcript::{Entry, Part, PartKind, PartRow, Role, Transcript};

pub(super) struct Interactions;

impl Dialect for Interactions {
    fn entry_keys(&self) -> &'static [&'static str] {
        &["type"]
    }

    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        step::read(scanner, parts)
    }

    fn forces_call(&self, request: &Request) -> bool {
        let path = ["generation_config", "tool_choice"];
        let Some(choice) = request.value(&path) else { return false };
        let free = ["auto", "none", "validated"];
        if choice.starts_with('{') {
            let mode = ["generation_config", "tool_choice", "allowed_tools", "mode"];
            return request.says_other(&mode, &free);
        }
        request.says_other(&path, &free)
    }

    fn demands_form(&self, request: &Request) -> bool {
        request.value(&["response_format"]).is_some()
    }

    fn id_key(&self, kind: PartKind) -> &'static str {
        if kind == PartKind::Call { "id" } else { "call_id" }
    }

    fn missing_result(&self, id: &str, name: &str) -> MissingResult {
        MissingResult::Message(format!(
            r#"{{"type":"function_result","call_id":{},"name":{},"is_error":true,"result":{}}}"#,
            quote(id),
            quote(name),
            quote(super::rules::NO_RESULT)
        ))
    }

    fn payload_key(&self, _entry: Entry<'_>, part: &Part<'_>) -> &'static str {
        if part.kind() == PartKind::Call { "arguments" } else { "result" }
    }

    fn check(&self, request: &Request, past: &Past) -> Vec<Finding> {
        rules::check(request, past)
    }

    fn shapes(&self, _request: &Request) -> Option<&'static Shapes> {
        Some(&shapes::SHAPES)
    }

    fn inspect(&self, request: &Request) -> Vec<Finding> {
        inspected::check(request)
    }

    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        rules::remember(transcript, past);
    }

    fn asked_of_frame(&self, request: &Request) -> String {
        format!("{:?}", request.keeper())
    }
}
