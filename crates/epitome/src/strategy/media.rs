//! Old images and documents become a note.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, Strategy, StrategyContext};
use crate::transcript::media::names_and_texts;
use crate::transcript::{Marks, Part, PartKind, Slot};
use crate::view::{PartEdit, Put, Reason};
use crate::working_view::{nested, result_of};

/// What may be set of [`OldMedia`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MediaOptions {
    /// This many of the newest old ones stay.
    pub keep: usize,
}

/// Replaces images and documents outside the newest content by a note.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldMedia(MediaOptions);

impl OldMedia {
    /// With these options.
    ///
    /// # Errors
    /// None so far: every value of every option is in its range.
    pub fn new(options: MediaOptions) -> Result<Self, BadOption> {
        Ok(OldMedia(options))
    }
}

/// What OpenAI drew: without its bytes the item is a reference, which brings the stored image back, or is refused where
/// nothing is stored (PROVIDERS.md B.2).
fn is_referred_to(part: &Part<'_>) -> bool {
    part.name() == "image_generation_call"
}

impl Strategy for OldMedia {
    fn name(&self) -> &'static str {
        "media"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let old = context.old_entries(context.budget.recent());
        let parts = old.flat_map(|entry| context.editable(entry));
        let mut media: Vec<Part<'_>> =
            parts.filter(|part| part.kind() == PartKind::Media && !is_referred_to(part)).collect();
        media.truncate(media.len().saturating_sub(self.0.keep));
        let transcript = context.counts.transcript;
        let is_old = |slot: Slot| media.binary_search_by_key(&slot, |part| part.slot).is_ok();
        let mut edits = Vec::new();
        for part in &media {
            if !part.is(Marks::WORDLESS) {
                edits.push(put(part.slot, media_note(part)));
                continue;
            }
            // No words can stand in its place: they stand behind its result's, once for all that it holds.
            let result = transcript.part(result_of(transcript, part.slot));
            let shown = || nested(transcript, result.slot);
            let is_first = shown().next() == Some(part.slot);
            let is_said = !result.raw_body().is_empty();
            if is_said && is_first && shown().all(is_old) && context.may_edit(&result) {
                let notes = shown().map(|slot| media_note(&transcript.part(slot)));
                let words = std::iter::once(context.counts.part_text(&result).into_owned());
                edits.push(put(result.slot, words.chain(notes).collect::<Vec<_>>().join("\n")));
            }
        }
        edits
    }
}

fn put(at: Slot, words: String) -> Edit {
    Edit::Put(PartEdit { at, put: Put::Text(words.into()), reason: Reason::OldMedia })
}

/// The note in place of a medium.
pub(crate) fn media_note(media: &Part<'_>) -> String {
    let (names, _) = names_and_texts(media);
    let names = if names.is_empty() { "image or document" } else { &names };
    format!("[elided: {names}, {} bytes]", media.raw_body().len())
}
