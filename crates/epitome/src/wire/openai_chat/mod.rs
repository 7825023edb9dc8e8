//! OpenAI Chat Completions (PROVIDERS.md B.3) and its compatibles.

pub(super) mod conversion;
mod inspected;
mod rules;
mod shapes;
mod terms;

use std::borrow::Cow;

use super::clean::Past;
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult, Turns, origin};
use crate::json::{self, JsonError, Scanner, Span, quote, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, PartRow, Role};

pub(super) struct OpenaiChat;

/// In the names of Mistral's models, whoever serves them.
const MISTRAL: [&str; 7] =
    ["mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"];

fn is_mistrals(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    MISTRAL.iter().any(|family| name.contains(family))
}

/// Whether a member may be a name in `raw` between these places.
fn may_be_named(raw: &str, from: usize, to: u32) -> bool {
    // Between parts there is little: to prepare a search would take longer.
    raw.get(from..to as usize)
        .is_some_and(|text| text.as_bytes().windows(6).any(|it| it == b"\"name\""))
}

impl Dialect for OpenaiChat {
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
        let mut message = Message::default();
        let text = scanner.text();
        scanner.object(|scanner, key| message.member(&unquote(key.of(text)), scanner))?;
        Ok(message.finish(text, parts))
    }

    /// Chat templates of Mistral's models demand it, and others whose names don't tell (PROVIDERS.md B.3).
    fn turns(&self, request: &Request) -> Turns {
        let is_known = request.reader().is_some_and(|model| is_mistrals(&model));
        if is_known { Turns::Demanded } else { Turns::Unknown }
    }

    fn media(&self, part: &Part<'_>) -> (String, String) {
        let member = |name| json::text_member(part.raw_body(), name);
        let address = member("url").or_else(|| member("file_data")).unwrap_or_default();
        (part.name().into_owned(), address)
    }

    fn speaker<'a>(&self, entry: Entry<'a>) -> Option<Cow<'a, str>> {
        // Of a tool's message it is the tool's.
        if entry.role() == Role::Tool {
            return None;
        }
        let (raw, start) = (entry.raw(), entry.span().start);
        // It stands between the parts: most messages have none.
        let mut from = 0;
        let mut may_have = false;
        for part in entry.parts() {
            let span = part.row().span;
            may_have |= may_be_named(raw, from, span.start - start);
            from = from.max((span.end - start) as usize);
        }
        may_have |= may_be_named(raw, from, raw.len() as u32);
        if !may_have {
            return None;
        }
        let name = json::member(raw, Span::new(0..raw.len()), "name")?.of(raw);
        name.starts_with('"').then(|| unquote(name))
    }

    fn forces_call(&self, request: &Request) -> bool {
        request.says_other(&["tool_choice"], &["auto", "none"])
    }

    fn demands_form(&self, request: &Request) -> bool {
        request.says_other(&["response_format", "type"], &["text"])
    }

    fn id_key(&self, kind: PartKind) -> &'static str {
        if kind == PartKind::Call { "id" } else { "tool_call_id" }
    }

    fn missing_result(&self, id: &str, _name: &str) -> MissingResult {
        let content = quote(super::rules::NO_RESULT);
        MissingResult::Message(format!(
            r#"{{"role":"tool","tool_call_id":{},"content":{content}}}"#,
            quote(id)
        ))
    }

    fn check(&self, request: &Request, past: &Past) -> Vec<Finding> {
        rules::check(request, past)
    }

    fn shapes(&self, request: &Request) -> Option<&'static Shapes> {
        inspected::is_for_openai(request).then_some(&shapes::SHAPES)
    }

    fn inspect(&self, request: &Request) -> Vec<Finding> {
        inspected::check(request)
    }

    fn asked_of_frame(&self, request: &Request) -> String {
        rules::asked_of_frame(request)
    }
}

pub(super) fn row(kind: PartKind, span: Span, body: Span) -> PartRow {
    PartRow {
        span,
        body,
        id: Span::NONE,
        name: Span::NONE,
        kind,
        origin: Origin::Model,
        marks: Marks::default(),
    }
}

/// Gathered while the members go by, since `role` may come last and duplicates win last.
#[derive(Default)]
struct Message {
    role: Span,
    content: Vec<PartRow>,
    content_span: Span,
    /// Reasoning, refusal and audio, by key.
    extra: Vec<(String, PartRow)>,
    calls: Vec<PartRow>,
    function_call: Option<PartRow>,
    tool_call_id: Span,
    name: Span,
}

impl Message {
    fn member(&mut self, key: &str, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        match key {
            "role" => self.role = scanner.value()?,
            "tool_call_id" => self.tool_call_id = scanner.value()?,
            "name" => self.name = scanner.value()?,
            "content" => {
                self.content.clear();
                self.content_span = read_content(scanner, &mut self.content)?;
            }
            "reasoning_content" | "reasoning" | "reasoning_details" | "refusal" | "audio" => {
                // The last of duplicate keys wins.
                self.extra.retain(|(old, _)| old != key);
                let value = scanner.value()?;
                let raw = value.of(scanner.text());
                let is_reasoning = key.starts_with("reasoning");
                if raw == "null" || (is_reasoning && matches!(raw, "\"\"" | "[]")) {
                    return Ok(());
                }
                let kind = if is_reasoning { PartKind::Reasoning } else { PartKind::Opaque };
                let mut part = row(kind, value, value);
                if is_reasoning && raw.starts_with('"') {
                    part.marks = Marks::LITERAL;
                }
                self.extra.push((key.to_owned(), part));
            }
            "tool_calls" => {
                self.calls.clear();
                if scanner.peek() == Some(b'[') {
                    scanner.array(|scanner| {
                        self.calls.push(read_call(scanner)?);
                        Ok::<_, JsonError>(())
                    })?;
                } else if scanner.peek() == Some(b'{') {
                    // A call by itself is meant as a list of one.
                    self.calls.push(read_call(scanner)?);
                } else {
                    scanner.value()?;
                }
            }
            // The older form has no id; it is answered by a `function` message.
            "function_call" if scanner.peek() == Some(b'{') => {
                let mut call = row(PartKind::Call, Span::NONE, Span::NONE);
                call.span = read_function(scanner, &mut call)?;
                self.function_call = Some(call);
            }
            _ => {
                scanner.value()?;
            }
        }
        Ok(())
    }

    fn finish(mut self, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let role = match unquote(self.role.of(text)).as_ref() {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => Role::Other,
        };
        if role == Role::Tool {
            let body = self.content_span;
            let mut result = row(PartKind::Result, body, body);
            result.id = self.tool_call_id;
            result.name = self.name;
            result.origin = Origin::Tool;
            if body.of(text).starts_with('"') {
                result.marks = result.marks.with(Marks::LITERAL);
                self.content.clear();
            }
            parts.push(result);
        }
        for part in &mut self.content {
            match role {
                Role::Tool => {
                    part.marks = part.marks.with(Marks::NESTED);
                    part.origin = Origin::Tool;
                }
                Role::User if part.kind == PartKind::Text => {
                    part.origin = origin::of_user_text(part.body.of(text));
                }
                Role::User => part.origin = Origin::Human,
                Role::Assistant => part.origin = Origin::Model,
                Role::System | Role::Developer | Role::Other => part.origin = Origin::Injected,
            }
        }
        let from = parts.len();
        parts.extend(self.extra.into_iter().map(|(_, part)| part));
        parts.append(&mut self.content);
        parts.append(&mut self.calls);
        parts.extend(self.function_call);
        // Slots are in the order of the bytes, so that edits can be applied in one pass.
        parts[from..].sort_by_key(|part| part.span.start);
        role
    }
}

fn read_content(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<Span, JsonError> {
    match scanner.peek() {
        Some(b'"') => {
            let span = scanner.string()?;
            let mut part = row(PartKind::Text, span, span);
            part.marks = Marks::LITERAL;
            parts.push(part);
            Ok(span)
        }
        Some(b'[') => scanner.array(|scanner| {
            parts.push(read_block(scanner)?);
            Ok(())
        }),
        _ => scanner.value(),
    }
}

fn read_block(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        return Ok(row(PartKind::Opaque, span, span));
    }
    let text = scanner.text();
    let mut part = row(PartKind::Opaque, Span::NONE, Span::NONE);
    let (mut words, mut payload) = (Span::NONE, Span::NONE);
    part.span = scanner.members(|key, value| match key {
        "type" => part.name = value,
        "text" => words = value,
        "image_url" | "input_audio" | "file" => payload = value,
        _ => {}
    })?;
    part.body = part.span;
    match unquote(part.name.of(text)).as_ref() {
        // Responses' words for the same.
        "text" | "input_text" | "output_text" if words.of(text).starts_with('"') => {
            part.kind = PartKind::Text;
            part.body = words;
            part.marks = Marks::LITERAL;
        }
        "image_url" | "input_image" | "input_audio" | "file" if !payload.is_empty() => {
            part.kind = PartKind::Media;
            part.body = payload;
        }
        _ => {}
    }
    Ok(part)
}

fn read_call(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        return Ok(row(PartKind::Opaque, span, span));
    }
    let text = scanner.text();
    let mut call = row(PartKind::Call, Span::NONE, Span::NONE);
    let mut id = Span::NONE;
    call.span = scanner.object(|scanner, key| {
        match unquote(key.of(text)).as_ref() {
            "id" => id = scanner.value()?,
            "function" | "custom" if scanner.peek() == Some(b'{') => {
                read_function(scanner, &mut call)?;
            }
            _ => {
                scanner.value()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    call.id = id;
    Ok(call)
}

fn read_function(scanner: &mut Scanner<'_>, call: &mut PartRow) -> Result<Span, JsonError> {
    let text = scanner.text();
    scanner.members(|key, value| match key {
        "name" => call.name = value,
        "arguments" | "input" => {
            call.body = value;
            if value.of(text).starts_with('"') {
                call.marks = Marks::LITERAL;
            }
        }
        _ => {}
    })
}
