//! Older steps fold into the checkpoint; the newest that fit stay.

use serde::{Deserialize, Serialize};

use super::excerpts::excerpted;
use super::{BadOption, Edit, Scene, Strategy};
use crate::checkpoint::LEAST_TOKENS;
use crate::transcript::unit::Unit;
use crate::transcript::{Origin, Part, PartKind};
use crate::view::Reason;

/// What may be set of [`Fold`]: nothing so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FoldOptions {}

/// Folds everything that may leave, from the oldest up to the newest units that fit beside what must
/// stay and the checkpoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fold;

impl Fold {
    /// With these options.
    ///
    /// # Errors
    /// None so far: there is nothing to set.
    pub fn new(FoldOptions {}: FoldOptions) -> Result<Self, BadOption> {
        Ok(Fold)
    }
}

impl Strategy for Fold {
    fn name(&self) -> &'static str {
        "fold"
    }

    fn takes_oldest(&self) -> bool {
        true
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        if scene.landing() <= scene.budget.target {
            return Vec::new();
        }
        let leaving: Vec<&Unit> =
            scene.units.all().iter().filter(|unit| may_leave(scene, unit)).collect();
        let loose: u64 = leaving.iter().map(|unit| size(scene, unit)).sum();
        let fixed = scene.draft.total() - loose - taken_up(scene);
        let free = scene.budget.target.saturating_sub(fixed);
        if free < LEAST_TOKENS || leaving.iter().all(|unit| is_checkpoint(scene, unit)) {
            return Vec::new();
        }
        let mut room = free - scene.budget.checkpoint().clamp(LEAST_TOKENS, free);
        let mut edits = Vec::new();
        let mut kept = 0;
        for unit in leaving.iter().rev() {
            let size = size(scene, unit);
            if size <= room {
                room -= size;
            } else if let Some(cuts) =
                (kept == 0).then(|| shrunk(scene, unit, size, room)).flatten()
            {
                // The step that the model is in the middle of stays, cut, rather than none.
                edits.extend(cuts);
                room = 0;
            } else {
                break;
            }
            kept += 1;
        }
        let folded = &leaving[..leaving.len() - kept];
        if folded.iter().all(|unit| is_checkpoint(scene, unit)) {
            return edits;
        }
        let fold = |unit: &&Unit| Edit::Fold(unit.entries.clone(), Reason::OlderStep);
        edits.extend(folded.iter().map(fold));
        edits
    }
}

pub(super) fn may_leave(scene: &Scene<'_>, unit: &Unit) -> bool {
    let mut entries = unit.entries.clone();
    entries.clone().any(|at| scene.draft.is_shown(at))
        && entries.all(|at| scene.guard.may_leave(at))
}

pub(super) fn size(scene: &Scene<'_>, unit: &Unit) -> u64 {
    unit.entries.clone().map(|at| scene.draft.entry_tokens(at)).sum()
}

/// Earlier checkpoints in messages that must stay: they leave with the first fold.
fn taken_up(scene: &Scene<'_>) -> u64 {
    let transcript = scene.matter.transcript;
    let held = transcript
        .entries()
        .filter(|entry| scene.draft.is_shown(entry.index) && !scene.guard.may_leave(entry.index));
    let checkpoints =
        held.flat_map(|entry| entry.parts()).filter(|p| p.origin() == Origin::Checkpoint);
    checkpoints.map(|part| scene.tokens(&part)).sum()
}

pub(super) fn is_checkpoint(scene: &Scene<'_>, unit: &Unit) -> bool {
    unit.entries.clone().all(|at| scene.matter.transcript.entry(at).origin() == Origin::Checkpoint)
}

/// Cuts the unit's results alike so that it fits in `room`; `None` if too little of them would be
/// left to be of use.
fn shrunk<'a>(scene: &Scene<'a>, unit: &Unit, size: u64, room: u64) -> Option<Vec<Edit>> {
    const LEAST_USEFUL: u64 = 40;
    let shown = unit.entries.clone().filter(|at| scene.draft.is_shown(*at));
    let entries = shown.map(|at| scene.matter.transcript.entry(at));
    let results: Vec<Part<'a>> = entries
        .flat_map(|entry| scene.editable(entry))
        .filter(|part| part.kind() == PartKind::Result)
        .collect();
    let sizes: Vec<u64> = results.iter().map(|part| scene.tokens(part)).collect();
    let cuttable: u64 = sizes.iter().sum();
    let cap = level(&sizes, room.checked_sub(size - cuttable)?)?;
    if cap < LEAST_USEFUL {
        return None;
    }
    let cuts = results.iter().zip(&sizes).filter(|(_, size)| **size > cap);
    cuts.map(|(part, _)| excerpted(scene, part, cap, Reason::TooLarge)).collect()
}

/// The greatest cap under which `sizes` together fit in `room`.
pub(crate) fn level(sizes: &[u64], room: u64) -> Option<u64> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (index, size) in sorted.iter().enumerate() {
        let each = left / (sorted.len() - index) as u64;
        if *size > each {
            return Some(each);
        }
        left -= size;
    }
    sorted.last().copied()
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn water_finds_its_level() {
        assert_eq!(level(&[10, 100, 100], 110), Some(50));
        assert_eq!(level(&[10, 20], 100), Some(20));
        assert_eq!(level(&[], 5), None);
        assert_eq!(level(&[7, 7], 0), Some(0));
    }
}
