//! Rules of Bedrock Converse.

use super::{Rule, RuleId};
use crate::wire::Format;

rules! {
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
        repair "a string becomes a text, and a block by itself is put into a list; a block without a member is dropped",
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
    BEDROCK_SIDE = Bedrock "bedrock/side": "toolUse blocks are the assistant's, images and documents the user's",
        repair "a toolUse block is dropped",
        error "The toolUse block at messages.….content.… is not allowed in a user message",
        source "PROVIDERS.md B.4b; AWS SDK service model (`Message`); text [BK]";
    BEDROCK_TOOLS = Bedrock "bedrock/tool-config": "a request whose history has calls or results defines tools",
        repair "the tools that were called are defined, without a description",
        error "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        source "PROVIDERS.md B.4b";
    BEDROCK_MIXED = Bedrock "bedrock/mixed-turn": "models other than Claude take results and words in turns of their own; the body names none, so `--model` says that it is for Claude",
        repair "",
        error "Conversation blocks and tool result blocks cannot be provided in the same turn.",
        source "PROVIDERS.md B.4b; which models [BK]";
    BEDROCK_MEMBER = Bedrock "bedrock/extra-member": "a message has a role and content, and nothing else",
        repair "the member is left out",
        error "Unknown parameter in messages[…]: \"…\", must be one of: role, content",
        source "AWS SDK service model and its validation";
    BEDROCK_EMPTY_ERROR = Bedrock "bedrock/empty-error": "a toolResult whose status is `error` has content",
        repair "`[empty result]` is said",
        error "The content field at messages.….content.….toolResult cannot be empty when status value is error.",
        source "PROVIDERS.md B.4b (GH aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15)";
    BEDROCK_TOOL_NAMES = Bedrock "bedrock/tool-names": "tools have different names",
        repair "a tool that is the very same is left out",
        error "The model returned the following errors: tools: Tool names must be unique.",
        source "PROVIDERS.md B.1.2 (10) for Claude; other models [BK]";
    BEDROCK_THINKING_FIRST = Bedrock "bedrock/thinking-first": "with thinking enabled by hand, the assistant turn of an open tool loop starts with thinking",
        repair "",
        error "messages.….content.0.type: Expected `thinking` or `redacted_thinking`, but found `…`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        source "PROVIDERS.md B.1.3";
    BEDROCK_KIND = Bedrock "bedrock/unknown-block": "structures are objects, and blocks have a member that the service model knows, in results and in the system prompt too",
        repair "",
        error "Unknown parameter in messages[…].content[…]: \"…\", must be one of: text, image, document, …",
        source "AWS SDK service model and its validation";
    BEDROCK_VALUE = Bedrock "bedrock/value": "values are of those that the service model has: formats of media, a result's status, names of documents, each once, and of tools, texts of the system prompt; a message has at most 5 documents, a request 4 cache points, a toolConfig a tool, and a toolChoice names one of them",
        repair "what is only spelt otherwise is written right, what stands before the base64 is left out, a document whose name is taken gets a number, and the earliest cache points leave",
        error "Value '…' at '…' failed to satisfy constraint: Member must satisfy …",
        source "AWS SDK service model; names of documents: its docstring, GH maximhq/bifrost#7003; cache points: DOC AWS prompt-caching; choices: [BK]";
    BEDROCK_MISSING = Bedrock "bedrock/missing": "structures have all members that they need, and documents a text beside them",
        repair "a member of which only one value can be meant is added, and a text that says that there is a document",
        error "Missing required parameter in messages[…].content[…].image: \"format\"",
        source "AWS SDK service model and its validation";
    BEDROCK_JSON = Bedrock "bedrock/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "The body could not be parsed as JSON: …",
        source "PROVIDERS.md B.0; text [BK]";
}
