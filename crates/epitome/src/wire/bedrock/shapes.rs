//! What a body is made of (the AWS SDK's service model, botocore 1.44).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Shape, Shapes, says_something};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&MESSAGE),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::BEDROCK_KIND,
    member: rules::BEDROCK_MEMBER,
    value: rules::BEDROCK_VALUE,
    missing: rules::BEDROCK_MISSING,
};

/// Base rules judge what else a message has.
const MESSAGE: Object = Object::open("").with(&[("content", Shape::List(&Shape::Object(&BLOCK)))]);

const BLOCK: Object = Object::union("text citationsContent toolAddition toolRemoval").with(&[
    ("image", Shape::Object(&IMAGE)),
    ("document", Shape::Object(&DOCUMENT)),
    ("video", Shape::Object(&VIDEO)),
    ("audio", Shape::Object(&AUDIO)),
    ("toolUse", Shape::Object(&USE)),
    ("toolResult", Shape::Object(&RESULT)),
    ("guardContent", Shape::Object(&GUARDED)),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
    ("reasoningContent", Shape::Object(&REASONING)),
    ("searchResult", Shape::Object(&SEARCH_RESULT)),
]);

const RESULT_BLOCK: Object = Object::union("text json").with(&[
    ("image", Shape::Object(&IMAGE)),
    ("document", Shape::Object(&DOCUMENT)),
    ("video", Shape::Object(&VIDEO)),
    ("searchResult", Shape::Object(&SEARCH_RESULT)),
]);

const S3: (&str, Shape) =
    ("s3Location", Shape::Object(&Object::of("uri bucketOwner").needing("uri")));
const SOURCE: (&str, Shape) =
    ("source", Shape::Object(&Object::union("").with(&[("bytes", Shape::Data), S3])));

const IMAGE: Object = Object::of("error")
    .with(&[("format", Shape::OneOf(&["png", "jpeg", "gif", "webp"])), SOURCE])
    .needing("format source");
const VIDEO: Object = Object::of("")
    .with(&[
        (
            "format",
            Shape::OneOf(&["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"]),
        ),
        SOURCE,
    ])
    .needing("format source");
const AUDIO: Object = Object::of("error")
    .with(&[
        (
            "format",
            Shape::OneOf(&[
                "mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a",
                "mpeg", "mpga", "pcm", "webm",
            ]),
        ),
        SOURCE,
    ])
    .needing("format source");
const DOCUMENT: Object = Object::of("context citations")
    .with(&[
        (
            "format",
            Shape::OneOf(&["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]),
        ),
        ("name", Shape::Such(is_document_name)),
        (
            "source",
            Shape::Object(&Object::union("text content").with(&[("bytes", Shape::Data), S3])),
        ),
    ])
    .needing("name source");

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

const USE: Object = Object::of("toolUseId name input")
    .with(&[("type", Shape::OneOf(&["server_tool_use"]))])
    .needing("toolUseId");
const RESULT: Object = Object::of("toolUseId type")
    .with(&[
        ("content", Shape::Listed(0, usize::MAX, &Shape::Object(&RESULT_BLOCK))),
        ("status", Shape::OneOf(&["success", "error"])),
    ])
    .needing("toolUseId")
    .filled(&[("content", "[]")]);
const SEARCH_RESULT: Object =
    Object::of("source title content citations").needing("source title content");
const GUARDED: Object = Object::union("").with(&[
    ("text", Shape::Object(&Object::of("text qualifiers").needing("text"))),
    (
        "image",
        Shape::Object(
            &Object::of("source")
                .with(&[("format", Shape::OneOf(&["png", "jpeg"]))])
                .needing("format source"),
        ),
    ),
]);
const CACHE_POINT: Object = Object::of("")
    .with(&[("type", Shape::OneOf(&["default"])), ("ttl", Shape::OneOf(&["5m", "1h"]))])
    .filled(&[("type", "\"default\"")]);
const REASONING: Object = Object::union("redactedContent")
    .with(&[("reasoningText", Shape::Object(&Object::of("text signature").needing("text")))]);

const TOOL: Object = Object::union("systemTool").with(&[
    (
        "toolSpec",
        Shape::Object(
            &Object::of("strict")
                .with(&[
                    ("inputSchema", Shape::Object(&INPUT_SCHEMA)),
                    ("name", Shape::Such(is_tool_name)),
                    ("description", Shape::Such(is_there)),
                ])
                .needing("name inputSchema"),
        ),
    ),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
]);

const INPUT_SCHEMA: Object = Object::union("").with(&[("json", Shape::Object(&SCHEMA))]);
/// "The top level schema type must be `object`."
const SCHEMA: Object =
    Object::open("").with(&[("type", Shape::OneOf(&["object"]))]).filled(&[("type", "\"object\"")]);
const CHOICE: Object = Object::union("auto any")
    .with(&[("tool", Shape::Object(&Object::open("name").needing("name")))]);

fn is_tool_name(name: &str) -> bool {
    crate::wire::shape::is_tool_name(name) && name.len() <= 64
}

fn is_there(text: &str) -> bool {
    !text.is_empty()
}

const SYSTEM: Object = Object::union("").with(&[
    ("text", Shape::Such(says_something)),
    ("guardContent", Shape::Object(&GUARDED)),
    ("cachePoint", Shape::Object(&CACHE_POINT)),
]);

const BODY: Object = Object::open("").with(&[
    ("system", Shape::Listed(0, usize::MAX, &Shape::Object(&SYSTEM))),
    (
        "toolConfig",
        Shape::Object(&Object::open("").with(&[
            ("tools", Shape::Listed(1, usize::MAX, &Shape::Object(&TOOL))),
            ("toolChoice", Shape::Object(&CHOICE)),
        ])),
    ),
]);
