//! One step, read: its members gathered while they go by, then made sense of by its type.

use crate::json::{JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, Origin, PartKind, PartRow, Role};
use crate::wire::flat::{self, member, value};
use crate::wire::openai_chat::row;
use crate::wire::origin;

/// Types of contents.
pub(super) const CONTENTS: [&str; 5] = ["text", "image", "audio", "document", "video"];

/// Reads a step, a content that stands for one, or the plain words that an `input` may be.
pub(super) fn read(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<Role, JsonError> {
    if let Some(role) = flat::plain(scanner, parts)? {
        return Ok(role);
    }
    let text = scanner.text();
    let mut step = Step::default();
    step.whole = scanner.object(|scanner, key| step.member(&unquote(key.of(text)), scanner))?;
    let role = step.parts(text, parts);
    for part in parts.iter_mut() {
        part.origin = match role {
            Role::User if part.kind == PartKind::Text => origin::of_user_text(part.body.of(text)),
            Role::User => Origin::Human,
            Role::Assistant => Origin::Model,
            Role::Tool => Origin::Tool,
            _ => Origin::Injected,
        };
    }
    Ok(role)
}

/// The members of a step or a content that mean something to us. Null is the same as not there.
#[derive(Default)]
struct Step {
    whole: Span,
    kind: Span,
    id: Span,
    call_id: Span,
    name: Span,
    arguments: Span,
    is_error: Span,
    signature: Span,
    summary: Span,
    text: Span,
    data: Span,
    uri: Span,
    mime_type: Span,
    content: List,
    result: List,
}

/// A list of contents, or another value in its place.
#[derive(Default)]
struct List {
    span: Span,
    contents: Vec<Step>,
}

impl Step {
    fn member(&mut self, key: &str, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        let slot = match key {
            "content" => return self.content.read(scanner),
            "result" => return self.result.read(scanner),
            "type" => &mut self.kind,
            "id" => &mut self.id,
            "call_id" => &mut self.call_id,
            "name" => &mut self.name,
            "arguments" => &mut self.arguments,
            "is_error" => &mut self.is_error,
            "signature" => &mut self.signature,
            "summary" => &mut self.summary,
            "text" => &mut self.text,
            "data" => &mut self.data,
            "uri" => &mut self.uri,
            "mime_type" => &mut self.mime_type,
            _ => {
                scanner.value()?;
                return Ok(());
            }
        };
        *slot = member(scanner)?;
        Ok(())
    }

    fn parts(&self, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let kind = unquote(self.kind.of(text));
        match kind.as_ref() {
            "user_input" | "model_output" => {
                if self.content.span.of(text).starts_with('"') {
                    parts.push(value(PartKind::Text, self.content.span, text));
                }
                parts.extend(self.content.contents.iter().map(|content| content.content(text)));
                if kind == "user_input" { Role::User } else { Role::Assistant }
            }
            "thought" => {
                parts.push(self.thought(text));
                Role::Assistant
            }
            "function_call" => self.call(Marks::default(), text, parts),
            "function_result" => self.result(Marks::default(), text, parts),
            // What the provider runs itself is two steps, which stay together.
            _ if kind.ends_with("_call") && !self.id.is_empty() => {
                self.call(Marks::FIXED, text, parts)
            }
            _ if kind.ends_with("_result") && !self.call_id.is_empty() => {
                self.result(Marks::FIXED, text, parts)
            }
            // The contents of one message of the user's.
            _ if CONTENTS.contains(&kind.as_ref()) => {
                let mut content = self.content(text);
                if content.kind != PartKind::Opaque {
                    content.span = content.body;
                }
                parts.push(content);
                Role::User
            }
            _ => {
                let mut part = row(PartKind::Opaque, self.whole, self.whole);
                part.name = self.kind;
                parts.push(part);
                Role::Other
            }
        }
    }

    /// An element of a content or a result.
    fn content(&self, text: &str) -> PartRow {
        let mut part = row(PartKind::Opaque, self.whole, self.whole);
        part.name = self.kind;
        let is_literal = |span: Span| span.of(text).starts_with('"');
        let payload = if self.data.is_empty() { self.uri } else { self.data };
        match unquote(self.kind.of(text)).as_ref() {
            "text" if is_literal(self.text) => {
                (part.kind, part.body, part.marks) = (PartKind::Text, self.text, Marks::LITERAL);
            }
            "image" | "audio" | "document" | "video" if is_literal(payload) => {
                (part.kind, part.body, part.marks) = (PartKind::Media, payload, Marks::LITERAL);
                if !self.mime_type.is_empty() {
                    part.name = self.mime_type;
                }
            }
            _ => {}
        }
        part
    }

    /// The words of a thought, or the signature that stands for it.
    fn thought(&self, text: &str) -> PartRow {
        let is_signed = self.signature.of(text).len() > 2;
        let has_words = self.summary.of(text).len() > 2;
        let body = match (has_words, is_signed) {
            (true, _) => self.summary,
            (false, true) => self.signature,
            (false, false) => self.whole,
        };
        let mut part = value(PartKind::Reasoning, body, text);
        part.name = self.kind;
        if is_signed {
            part.marks = part.marks.with(Marks::SIGNED);
        }
        part
    }

    fn call(&self, marks: Marks, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let span = if self.arguments.is_empty() { self.kind } else { self.arguments };
        let mut call = value(PartKind::Call, span, text);
        call.body = self.arguments;
        call.id = self.id;
        let is_bare = self.name.is_empty() && marks.has(Marks::FIXED);
        call.name = if is_bare { self.kind } else { self.name };
        call.marks = call.marks.with(marks);
        parts.push(call);
        Role::Assistant
    }

    fn result(&self, marks: Marks, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let body = self.result.span;
        let mut result =
            value(PartKind::Result, if body.is_empty() { self.kind } else { body }, text);
        result.body = body;
        result.id = self.call_id;
        result.name = self.name;
        result.marks = result.marks.with(marks);
        if self.is_error.of(text) == "true" {
            result.marks = result.marks.with(Marks::ERROR);
        }
        parts.push(result);
        parts.extend(self.result.contents.iter().map(|content| {
            let mut part = content.content(text);
            part.marks = part.marks.with(Marks::NESTED).with(marks);
            part
        }));
        Role::Tool
    }
}

impl List {
    fn read(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        // The last of duplicate keys wins.
        self.contents.clear();
        if scanner.peek() != Some(b'[') {
            self.span = member(scanner)?;
            return Ok(());
        }
        self.span = scanner.array(|scanner| {
            let mut content = Step::default();
            if scanner.peek() == Some(b'{') {
                let text = scanner.text();
                content.whole = scanner
                    .object(|scanner, key| content.inner(&unquote(key.of(text)), scanner))?;
            } else {
                content.whole = scanner.value()?;
            }
            self.contents.push(content);
            Ok::<_, JsonError>(())
        })?;
        Ok(())
    }
}

impl Step {
    /// A member of an element, in which no lists of elements are.
    fn inner(&mut self, key: &str, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        if matches!(key, "content" | "result") {
            scanner.value()?;
            return Ok(());
        }
        self.member(key, scanner)
    }
}
