//! What a step is made of (SDK types of google-genai 3.6.1).

use crate::wire::gemini::IMAGES;
use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed, any};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Typed(&STEPS),
    body: Shape::Any,
    names: Names::Exact,
    kind: rules::INTERACTIONS_KIND,
    member: rules::INTERACTIONS_MEMBER,
    value: rules::INTERACTIONS_VALUE,
    missing: rules::INTERACTIONS_MISSING,
};

const fn object(
    members: &'static [(&'static str, Shape)],
    needed: &'static [(&'static str, &'static str)],
) -> Object {
    Object { members, needed, others: Others::Refused }
}

const STEPS: Typed = Typed { of: step, untyped: None, others: Others::Refused };
const CONTENTS: Typed = Typed { of: content, untyped: None, others: Others::Refused };
const RESULTS: Typed = Typed { of: result_content, untyped: None, others: Others::Refused };
const KIND: (&str, Shape) = any("type");

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

const INPUT: Object = object(&[KIND, ("content", Shape::List(&Shape::Typed(&CONTENTS)))], &[]);
const OUTPUT: Object =
    object(&[KIND, ("content", Shape::List(&Shape::Typed(&CONTENTS))), any("error")], &[]);
const THOUGHT: Object = object(&[KIND, any("signature"), any("summary")], &[]);
const CALL: Object =
    object(&[KIND, any("id"), any("name"), any("arguments"), any("signature")], &[]);
const RESULT: Object = object(
    &[
        KIND,
        any("call_id"),
        any("name"),
        ("result", Shape::List(&Shape::Typed(&RESULTS))),
        any("is_error"),
        any("signature"),
    ],
    &[],
);
/// What the provider ran itself has members of its own besides.
const SERVED: Object =
    Object { members: &[any("id")], needed: &[("id", "")], others: Others::Taken };
const SERVED_RESULT: Object =
    Object { members: &[any("call_id")], needed: &[("call_id", "")], others: Others::Taken };
const TEXT: Object = object(&[KIND, any("text"), any("annotations")], &[]);
const IMAGE: Object = object(
    &[
        KIND,
        ("data", Shape::Data),
        any("uri"),
        ("mime_type", Shape::Media(IMAGES)),
        any("resolution"),
    ],
    &[],
);
const MEDIUM: Object = object(
    &[
        KIND,
        ("data", Shape::Data),
        any("uri"),
        any("mime_type"),
        any("resolution"),
        any("processing"),
        any("channels"),
        any("sample_rate"),
        any("name"),
    ],
    &[],
);
const FUNCTION: Object = Object { members: &[], needed: &[], others: Others::Taken };
