//! What an item is made of (SDK types of openai 3.57: of items that are sent, and of those that come back).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed, any};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Typed(&ITEMS),
    body: Shape::Any,
    names: Names::Exact,
    kind: rules::RESPONSES_KIND,
    member: rules::RESPONSES_MEMBER,
    value: rules::RESPONSES_VALUE,
    missing: rules::RESPONSES_MISSING,
};

const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

const fn object(
    members: &'static [(&'static str, Shape)],
    needed: &'static [(&'static str, &'static str)],
) -> Object {
    Object { members, needed, others: Others::Refused }
}

/// An item whose members aren't judged, but those that must be there.
const fn open(needed: &'static [(&'static str, &'static str)]) -> Object {
    const SOME: &[(&str, Shape)] = &[
        any("action"),
        any("approval_request_id"),
        any("approve"),
        any("arguments"),
        any("call_id"),
        any("encrypted_content"),
        any("name"),
        any("operation"),
        any("server_label"),
        any("tools"),
    ];
    Object { members: SOME, needed, others: Others::Taken }
}

/// An item without a type is a message, or refers to one.
const ITEMS: Typed = Typed { of: item, untyped: Some(&MESSAGE), others: Others::Refused };
const BLOCKS: Typed = Typed { of: block, untyped: None, others: Others::Refused };
const KIND: (&str, Shape) = any("type");
const CONTENT: (&str, Shape) = ("content", Shape::List(&Shape::Typed(&BLOCKS)));
const OUTPUT: (&str, Shape) = ("output", Shape::List(&Shape::Typed(&BLOCKS)));

fn item(kind: &str) -> Option<&'static Object> {
    const ANY: Object = open(&[]);
    const SHELL: Object = open(&[("call_id", ""), ("action", "")]);
    const PATCH: Object = open(&[("call_id", ""), ("operation", "")]);
    const LISTING: Object = open(&[("server_label", ""), ("tools", "")]);
    const MCP: Object = open(&[("name", ""), ("arguments", ""), ("server_label", "")]);
    const RESPONSE: Object = open(&[("approval_request_id", ""), ("approve", "")]);
    const TOOLS: Object = open(&[("tools", "")]);
    const COMPACTION: Object = open(&[("encrypted_content", "")]);
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
        "computer_call"
        | "computer_call_output"
        | "shell_call_output"
        | "local_shell_call_output"
        | "apply_patch_call_output"
        | "tool_search_call"
        | "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
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

const OPEN: Object = Object { members: &[], needed: &[], others: Others::Taken };
const MARKER: (&str, Shape) = any("prompt_cache_breakpoint");
/// What an SDK of the provider's adds to what came back, and sends again.
const PARSED: (&str, Shape) = any("parsed");
const PARSED_ARGUMENTS: (&str, Shape) = any("parsed_arguments");
/// What Codex sends with each item.
const PASSED: (&str, Shape) = any("internal_chat_message_metadata_passthrough");
/// Who said or asked it, where several agents do (`responses_multi_agent=v1`).
const AGENT: (&str, Shape) = any("agent");
const TEXT: Object = object(&[KIND, any("text"), MARKER], &[("text", "")]);
const SAID: Object = object(
    &[KIND, any("text"), any("annotations"), any("logprobs"), MARKER, PARSED],
    &[("text", "")],
);
const IMAGE: Object = object(
    &[
        KIND,
        ("image_url", Shape::Address(IMAGES)),
        any("file_id"),
        ("detail", Shape::OneOf(&["low", "high", "auto", "original"])),
        MARKER,
    ],
    &[],
);
const FILE: Object = object(
    &[
        KIND,
        any("file_data"),
        any("file_id"),
        any("file_url"),
        any("filename"),
        any("detail"),
        MARKER,
    ],
    &[],
);

const MESSAGE: Object = object(
    &[
        KIND,
        any("role"),
        CONTENT,
        any("id"),
        any("status"),
        any("phase"),
        any("created_by"),
        PASSED,
        AGENT,
        PARSED,
    ],
    &[],
);
const REASONING: Object = object(
    &[
        KIND,
        any("id"),
        any("summary"),
        any("content"),
        any("encrypted_content"),
        any("status"),
        any("created_by"),
        PASSED,
        AGENT,
    ],
    &[("summary", "[]")],
);
const CALL: Object = object(
    &[
        KIND,
        any("id"),
        any("call_id"),
        any("name"),
        any("arguments"),
        any("namespace"),
        any("caller"),
        any("async"),
        any("status"),
        any("created_by"),
        PASSED,
        AGENT,
        PARSED_ARGUMENTS,
    ],
    &[("call_id", "")],
);
const CUSTOM: Object = object(
    &[
        KIND,
        any("id"),
        any("call_id"),
        any("name"),
        any("input"),
        any("namespace"),
        any("caller"),
        any("async"),
        any("status"),
        any("created_by"),
        PASSED,
        AGENT,
    ],
    &[("call_id", "")],
);
const CALL_OUTPUT: Object = object(
    &[
        KIND,
        any("id"),
        any("call_id"),
        OUTPUT,
        any("name"),
        any("namespace"),
        any("caller"),
        any("status"),
        any("created_by"),
        PASSED,
        AGENT,
    ],
    &[],
);
const CUSTOM_OUTPUT: Object = object(
    &[
        KIND,
        any("id"),
        any("call_id"),
        OUTPUT,
        any("name"),
        any("caller"),
        any("status"),
        any("created_by"),
        PASSED,
        AGENT,
    ],
    &[],
);
