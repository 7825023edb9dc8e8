//! The last resort: the oldest units leave without a trace, what people said after everything else. Needs no
//! model and no checkpoint.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, Scene, Strategy};
use crate::transcript::unit::Unit;
use crate::view::Reason;

/// How much may be left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Room {
    /// What the compaction's target allows.
    #[default]
    Target,
    /// So many tokens, frame included.
    Tokens(u64),
    /// So many characters of what was said, as [`Gauge`](crate::trigger::Gauge) counts them.
    Characters(u64),
}

/// Which units leave first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// The oldest of those in which nobody speaks but model and tools; then the oldest of the others.
    #[default]
    NotHuman,
    /// The oldest, whoever speaks.
    Oldest,
}

/// What may be set of [`Head`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HeadOptions {
    /// How much may be left.
    pub room: Room,
    /// Which units leave first.
    pub first: First,
}

/// Drops the oldest units that may leave, until the rest fits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head(HeadOptions);

impl Head {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: HeadOptions) -> Result<Self, BadOption> {
        let given = match options.room {
            Room::Target => 1,
            Room::Tokens(most) | Room::Characters(most) => most,
        };
        BadOption::unless_positive("head.room", given)?;
        Ok(Head(options))
    }

    /// The oldest units first, whoever speaks: where roles must alternate, what is left may still be in turns.
    pub fn oldest() -> Self {
        Head(HeadOptions { first: First::Oldest, ..HeadOptions::default() })
    }
}

impl Strategy for Head {
    fn name(&self) -> &'static str {
        "head"
    }

    fn takes_oldest(&self) -> bool {
        true
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let measure: &dyn Fn(usize) -> u64 = match self.0.room {
            Room::Target | Room::Tokens(_) => &|at| scene.draft.entry_tokens(at),
            Room::Characters(_) => &|at| scene.characters(at),
        };
        let (mut left, room) = match self.0.room {
            Room::Target => (scene.landing(), scene.budget.target),
            Room::Tokens(most) => (scene.draft.total(), most),
            Room::Characters(most) => ((0..scene.matter.transcript.len()).map(measure).sum(), most),
        };
        let mut units: Vec<&Unit> = scene.units.all().iter().collect();
        if self.0.first == First::NotHuman {
            units.sort_by_key(|unit| unit.is_turn);
        }
        let mut edits = Vec::new();
        for unit in units {
            if left <= room {
                break;
            }
            // What left with its loop needs nobody's leave any more.
            let mut shown = unit.entries.clone().filter(|at| scene.draft.is_shown(*at)).peekable();
            if shown.peek().is_some() && shown.all(|at| scene.guard.may_leave(at)) {
                left -= unit.entries.clone().map(measure).sum::<u64>();
                edits.push(Edit::Drop(unit.entries.clone(), Reason::LastResort));
            }
        }
        edits
    }
}
