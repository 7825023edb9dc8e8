//! Reasoning that the model no longer needs.
//!
//! Providers allow reasoning of earlier steps to be left out, oldest first (PROVIDERS.md B.1.3). What
//! they demand back, the guard holds: the newest step's, or the open turn's.

use super::{Edit, Scene, Strategy};
use crate::transcript::PartKind;
use crate::view::{PartEdit, Put, Reason};

/// Drops reasoning older than what the provider demands back.
#[derive(Clone, Copy, Debug)]
pub struct OldReasoning;

impl Strategy for OldReasoning {
    fn name(&self) -> &'static str {
        "old-reasoning"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        scene
            .worthwhile(scene.guard.reasoning_from())
            // An entry of nothing else parts what is said around it; it leaves with its unit or not.
            .filter(|entry| entry.parts().any(|part| part.kind() != PartKind::Reasoning))
            .flat_map(|entry| scene.editable(entry))
            .filter(|part| part.kind() == PartKind::Reasoning)
            .map(|part| {
                Edit::Put(PartEdit {
                    at: part.slot,
                    put: Put::Nothing,
                    reason: Reason::OldReasoning,
                })
            })
            .collect()
    }
}
