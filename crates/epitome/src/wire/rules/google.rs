//! Rules of Gemini's two formats.

use super::{Rule, RuleId};
use crate::wire::Format;

rules! {
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
        repair "a string becomes a text, and a part by itself is put into a list; a part without data is dropped",
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
    GEMINI_CACHED = Gemini "gemini/cached-frame": "a request on cached content sets no system instruction, no tools and no mode of calls of its own",
        repair "",
        error "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config. Proposed fix: move those values to CachedContent from GenerateContent request.",
        source "PROVIDERS.md B.4";
    GEMINI_MEMBER = Gemini "gemini/extra-member": "a content has a role and parts, and nothing else; the body has the members of the SDK's",
        repair "the member is left out",
        error "Invalid JSON payload received. Unknown name \"…\" at 'contents[…]': Cannot find field.",
        source "SDK types; text [BK]";
    GEMINI_TOOL_NAMES = Gemini "gemini/tool-names": "functions have different names",
        repair "a tool that is the very same is left out",
        error "Duplicate function declaration found: …",
        source "PROVIDERS.md B.4 [BK]";
    INTERACTIONS_NONE = GeminiInteractions "interactions/no-input": "the input is not empty, unless history is elsewhere",
        repair "",
        error "Request must contain at least one step in `input`.",
        source "PROVIDERS.md B.4c; text [BK]";
    INTERACTIONS_SHAPE = GeminiInteractions "interactions/shape": "every step is an object with a type; types that are not known are carried",
        repair "what isn't an object is dropped",
        error "Invalid value at 'input[…]': expected a step with a `type`.",
        source "PROVIDERS.md B.4c; SDK types; text [BK]";
    INTERACTIONS_EMPTY = GeminiInteractions "interactions/empty": "a step of the user's or the model's has content",
        repair "the step is dropped",
        error "Invalid value at 'input[…].content': content must not be empty.",
        source "PROVIDERS.md B.4c; text [BK]";
    INTERACTIONS_CONTENT = GeminiInteractions "interactions/content": "a content is an object with a type and what that type holds; types that are not known are carried",
        repair "a text or an object without a type becomes a text; another content is dropped",
        error "Invalid value at 'input[…].content[…]': …",
        source "PROVIDERS.md B.4c; SDK types; text [BK]";
    INTERACTIONS_NAME = GeminiInteractions "interactions/name": "a called function's name has 1 to 128 characters",
        repair "the name is cut, or `unknown` where there is none",
        error "Invalid value at 'input[…].name': Name cannot be empty.",
        source "PROVIDERS.md B.4c; text [BK]";
    INTERACTIONS_ARGUMENTS = GeminiInteractions "interactions/arguments": "a call's arguments are an object",
        repair "the arguments are wrapped in an object",
        error "Invalid value at 'input[…].arguments' (type.googleapis.com/google.protobuf.Struct), …",
        source "PROVIDERS.md B.4c; SDK types; text [BK]";
    INTERACTIONS_RESULT = GeminiInteractions "interactions/result": "a function's result is a string, a list of contents or an object",
        repair "it is written as a string",
        error "Invalid value at 'input[…].result': …",
        source "PROVIDERS.md B.4c; SDK types; text [BK]";
    INTERACTIONS_ANSWERED = GeminiInteractions "interactions/answered": "every function call has a result before anything else is said (open calls at the end are normal)",
        repair "an error result that says that there is none is added",
        error "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        source "PROVIDERS.md B.4c [BK]";
    INTERACTIONS_ORPHAN = GeminiInteractions "interactions/orphan": "every function result answers a call of the model's turn before it, unless history is elsewhere",
        repair "the result is dropped",
        error "Please ensure that function response turn comes immediately after a function call turn.",
        source "PROVIDERS.md B.4c [BK]";
    INTERACTIONS_DUPLICATE = GeminiInteractions "interactions/duplicate-result": "a call is answered once",
        repair "all results but the first are dropped",
        error "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        source "PROVIDERS.md B.4c [BK]";
    INTERACTIONS_PLACE = GeminiInteractions "interactions/result-place": "function results stand directly behind the model's turn with their calls",
        repair "the result is moved there",
        error "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        source "PROVIDERS.md B.4c [BK]";
    INTERACTIONS_REUSED_ID = GeminiInteractions "interactions/reused-id": "every call has an id, a string, unique in the request",
        repair "the later call and its result get a fresh id",
        error "Invalid value at 'input[…].id': …",
        source "PROVIDERS.md B.4c; SDK docstrings; text [BK]";
    INTERACTIONS_TOOL_NAMES = GeminiInteractions "interactions/tool-names": "functions have different names",
        repair "a tool that is the very same is left out",
        error "Duplicate function declaration found: …",
        source "PROVIDERS.md B.4c [BK]";
    GEMINI_KIND = Gemini "gemini/unknown-part": "a part, what it holds, a tool and the system instruction are objects, and a part has a member that the SDK knows",
        repair "",
        error "Invalid JSON payload received. Unknown name \"…\" at 'contents[…].parts[…]': Cannot find field.",
        source "google-genai SDK types";
    GEMINI_VALUE = Gemini "gemini/value": "an image is PNG, JPEG, WebP, HEIC, HEIF, GIF, BMP or TIFF, and data is base64, no data URL; a text is a string; a function's name begins with a letter or `_`, and tools are not OpenAI's, with one schema each; modes, languages and outcomes are the SDK's; signatures are base64, `thought` a flag",
        repair "what is only spelt otherwise is written right, and what stands before the base64 is left out",
        error "Unsupported MIME type: …",
        source "google-genai SDK types; PROVIDERS.md B.4 (names: GH dust-tt/dust#28212); text [BK]";
    GEMINI_MISSING = Gemini "gemini/missing": "data has its type and its bytes or address, code its text, a result its outcome",
        repair "",
        error "* GenerateContentRequest.contents[…].parts[…].inline_data.mime_type: mime_type is required.",
        source "google-genai SDK types; text [BK]";
    GEMINI_SERVED = Gemini "gemini/served-result": "a result of the provider's code or tool stands behind what was run, in the same turn of the model's",
        repair "",
        error "Please ensure that code execution result comes immediately after executable code.",
        source "google-genai SDK types; text [BK]";
    INTERACTIONS_KIND = GeminiInteractions "interactions/unknown-type": "steps, contents and tools are objects, steps and contents of a type that the SDK has",
        repair "",
        error "Invalid value at 'input[…].type': …",
        source "google-genai SDK types; text [BK]";
    INTERACTIONS_MEMBER = GeminiInteractions "interactions/extra-member": "steps and contents have only the members of their type",
        repair "the member is left out",
        error "Invalid JSON payload received. Unknown name \"…\" at 'input[…]': Cannot find field.",
        source "google-genai SDK types; text [BK]";
    INTERACTIONS_VALUE = GeminiInteractions "interactions/value": "an image is PNG, JPEG, WebP, HEIC, HEIF, GIF, BMP or TIFF, and data is base64, no data URL; the system instruction is a string; a function's name begins with a letter or `_`",
        repair "what is only spelt otherwise is written right, and what stands before the base64 is left out",
        error "Unsupported MIME type: …",
        source "google-genai SDK types; text [BK]";
    INTERACTIONS_MISSING = GeminiInteractions "interactions/missing": "the steps of what the provider ran have their ids",
        repair "",
        error "Invalid value at 'input[…].call_id': required",
        source "google-genai SDK types; text [BK]";
    INTERACTIONS_SERVED = GeminiInteractions "interactions/served-result": "a result of what the provider ran has the step that asked for it before it",
        repair "",
        error "Invalid value at 'input[…].call_id': no step has this id",
        source "google-genai SDK types; text [BK]";
    GEMINI_JSON = Gemini "gemini/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own, nothing nested more than 100 deep",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "Invalid JSON payload received. …",
        source "PROVIDERS.md B.0; text [BK]";
    INTERACTIONS_JSON = GeminiInteractions "interactions/json": "the body is JSON that every reader takes: no byte order mark, no half of a character, no number beyond doubles, no member twice, in whatever spelling, no other format's messages beside its own, nothing nested more than 100 deep",
        repair "the mark is left out, and U+FFFD stands for half a character",
        error "Invalid JSON payload received. …",
        source "PROVIDERS.md B.0; text [BK]";
}
