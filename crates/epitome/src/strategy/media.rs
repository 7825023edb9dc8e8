//! Old images and documents become a note of what was there.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, Scene, Strategy};
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};

/// What may be set of [`OldMedia`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MediaOptions {
    /// Of the old ones, so many of the newest stay.
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

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let old = scene.old_entries(scene.budget.recent());
        let parts = old.flat_map(|entry| scene.editable(entry));
        let mut media: Vec<Part<'_>> =
            parts.filter(|part| part.kind() == PartKind::Media && !is_referred_to(part)).collect();
        media.truncate(media.len().saturating_sub(self.0.keep));
        media
            .into_iter()
            .map(|part| {
                let put = if part.is(Marks::WORDLESS) {
                    Put::Nothing
                } else {
                    Put::Text(media_note(&part).into())
                };
                Edit::Put(PartEdit { at: part.slot, put, reason: Reason::OldMedia })
            })
            .collect()
    }
}

/// What is said where a medium was.
pub(crate) fn media_note(media: &Part<'_>) -> String {
    let kind = media.name();
    let kind = if kind.is_empty() { "image or document" } else { kind.as_ref() };
    format!("[elided: {kind}, {} bytes]", media.raw_body().len())
}
