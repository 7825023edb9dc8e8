//! What a content is made of (SDK types of google-genai 3.6.1).

use crate::wire::rules;
use crate::wire::shape::{Names, Object, Shape, Shapes, is_any};
use crate::word_list::words;

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&CONTENT),
    body: Shape::Object(&BODY),
    names: Names::EitherCase,
    kind: rules::GEMINI_KIND,
    member: rules::GEMINI_MEMBER,
    value: rules::GEMINI_VALUE,
    missing: rules::GEMINI_MISSING,
};

/// Types that an image may have (SDK types of Interactions).
pub(in crate::wire) const IMAGES: &[&str] =
    &words!("image/png image/jpeg image/webp image/heic image/heif image/gif image/bmp image/tiff");

/// Whether it may be shown: it is one of these, or no image.
pub(in crate::wire) fn may_be_shown(kind: &str) -> bool {
    !kind.starts_with("image/") || IMAGES.contains(&kind)
}

/// Base rules judge what else a content has.
const CONTENT: Object = Object::open("").with(&[("parts", Shape::List(&Shape::Object(&PART)))]);

const PART: Object = Object::union(
    "toolCall toolResponse videoMetadata mediaResolution \
     mediaProcessing partMetadata audioTranscription speechMetadata documentMetadata \
     spreadsheetMetadata audioMetadata",
)
.with(&[
    ("text", Shape::Such(is_any)),
    ("thought", Shape::Flag),
    ("thoughtSignature", Shape::Such(is_base64)),
    ("inlineData", Shape::Object(&BLOB)),
    ("fileData", Shape::Object(&FILE)),
    ("functionCall", Shape::Object(&CALL)),
    ("functionResponse", Shape::Object(&RESPONSE)),
    ("executableCode", Shape::Object(&CODE)),
    ("codeExecutionResult", Shape::Object(&CODE_RESULT)),
]);

/// Members of Vertex AI's own are among them, the model, which SDKs have in the address, and other formats' lists, which
/// are found as such.
const BODY: Object = Object::of(
    "model contents generationConfig safetySettings cachedContent labels serviceTier continuationToken store \
     modelArmorConfig outputConfig generateContentRequest messages input",
)
.with(&[
    ("systemInstruction", Shape::Object(&CONTENT)),
    ("tools", Shape::List(&Shape::Object(&TOOL))),
    (
        "toolConfig",
        Shape::Object(&Object::open("").with(&[(
            "functionCallingConfig",
            Shape::Object(&Object::open("").with(&[("mode", Shape::Such(is_mode))])),
        )])),
    ),
]);

/// The provider's own tools are its own; OpenAI's have a type.
const TOOL: Object = Object::open("").with(&[
    (
        "functionDeclarations",
        Shape::List(&Shape::Object(
            &Object::open("parameters parametersJsonSchema response responseJsonSchema")
                .with(&[("name", Shape::Such(is_function_name))])
                .needing("name")
                .apart(&[
                    ("parameters", "parametersJsonSchema"),
                    ("response", "responseJsonSchema"),
                ]),
        )),
    ),
    ("type", Shape::Barred),
    ("function", Shape::Barred),
]);

/// "Function names should start with a letter or an underscore and contain only characters a-z, A-Z, 0-9, underscores, dots or
/// dashes"; colons are taken, too.
pub(in crate::wire) fn is_function_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    starts && name.len() <= 128 && name.chars().all(is_allowed)
}

/// Bytes, of either alphabet; none are no signature.
fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte))
}

/// The SDK has them without regard to case.
fn is_mode(mode: &str) -> bool {
    let modes: [&str; 5] = words!("mode_unspecified auto any none validated");
    modes.contains(&mode.to_ascii_lowercase().as_str())
}

const BLOB: Object = Object::of("displayName")
    .with(&[("mimeType", Shape::Media(IMAGES)), ("data", Shape::Data)])
    .needing("mimeType data");
const FILE: Object = Object::of("fileUri displayName")
    .with(&[("mimeType", Shape::Media(IMAGES))])
    .needing("fileUri");
const CALL: Object = Object::of("id name args partialArgs willContinue");
const RESPONSE: Object = Object::of("id name response scheduling willContinue").with(&[(
    "parts",
    Shape::List(&Shape::Object(
        &Object::open("")
            .with(&[("inlineData", Shape::Object(&BLOB)), ("fileData", Shape::Object(&FILE))]),
    )),
)]);
const CODE: Object = Object::of("id code")
    .with(&[("language", Shape::Enum(&["LANGUAGE_UNSPECIFIED", "PYTHON"]))])
    .needing("code");
const CODE_RESULT: Object = Object::of("id output")
    .with(&[(
        "outcome",
        Shape::Enum(&[
            "OUTCOME_UNSPECIFIED",
            "OUTCOME_OK",
            "OUTCOME_FAILED",
            "OUTCOME_DEADLINE_EXCEEDED",
        ]),
    )])
    .needing("outcome");
