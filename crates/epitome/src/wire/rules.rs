//! What providers demand of a transcript, as a table; each rule's check names its mend.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::Format;
pub(super) use super::breach::{Finding, Mend, Taken, fresh_id, nothing_said, stranger};

pub(super) use crate::text::NO_RESULT;

/// What a made-up first message says, where a format must begin with the user.
pub(super) const NO_BEGINNING: &str = "[the beginning of this conversation is not available]";

/// A rule's name, as `check` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let rule = RULES.iter().find(|rule| rule.id.0 == name);
        rule.map(|rule| rule.id)
            .ok_or_else(|| de::Error::custom(format!("no rule `{name}` is known")))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Rules of one provider alone, and names, which are made to fit the target: what breaks them may be carried over as it is.
pub(crate) const OWN: &[RuleId] = &[
    CHAT_NAME,
    ANTHROPIC_MEMBER,
    ANTHROPIC_MEDIA,
    ANTHROPIC_ERROR_MEDIA,
    ANTHROPIC_SIGNATURE,
    GEMINI_MEMBER,
    BEDROCK_MEMBER,
];

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
        $(pub(crate) const $name: RuleId = RuleId($id);)*
        /// Every rule that [`check`](super::check) knows.
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
        repair "what isn't an object is dropped; a role that isn't known may be known to the provider, so the message stays",
        error "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        source "OpenAI SDK types; text [BK]";
    CHAT_NONE = OpenaiChat "chat/no-messages": "the list of messages is not empty",
        repair "",
        error "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        source "PROVIDERS.md B.3; text [BK]";
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
        error "Invalid parameter: Duplicate value for 'tool_call_id' of '…', in messages[…] and messages[…].",
        source "PROVIDERS.md B.3 (GH agno-agi/agno#5116, anomalyco/opencode#1211)";
    CHAT_PLACE = OpenaiChat "chat/result-place": "tool messages stand directly behind the message with their calls",
        repair "the tool message is moved there",
        error "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …",
        source "PROVIDERS.md B.3 [BK]";
    CHAT_REUSED_ID = OpenaiChat "chat/reused-id": "every call has an id, a string, unique within its message",
        repair "the later call and its result get a fresh id",
        error "Invalid parameter: Duplicate value for 'tool_call_id' of '…', in messages[…] and messages[…].",
        source "PROVIDERS.md B.3 (GH agno-agi/agno#5116): answers of one id are duplicates";
    CHAT_ARGUMENTS = OpenaiChat "chat/arguments": "a call's arguments are a JSON string",
        repair "the arguments are written as a string",
        error "Invalid type for 'messages[…].tool_calls[…].function.arguments': expected a string, but got an object instead.",
        source "OpenAI SDK types (GH aaif-goose/goose-mobile#20)";
    CHAT_CONTENT = OpenaiChat "chat/content": "content is a string or a list of parts, each an object with a type (an assistant's may be null)",
        repair "an element that is no part is dropped; of a result that is neither its JSON is the text; another's content is left out",
        error "Invalid type for 'messages[…].content': expected one of a string or array of objects, but got … instead.",
        source "OpenAI SDK types; text [BK]";
    CHAT_CALLS = OpenaiChat "chat/tool-calls": "tool_calls is a list of at least one call, each an object",
        repair "the member is left out; what isn't a call is dropped",
        error "Invalid 'messages[…].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        source "OpenAI SDK types; text [BK]";
    CHAT_EMPTY = OpenaiChat "chat/empty": "an assistant message has content or calls; other messages have content",
        repair "the message is dropped, unless nothing else is said; a tool message gets an empty text",
        error "Invalid value for 'content': expected a string, got null.",
        source "PROVIDERS.md B.3 (content required unless tool_calls)";
    CHAT_NAME = OpenaiChat "chat/name": "a called tool's name has one or more letters, digits, `_` and `-`, unless the request defines that name itself",
        repair "other characters become `_`; without a name it is `unknown`",
        error "Invalid 'messages[…].tool_calls[…].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        source "PROVIDERS.md B.3 (GH mcp-use/mcp-use#94)";
    RESPONSES_SHAPE = OpenaiResponses "responses/shape": "every item is an object with a known type (a message: with a known role); types that are not known are carried",
        repair "the item is dropped",
        error "Invalid value: '…'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_NONE = OpenaiResponses "responses/no-items": "the list of items is not empty, unless history or a prompt is elsewhere",
        repair "",
        error "One of 'input', 'previous_response_id', 'prompt', or 'conversation' must be provided.",
        source "PROVIDERS.md B.2.1; text [BK]";
    RESPONSES_ANSWERED = OpenaiResponses "responses/answered": "every call of a client's tool has an output with its call_id, wherever it stands (an open call at the end is normal, one that runs asynchronously too)",
        repair "an output that says that there is none is added; a computer's call is dropped, since a screenshot can't be made up",
        error "No tool output found for function call ….",
        source "PROVIDERS.md B.2.2";
    RESPONSES_ORPHAN = OpenaiResponses "responses/orphan": "every output has a call of its kind with its call_id, unless history is elsewhere",
        repair "the output is dropped",
        error "No tool call found for function call output with call_id ….",
        source "PROVIDERS.md B.2.2";
    RESPONSES_DUPLICATE = OpenaiResponses "responses/duplicate-output": "a call has one output",
        repair "all outputs but the first are dropped",
        error "Duplicate function_call_output for call_id '…'. Each function_call must have exactly one matching function_call_output",
        source "PROVIDERS.md B.2.2";
    RESPONSES_PLACE = OpenaiResponses "responses/output-place": "an output stands behind its call",
        repair "the output is moved behind its call",
        error "No tool call found for function call output with call_id ….",
        source "PROVIDERS.md B.2.2 [BK]";
    RESPONSES_REUSED_ID = OpenaiResponses "responses/reused-call-id": "every call has a call_id, a string, unique in the request",
        repair "the later call and its output get a fresh call_id",
        error "Invalid 'input[…].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_LONG_ID = OpenaiResponses "responses/long-call-id": "a call_id has at most 64 characters",
        repair "the call and its output get a shorter call_id",
        error "Invalid 'input[…].call_id': string too long. Expected a string with maximum length 64, but got a string with length … instead.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_REASONING = OpenaiResponses "responses/reasoning-follows": "a reasoning item that is sent with its id is followed by what the model made of it",
        repair "the reasoning item is dropped",
        error "Item '…' of type 'reasoning' was provided without its required following item.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_STORED = OpenaiResponses "responses/stored": "with `store: false` no item is sent by its id alone (a reasoning item without its encrypted content, a reference)",
        repair "the reasoning item is dropped; what a reference refers to only its author knows",
        error "Item with id '…' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_ITEM_ID = OpenaiResponses "responses/item-id": "an item's own id is one of the provider's: msg…, rs…, fc…, of letters, digits, `_` and `-`, at most 64",
        repair "the id is left out",
        error "Invalid 'input[…].id': '…'. Expected an ID that begins with 'fc'.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_DUPLICATE_ITEM = OpenaiResponses "responses/duplicate-item": "an item is there once",
        repair "the later id is left out; a repeated thought, reference or call of the provider's own is dropped",
        error "Duplicate item found with id …. Remove duplicate items from your input and try again.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_CONTENT = OpenaiResponses "responses/content-type": "the model's texts are `output_text`, all others `input_text`",
        repair "the text gets the type of its side",
        error "Invalid value: '…'. Supported values are: 'output_text' and 'refusal'.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_EMPTY = OpenaiResponses "responses/empty": "a message has content: a string or a list",
        repair "the message is dropped",
        error "Invalid type for 'input[…].content': expected one of an array of objects or string, but got null instead.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_ARGUMENTS = OpenaiResponses "responses/arguments": "a function's arguments and a custom tool's input are strings",
        repair "they are written as a string",
        error "Invalid type for 'input[…].arguments': expected a string, but got an object instead.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_OUTPUT = OpenaiResponses "responses/output": "an output is a string or a list, as its type has it",
        repair "it is written so",
        error "Missing required parameter: 'input[…].output'.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_NAME = OpenaiResponses "responses/name": "a called tool's name has 1 to 128 letters, digits, `_` and `-`",
        repair "other characters become `_`; the name is cut, or `unknown` where there is none",
        error "Invalid 'input[…].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        source "PROVIDERS.md B.2.2; length [BK]";
    RESPONSES_TRIGGER = OpenaiResponses "responses/trigger-last": "a compaction_trigger is the last item",
        repair "the trigger is dropped",
        error "A 'compaction_trigger' must be the final input item.",
        source "PROVIDERS.md B.2.3; text [BK]";
    RESPONSES_HISTORY = OpenaiResponses "responses/history": "previous_response_id and conversation are not sent together",
        repair "",
        error "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
        source "OpenAI SDK docstrings; text [BK]";
    RESPONSES_THRESHOLD = OpenaiResponses "responses/compact-threshold": "the provider's own compaction begins at 1,000 tokens or more",
        repair "",
        error "Invalid 'context_management[…].compact_threshold': integer below minimum value. Expected a value >= 1000, but got … instead.",
        source "PROVIDERS.md B.2.3 (GH praxis-proxy/ai#838)";
    RESPONSES_BREAKPOINTS = OpenaiResponses "responses/cache-breakpoints": "a request writes at most 4 cache breakpoints, the one that the provider sets by itself among them",
        repair "the earliest breakpoints are left out",
        error "At most 4 prompt cache breakpoints can be written per request, but … were given.",
        source "PROVIDERS.md B.2.4; text [BK]";
    ANTHROPIC_SHAPE = Anthropic "anthropic/shape": "every message is an object with role user, assistant or system",
        repair "what isn't an object is dropped; a role that isn't known may be known to the provider, so the message stays",
        error "messages.….role: Input should be 'user' or 'assistant'",
        source "Anthropic SDK types; text [BK]";
    ANTHROPIC_NONE = Anthropic "anthropic/no-messages": "the list of messages is not empty",
        repair "",
        error "messages: at least one message is required",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_CONTENT = Anthropic "anthropic/content": "content is a string or a list of blocks, each an object with a type",
        repair "what is neither is dropped",
        error "messages.….content.…: Input should be a valid dictionary or object to extract fields from",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_TEXT = Anthropic "anthropic/text": "a text block's text is a string",
        repair "the block is dropped",
        error "messages.….content.….text.text: Field required",
        source "PROVIDERS.md B.1.1; text [BK]";
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
    ANTHROPIC_REUSED_ID = Anthropic "anthropic/reused-id": "every tool_use has an id, a string, unique in the request",
        repair "the later call and its result get a fresh id",
        error "messages.….content.…: `tool_use` ids must be unique",
        source "PROVIDERS.md B.1.2 (3) (GH anthropics/claude-code#28515)";
    ANTHROPIC_INPUT = Anthropic "anthropic/input": "a tool_use's input is an object",
        repair "the input is wrapped in an object",
        error "messages.….content.….tool_use.input: Input should be a valid dictionary",
        source "PROVIDERS.md B.1.2 (3) (GH anthropics/claude-code#6696)";
    ANTHROPIC_NAME = Anthropic "anthropic/name": "a tool_use's name has 1 to 200 characters",
        repair "the name is cut, or `unknown` where there is none",
        error "messages.….content.….tool_use.name: String should have at most 200 characters",
        source "PROVIDERS.md B.1.2 (3) (GH anthropics/claude-code#2673, openclaw/openclaw#7974)";
    ANTHROPIC_SIDE = Anthropic "anthropic/side": "tool_use blocks are the assistant's",
        repair "the block is dropped",
        error "messages.…: `tool_use` blocks can only be in `assistant` messages",
        source "PROVIDERS.md B.1.2 (1); text [BK]";
    ANTHROPIC_EMPTY_TEXT = Anthropic "anthropic/empty-text": "text blocks are not empty",
        repair "the block is dropped",
        error "messages: text content blocks must be non-empty",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_BLANK_TEXT = Anthropic "anthropic/blank-text": "text blocks hold more than white space",
        repair "the block is dropped",
        error "messages: text content blocks must contain non-whitespace text",
        source "PROVIDERS.md B.1.2 (4) (GH anthropics/claude-code#23440)";
    ANTHROPIC_ID = Anthropic "anthropic/id": "a tool_use's id is of letters, digits, `_` and `-`",
        repair "call and result get an id that is allowed",
        error "messages.….content.….tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source "PROVIDERS.md B.1.2 (3) (GH RooCodeInc/Roo-Code#10649)";
    ANTHROPIC_COMPACTION = Anthropic "anthropic/compaction": "a compaction block's content is a text that isn't empty, or null where it failed",
        repair "the block is dropped",
        error "messages.….content.….compaction.content: String should have at least 1 character",
        source "PROVIDERS.md B.1.5; text [BK]";
    ANTHROPIC_MARKERS = Anthropic "anthropic/cache-markers": "a request has at most 4 cache markers, the automatic one among them",
        repair "the earliest markers in messages are left out",
        error "A maximum of 4 blocks with cache_control may be provided. Found ….",
        source "PROVIDERS.md B.1.6 (GH tghamm/Anthropic.SDK#50)";
    ANTHROPIC_MARKER_ORDER = Anthropic "anthropic/cache-order": "a marker for an hour stands before those for five minutes (tools, system, messages)",
        repair "the later marker is for five minutes too",
        error "messages.….content.….cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
        source "PROVIDERS.md B.1.6 (GH headroomlabs-ai/headroom#2939)";
    ANTHROPIC_MOST = Anthropic "anthropic/too-many": "a request has at most 100,000 messages",
        repair "",
        error "messages: List should have at most 100000 items after validation",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_BUDGET = Anthropic "anthropic/thinking-budget": "a budget for thinking is 1,024 or more, and less than max_tokens (where there are tools it may be for several thoughts)",
        repair "",
        error "`max_tokens` must be greater than `thinking.budget_tokens`.",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_EITHER = Anthropic "anthropic/compaction-or-editing": "a request asks for a compaction or for context editing, not for both",
        repair "",
        error "context_management and compaction are mutually exclusive",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_ON_DEMAND = Anthropic "anthropic/on-demand-compaction": "a request for a compaction forces no tool, sets no stop sequence, output format or task budget, and ends without an open call",
        repair "",
        error "compaction: … is not supported with `compaction`",
        source "PROVIDERS.md B.1.5; text [BK]";
    ANTHROPIC_CLEAR_FIRST = Anthropic "anthropic/clear-thinking-first": "of several edits the clearing of thinking comes first",
        repair "",
        error "context_management.edits: clear_thinking_20251015 must be the first edit when combined with others",
        source "PROVIDERS.md B.1.5; text [BK]";
    ANTHROPIC_THRESHOLD = Anthropic "anthropic/compact-trigger": "the provider's own compaction begins at 50,000 tokens or more",
        repair "",
        error "context_management.edits.….compact_20260112.trigger.value: Input should be greater than or equal to 50000",
        source "PROVIDERS.md B.1.5; text [BK]";
    ANTHROPIC_EMPTY = Anthropic "anthropic/empty": "messages have content (the last assistant message, and system messages with an output_config, apart)",
        repair "the message is dropped",
        error "messages.…: all messages must have non-empty content except for the optional final assistant message",
        source "PROVIDERS.md B.1.2 (4) (GH anthropics/claude-code#6774; CODE @anthropic-ai/claude-code 2.1.330)";
    ANTHROPIC_MEMBER = Anthropic "anthropic/extra-member": "messages and blocks have only the members of their type",
        repair "the member is left out",
        error "messages.….content.….text.…: Extra inputs are not permitted",
        source "PROVIDERS.md B.1.2 (8); Anthropic SDK types";
    ANTHROPIC_BLOCK = Anthropic "anthropic/block-type": "blocks are of the format's own types, in messages and in results: not OpenAI's, Bedrock's or the Model Context Protocol's",
        repair "a text and an image stand in the format's own block; any other leaves a note",
        error "messages.….content.…: Input tag '…' found using 'type' does not match any of the expected tags: …",
        source "PROVIDERS.md B.1.2 (8); Anthropic SDK types";
    ANTHROPIC_MEDIA = Anthropic "anthropic/media-type": "an image's data is JPEG, PNG, GIF or WebP, a document's PDF or plain text; it is no data URL",
        repair "a type that is misspelt is written right, and what stands before the base64 is left out; else a note names what left",
        error "messages.….content.….image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        source "PROVIDERS.md B.1.2 (9); Anthropic SDK types";
    ANTHROPIC_ERROR_MEDIA = Anthropic "anthropic/error-content": "a result with `is_error` holds texts only",
        repair "a note names what was left out",
        error "messages.….content.….tool_result: all content must be type `text` if `is_error` is true",
        source "PROVIDERS.md B.1.2 (9)";
    ANTHROPIC_SIGNATURE = Anthropic "anthropic/signature": "for Claude, thinking has its signature",
        repair "the block is dropped",
        error "messages.….content.….thinking.signature: Field required",
        source "PROVIDERS.md B.1.2 (10)";
    ANTHROPIC_SERVED = Anthropic "anthropic/served-result": "a result of the provider's own tool has its server_tool_use (an mcp_tool_result its mcp_tool_use) before it",
        repair "the block is dropped",
        error "messages.….content.…: unexpected `tool_use_id` found in `…` blocks: …. Each `…` block must have a corresponding `server_tool_use` block before it.",
        source "PROVIDERS.md B.1.2 (7)";
    ANTHROPIC_TOOL_NAMES = Anthropic "anthropic/tool-names": "tools have different names",
        repair "",
        error "tools: Tool names must be unique.",
        source "PROVIDERS.md B.1.2 (10)";
    ANTHROPIC_SYSTEM_TEXT = Anthropic "anthropic/system-text": "a block of the system prompt has text that isn't blank",
        repair "",
        error "system: text content blocks must be non-empty",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_THINKING_FIRST = Anthropic "anthropic/thinking-first": "with thinking enabled by hand, the assistant turn of an open tool loop starts with thinking",
        repair "",
        error "messages.….content.0.type: Expected `thinking` or `redacted_thinking`, but found `…`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        source "PROVIDERS.md B.1.3";
    GEMINI_SHAPE = Gemini "gemini/shape": "every content is an object with role user or model (none: user) and a list of parts",
        repair "what isn't an object is dropped, instructions are said in the user's role, any other role stays",
        error "Please use a valid role: user, model.",
        source "PROVIDERS.md B.4; SDK types";
    GEMINI_NONE = Gemini "gemini/no-contents": "the list of contents is not empty",
        repair "",
        error "* GenerateContentRequest.contents: contents is not specified",
        source "PROVIDERS.md B.4; text [BK]";
    GEMINI_EMPTY = Gemini "gemini/empty": "a content has parts",
        repair "the content is dropped",
        error "* GenerateContentRequest.contents[…].parts: contents.parts must not be empty.",
        source "PROVIDERS.md B.4";
    GEMINI_DATA = Gemini "gemini/data": "every part is an object with data in it",
        repair "the part is dropped",
        error "* GenerateContentRequest.contents[…].parts[…].data: required oneof field 'data' must have one initialized field",
        source "PROVIDERS.md B.4";
    GEMINI_ONE_OF = Gemini "gemini/one-of": "a part holds one kind of data",
        repair "",
        error "Invalid value at 'contents[…].parts[…]' (oneof), oneof field 'data' is already set. Cannot set '…'",
        source "PROVIDERS.md B.4; text [BK]";
    GEMINI_EMPTY_TEXT = Gemini "gemini/empty-text": "text is not empty, unless it carries a signature",
        repair "the part is dropped",
        error "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.",
        source "PROVIDERS.md B.4 (GH google-gemini/deprecated-generative-ai-python#697)";
    GEMINI_NAME = Gemini "gemini/name": "a call's name has 1 to 128 characters",
        repair "the name is cut, or `unknown` where there is none",
        error "* GenerateContentRequest.contents[…].parts[…].function_call.name: Name cannot be empty.",
        source "PROVIDERS.md B.4; length: SDK types";
    GEMINI_ARGS = Gemini "gemini/args": "a call's arguments are an object",
        repair "the arguments are wrapped in an object",
        error "Invalid value at 'contents[…].parts[…].function_call.args' (type.googleapis.com/google.protobuf.Struct), …",
        source "PROVIDERS.md B.4; text [BK]";
    GEMINI_RESPONSE = Gemini "gemini/response": "a function response's response is an object",
        repair "the response is wrapped in an object",
        error "Invalid value at 'contents[…].parts[…].function_response.response' (type.googleapis.com/google.protobuf.Struct), …",
        source "PROVIDERS.md B.4; text [BK]";
    GEMINI_RESPONSE_NAME = Gemini "gemini/response-name": "a function response has the name of its call, and its id where both have one",
        repair "it gets them",
        error "* GenerateContentRequest.contents[…].parts[…].function_response.name: Name cannot be empty.",
        source "PROVIDERS.md B.4";
    GEMINI_SIDE = Gemini "gemini/side": "function calls are the model's",
        repair "the call is dropped",
        error "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        source "PROVIDERS.md B.4 [BK]";
    GEMINI_OPENING = Gemini "gemini/opening": "the first content isn't a function call turn",
        repair "a bracketed note is put first",
        error "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        source "PROVIDERS.md B.4";
    GEMINI_CALL_PLACE = Gemini "gemini/call-place": "a function call turn stands between the user's side and its responses: no other content of the model is next to it",
        repair "the model's contents are joined to one",
        error "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        source "PROVIDERS.md B.4";
    GEMINI_ANSWERED = Gemini "gemini/answered": "the content behind a function call turn has a response for every call (an open turn at the end is normal)",
        repair "a response that says that there is none is added",
        error "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        source "PROVIDERS.md B.4";
    GEMINI_ORPHAN = Gemini "gemini/orphan": "every function response answers one call of the function call turn before it",
        repair "the response is dropped",
        error "Please ensure that function response turn comes immediately after a function call turn.",
        source "PROVIDERS.md B.4";
    GEMINI_PLACE = Gemini "gemini/response-place": "all function responses stand in the one content behind their calls",
        repair "the response is moved there",
        error "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        source "PROVIDERS.md B.4";
    GEMINI_SIGNATURE = Gemini "gemini/signature": "from Gemini 3 on, the first call of every step of the current turn has its thought signature",
        repair "it gets the signature that is documented for calls that the model didn't make",
        error "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `…`, position ….",
        source "PROVIDERS.md B.4";
    GEMINI_CACHED = Gemini "gemini/cached-frame": "a request on cached content sets no system instruction and no tools of its own",
        repair "",
        error "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config. Proposed fix: move those values to CachedContent from GenerateContent request.",
        source "PROVIDERS.md B.4";
    GEMINI_MEMBER = Gemini "gemini/extra-member": "a content has a role and parts, and nothing else",
        repair "the member is left out",
        error "Invalid JSON payload received. Unknown name \"…\" at 'contents[…]': Cannot find field.",
        source "SDK types; text [BK]";
    GEMINI_TOOL_NAMES = Gemini "gemini/tool-names": "functions have different names",
        repair "",
        error "Duplicate function declaration found: …",
        source "PROVIDERS.md B.4 [BK]";
    BEDROCK_SHAPE = Bedrock "bedrock/shape": "every message is an object with role user or assistant",
        repair "what isn't an object is dropped; a role that isn't known may be known to the provider, so the message stays",
        error "Value '…' at 'messages.….member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]",
        source "AWS SDK service model; text [BK]";
    BEDROCK_NONE = Bedrock "bedrock/no-messages": "the list of messages is not empty",
        repair "",
        error "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        source "PROVIDERS.md B.4b; text [BK]";
    BEDROCK_FIRST = Bedrock "bedrock/first-role": "the first message is the user's",
        repair "a bracketed note is put first",
        error "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        source "PROVIDERS.md B.4b (GH langgenius/dify#12340)";
    BEDROCK_ALTERNATES = Bedrock "bedrock/alternates": "user and assistant take turns",
        repair "messages of one role in a row are joined",
        error "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        source "PROVIDERS.md B.4b";
    BEDROCK_EMPTY = Bedrock "bedrock/empty": "a message has content",
        repair "the message is dropped",
        error "The content field in the Message object at messages.… is empty. Add a ContentBlock object to the content field and try again.",
        source "PROVIDERS.md B.4b; text [BK]";
    BEDROCK_BLOCK = Bedrock "bedrock/block": "every block is an object with one member",
        repair "a string becomes a text; a block without a member is dropped",
        error "Invalid number of parameters set for tagged union structure messages[…].content[…]. Can only set one of the following keys: …",
        source "AWS SDK service model and its validation";
    BEDROCK_BLANK = Bedrock "bedrock/blank-text": "text isn't blank",
        repair "the block is dropped",
        error "The text field in the ContentBlock object at messages.….content.… is blank. Add text to the text field, and try again.",
        source "PROVIDERS.md B.4b";
    BEDROCK_ANSWERED = Bedrock "bedrock/answered": "every toolUse is answered in the next user message (an open batch at the end is normal)",
        repair "an error result that says that there is none is added",
        error "Expected toolResult blocks at messages.….content for the following Ids: …",
        source "PROVIDERS.md B.4b";
    BEDROCK_ORPHAN = Bedrock "bedrock/orphan": "every toolResult answers a toolUse of the message before it",
        repair "the toolResult is dropped",
        error "The number of toolResult blocks at messages.….content exceeds the number of toolUse blocks of previous turn.",
        source "PROVIDERS.md B.4b; text [BK]";
    BEDROCK_DUPLICATE = Bedrock "bedrock/duplicate-result": "a toolUse is answered once",
        repair "all answers but the first are dropped",
        error "The toolResult blocks at messages.….content contain duplicate Ids: …",
        source "PROVIDERS.md B.4b";
    BEDROCK_PLACE = Bedrock "bedrock/result-place": "toolResult blocks come first in the user message behind their calls",
        repair "the toolResult is moved there",
        error "Expected toolResult blocks at messages.….content for the following Ids: …",
        source "PROVIDERS.md B.4b; order [BK]";
    BEDROCK_REUSED_ID = Bedrock "bedrock/reused-id": "every toolUse has an id, a string, unique within its message",
        repair "the later call and its result get a fresh id",
        error "The toolUse blocks at messages.….content contain duplicate Ids: …",
        source "PROVIDERS.md B.4b";
    BEDROCK_ID = Bedrock "bedrock/id": "a toolUseId has 1 to 64 letters, digits or any of `_.:-`",
        repair "call and result get an id that is allowed",
        error "Value '…' at 'messages.….member.content.….member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+",
        source "AWS SDK service model; text [BK]";
    BEDROCK_NAME = Bedrock "bedrock/name": "a toolUse's name has 1 to 64 letters, digits or any of `_-`",
        repair "the name is cut and other characters become `_`",
        error "Value '…' at 'messages.….member.content.….member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        source "AWS SDK service model; text [BK]";
    BEDROCK_INPUT = Bedrock "bedrock/input": "a toolUse's input is an object",
        repair "the input is wrapped in an object",
        error "The format of the value at messages.….content.….toolUse.input is invalid. Provide a json object for the field and try again.",
        source "PROVIDERS.md B.4b; text [BK]";
    BEDROCK_SIDE = Bedrock "bedrock/side": "toolUse blocks are the assistant's",
        repair "the block is dropped",
        error "The toolUse block at messages.….content.… is not allowed in a user message",
        source "PROVIDERS.md B.4b; text [BK]";
    BEDROCK_TOOLS = Bedrock "bedrock/tool-config": "a request whose history has calls or results defines tools",
        repair "the tools that were called are defined, without a description",
        error "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        source "PROVIDERS.md B.4b";
    BEDROCK_MIXED = Bedrock "bedrock/mixed-turn": "models other than Claude take results and words in turns of their own",
        repair "",
        error "Conversation blocks and tool result blocks cannot be provided in the same turn.",
        source "PROVIDERS.md B.4b; which models [BK]";
    BEDROCK_MEMBER = Bedrock "bedrock/extra-member": "a message has a role and content, and nothing else",
        repair "the member is left out",
        error "Unknown parameter in messages[…]: \"…\", must be one of: role, content",
        source "AWS SDK service model and its validation";
    BEDROCK_TOOL_NAMES = Bedrock "bedrock/tool-names": "tools have different names",
        repair "",
        error "The model returned the following errors: tools: Tool names must be unique.",
        source "PROVIDERS.md B.1.2 (10) for Claude; other models [BK]";
    BEDROCK_THINKING_FIRST = Bedrock "bedrock/thinking-first": "with thinking enabled by hand, the assistant turn of an open tool loop starts with thinking",
        repair "",
        error "messages.….content.0.type: Expected `thinking` or `redacted_thinking`, but found `…`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        source "PROVIDERS.md B.1.3";
}
