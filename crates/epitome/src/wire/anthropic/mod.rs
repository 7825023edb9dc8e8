//! Anthropic Messages (PROVIDERS.md B.1).

mod blocks;
mod conversion;
mod frame;
mod inspected;
mod markers;
mod rules;
mod served;
mod shapes;
mod terms;
mod unsigned;

use super::clean::Past;
use super::message::{self, Spelling};
use super::openai_chat::row;
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult};
use crate::json::{self, JsonError, Scanner, Span, quote, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, PartRow, Role, Transcript};
use crate::view::View;

pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        let spelling =
            Spelling { content: "content", read: read_content, role: message::plain_role };
        message::read(spelling, scanner, parts)
    }

    fn thinking_type(&self, mode: &str) -> Option<String> {
        json::text_member(mode, "type")
    }

    fn forces_call(&self, request: &Request) -> bool {
        request.says_other(&["tool_choice", "type"], &["auto", "none"])
    }

    fn demands_form(&self, request: &Request) -> bool {
        request.value(&["output_config", "format"]).is_some()
            || request.value(&["output_format"]).is_some()
    }

    fn id_key(&self, kind: PartKind) -> &'static str {
        if kind == PartKind::Call { "id" } else { "tool_use_id" }
    }

    fn missing_result(&self, id: &str, _name: &str) -> MissingResult {
        let content = quote(super::rules::NO_RESULT);
        MissingResult::Block(format!(
            r#"{{"type":"tool_result","tool_use_id":{},"content":{content},"is_error":true}}"#,
            quote(id)
        ))
    }

    fn payload_key(&self, _entry: Entry<'_>, part: &Part<'_>) -> &'static str {
        if part.kind() == PartKind::Call { "input" } else { "content" }
    }

    fn check(&self, request: &Request, past: &Past) -> Vec<Finding> {
        rules::check(request, past)
    }

    fn folded_marker<'a>(&self, request: &'a Request, view: &View) -> Option<&'a str> {
        markers::folded(request, view)
    }

    fn marked_message(&self, text: &str, marker: &str) -> String {
        let text = quote(text);
        self.user_blocks(&format!(r#"{{"type":"text","text":{text},"cache_control":{marker}}}"#))
    }

    fn shapes(&self, request: &Request) -> Option<&'static Shapes> {
        inspected::is_claudes(request).then_some(&shapes::SHAPES)
    }

    fn inspect(&self, request: &Request) -> Vec<Finding> {
        inspected::check(request)
    }

    fn asked_of_frame(&self, request: &Request) -> String {
        format!("{:?} {}", request.keeper(), blocks::demands_signatures(request))
    }

    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        rules::remember(transcript, past);
    }
}

fn read_content(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<(), JsonError> {
    match scanner.peek() {
        Some(b'"') => {
            let span = scanner.string()?;
            let mut part = row(PartKind::Text, span, span);
            part.marks = Marks::LITERAL;
            parts.push(part);
        }
        Some(b'[') => {
            scanner.array(|scanner| {
                let mut nested = Vec::new();
                let part = read_block(scanner, Some(&mut nested))?;
                parts.push(part);
                parts.append(&mut nested);
                Ok::<_, JsonError>(())
            })?;
        }
        _ => {
            let span = scanner.value()?;
            if span.of(scanner.text()) != "null" {
                parts.push(row(PartKind::Opaque, span, span));
            }
        }
    }
    Ok(())
}

/// Members of a block that mean something to us.
#[derive(Default)]
struct Block {
    kind: Span,
    text: Span,
    thinking: Span,
    signature: Span,
    data: Span,
    id: Span,
    name: Span,
    input: Span,
    tool_use_id: Span,
    content: Span,
    is_error: Span,
    source: Source,
}

#[derive(Default)]
struct Source {
    media_type: Span,
    payload: Span,
}

/// Reads a block; a result's blocks go to `nested` (a nested block's own don't: `None`).
fn read_block(
    scanner: &mut Scanner<'_>,
    mut nested: Option<&mut Vec<PartRow>>,
) -> Result<PartRow, JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        return Ok(row(PartKind::Opaque, span, span));
    }
    let text = scanner.text();
    let mut block = Block::default();
    let span = scanner.object(|scanner, key| {
        let slot = match unquote(key.of(text)).as_ref() {
            "type" => &mut block.kind,
            "text" => &mut block.text,
            "thinking" => &mut block.thinking,
            "signature" => &mut block.signature,
            "data" => &mut block.data,
            "id" => &mut block.id,
            "name" => &mut block.name,
            "input" => &mut block.input,
            "tool_use_id" => &mut block.tool_use_id,
            "is_error" => &mut block.is_error,
            "source" if scanner.peek() == Some(b'{') => {
                block.source = read_source(scanner)?;
                return Ok(());
            }
            "content" => {
                // The last of duplicate keys wins.
                if let Some(nested) = &mut nested {
                    nested.clear();
                }
                block.content = match &mut nested {
                    Some(nested) if scanner.peek() == Some(b'[') => scanner.array(|scanner| {
                        let mut part = read_block(scanner, None)?;
                        part.marks = part.marks.with(Marks::NESTED);
                        nested.push(part);
                        Ok::<_, JsonError>(())
                    })?,
                    _ => scanner.value()?,
                };
                return Ok(());
            }
            _ => {
                scanner.value()?;
                return Ok(());
            }
        };
        *slot = scanner.value()?;
        Ok::<_, JsonError>(())
    })?;
    let part = block.part(text, span);
    // Only a client tool's result has parts of its own; a server tool's content is opaque.
    if let Some(nested) = nested
        && (part.kind != PartKind::Result || part.marks.has(Marks::SERVER))
    {
        nested.clear();
    }
    Ok(part)
}

fn read_source(scanner: &mut Scanner<'_>) -> Result<Source, JsonError> {
    let mut source = Source::default();
    scanner.members(|key, value| match key {
        "media_type" => source.media_type = value,
        "data" | "url" | "file_id" | "content" => source.payload = value,
        _ => {}
    })?;
    Ok(source)
}

impl Block {
    fn part(&self, text: &str, span: Span) -> PartRow {
        let literal = |span: Span| span.of(text).starts_with('"');
        let mut part = row(PartKind::Opaque, span, span);
        part.name = self.kind;
        let mut set = |kind, body: Span| {
            part.kind = kind;
            part.body = body;
            if literal(body) {
                part.marks = part.marks.with(Marks::LITERAL);
            }
        };
        match unquote(self.kind.of(text)).as_ref() {
            "text" if literal(self.text) => set(PartKind::Text, self.text),
            "thinking" if literal(self.thinking) => {
                set(PartKind::Reasoning, self.thinking);
                if self.signature.len() > 2 {
                    part.marks = part.marks.with(Marks::SIGNED);
                }
            }
            "redacted_thinking" => {
                set(PartKind::Reasoning, if self.data.is_empty() { span } else { self.data });
                if self.data.of(text) != "\"\"" {
                    part.marks = part.marks.with(Marks::SIGNED);
                }
            }
            "image" | "document" if !self.source.payload.is_empty() => {
                set(PartKind::Media, self.source.payload);
                let said = self.source.media_type;
                part.name = if said.is_empty() { self.kind } else { said };
            }
            "tool_use" => {
                set(PartKind::Call, self.input);
                part.id = self.id;
                part.name = self.name;
            }
            "tool_result" => {
                set(PartKind::Result, self.content);
                part.id = self.tool_use_id;
                part.name = Span::NONE;
                if self.is_error.of(text) == "true" {
                    part.marks = part.marks.with(Marks::ERROR);
                }
            }
            "server_tool_use" | "mcp_tool_use" => {
                set(PartKind::Call, self.input);
                part.id = self.id;
                part.name = self.name;
                part.marks = part.marks.with(Marks::SERVER);
            }
            kind if kind.ends_with("_tool_result") => {
                set(PartKind::Result, if self.content.is_empty() { span } else { self.content });
                part.id = self.tool_use_id;
                part.marks = part.marks.with(Marks::SERVER);
                if self.is_error.of(text) == "true" || tells_failure(text, self.content) {
                    part.marks = part.marks.with(Marks::ERROR);
                }
            }
            "compaction" | "tool_addition" | "tool_removal" => {
                part.marks = part.marks.with(Marks::STATEFUL);
            }
            _ => {}
        }
        part
    }
}
/// Whether the content of a provider's result is an error, or of a command that failed (SDK types: `…_tool_result_error`,
/// `return_code`).
fn tells_failure(text: &str, content: Span) -> bool {
    if !content.of(text).starts_with('{') {
        return false;
    }
    json::members(text, content).unwrap_or_default().iter().any(|(name, value)| {
        match (name.of(text), value.of(text)) {
            ("\"type\"", kind) => kind.ends_with("_tool_result_error\""),
            ("\"return_code\"", code) => !matches!(code, "0" | "null"),
            _ => false,
        }
    })
}
