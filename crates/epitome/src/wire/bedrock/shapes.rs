//! What a body is made of (the AWS SDK's service model, botocore 1.44).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, any, says_something};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&MESSAGE),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::BEDROCK_KIND,
    member: rules::BEDROCK_MEMBER,
    value: rules::BEDROCK_VALUE,
    missing: rules::BEDROCK_MISSING,
};

const fn structure(
    members: &'static [(&'static str, Shape)],
    needed: &'static [(&'static str, &'static str)],
) -> Object {
    Object { members, needed, others: Others::Refused }
}

/// A structure of which one member is set.
const fn union(members: &'static [(&'static str, Shape)]) -> Object {
    Object { members, needed: &[], others: Others::Kind }
}

/// Base rules judge what else a message has.
const MESSAGE: Object = Object {
    members: &[("content", Shape::List(&Shape::Object(&BLOCK)))],
    needed: &[],
    others: Others::Taken,
};

const BLOCK: Object = union(&[
    any("text"),
    ("image", Shape::Object(&IMAGE)),
    ("document", Shape::Object(&DOCUMENT)),
    ("video", Shape::Object(&VIDEO)),
    ("audio", Shape::Object(&AUDIO)),
    ("toolUse", Shape::Object(&USE)),
    ("toolResult", Shape::Object(&RESULT)),
    ("guardContent", Shape::Object(&GUARDED)),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
    ("reasoningContent", Shape::Object(&REASONING)),
    any("citationsContent"),
    ("searchResult", Shape::Object(&SEARCH_RESULT)),
    any("toolAddition"),
    any("toolRemoval"),
]);

const RESULT_BLOCK: Object = union(&[
    any("text"),
    any("json"),
    ("image", Shape::Object(&IMAGE)),
    ("document", Shape::Object(&DOCUMENT)),
    ("video", Shape::Object(&VIDEO)),
    ("searchResult", Shape::Object(&SEARCH_RESULT)),
]);

const S3: (&str, Shape) =
    ("s3Location", Shape::Object(&structure(&[any("uri"), any("bucketOwner")], &[("uri", "")])));
const SOURCE: (&str, Shape) = ("source", Shape::Object(&union(&[("bytes", Shape::Data), S3])));

const IMAGE: Object = structure(
    &[("format", Shape::OneOf(&["png", "jpeg", "gif", "webp"])), SOURCE, any("error")],
    &[("format", ""), ("source", "")],
);
const VIDEO: Object = structure(
    &[
        (
            "format",
            Shape::OneOf(&["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"]),
        ),
        SOURCE,
    ],
    &[("format", ""), ("source", "")],
);
const AUDIO: Object = structure(
    &[
        (
            "format",
            Shape::OneOf(&[
                "mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a",
                "mpeg", "mpga", "pcm", "webm",
            ]),
        ),
        SOURCE,
        any("error"),
    ],
    &[("format", ""), ("source", "")],
);
const DOCUMENT: Object = structure(
    &[
        (
            "format",
            Shape::OneOf(&["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]),
        ),
        ("name", Shape::Such(is_document_name)),
        (
            "source",
            Shape::Object(&union(&[("bytes", Shape::Data), S3, any("text"), any("content")])),
        ),
        any("context"),
        any("citations"),
    ],
    &[("name", ""), ("source", "")],
);

/// "The name field must only contain alphanumeric characters, whitespace characters (no more than one in a row), hyphens,
/// parentheses, and square brackets."
fn is_document_name(name: &str) -> bool {
    let is_allowed = |c: char| {
        c.is_alphanumeric() || c.is_whitespace() || matches!(c, '-' | '(' | ')' | '[' | ']')
    };
    let spaces = |pair: [char; 2]| pair.iter().all(|c| c.is_whitespace());
    (1..=200).contains(&name.chars().count())
        && name.chars().all(is_allowed)
        && !name.chars().zip(name.chars().skip(1)).any(|(a, b)| spaces([a, b]))
}

const USE: Object = structure(
    &[any("toolUseId"), any("name"), any("input"), ("type", Shape::OneOf(&["server_tool_use"]))],
    &[("toolUseId", "")],
);
const RESULT: Object = structure(
    &[
        any("toolUseId"),
        ("content", Shape::List(&Shape::Object(&RESULT_BLOCK))),
        ("status", Shape::OneOf(&["success", "error"])),
        any("type"),
    ],
    &[("toolUseId", ""), ("content", "[]")],
);
const SEARCH_RESULT: Object = structure(
    &[any("source"), any("title"), any("content"), any("citations")],
    &[("source", ""), ("title", ""), ("content", "")],
);
const GUARDED: Object = union(&[
    ("text", Shape::Object(&structure(&[any("text"), any("qualifiers")], &[("text", "")]))),
    (
        "image",
        Shape::Object(&structure(
            &[("format", Shape::OneOf(&["png", "jpeg"])), any("source")],
            &[("format", ""), ("source", "")],
        )),
    ),
]);
const CACHE_POINT: Object = structure(
    &[("type", Shape::OneOf(&["default"])), ("ttl", Shape::OneOf(&["5m", "1h"]))],
    &[("type", "\"default\"")],
);
const REASONING: Object = union(&[
    ("reasoningText", Shape::Object(&structure(&[any("text"), any("signature")], &[("text", "")]))),
    any("redactedContent"),
]);

const TOOL: Object = union(&[
    (
        "toolSpec",
        Shape::Object(&structure(
            &[
                ("name", Shape::Such(is_tool_name)),
                ("description", Shape::Such(is_there)),
                any("inputSchema"),
                any("strict"),
            ],
            &[("name", ""), ("inputSchema", "")],
        )),
    ),
    any("systemTool"),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
]);

fn is_tool_name(name: &str) -> bool {
    crate::wire::shape::is_tool_name(name) && name.len() <= 64
}

fn is_there(text: &str) -> bool {
    !text.is_empty()
}

const SYSTEM: Object = union(&[
    ("text", Shape::Such(says_something)),
    ("guardContent", Shape::Object(&GUARDED)),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
]);

const BODY: Object = Object {
    members: &[
        ("system", Shape::List(&Shape::Object(&SYSTEM))),
        (
            "toolConfig",
            Shape::Object(&Object {
                members: &[("tools", Shape::List(&Shape::Object(&TOOL)))],
                needed: &[],
                others: Others::Taken,
            }),
        ),
    ],
    needed: &[],
    others: Others::Taken,
};
