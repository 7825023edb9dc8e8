//! Rules of OpenAI's two formats.

use super::{Rule, RuleId};
use crate::wire::Format;

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
        repair "a text, an object without a type or a part by itself is written as it is meant; what says nothing is dropped; of a result that is neither its JSON is the text",
        error "Invalid type for 'messages[…].content': expected one of a string or array of objects, but got … instead.",
        source "OpenAI SDK types; text [BK]";
    CHAT_CALLS = OpenaiChat "chat/tool-calls": "tool_calls is a list of at least one call, each an object",
        repair "a call by itself is put into a list; else the member is left out; what isn't a call is dropped",
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
        repair "an output that is typed as another kind of call's gets its type; any other is dropped",
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
        error "Invalid 'input[…].call_id': …",
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
    RESPONSES_CONTENT = OpenaiResponses "responses/content-type": "content is a list of blocks, each an object with a type; the model's texts are `output_text`, all others `input_text`; the model shows no images or files",
        repair "a text or an object without a type becomes a text, and what says nothing is dropped; the text gets the type of its side",
        error "Invalid value: '…'. Supported values are: 'output_text' and 'refusal'.",
        source "PROVIDERS.md B.2.2";
    RESPONSES_EMPTY = OpenaiResponses "responses/empty": "a message has content: a string or a list",
        repair "an object by itself is written as it is meant; else the message is dropped",
        error "Invalid type for 'input[…].content': expected one of an array of objects or string, but got null instead.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_ARGUMENTS = OpenaiResponses "responses/arguments": "a function's arguments and a custom tool's input are strings",
        repair "they are written as a string",
        error "Invalid type for 'input[…].arguments': expected a string, but got an object instead.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_OUTPUT = OpenaiResponses "responses/output": "an output is a string or a list, as its type has it",
        repair "it is written so: a block by itself in a list, else its JSON as the text",
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
    CHAT_BLOCK = OpenaiChat "chat/foreign-block": "content holds no blocks of Anthropic's: calls, results and thinking have members of their own",
        repair "",
        error "Invalid value: 'tool_use'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'.",
        source "OpenAI SDK types";
    CHAT_PART = OpenaiChat "chat/part-type": "a text is of the type `text`, an image of `image_url`: not of Responses' types",
        repair "a text gets its type; an image's address is put into `image_url`",
        error "Invalid value: 'input_text'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'.",
        source "OpenAI SDK types";
    CHAT_KIND = OpenaiChat "chat/form": "for OpenAI's models, parts, calls and tools are objects of a type that the SDK has, with what they hold; a list of tools has 1 to 128 of them, with names of up to 64 letters, digits, `_` and `-`; a tool_choice comes with tools and names one of them, and is a word that the SDK has; messages have only the members of the SDK's; refusals are the assistant's; a name is a string; an address has a scheme; sound is WAV or MP3",
        repair "a call's type and empty arguments are added; a member that isn't known is left out",
        error "Invalid type for 'messages[…].content[…]': expected an object, but got … instead.",
        source "OpenAI SDK types; PROVIDERS.md B.3; text [BK]";
    RESPONSES_KIND = OpenaiResponses "responses/unknown-type": "items, blocks and tools are objects, items and blocks of a type that the SDK has",
        repair "",
        error "Invalid value: '…'. Supported values are: ….",
        source "OpenAI SDK types";
    RESPONSES_MEMBER = OpenaiResponses "responses/extra-member": "the body, items and blocks have only the members of their type",
        repair "the member is left out",
        error "Unknown parameter: 'input[…].…'.",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_VALUE = OpenaiResponses "responses/value": "an image is PNG, JPEG, GIF or WebP, at an address with a scheme; a function's name has 1 to 128 letters, digits, `_` and `-`; a patch's operation, a grammar's syntax and a status are of those that the SDK has; a tool_choice is a word that the SDK has, or names a tool of the request's",
        repair "what is only spelt otherwise is written right; an address in an object stands by itself",
        error "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        source "OpenAI SDK types; text [BK]";
    RESPONSES_MISSING = OpenaiResponses "responses/missing": "items have all members that they need; images and files are somewhere, functions have a name, and tools what they work on",
        repair "the summary of a thought is there and empty",
        error "Missing required parameter: 'input[…].…'.",
        source "OpenAI SDK types";
    RESPONSES_APPROVAL = OpenaiResponses "responses/approval": "an mcp_approval_response has its request before it",
        repair "",
        error "Approval request with ID '…' not found.",
        source "OpenAI SDK types; PROVIDERS.md B.2.2; text [BK]";
    RESPONSES_TOOL_NAMES = OpenaiResponses "responses/tool-names": "tools have different names",
        repair "a tool that is the very same is left out",
        error "Duplicate tool names are not allowed.",
        source "OpenAI SDK docstrings; text [BK]";
    CHAT_JSON = OpenaiChat "chat/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "We could not parse the JSON body of your request. …",
        source "PROVIDERS.md B.0; text [BK]";
    RESPONSES_JSON = OpenaiResponses "responses/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "We could not parse the JSON body of your request. …",
        source "PROVIDERS.md B.0; text [BK]";
    CHAT_TOOL_NAMES = OpenaiChat "chat/tool-names": "for OpenAI's models, tools have different names",
        repair "a tool that is the very same is left out",
        error "Duplicate tool names are not allowed.",
        source "[BK], as in Responses";
    CHAT_LENGTH = OpenaiChat "chat/length": "for OpenAI's models a call's id has at most 40 characters, and the name of its tool 64; for Mistral's it has nine letters and digits",
        repair "the id of the call and its result, or the name, is cut; Mistral's get numbered ones",
        error "Invalid 'messages[…].tool_calls[…].…': string too long. Expected a string with maximum length …, but got a string with length … instead.",
        source "PROVIDERS.md B.3 (GH camel-ai/camel#2215); name: OpenAI SDK docstrings";
}
