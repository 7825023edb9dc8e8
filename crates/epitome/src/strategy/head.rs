//! The oldest units fold until the rest fits in this many tokens or characters.

use serde::{Deserialize, Serialize};

use super::fold::{is_checkpoint, may_leave};
use super::{BadOption, Edit, Strategy, StrategyContext};
use crate::transcript::unit::Unit;
use crate::view::Reason;

/// How much may be left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadRoom {
    /// What the compaction's target allows.
    #[default]
    Target,
    /// This many tokens, frame included, beside the checkpoint of folded entries.
    Tokens(u64),
    /// This many characters, as [`Measurements`](crate::trigger::Measurements) counts them, beside the checkpoint.
    Characters(u64),
}

/// What may be set of [`Head`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HeadOptions {
    /// How much may be left.
    pub room: HeadRoom,
}

/// Folds the oldest units that may leave, until the rest fits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head(HeadOptions);

impl Head {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: HeadOptions) -> Result<Self, BadOption> {
        let given = match options.room {
            HeadRoom::Target => 1,
            HeadRoom::Tokens(most) | HeadRoom::Characters(most) => most,
        };
        BadOption::unless_positive("head.room", given)?;
        Ok(Head(options))
    }

    /// Folds whatever may leave.
    pub(crate) fn folding_all() -> Self {
        Head(HeadOptions { room: HeadRoom::Tokens(0) })
    }
}

impl Strategy for Head {
    fn name(&self) -> &'static str {
        "head"
    }

    fn takes_oldest(&self) -> bool {
        true
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let measure: &dyn Fn(usize) -> u64 = match self.0.room {
            HeadRoom::Target | HeadRoom::Tokens(_) => &|at| context.draft.entry_tokens(at),
            HeadRoom::Characters(_) => &|at| context.characters(at),
        };
        let (mut left, room) = match self.0.room {
            HeadRoom::Target => (context.landing(), context.budget.target),
            HeadRoom::Tokens(most) => (context.draft.total(), most),
            HeadRoom::Characters(most) => {
                ((0..context.counts.transcript.len()).map(measure).sum(), most)
            }
        };
        // The first fold brings a checkpoint, which takes room itself.
        let brings = if self.0.room == HeadRoom::Target && !context.draft.folds() {
            context.least
        } else {
            0
        };
        let mut edits = Vec::new();
        for unit in context.units.all() {
            let checkpoint = if edits.is_empty() { 0 } else { brings };
            if left + checkpoint <= room {
                break;
            }
            if may_leave(context, unit) {
                left -= unit.entries.clone().map(measure).sum::<u64>();
                edits.push(Edit::Fold(unit.entries.clone(), Reason::LastResort));
            }
        }
        // A checkpoint alone isn't folded into the next one.
        let is_folded = |unit: &&Unit| {
            edits
                .iter()
                .any(|edit| matches!(edit, Edit::Fold(entries, _) if *entries == unit.entries))
        };
        if context.units.all().iter().filter(is_folded).all(|unit| is_checkpoint(context, unit)) {
            return Vec::new();
        }
        edits
    }
}
