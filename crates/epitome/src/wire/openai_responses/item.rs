//! One item, read: its members gathered while they go by, then made sense of by its type.

use super::content::Content;
use crate::json::{JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, Origin, PartKind, PartRow, Role};
use crate::wire::flat::{self, member, value};
use crate::wire::openai_chat::row;
use crate::wire::origin;

/// Reads an item, or the plain words that an `input` may be.
pub(super) fn read(scanner: &mut Scanner<'_>, parts: &mut Vec<PartRow>) -> Result<Role, JsonError> {
    if let Some(role) = flat::plain(scanner, parts)? {
        return Ok(role);
    }
    let text = scanner.text();
    let mut item = Item::default();
    item.whole = scanner.object(|scanner, key| item.member(&unquote(key.of(text)), scanner))?;
    Ok(item.finish(text, parts))
}

/// The members of an item that mean something to us. Null is the same as not there.
#[derive(Default)]
struct Item {
    whole: Span,
    kind: Span,
    role: Span,
    id: Span,
    call_id: Span,
    name: Span,
    execution: Span,
    encrypted: Span,
    summary: Span,
    status: Span,
    error: Span,
    /// The payload of a call, by the name that its type has for it.
    arguments: Span,
    input: Span,
    action: Span,
    actions: Span,
    operation: Span,
    code: Span,
    queries: Span,
    prompt: Span,
    /// What came of a call that the provider ran.
    results: Span,
    outputs: Span,
    result: Span,
    content: Content,
    output: Content,
}

/// Whether an id may be left out of an item of this type: the SDK's types want it for the others
/// (PROVIDERS.md B.2.1).
fn may_lose_id(kind: &str) -> bool {
    matches!(
        kind,
        "" | "message"
            | "reasoning"
            | "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "shell_call"
            | "shell_call_output"
            | "apply_patch_call"
            | "apply_patch_call_output"
            | "tool_search_call"
            | "web_search_call"
    )
}

impl Item {
    fn member(&mut self, key: &str, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        let slot = match key {
            "content" => return self.content.read(scanner),
            "output" => return self.output.read(scanner),
            "type" => &mut self.kind,
            "role" => &mut self.role,
            "id" => &mut self.id,
            "call_id" => &mut self.call_id,
            "name" => &mut self.name,
            "execution" => &mut self.execution,
            "encrypted_content" => &mut self.encrypted,
            "summary" => &mut self.summary,
            "status" => &mut self.status,
            "error" => &mut self.error,
            "arguments" => &mut self.arguments,
            "input" => &mut self.input,
            "action" => &mut self.action,
            "actions" => &mut self.actions,
            "operation" => &mut self.operation,
            "code" => &mut self.code,
            "queries" => &mut self.queries,
            "revised_prompt" => &mut self.prompt,
            "results" => &mut self.results,
            "outputs" => &mut self.outputs,
            "result" => &mut self.result,
            _ => {
                scanner.value()?;
                return Ok(());
            }
        };
        *slot = member(scanner)?;
        Ok(())
    }

    fn finish(self, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let kind = unquote(self.kind.of(text)).into_owned();
        let role = self.parts(&kind, text, parts);
        if self.id.of(text).starts_with('"') {
            let is_whole = parts.iter().any(|part| part.span == self.whole);
            let mut link = value(PartKind::Link, self.id, text);
            link.origin = Origin::Injected;
            if is_whole || !may_lose_id(&kind) {
                link.marks = link.marks.with(Marks::FIXED);
            }
            parts.push(link);
        }
        // Slots are in the order of the bytes, but a result precedes its sub-parts.
        if !parts.iter().any(|part| part.marks.has(Marks::NESTED)) {
            parts.sort_by_key(|part| part.span.start);
        }
        role
    }

    /// An item without a type and a role refers to another (SDK types).
    fn is_reference(&self, kind: &str) -> bool {
        kind == "item_reference" || kind.is_empty() && self.role.is_empty()
    }

    fn parts(&self, kind: &str, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let is_server =
            |call_id: Span| call_id.is_empty() || self.execution.of(text) == "\"server\"";
        match kind {
            _ if self.is_reference(kind) => {
                let mut reference = self.opaque(Marks::STATEFUL);
                reference.id = self.id;
                parts.push(reference);
                Role::Other
            }
            "" | "message" => self.message(text, parts),
            "reasoning" => {
                parts.push(self.reasoning(text));
                Role::Assistant
            }
            "function_call" => self.call(self.arguments, Marks::default(), text, parts),
            "custom_tool_call" => self.call(self.input, Marks::default(), text, parts),
            "local_shell_call" | "shell_call" => self.call(self.action, Marks::FIXED, text, parts),
            "apply_patch_call" => self.call(self.operation, Marks::FIXED, text, parts),
            "computer_call" => {
                let action = if self.actions.is_empty() { self.action } else { self.actions };
                self.call(action, Marks::FIXED, text, parts)
            }
            "program" => self.call(self.code, Marks::FIXED, text, parts),
            "tool_search_call" => {
                let marks = Marks::FIXED.with(Marks::STATEFUL);
                let server = if is_server(self.call_id) { Marks::SERVER } else { marks };
                self.call(self.arguments, marks.with(server), text, parts)
            }
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "shell_call_output"
            | "apply_patch_call_output" => self.result(Marks::default(), text, parts),
            "computer_call_output" => self.result(Marks::FIXED, text, parts),
            "program_output" => {
                let mut result = value(PartKind::Result, self.result, text);
                result.marks = result.marks.with(Marks::FIXED);
                result.id = self.call_id;
                result.origin = Origin::Tool;
                parts.push(result);
                Role::Tool
            }
            // The tools that were found are there for what follows.
            "tool_search_output" => {
                let marks = Marks::FIXED.with(Marks::STATEFUL);
                if is_server(self.call_id) {
                    parts.push(self.opaque(marks.with(Marks::SERVER)));
                    return Role::Assistant;
                }
                self.found(marks, parts)
            }
            "web_search_call" => self.served(self.action, Span::NONE, text, parts),
            "file_search_call" => self.served(self.queries, self.results, text, parts),
            "code_interpreter_call" => self.served(self.code, self.outputs, text, parts),
            "mcp_call" => self.served(self.arguments, self.output.span, text, parts),
            "image_generation_call" => {
                if self.result.of(text).len() > 2 {
                    let mut image = value(PartKind::Media, self.result, text);
                    image.name = self.kind;
                    image.marks = image.marks.with(Marks::WORDLESS);
                    parts.push(image);
                }
                self.served(self.prompt, Span::NONE, text, parts)
            }
            "mcp_list_tools" => {
                parts.push(self.opaque(Marks::SERVER));
                Role::Assistant
            }
            "mcp_approval_request" => {
                parts.push(self.opaque(Marks::STATEFUL));
                Role::Assistant
            }
            "additional_tools" => {
                parts.push(self.opaque(Marks::STATEFUL));
                Role::Developer
            }
            "mcp_approval_response" | "configuration_update" | "compaction_trigger" => {
                parts.push(self.opaque(Marks::STATEFUL));
                Role::Other
            }
            "compaction" => {
                let mut compaction = self.opaque(Marks::STATEFUL.with(Marks::SIGNED));
                compaction.body = self.encrypted;
                parts.push(compaction);
                Role::Other
            }
            // What is to come is paired like what is there.
            _ if kind.ends_with("_call") && !self.call_id.is_empty() => {
                self.call(Span::NONE, Marks::FIXED, text, parts)
            }
            _ if kind.ends_with("_output") && !self.call_id.is_empty() => {
                self.found(Marks::FIXED, parts)
            }
            _ => {
                parts.push(self.opaque(Marks::default()));
                Role::Other
            }
        }
    }

    /// The item as it came.
    fn opaque(&self, marks: Marks) -> PartRow {
        let mut part = row(PartKind::Opaque, self.whole, self.whole);
        part.name = self.kind;
        part.marks = marks;
        part
    }

    fn message(&self, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let role = match unquote(self.role.of(text)).as_ref() {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Other,
        };
        if self.content.is_string(text) {
            parts.push(value(PartKind::Text, self.content.span, text));
        }
        parts.extend(self.content.blocks.iter().map(|block| block.part(text)));
        for part in parts {
            part.origin = match role {
                Role::User if part.kind == PartKind::Text => {
                    origin::of_user_text(part.body.of(text))
                }
                Role::User => Origin::Human,
                Role::Assistant => Origin::Model,
                _ => Origin::Injected,
            };
        }
        role
    }

    /// The best that is there of a thought: encrypted, in the clear, summarised.
    fn reasoning(&self, text: &str) -> PartRow {
        let is_sealed = self.encrypted.of(text).len() > 2;
        let bodies = [self.content.span, self.summary];
        let clear = bodies.into_iter().find(|span| span.of(text).len() > 2);
        let body = if is_sealed { self.encrypted } else { clear.unwrap_or(self.whole) };
        let mut part = value(PartKind::Reasoning, body, text);
        part.name = self.kind;
        if is_sealed {
            part.marks = part.marks.with(Marks::SIGNED);
        }
        part
    }

    fn call(&self, body: Span, marks: Marks, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let span = if body.is_empty() { self.kind } else { body };
        let mut call = value(PartKind::Call, span, text);
        call.body = body;
        call.id = self.call_id;
        call.name = if self.name.is_empty() { self.kind } else { self.name };
        call.marks = call.marks.with(marks);
        parts.push(call);
        Role::Assistant
    }

    fn result(&self, marks: Marks, text: &str, parts: &mut Vec<PartRow>) -> Role {
        let body = self.output.span;
        let span = if body.is_empty() { self.kind } else { body };
        let mut result = value(PartKind::Result, span, text);
        result.body = body;
        // The older shell's output has its call's id as its own (SDK types).
        result.id = if self.call_id.is_empty() { self.id } else { self.call_id };
        result.name = self.name;
        result.origin = Origin::Tool;
        result.marks = result.marks.with(marks);
        let has_failed = self.status.of(text) == "\"failed\""
            || self.output.blocks.iter().any(|block| block.has_failed(text));
        if has_failed {
            result.marks = result.marks.with(Marks::ERROR);
        }
        parts.push(result);
        // An object by itself is a computer's screenshot; any other output has a list, or is all that there is.
        let is_whole = body.of(text).starts_with('{') && !marks.has(Marks::FIXED);
        let blocks = self.output.blocks.iter().filter(|_| !is_whole);
        let nested = blocks.flat_map(|block| block.nested(text));
        parts.extend(nested.map(|mut part| {
            part.origin = Origin::Tool;
            part.marks = part.marks.with(Marks::NESTED).with(marks);
            part
        }));
        Role::Tool
    }

    /// A result that is nothing but the item.
    fn found(&self, marks: Marks, parts: &mut Vec<PartRow>) -> Role {
        let mut result = self.opaque(marks);
        result.kind = PartKind::Result;
        result.id = self.call_id;
        result.name = Span::NONE;
        result.origin = Origin::Tool;
        parts.push(result);
        Role::Tool
    }

    /// A call that the provider ran itself, with what came of it.
    fn served(&self, call: Span, result: Span, text: &str, parts: &mut Vec<PartRow>) -> Role {
        self.call(call, Marks::SERVER.with(Marks::FIXED), text, parts);
        let is_named = !may_lose_id(&unquote(self.kind.of(text)));
        let id = if is_named { self.id } else { Span::NONE };
        let has_failed = !self.error.is_empty() || self.status.of(text) == "\"failed\"";
        let outcome = if has_failed { Marks::ERROR } else { Marks::default() };
        if let Some(call) = parts.last_mut() {
            call.id = id;
            if result.is_empty() {
                call.marks = call.marks.with(outcome);
            }
        }
        if !result.is_empty() {
            let mut part = value(PartKind::Result, result, text);
            part.id = id;
            part.origin = Origin::Tool;
            part.marks = part.marks.with(Marks::SERVER).with(Marks::FIXED).with(outcome);
            parts.push(part);
        }
        Role::Assistant
    }
}
