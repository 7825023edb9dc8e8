//! What providers demand of a transcript, as a table; each rule's check names its mend.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use super::Format;
use crate::request::Request;
use crate::transcript::Slot;

/// What a made-up result says: the call was cut off, nothing is known of its outcome.
pub(super) const NO_RESULT: &str =
    "[no result: this call was interrupted before its result was recorded]";

/// What a made-up first message says, where a format must begin with the user.
pub(super) const NO_BEGINNING: &str = "[the beginning of this conversation is not available]";

/// A rule's name, as `check` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A provider's rule.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rule {
    /// Its name: format and subject.
    pub id: RuleId,
    /// Whose rule it is.
    pub format: Format,
    /// What it demands.
    pub demand: &'static str,
    /// How a breach is mended; empty where only its author can.
    pub repair: &'static str,
    /// The provider's own error text, ids and positions replaced by `…`.
    pub error: &'static str,
    /// Where the rule is written down; `[BK]` marks what no provider's page confirms yet.
    pub source: &'static str,
}

macro_rules! rules {
    ($($name:ident = $format:ident $id:literal: $demand:literal, repair $repair:literal, error $error:literal, source $source:literal;)*) => {
        $(pub(super) const $name: RuleId = RuleId($id);)*
        /// Every rule that [`check`] knows.
        pub const RULES: &[Rule] = &[$(Rule {
            id: $name,
            format: Format::$format,
            demand: $demand,
            repair: $repair,
            error: $error,
            source: $source,
        }),*];
    };
}

rules! {
    CHAT_SHAPE = OpenaiChat "chat/shape": "every message is an object with a known role",
        repair "the message is dropped",
        error "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        source "OpenAI SDK types; text [BK]";
    CHAT_ANSWERED = OpenaiChat "chat/answered": "every tool call is answered by a tool message before anything else is said (an open batch at the end is normal)",
        repair "a result that says that there is none is added",
        error "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …",
        source "PROVIDERS.md B.3";
    CHAT_ORPHAN = OpenaiChat "chat/orphan": "every tool message answers a call of the nearest assistant message before it",
        repair "the tool message is dropped",
        error "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        source "PROVIDERS.md B.3";
    CHAT_DUPLICATE = OpenaiChat "chat/duplicate-result": "a call is answered once",
        repair "all answers but the first are dropped",
        error "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        source "PROVIDERS.md B.3; contiguity [BK]";
    CHAT_PLACE = OpenaiChat "chat/result-place": "tool messages stand directly behind the message with their calls",
        repair "the tool message is moved there",
        error "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …",
        source "PROVIDERS.md B.3 [BK]";
    CHAT_REUSED_ID = OpenaiChat "chat/reused-id": "every call has an id, unique within its message",
        repair "the later call and its result get a fresh id",
        error "Duplicate value for 'tool_call_id' of '…' in 'messages'",
        source "[BK]";
    CHAT_ARGUMENTS = OpenaiChat "chat/arguments": "a call's arguments are a JSON string",
        repair "the arguments are written as a string",
        error "Invalid type for 'messages[…].tool_calls[…].function.arguments': expected a string, but got an object instead.",
        source "OpenAI SDK types; text [BK]";
    CHAT_EMPTY = OpenaiChat "chat/empty": "an assistant message has content or calls; other messages have content",
        repair "the message is dropped; a tool message gets an empty text",
        error "Invalid value for 'content': expected a string, got null.",
        source "PROVIDERS.md B.3 (content required unless tool_calls)";
    ANTHROPIC_SHAPE = Anthropic "anthropic/shape": "every message is an object with role user, assistant or system",
        repair "the message is dropped",
        error "messages.….role: Input should be 'user' or 'assistant'",
        source "Anthropic SDK types; text [BK]";
    ANTHROPIC_FIRST = Anthropic "anthropic/first-role": "the first message is the user's, or begins with a compaction block",
        repair "a bracketed note is put first",
        error "messages: first message must use the \"user\" role",
        source "PROVIDERS.md B.1.2 (5)";
    ANTHROPIC_SYSTEM = Anthropic "anthropic/system-place": "a system message follows a user message (or a server tool) and is last or followed by the assistant",
        repair "the text is said in the user's role",
        error "role 'system' is not supported at this position",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_ANSWERED = Anthropic "anthropic/answered": "every tool_use is answered in the next user message (an open batch at the end is normal)",
        repair "an error result that says that there is none is added",
        error "messages.…: `tool_use` ids were found without `tool_result` blocks immediately after: …. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        source "PROVIDERS.md B.1.2 (1)";
    ANTHROPIC_ORPHAN = Anthropic "anthropic/orphan": "every tool_result answers a tool_use of the assistant message before it",
        repair "the tool_result is dropped",
        error "messages.….content.…: unexpected `tool_use_id` found in `tool_result` blocks: …. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        source "PROVIDERS.md B.1.2 (2)";
    ANTHROPIC_DUPLICATE = Anthropic "anthropic/duplicate-result": "a tool_use is answered once",
        repair "all answers but the first are dropped",
        error "messages.….content.…: each tool_use must have a single result. Found multiple `tool_result` blocks with id: …",
        source "PROVIDERS.md B.1.2; text [BK]";
    ANTHROPIC_PLACE = Anthropic "anthropic/result-place": "tool_result blocks come first in the user message behind their calls",
        repair "the tool_result is moved there",
        error "messages.…: `tool_use` ids were found without `tool_result` blocks immediately after: …",
        source "PROVIDERS.md B.1.2 (1), order [BK]";
    ANTHROPIC_REUSED_ID = Anthropic "anthropic/reused-id": "every tool_use has an id, unique in the request",
        repair "the later call and its result get a fresh id",
        error "messages.….content.…: `tool_use` ids must be unique",
        source "PROVIDERS.md B.1.2 (3) [BK]";
    ANTHROPIC_INPUT = Anthropic "anthropic/input": "a tool_use's input is an object",
        repair "the input is wrapped in an object",
        error "messages.….content.….tool_use.input: Input should be a valid dictionary",
        source "PROVIDERS.md B.1.2 (3); text [BK]";
    ANTHROPIC_NAME = Anthropic "anthropic/name": "a tool_use's name has 1 to 200 characters",
        repair "the name is cut, or `unknown` where there is none",
        error "messages.….content.….tool_use.name: String should have at most 200 characters",
        source "PROVIDERS.md B.1.2 (3) [BK]";
    ANTHROPIC_SIDE = Anthropic "anthropic/side": "tool_use blocks are the assistant's",
        repair "the block is dropped",
        error "messages.…: `tool_use` blocks can only be in `assistant` messages",
        source "PROVIDERS.md B.1.2 (1); text [BK]";
    ANTHROPIC_EMPTY_TEXT = Anthropic "anthropic/empty-text": "text blocks are not empty",
        repair "the block is dropped",
        error "messages: text content blocks must be non-empty",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_EMPTY = Anthropic "anthropic/empty": "messages have content (the last assistant message apart)",
        repair "the message is dropped",
        error "messages.…: all messages must have non-empty content except for the optional final assistant message",
        source "PROVIDERS.md B.1.2 (4) [BK]";
    ANTHROPIC_THINKING_FIRST = Anthropic "anthropic/thinking-first": "with thinking enabled by hand, the assistant turn of an open tool loop starts with thinking",
        repair "",
        error "messages.….content.0.type: Expected `thinking` or `redacted_thinking`, but found `…`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        source "PROVIDERS.md B.1.3";
}

/// How a breach is mended: by no more than the offending parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mend {
    /// Only the author can.
    Nothing,
    /// The part leaves (its entry too, if it was the last).
    DropPart(Slot),
    /// The entry leaves.
    DropEntry,
    /// A made-up result for the call is put where its result belongs.
    Answer(Slot),
    /// The result is moved to where its call's results belong.
    MoveResult {
        /// The result.
        result: Slot,
        /// The call that it answers.
        call: Slot,
    },
    /// The id literals are replaced.
    Rename {
        /// The call and, if there is one, its result.
        slots: Vec<Slot>,
        /// The fresh id.
        to: String,
    },
    /// The call's tool gets this name.
    CallTool {
        /// The call.
        slot: Slot,
        /// The name.
        name: String,
    },
    /// The payload is replaced by this JSON.
    Rewrite {
        /// The part.
        slot: Slot,
        /// The new payload.
        json: String,
    },
    /// A note in the user's role is put before the entry.
    LeadIn,
    /// The entry's role becomes the user's.
    SpeakAsUser,
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// Index of the offending entry.
    pub entry: usize,
    /// The offending part, where it is one.
    pub slot: Option<Slot>,
    /// What was found: ids, roles.
    pub detail: String,
    /// How to mend it.
    pub mend: Mend,
}

/// All breaches of the format's rules, in entry order.
pub fn check(request: &Request) -> Vec<Finding> {
    let mut findings = request.format.dialect().check(request);
    findings.sort_by_key(|finding| (finding.entry, finding.slot));
    findings
}

/// Ids in use, each with the number to try next behind it.
pub(super) type Taken = HashMap<String, usize>;

/// An id that isn't in use: the old one, or `call` if there is none, with a number behind it.
pub(super) fn fresh_id(old: &str, taken: &mut Taken) -> String {
    let old = if old.is_empty() { "call" } else { old };
    let mut number = taken.get(old).map_or(2, |next| *next);
    while taken.contains_key(&format!("{old}_{number}")) {
        number += 1;
    }
    let fresh = format!("{old}_{number}");
    taken.insert(old.to_owned(), number + 1);
    taken.insert(fresh.clone(), 2);
    fresh
}
