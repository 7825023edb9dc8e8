//! The facts about an item that rules ask for.

use std::borrow::Cow;

use crate::json::{JsonError, Scanner, unquote};
use crate::transcript::{Entry, Marks};

/// Calls and outputs that may belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Group {
    /// Functions; the older local shell's calls are answered as functions' are, by some clients
    /// (openai/codex, `context_manager/normalize.rs`).
    Function,
    Custom,
    Shell,
    Patch,
    Computer,
    Search,
}

/// An item's own members, without their contents. Anything but an object has none.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// [`kind`](Self::kind).
    called: Cow<'a, str>,
    name: &'a str,
    id: &'a str,
    is_async: &'a str,
    content: &'a str,
    summary: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn of(entry: Entry<'a>) -> Self {
        let (raw, from) = (entry.raw(), entry.span().start);
        let (mut head, mut kind, mut role) = (Head::default(), "", "");
        let mut read = |name: &str, value: &'a str| match name {
            "type" => kind = value,
            "role" => role = value,
            "id" => head.id = value,
            "name" => head.name = value,
            "async" => head.is_async = value,
            "content" => head.content = value,
            "summary" => head.summary = value,
            _ => {}
        };
        // A text that is known to be one isn't read again.
        let texts = || entry.parts().filter(|part| part.is(Marks::LITERAL)).map(|p| p.row().body);
        // The last of duplicate keys wins; what isn't JSON was refused before.
        if raw.starts_with('{') {
            let _whole = Scanner::new(raw).object(|scanner, key| {
                let start = scanner.position() as u32 + from;
                let value = match texts().find(|text| text.start == start && text.len() > 1) {
                    Some(text) => {
                        scanner.go_on_at(text.end - from);
                        text.relative_to(from)
                    }
                    None => scanner.value()?,
                };
                read(&unquote(key.of(raw)), value.of(raw));
                Ok::<_, JsonError>(())
            });
        }
        head.called = match (kind, role) {
            ("" | "null", "" | "null") => Cow::Borrowed("item_reference"),
            ("" | "null", _) => Cow::Borrowed("message"),
            (kind, _) => unquote(kind),
        };
        head
    }

    /// Its type; a message may leave it out.
    pub(super) fn kind(&self) -> &str {
        &self.called
    }

    /// The name that it gives, as JSON.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// Its summary, as JSON.
    pub(super) fn summary(&self) -> &'a str {
        self.summary
    }

    /// Its content, as JSON.
    pub(super) fn content(&self) -> &'a str {
        self.content
    }

    /// Whether it has an id of its own.
    pub(super) fn has_id(&self) -> bool {
        self.id.starts_with('"')
    }

    pub(super) fn is_reference(&self) -> bool {
        self.kind() == "item_reference"
    }

    pub(super) fn is_async(&self) -> bool {
        self.is_async == "true"
    }

    /// Whether the model is to go on behind it.
    pub(super) fn asks(&self) -> bool {
        matches!(self.kind(), "compaction_trigger" | "mcp_approval_response")
    }

    /// Whether an item of no role is something that the model said or that was done for it, not what a client sets.
    pub(super) fn is_told(&self) -> bool {
        !self.asks() && self.kind() != "configuration_update"
    }

    /// The calls or outputs that it belongs to, if it is one of a client's tool.
    pub(super) fn group(&self) -> Option<Group> {
        match self.kind() {
            "function_call"
            | "function_call_output"
            | "local_shell_call"
            | "local_shell_call_output" => Some(Group::Function),
            "custom_tool_call" | "custom_tool_call_output" => Some(Group::Custom),
            "shell_call" | "shell_call_output" => Some(Group::Shell),
            "apply_patch_call" | "apply_patch_call_output" => Some(Group::Patch),
            "computer_call" | "computer_call_output" => Some(Group::Computer),
            "tool_search_call" | "tool_search_output" => Some(Group::Search),
            _ => None,
        }
    }
}
