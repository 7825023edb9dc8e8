//! What a content is made of (SDK types of google-genai 3.6.1).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Others, Shape, Shapes, any};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&CONTENT),
    body: Shape::Any,
    names: Names::EitherCase,
    kind: rules::GEMINI_KIND,
    member: rules::GEMINI_MEMBER,
    value: rules::GEMINI_VALUE,
    missing: rules::GEMINI_MISSING,
};

/// Types that an image may have (SDK types of Interactions).
pub(in crate::wire) const IMAGES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "image/gif",
    "image/bmp",
    "image/tiff",
];

const fn object(
    members: &'static [(&'static str, Shape)],
    needed: &'static [(&'static str, &'static str)],
) -> Object {
    Object { members, needed, others: Others::Refused }
}

/// Base rules judge what else a content has.
const CONTENT: Object = Object {
    members: &[("parts", Shape::List(&Shape::Object(&PART)))],
    needed: &[],
    others: Others::Taken,
};

const PART: Object = Object {
    members: &[
        any("text"),
        ("inlineData", Shape::Object(&BLOB)),
        ("fileData", Shape::Object(&FILE)),
        ("functionCall", Shape::Object(&CALL)),
        ("functionResponse", Shape::Object(&RESPONSE)),
        ("executableCode", Shape::Object(&CODE)),
        ("codeExecutionResult", Shape::Object(&CODE_RESULT)),
        any("toolCall"),
        any("toolResponse"),
        any("thought"),
        any("thoughtSignature"),
        any("videoMetadata"),
        any("mediaResolution"),
        any("mediaProcessing"),
        any("partMetadata"),
        any("audioTranscription"),
        any("speechMetadata"),
        any("documentMetadata"),
        any("spreadsheetMetadata"),
        any("audioMetadata"),
    ],
    needed: &[],
    others: Others::Kind,
};

const BLOB: Object = object(
    &[("mimeType", Shape::Media(IMAGES)), ("data", Shape::Data), any("displayName")],
    &[("mimeType", ""), ("data", "")],
);
const FILE: Object = object(
    &[any("fileUri"), ("mimeType", Shape::Media(IMAGES)), any("displayName")],
    &[("fileUri", "")],
);
const CALL: Object =
    object(&[any("id"), any("name"), any("args"), any("partialArgs"), any("willContinue")], &[]);
const RESPONSE: Object = object(
    &[
        any("id"),
        any("name"),
        any("response"),
        (
            "parts",
            Shape::List(&Shape::Object(&Object {
                members: &[
                    ("inlineData", Shape::Object(&BLOB)),
                    ("fileData", Shape::Object(&FILE)),
                ],
                needed: &[],
                others: Others::Taken,
            })),
        ),
        any("scheduling"),
        any("willContinue"),
    ],
    &[],
);
const CODE: Object = object(&[any("id"), any("language"), any("code")], &[("code", "")]);
const CODE_RESULT: Object = object(&[any("id"), any("outcome"), any("output")], &[("outcome", "")]);
