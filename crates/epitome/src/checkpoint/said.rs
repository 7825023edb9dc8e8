//! What parts say, as a checkpoint may quote it: without secrets, and without what would pass for a checkpoint's own signs.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::json;
use crate::text::secrets::{masked, masked_json};
use crate::text::{cut, framing};
use crate::transcript::{Origin, Part, PartKind, Transcript};
use crate::working_view::part_text;

/// The text of a part.
pub(super) struct Said {
    pub(super) text: String,
    /// The same as JSON, where the text says what that means.
    pub(super) json: Option<String>,
    /// Whether the text is the part's own: nothing in it is masked or left out.
    pub(super) is_own: bool,
}

/// The text of a part without terminal escapes. In arguments, and in results in JSON whose strings have lines, escapes are
/// decoded.
pub(super) fn said(transcript: &Transcript, part: &Part<'_>) -> Said {
    let is_result = part.kind() == PartKind::Result;
    // The JSON of arguments, and of a result that is an object.
    let is_json = part.kind() == PartKind::Call || is_result && part.raw_body().starts_with('{');
    let text = if is_json { part.text() } else { part_text(transcript, part) };
    let may_have_lines = is_result && text.trim_start().starts_with(['{', '[']);
    let has_lines =
        may_have_lines && text.contains("\\n") && serde_json::from_str::<IgnoredAny>(&text).is_ok();
    let told = if is_json || has_lines { told_json(&text) } else { told(&text) };
    let is_plain = !is_json && !has_lines && !told.contains('\u{1b}');
    if is_plain && matches!(told, Cow::Borrowed(_)) {
        drop(told);
        return Said { text: text.into_owned(), json: None, is_own: true };
    }
    let mut text = told.into_owned();
    let mut json = None;
    if (is_json || has_lines) && text.contains('\\') {
        let meant = json::unquote_inner(&text).into_owned();
        json = Some(std::mem::replace(&mut text, meant)).filter(|_| has_lines);
    }
    if text.contains('\u{1b}') {
        text = cut::visible(&text).into_owned();
    }
    Said { text, json, is_own: false }
}

/// Whether a part has words of its own that are read.
pub(super) fn says_something(part: &Part<'_>) -> bool {
    matches!(part.kind(), PartKind::Text | PartKind::Call | PartKind::Result)
        && part.origin() != Origin::Checkpoint
}

/// A text as it may be quoted.
pub(super) fn told(text: &str) -> Cow<'_, str> {
    framing::without(masked(text))
}

/// The same of a JSON text.
pub(super) fn told_json(json: &str) -> Cow<'_, str> {
    framing::without(masked_json(json))
}
