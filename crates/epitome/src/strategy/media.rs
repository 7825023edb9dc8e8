//! Old images and documents become a note of what was there.

use super::{Edit, Scene, Strategy};
use crate::transcript::PartKind;
use crate::view::{PartEdit, Put, Reason};

/// Replaces images and documents outside the newest content by a note.
#[derive(Clone, Copy, Debug)]
pub struct OldMedia;

impl Strategy for OldMedia {
    fn name(&self) -> &'static str {
        "old-media"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        scene
            .old_entries(scene.budget.recent())
            .flat_map(|entry| scene.editable(entry))
            .filter(|part| part.kind() == PartKind::Media)
            .map(|part| {
                let kind = part.name();
                let kind = if kind.is_empty() { "image or document" } else { kind.as_ref() };
                let note = format!("[elided: {kind}, {} bytes]", part.raw_body().len());
                Edit::Put(PartEdit {
                    at: part.slot,
                    put: Put::Text(note.into()),
                    reason: Reason::OldMedia,
                })
            })
            .collect()
    }
}
