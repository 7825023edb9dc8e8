//! Gemini `generateContent` (PROVIDERS.md B.4).
//!
//! A part is an element with one data member (`text`, `functionCall` …) and members about it. The rows are the data
//! members' values. The signature beside one is a row of its own: reasoning that may leave without its neighbour. Names
//! are read in both spellings, as the API does.

mod conversion;
mod inspected;
mod pairs;
mod part;
mod rules;
mod shapes;
mod terms;

pub(super) use shapes::{IMAGES, is_function_name, may_be_shown};

use super::clean::Past;
use super::message::{self, Spelling};
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult};
use crate::json::{JsonError, Scanner, quote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, PartRow, Role, Transcript};
use crate::wire::openai_chat::row;

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn entry_keys(&self) -> &'static [&'static str] {
        &["parts", "role"]
    }

    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        let spelling = Spelling { content: "parts", read: read_parts, role };
        message::read(spelling, scanner, parts)
    }

    fn result_words(&self, result: &Part<'_>, text: &str) -> String {
        // "Use `output` key to specify function output and `error` key to specify error details".
        let key = if result.is(Marks::ERROR) { "error" } else { "output" };
        format!(r#"{{"{key}":{}}}"#, quote(text))
    }

    fn forces_call(&self, request: &Request) -> bool {
        let mode = ["toolConfig", "functionCallingConfig", "mode"];
        request.says_other(&mode, &["AUTO", "NONE", "MODE_UNSPECIFIED"])
    }

    fn demands_form(&self, request: &Request) -> bool {
        let asked = |key| request.value(&["generationConfig", key]).is_some();
        request.says_other(&["generationConfig", "responseMimeType"], &["text/plain"])
            || asked("responseSchema")
            || asked("responseJsonSchema")
    }

    /// Gemini CLI puts a word that stands for any signature in its place when a session is taken up later.
    fn is_replaceable_signature(&self, part: &Part<'_>) -> bool {
        let is_signature = part.is(Marks::SIGNED) && !part.is(Marks::LITERAL);
        part.kind() == PartKind::Reasoning && is_signature
    }

    fn id_key(&self, _kind: PartKind) -> &'static str {
        "id"
    }

    fn missing_result(&self, id: &str, name: &str) -> MissingResult {
        let id = if id.is_empty() { String::new() } else { format!(r#""id":{},"#, quote(id)) };
        MissingResult::Block(format!(
            r#"{{"functionResponse":{{{id}"name":{},"response":{{"error":{}}}}}}}"#,
            quote(name),
            quote(super::rules::NO_RESULT)
        ))
    }

    fn payload_key(&self, _entry: Entry<'_>, part: &Part<'_>) -> &'static str {
        if part.kind() == PartKind::Call { "args" } else { "response" }
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

    fn asked_of_frame(&self, request: &Request) -> String {
        rules::asked_of_frame(request)
    }

    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        rules::remember(transcript, past);
    }
}

fn role(name: &str) -> Role {
    match name {
        // "If not set, the service will default to 'user'"; results were once a role of their own.
        "" | "null" | "user" | "function" | "tool" => Role::User,
        "model" => Role::Assistant,
        "system" => Role::System,
        _ => Role::Other,
    }
}

fn read_parts(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<(), JsonError> {
    if scanner.peek() == Some(b'[') {
        scanner.array(|scanner| part::read(scanner, parts))?;
        return Ok(());
    }
    let span = scanner.value()?;
    if span.of(scanner.text()) != "null" {
        parts.push(row(PartKind::Opaque, span, span));
    }
    Ok(())
}
