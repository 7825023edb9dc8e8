//! Rules of Anthropic's Messages.

use super::{Rule, RuleId};
use crate::wire::Format;

rules! {
    ANTHROPIC_SHAPE = Anthropic "anthropic/shape": "every message is an object with role user, assistant or system",
        repair "what isn't an object is dropped; a role that isn't known may be known to the provider, so the message stays",
        error "messages.….role: Input should be 'user' or 'assistant'",
        source "Anthropic SDK types; text [BK]";
    ANTHROPIC_NONE = Anthropic "anthropic/no-messages": "the list of messages is not empty",
        repair "",
        error "messages: at least one message is required",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_CONTENT = Anthropic "anthropic/content": "content is a string or a list of blocks, each an object with a type",
        repair "a text, an object without a type or a block by itself is written as it is meant; what says nothing is dropped",
        error "messages.….content.…: Input should be a valid dictionary or object to extract fields from",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_TEXT = Anthropic "anthropic/text": "a text block's text is a string",
        repair "its JSON is the text; a block that says nothing is dropped",
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
        error "`max_tokens` must be greater than `thinking.budget_tokens`. (or: thinking.enabled.budget_tokens: Input should be greater than or equal to 1024)",
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
    ANTHROPIC_MEDIA = Anthropic "anthropic/media-type": "an image's data is JPEG, PNG, GIF or WebP, and of the type that is said; a document's is PDF or plain text; it is no data URL",
        repair "a type that is misspelt, or another than the data's, is written right, and what stands before the base64 is left out; else a note names what left",
        error "messages.….content.….image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp' (or: ….data: Image does not match the provided media type …)",
        source "PROVIDERS.md B.1.2 (9) (GH anthropics/claude-code#15746); Anthropic SDK types";
    ANTHROPIC_ERROR_MEDIA = Anthropic "anthropic/error-content": "a result with `is_error` holds texts only",
        repair "a note names what was left out",
        error "messages.….content.….tool_result: all content must be type `text` if `is_error` is true",
        source "PROVIDERS.md B.1.2 (9)";
    ANTHROPIC_EMPTY_ERROR = Anthropic "anthropic/empty-error": "a result with `is_error` has content",
        repair "`[empty result]` is said",
        error "messages.….content.….tool_result: content cannot be empty if `is_error` is true",
        source "PROVIDERS.md B.1.2 (9) (GH jlevy/markform#153)";
    ANTHROPIC_SIGNATURE = Anthropic "anthropic/signature": "for Claude, thinking has its signature, and redacted thinking its data",
        repair "the block is dropped",
        error "messages.….content.….thinking.signature: Field required (or: Invalid `data` in `redacted_thinking` block)",
        source "PROVIDERS.md B.1.2 (10); data: GH microsoft/vscode#320196";
    ANTHROPIC_RESULT_CONTENT = Anthropic "anthropic/result-content": "a tool_result's content is a string or a list of blocks",
        repair "a block or a text by itself is put into a list; of anything else its JSON is the text",
        error "messages.….content.….tool_result.content: Input should be a valid string or list",
        source "PROVIDERS.md B.1.1; text [BK]";
    ANTHROPIC_SERVED = Anthropic "anthropic/served-result": "a result of the provider's own tool has its server_tool_use (an mcp_tool_result its mcp_tool_use) before it",
        repair "the block is dropped",
        error "messages.….content.…: unexpected `tool_use_id` found in `…` blocks: …. Each `…` block must have a corresponding `server_tool_use` block before it.",
        source "PROVIDERS.md B.1.2 (7)";
    ANTHROPIC_TOOL_NAMES = Anthropic "anthropic/tool-names": "tools have different names",
        repair "a tool that is the very same is left out",
        error "tools: Tool names must be unique.",
        source "PROVIDERS.md B.1.2 (10)";
    ANTHROPIC_SYSTEM_TEXT = Anthropic "anthropic/system-text": "a block of the system prompt has text that isn't blank",
        repair "",
        error "system: text content blocks must be non-empty",
        source "PROVIDERS.md B.1.2 (4)";
    ANTHROPIC_THINKING_FIRST = Anthropic "anthropic/thinking-first": "with thinking enabled by hand, the assistant turn of an open tool loop starts with thinking, and the beginning of an answer, too",
        repair "",
        error "messages.….content.0.type: Expected `thinking` or `redacted_thinking`, but found `…`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        source "PROVIDERS.md B.1.3";
    ANTHROPIC_KIND = Anthropic "anthropic/unknown-type": "blocks, sources of media, tools, a tool_choice and cache markers are objects, blocks, sources and choices of a type that the SDK has",
        repair "",
        error "messages.….content.…: Input tag '…' found using 'type' does not match any of the expected tags: …",
        source "Anthropic SDK types";
    ANTHROPIC_VALUE = Anthropic "anthropic/value": "values are of those that the SDK has: a cache marker's time to live, a tool's name, and that of a tool of the provider's, whether a result is an error, an object's schema without a choice at its top, base64, stop sequences that say something; thinking by hand leaves sampling and tools alone; all documents have citations or none has; no white space ends the request",
        repair "what is only spelt otherwise is written right; the white space is left out",
        error "…: Input should be … (or: messages: final assistant content cannot end with trailing whitespace)",
        source "Anthropic SDK types; PROVIDERS.md B.1.2 (12, 13), B.1.3; citations: DOC citations; names: [BK]";
    ANTHROPIC_MISSING = Anthropic "anthropic/missing": "blocks, citations, sources of media and tools of the client's have all members that they need, and a body that asks for an answer its `max_tokens`",
        repair "a member of which only one value can be meant is added",
        error "messages.….content.….redacted_thinking.data: Field required",
        source "Anthropic SDK types";
    ANTHROPIC_BLOCK_SIDE = Anthropic "anthropic/block-side": "thinking, and what the provider's own tools were asked and gave, is the assistant's, and thinking not the end of the request; images and documents are the user's",
        repair "thinking at the end is dropped",
        error "messages.…: The final block in an assistant message cannot be `thinking`. (or: `thinking` blocks can only be in `assistant` messages)",
        source "PROVIDERS.md B.1.2 (11) (GH router-for-me/CLIProxyAPI#5321); sides: [BK]";
    ANTHROPIC_UNSERVED = Anthropic "anthropic/unserved": "what the provider's own tool was asked has its result before a person speaks again",
        repair "",
        error "messages.…: `…` tool use with id `…` was found without a corresponding `…_tool_result` block",
        source "PROVIDERS.md B.1.2 (11) [BK]";
    ANTHROPIC_SERVED_PAIR = Anthropic "anthropic/served-pair": "a server_tool_use, or an mcp_tool_use, has one result, of its tool's type",
        repair "a second result is dropped",
        error "messages.….content.…: unexpected `tool_use_id` found in `…` blocks: …. Each `…` block must have a corresponding `…` block before it.",
        source "PROVIDERS.md B.1.2 (7); Anthropic SDK types; text [BK]";
    ANTHROPIC_REUSED_SERVED_ID = Anthropic "anthropic/reused-served-id": "a server_tool_use has an id of its own",
        repair "",
        error "messages.….content.…: `tool_use` ids must be unique",
        source "PROVIDERS.md B.1.2 (3); text [BK]";
    ANTHROPIC_REFERENCE = Anthropic "anthropic/tool-reference": "a tool_reference, and a tool_choice, names a tool of the request's",
        repair "",
        error "messages.….content.….tool_reference: Tool reference '…' not found in available tools",
        source "Anthropic SDK types; text [BK]";
    ANTHROPIC_JSON = Anthropic "anthropic/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "The request body is not valid JSON: …",
        source "PROVIDERS.md B.0";
}
