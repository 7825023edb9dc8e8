//! What formats share: plain words for a list, entries that are flat (items of Responses, steps of Interactions), and parts that
//! are strings.

use super::openai_chat::row;
use super::origin;
use crate::json::{JsonError, Scanner, Span};
use crate::transcript::{Marks, PartKind, PartRow, Role};

/// Reads an entry that is no object: the plain words of the user that an `input` may be, or something that means nothing to us.
/// `None` before an object.
pub(super) fn plain(
    scanner: &mut Scanner<'_>,
    parts: &mut Vec<PartRow>,
) -> Result<Option<Role>, JsonError> {
    let text = scanner.text();
    match scanner.peek() {
        Some(b'{') => Ok(None),
        Some(b'"') => {
            let span = scanner.string()?;
            let mut words = value(PartKind::Text, span, text);
            words.origin = origin::of_user_text(span.of(text));
            parts.push(words);
            Ok(Some(Role::User))
        }
        _ => {
            let span = scanner.value()?;
            parts.push(row(PartKind::Opaque, span, span));
            Ok(Some(Role::Other))
        }
    }
}

/// A value; null counts as not there.
pub(super) fn member(scanner: &mut Scanner<'_>) -> Result<Span, JsonError> {
    let span = scanner.value()?;
    Ok(if span.of(scanner.text()) == "null" { Span::NONE } else { span })
}

/// A part that is a member's value.
pub(super) fn value(kind: PartKind, span: Span, text: &str) -> PartRow {
    marked(row(kind, span, span), text)
}

/// The part, marked as a literal where its payload is a string.
pub(super) fn marked(mut part: PartRow, text: &str) -> PartRow {
    if part.body.of(text).starts_with('"') {
        part.marks = part.marks.with(Marks::LITERAL);
    }
    part
}
