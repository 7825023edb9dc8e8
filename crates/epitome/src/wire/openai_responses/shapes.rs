//! What an item is made of (SDK types of openai 3.57: of items that are sent, and of those that come back).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed, is_any, is_tool_name};
use crate::word_list::words;

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Typed(&ITEMS),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::RESPONSES_KIND,
    member: rules::RESPONSES_MEMBER,
    value: rules::RESPONSES_VALUE,
    missing: rules::RESPONSES_MISSING,
};

/// Images that OpenAI's models see.
pub(in crate::wire) const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

/// How closely an image is looked at.
pub(in crate::wire) const DETAILS: &[&str] = &["low", "high", "auto", "original"];

/// An item whose members aren't judged, but those that must be there.
const fn open(needed: &'static str) -> Object {
    const SOME: &str = "action approval_request_id approve arguments call_id encrypted_content name operation \
                        server_label tools";
    Object::open(SOME).needing(needed)
}

/// An item without a type is a message, or refers to one.
const ITEMS: Typed = Typed { of: item, untyped: Some(&MESSAGE), others: Others::Refused };
const BLOCKS: Typed = Typed { of: block, untyped: None, others: Others::Refused };
const CONTENT: (&str, Shape) = ("content", Shape::List(&Shape::Typed(&BLOCKS)));
const OUTPUT: (&str, Shape) = ("output", Shape::List(&Shape::Typed(&BLOCKS)));

const STATUS: (&str, Shape) = ("status", Shape::OneOf(&["in_progress", "completed", "incomplete"]));
/// What the provider's own tools may be at.
const PROGRESS: Object = Object::open("").with(&[(
    "status",
    Shape::OneOf(&words!(
        "in_progress searching interpreting generating calling completed incomplete failed"
    )),
)]);

fn item(kind: &str) -> Option<&'static Object> {
    const ANY: Object = open("");
    const SHELL: Object = open("call_id action");
    const PATCH: Object = Object::open("call_id")
        .with(&[("operation", Shape::Typed(&OPERATIONS))])
        .needing("call_id operation");
    const PATCHED: Object =
        Object::open("").with(&[("status", Shape::OneOf(&["completed", "failed"]))]);
    const SCREEN: Object =
        Object::open("").with(&[("output", Shape::Typed(&SCREENSHOTS))]).needing("output");
    const LISTING: Object = open("server_label tools");
    const MCP: Object = open("name arguments server_label");
    const RESPONSE: Object = open("approval_request_id approve");
    const TOOLS: Object = open("tools");
    const COMPACTION: Object = open("encrypted_content");
    Some(match kind {
        "message" => &MESSAGE,
        "reasoning" => &REASONING,
        "function_call" => &CALL,
        "custom_tool_call" => &CUSTOM,
        "function_call_output" => &CALL_OUTPUT,
        "custom_tool_call_output" => &CUSTOM_OUTPUT,
        "shell_call" | "local_shell_call" => &SHELL,
        "apply_patch_call" => &PATCH,
        "mcp_list_tools" => &LISTING,
        "mcp_call" | "mcp_approval_request" => &MCP,
        "mcp_approval_response" => &RESPONSE,
        "additional_tools" | "tool_search_output" => &TOOLS,
        "compaction" => &COMPACTION,
        "apply_patch_call_output" => &PATCHED,
        "computer_call_output" => &SCREEN,
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call" => &PROGRESS,
        "computer_call"
        | "shell_call_output"
        | "local_shell_call_output"
        | "tool_search_call"
        | "configuration_update"
        | "program"
        | "program_output"
        | "item_reference"
        | "agent_message"
        | "multi_agent_call"
        | "multi_agent_call_output"
        | "compaction_trigger" => &ANY,
        _ => return None,
    })
}

const OPERATIONS: Typed = Typed { of: operation, untyped: None, others: Others::Refused };
const SCREENSHOTS: Typed = Typed { of: block, untyped: None, others: Others::Refused };

fn operation(kind: &str) -> Option<&'static Object> {
    const DIFF: Object = Object::open("diff path").needing("diff path");
    const PATH: Object = Object::open("path").needing("path");
    Some(match kind {
        "create_file" | "update_file" => &DIFF,
        "delete_file" => &PATH,
        _ => return None,
    })
}

fn block(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "input_text" | "text" => &TEXT,
        "output_text" => &SAID,
        "input_image" => &IMAGE,
        "input_file" => &FILE,
        "refusal" | "input_audio" | "computer_screenshot" | "summary_text" | "reasoning_text" => {
            &OPEN
        }
        _ => return None,
    })
}

const OPEN: Object = Object::open("");
// An SDK of the provider's adds `parsed` and `parsed_arguments` to answers, and sends them again. Codex sends
// `internal_chat_message_metadata_passthrough` with each item. `agent` names the speaker if there are several agents
// (`responses_multi_agent=v1`).
const TEXT: Object = Object::of("type text prompt_cache_breakpoint").needing("text");
const SAID: Object =
    Object::of("type text annotations logprobs prompt_cache_breakpoint parsed").needing("text");
const IMAGE: Object = Object::of("type file_id prompt_cache_breakpoint")
    .with(&[("image_url", Shape::Address(IMAGES)), ("detail", Shape::OneOf(DETAILS))])
    .either("image_url file_id");
const FILE: Object =
    Object::of("type file_data file_id file_url filename detail prompt_cache_breakpoint")
        .either("file_data file_id file_url");

const MESSAGE: Object = Object::of(
    "type role id phase created_by internal_chat_message_metadata_passthrough \
     agent parsed",
)
.with(&[CONTENT, STATUS]);
const REASONING: Object = Object::of(
    "type id encrypted_content created_by \
     internal_chat_message_metadata_passthrough agent",
)
.with(&[("summary", Shape::Listed(0, usize::MAX, &Shape::Typed(&BLOCKS))), CONTENT, STATUS])
.filled(&[("summary", "[]")]);
const CALL: Object = Object::of(
    "type id call_id name arguments namespace caller async created_by \
     internal_chat_message_metadata_passthrough agent parsed_arguments",
)
.with(&[STATUS])
.needing("call_id");
const CUSTOM: Object = Object::of(
    "type id call_id name input namespace caller async created_by \
     internal_chat_message_metadata_passthrough agent",
)
.with(&[STATUS])
.needing("call_id");
const CALL_OUTPUT: Object = Object::of(
    "type id call_id name namespace caller created_by \
     internal_chat_message_metadata_passthrough agent",
)
.with(&[OUTPUT, STATUS]);
const CUSTOM_OUTPUT: Object = Object::of(
    "type id call_id name caller created_by \
     internal_chat_message_metadata_passthrough agent",
)
.with(&[OUTPUT, STATUS]);

/// The provider's own tools are its own.
const TOOLS: Typed = Typed { of: tool, untyped: None, others: Others::Taken };

fn tool(kind: &str) -> Option<&'static Object> {
    // Chat has its members in a `function`.
    const FUNCTION: Object =
        Object::open("").with(&[("name", Shape::Such(is_tool_name))]).needing("name");
    const CUSTOM: Object =
        Object::open("name").with(&[("format", Shape::Typed(&WORD_FORMATS))]).needing("name");
    const SEARCH: Object = Object::open("vector_store_ids").needing("vector_store_ids");
    const CODE: Object = Object::open("container").needing("container");
    const MCP: Object = Object::open("server_label server_url connector_id tunnel_id")
        .needing("server_label")
        .either("server_url connector_id tunnel_id");
    Some(match kind {
        "function" => &FUNCTION,
        "custom" => &CUSTOM,
        "file_search" => &SEARCH,
        "code_interpreter" => &CODE,
        "mcp" => &MCP,
        _ => return None,
    })
}

const WORD_FORMATS: Typed = Typed { of: word_format, untyped: None, others: Others::Taken };

fn word_format(kind: &str) -> Option<&'static Object> {
    const GRAMMAR: Object = Object::open("definition")
        .with(&[("syntax", Shape::OneOf(&["lark", "regex"]))])
        .needing("definition syntax");
    (kind == "grammar").then_some(&GRAMMAR)
}

/// An object names a tool of any kind.
const CHOICES: Typed = Typed { of: |_| None, untyped: None, others: Others::Taken };

/// Members of events on a socket, those that Codex sends, and other formats' lists, which are found as such, are among them.
const BODY: Object = Object::of(
    "access_programs background background_options context_management conversation image include input \
     max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt \
     prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store \
     stream stream_options temperature text top_logprobs top_p truncation user betas personality multi_agent \
     type event_id generate stream_id client_metadata messages contents",
)
.with(&[
    ("instructions", Shape::Such(is_any)),
    ("tools", Shape::List(&Shape::Typed(&TOOLS))),
    ("tool_choice", Shape::WordOr(&["none", "auto", "required"], &Shape::Typed(&CHOICES))),
]);
