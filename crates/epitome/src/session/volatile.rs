//! What clients change although nothing was said: docs/volatile.md lists it, with captures that show it.

use crate::transcript::{Entry, Marks, Part, PartKind, Role};
use crate::wire::Format;

/// Whether the part is written anew with each process of the client: Gemini CLI describes date, folders
/// and rules in the first message, and describes them again when the session is taken up later.
pub(super) fn is_restated(role: Role, part: &Part<'_>) -> bool {
    role == Role::User
        && part.kind() == PartKind::Text
        && !part.is(Marks::NESTED)
        && ["\"<", "\"\\u003"].iter().any(|start| part.raw_body().starts_with(start))
        && part.text().starts_with("<session_context>")
}

/// Whether the part is but a signature of Gemini's beside what it signs: Gemini CLI puts a word that
/// stands for any in its place when a session is taken up later.
pub(super) fn is_seal(format: Format, part: &Part<'_>) -> bool {
    let is_signature = part.is(Marks::SIGNED) && !part.is(Marks::LITERAL);
    format == Format::Gemini && part.kind() == PartKind::Reasoning && is_signature
}

/// Whether the part only tells a cache where to write: Bedrock's stand among what is said, and move.
pub(super) fn is_marker(format: Format, part: &Part<'_>) -> bool {
    format == Format::Bedrock && part.kind() == PartKind::Opaque && part.name() == "cachePoint"
}

/// Whether nothing in the entry outlives its request: it is passed on, and is no part of what was said.
pub(super) fn is_volatile(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().peekable();
    parts.peek().is_some() && parts.all(|part| is_note(&part))
}

/// Claude Code's count of the tokens that are left, appended to each request (B.7).
fn is_note(part: &Part<'_>) -> bool {
    if part.kind() != PartKind::Text || part.raw_body().len() > 120 {
        return false;
    }
    let text = part.text();
    let text = text.trim();
    text.strip_prefix("<total_tokens>").is_some_and(|rest| {
        let digits =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '_'));
        digits.len() < rest.len() && digits.trim_start().starts_with("left")
    })
}
