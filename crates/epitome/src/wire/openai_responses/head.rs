//! What an item says of itself, as far as the rules ask.

use std::borrow::Cow;

use crate::json::{JsonError, Scanner, unquote};

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
    kind: &'a str,
    role: &'a str,
    id: &'a str,
    is_async: &'a str,
    content: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn of(raw: &'a str) -> Self {
        let mut head = Head::default();
        if !raw.starts_with('{') {
            return head;
        }
        // The last of duplicate keys wins; what isn't JSON was refused before.
        let _whole = Scanner::new(raw).object(|scanner, key| {
            let name = unquote(key.of(raw));
            let value = scanner.value()?.of(raw);
            match name.as_ref() {
                "type" => head.kind = value,
                "role" => head.role = value,
                "id" => head.id = value,
                "async" => head.is_async = value,
                "content" => head.content = value,
                _ => {}
            }
            Ok::<_, JsonError>(())
        });
        head
    }

    /// Its type; a message may leave it out.
    pub(super) fn kind(&self) -> Cow<'a, str> {
        match (self.kind, self.role) {
            ("" | "null", "" | "null") => Cow::Borrowed("item_reference"),
            ("" | "null", _) => Cow::Borrowed("message"),
            (kind, _) => unquote(kind),
        }
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
        matches!(self.kind().as_ref(), "compaction_trigger" | "mcp_approval_response")
    }

    /// The calls or outputs that it belongs to, if it is one of a client's tool.
    pub(super) fn group(&self) -> Option<Group> {
        match self.kind().as_ref() {
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
