//! What a step is made of (SDK types of google-genai 3.6.1).

use crate::wire::gemini::{IMAGES, is_function_name};
use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed, is_any};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Typed(&STEPS),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::INTERACTIONS_KIND,
    member: rules::INTERACTIONS_MEMBER,
    value: rules::INTERACTIONS_VALUE,
    missing: rules::INTERACTIONS_MISSING,
};

const STEPS: Typed = Typed { of: step, untyped: None, others: Others::Refused };
const CONTENTS: Typed = Typed { of: content, untyped: None, others: Others::Refused };
const RESULTS: Typed = Typed { of: result_content, untyped: None, others: Others::Refused };

fn step(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "user_input" => &INPUT,
        "model_output" => &OUTPUT,
        "thought" => &THOUGHT,
        "function_call" => &CALL,
        "function_result" => &RESULT,
        "code_execution_call"
        | "google_search_call"
        | "google_maps_call"
        | "file_search_call"
        | "tool_search_call"
        | "url_context_call"
        | "retrieval_call"
        | "processing_call"
        | "mcp_server_tool_call" => &SERVED,
        "code_execution_result"
        | "google_search_result"
        | "google_maps_result"
        | "file_search_result"
        | "tool_search_result"
        | "url_context_result"
        | "retrieval_result"
        | "processing_result"
        | "mcp_server_tool_result" => &SERVED_RESULT,
        kind => return content(kind),
    })
}

fn content(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "text" => &TEXT,
        "image" => &IMAGE,
        "audio" | "document" | "video" => &MEDIUM,
        _ => return None,
    })
}

fn result_content(kind: &str) -> Option<&'static Object> {
    if kind == "function" { Some(&FUNCTION) } else { content(kind) }
}

const INPUT: Object =
    Object::of("type").with(&[("content", Shape::List(&Shape::Typed(&CONTENTS)))]);
const OUTPUT: Object =
    Object::of("type error").with(&[("content", Shape::List(&Shape::Typed(&CONTENTS)))]);
const THOUGHT: Object =
    Object::of("type signature").with(&[("summary", Shape::List(&Shape::Typed(&CONTENTS)))]);
const CALL: Object = Object::of("type id name arguments signature");
const RESULT: Object = Object::of("type call_id name is_error signature")
    .with(&[("result", Shape::List(&Shape::Typed(&RESULTS)))]);
/// Steps that the provider ran itself have further members.
const SERVED: Object = Object::open("id").needing("id");
const SERVED_RESULT: Object = Object::open("call_id").needing("call_id");
const TEXT: Object = Object::of("type text annotations");
const IMAGE: Object = Object::of("type uri resolution")
    .with(&[("data", Shape::Data), ("mime_type", Shape::Media(IMAGES))]);
const MEDIUM: Object =
    Object::of("type uri mime_type resolution processing channels sample_rate name")
        .with(&[("data", Shape::Data)]);
const FUNCTION: Object = Object::open("");

/// The provider's own tools are its own.
const TOOLS: Typed = Typed { of: tool, untyped: None, others: Others::Taken };
const BODY: Object = Object::open("").with(&[
    ("tools", Shape::List(&Shape::Typed(&TOOLS))),
    ("system_instruction", Shape::Such(is_any)),
]);

fn tool(kind: &str) -> Option<&'static Object> {
    const DEFINED: Object = Object::open("").with(&[("name", Shape::Such(is_function_name))]);
    (kind == "function").then_some(&DEFINED)
}
