//! Gemini `generateContent` (PROVIDERS.md B.4).
//!
//! A part is an element with one data member (`text`, `functionCall` …) and members about it. The
//! rows are the data members' values, and the signature beside one is a row of its own: reasoning
//! that may leave while what it stands beside stays. Names are read in both spellings, as the API does.

mod pairs;
mod part;
mod rules;

use super::{Dialect, Field, Finding, MissingResult, origin, wrapped};
use crate::json::{JsonError, Scanner, Span, Splices, quote, unquote};
use crate::request::{Keeper, Request};
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, PartRow, Role};
use crate::view::PartEdit;
use crate::wire::openai_chat::row;

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn list_key(&self) -> &'static str {
        "contents"
    }

    fn entry_keys(&self) -> &'static [&'static str] {
        &["parts", "role"]
    }

    fn field(&self, key: &str) -> Option<Field> {
        match key {
            "model" => Some(Field::Model),
            "systemInstruction" | "system_instruction" => Some(Field::System),
            "tools" => Some(Field::Tools),
            "cachedContent" | "cached_content" => Some(Field::Elsewhere(Keeper::Cache)),
            _ => None,
        }
    }

    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        if scanner.peek() != Some(b'{') {
            let span = scanner.value()?;
            parts.push(row(PartKind::Opaque, span, span));
            return Ok(Role::Other);
        }
        let text = scanner.text();
        let mut role = Span::NONE;
        scanner.object(|scanner, key| {
            match unquote(key.of(text)).as_ref() {
                "role" => role = scanner.value()?,
                "parts" => {
                    // The last of duplicate keys wins.
                    parts.clear();
                    read_parts(scanner, parts)?;
                }
                _ => {
                    scanner.value()?;
                }
            }
            Ok::<_, JsonError>(())
        })?;
        let role = match unquote(role.of(text)).as_ref() {
            // "If not set, the service will default to 'user'"; results were once a role of their own.
            "" | "null" | "user" | "function" | "tool" => Role::User,
            "model" => Role::Assistant,
            "system" => Role::System,
            _ => Role::Other,
        };
        for part in parts.iter_mut() {
            part.origin = match role {
                _ if part.kind == PartKind::Result || part.marks.has(Marks::NESTED) => Origin::Tool,
                Role::User if part.kind == PartKind::Text => {
                    origin::of_user_text(part.body.of(text))
                }
                Role::User => Origin::Human,
                Role::Assistant => Origin::Model,
                _ => Origin::Injected,
            };
        }
        Ok(role)
    }

    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"text":{}}}"#, quote(text))
    }

    fn user_message(&self, text: &str) -> String {
        format!(r#"{{"role":"user","parts":[{}]}}"#, self.text_block(text))
    }

    fn result_words(&self, result: &Part<'_>, text: &str) -> String {
        // "Use `output` key to specify function output and `error` key to specify error details".
        let key = if result.is(Marks::ERROR) { "error" } else { "output" };
        format!(r#"{{"{key}":{}}}"#, quote(text))
    }

    fn content_key(&self) -> &'static str {
        "parts"
    }

    fn splices(&self, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
        wrapped::splices(self, "parts", entry, edits)
    }

    fn as_dialect(&self) -> &dyn Dialect {
        self
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

    fn check(&self, request: &Request) -> Vec<Finding> {
        rules::check(request)
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
