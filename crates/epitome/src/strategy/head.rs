//! The last resort: the oldest units leave without a trace. Needs no model and no checkpoint.

use super::{Edit, Scene, Strategy};
use crate::view::Reason;

/// Drops the oldest units that may leave, until the rest fits.
#[derive(Clone, Copy, Debug)]
pub struct Head;

impl Strategy for Head {
    fn name(&self) -> &'static str {
        "drop-oldest"
    }

    fn takes_oldest(&self) -> bool {
        true
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let units = scene.units.all().iter();
        units
            .filter(|unit| unit.entries.clone().any(|at| scene.draft.is_shown(at)))
            .filter(|unit| unit.entries.clone().all(|at| scene.guard.may_leave(at)))
            .map(|unit| Edit::Drop(unit.entries.clone(), Reason::LastResort))
            .collect()
    }
}
