//! What parts and tools are made of (SDK types of openai 3.57). Members of others' are theirs.

use super::inspected::is_of_others;
use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, Typed};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&MESSAGE),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::CHAT_KIND,
    member: rules::CHAT_KIND,
    value: rules::CHAT_KIND,
    missing: rules::CHAT_KIND,
};

const MESSAGE: Object = Object::open("").with(&[("content", Shape::List(&Shape::Typed(&PARTS)))]);
const BODY: Object = Object::open("").with(&[("tools", Shape::List(&Shape::Typed(&TOOLS)))]);

const PARTS: Typed = Typed { of: part, untyped: None, others: Others::Refused };
const TOOLS: Typed = Typed { of: tool, untyped: None, others: Others::Taken };

const ANY: Object = Object::open("");
const NAMED: Object = Object::open("name").needing("name");

fn part(kind: &str) -> Option<&'static Object> {
    const IMAGE: Object = Object::open("")
        .with(&[("image_url", Shape::Object(&Object::open("url").needing("url")))])
        .needing("image_url");
    const AUDIO: Object =
        Object::open("").with(&[("input_audio", Shape::Object(&ANY))]).needing("input_audio");
    const FILE: Object = Object::open("").with(&[("file", Shape::Object(&ANY))]).needing("file");
    Some(match kind {
        "image_url" => &IMAGE,
        "input_audio" => &AUDIO,
        "file" => &FILE,
        "text" | "refusal" => &ANY,
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
