//! What parts and tools are made of (SDK types of openai 3.57). Members of others' are theirs.

use super::inspected::is_of_others;
use crate::wire::openai_responses::{DETAILS, IMAGES};
use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed, is_any, is_tool_name};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&MESSAGE),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::CHAT_KIND,
    member: rules::CHAT_KIND,
    value: rules::CHAT_KIND,
    missing: rules::CHAT_KIND,
};

// An SDK of the provider's sends its answers again, with `annotations` and `parsed`; compatibles' reasoning is carried.
const MESSAGE: Object = Object::of(
    "role tool_call_id function_call refusal audio annotations parsed reasoning_content reasoning reasoning_details",
)
.with(&[
    ("name", Shape::Such(is_any)),
    ("content", Shape::List(&Shape::Typed(&PARTS))),
    ("tool_calls", Shape::List(&Shape::Typed(&CALLS))),
]);
const BODY: Object = Object::open("").with(&[
    ("tools", Shape::Listed(1, 128, &Shape::Typed(&TOOLS))),
    ("tool_choice", Shape::WordOr(&["none", "auto", "required"], &Shape::Typed(&CHOICES))),
]);

const CHOICES: Typed = Typed { of: choice, untyped: None, others: Others::Refused };

fn choice(kind: &str) -> Option<&'static Object> {
    const ALLOWED: Object = Object::open("allowed_tools").needing("allowed_tools");
    match kind {
        "allowed_tools" => Some(&ALLOWED),
        kind => tool(kind),
    }
}

const PARTS: Typed = Typed { of: part, untyped: None, others: Others::Refused };
const TOOLS: Typed = Typed { of: tool, untyped: None, others: Others::Taken };

const CALLS: Typed = Typed { of: call, untyped: Some(&CALL), others: Others::Taken };

const ANY: Object = Object::open("");
const NAMED: Object =
    Object::open("").with(&[("name", Shape::Such(is_function_name))]).needing("name");
const CALL: Object = Object::open("")
    .with(&[("type", Shape::OneOf(&["function"])), ("function", Shape::Object(&CALLED))])
    .filled(&[("type", "\"function\"")]);
const CALLED: Object = Object::open("arguments").filled(&[("arguments", "\"{}\"")]);

const CUSTOM_CALL: Object =
    Object::open("").with(&[("custom", Shape::Object(&WORDS))]).needing("custom");
const WORDS: Object = Object::open("name input").needing("name input");

fn call(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "function" => &CALL,
        "custom" => &CUSTOM_CALL,
        _ => return None,
    })
}

/// "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
fn is_function_name(name: &str) -> bool {
    is_tool_name(name) && name.len() <= 64
}

fn part(kind: &str) -> Option<&'static Object> {
    const IMAGE: Object = Object::open("")
        .with(&[(
            "image_url",
            Shape::Object(
                &Object::open("")
                    .with(&[("url", Shape::Address(IMAGES)), ("detail", Shape::OneOf(DETAILS))])
                    .needing("url"),
            ),
        )])
        .needing("image_url");
    const TEXT: Object = Object::open("").with(&[("text", Shape::Such(is_any))]).needing("text");
    const SOUND: Object = Object::open("data")
        .with(&[("format", Shape::OneOf(&["wav", "mp3"]))])
        .needing("data format");
    const AUDIO: Object =
        Object::open("").with(&[("input_audio", Shape::Object(&SOUND))]).needing("input_audio");
    const NAMED_FILE: Object = Object::open("file_id file_data").either("file_id file_data");
    const FILE: Object =
        Object::open("").with(&[("file", Shape::Object(&NAMED_FILE))]).needing("file");
    Some(match kind {
        "image_url" => &IMAGE,
        "input_audio" => &AUDIO,
        "file" => &FILE,
        "text" => &TEXT,
        "refusal" => &ANY,
        // A look at a request finds these by themselves.
        kind if is_of_others(kind) => &ANY,
        _ => return None,
    })
}

fn tool(kind: &str) -> Option<&'static Object> {
    const FUNCTION: Object =
        Object::open("").with(&[("function", Shape::Object(&NAMED))]).needing("function");
    const CUSTOM: Object =
        Object::open("").with(&[("custom", Shape::Object(&NAMED))]).needing("custom");
    Some(match kind {
        "function" => &FUNCTION,
        "custom" => &CUSTOM,
        _ => return None,
    })
}
