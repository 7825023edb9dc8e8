//! Only the newest items, steps, turns or tokens stay, whatever the target.
//!
//! What must stay (task, pins, instructions) stays where it is; units never break.

use serde::{Deserialize, Serialize};

use super::fold::{is_checkpoint, may_leave, size};
use super::{BadOption, Edit, Strategy, StrategyContext};
use crate::budget::Tail;
use crate::transcript::unit::Unit;
use crate::view::Reason;

/// What may be set of [`Recent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecentOptions {
    /// What stays: a number of items, units, steps, turns or tokens; of steps and turns at least one.
    pub keep: Tail,
}

impl Default for RecentOptions {
    fn default() -> Self {
        RecentOptions { keep: Tail::Items(10) }
    }
}

/// Folds everything older than the newest so many that may leave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent(RecentOptions);

impl Recent {
    /// With these options.
    ///
    /// # Errors
    /// The number of units that fit is what [`Fold`](super::Fold) finds. Zero steps or turns would be less than what always
    /// stays.
    pub fn new(options: RecentOptions) -> Result<Self, BadOption> {
        let (given, expected) = match options.keep {
            Tail::Fitting => ("fitting", "a number of items, units, steps, turns or tokens"),
            Tail::Steps(0) => ("0steps", "1 or more"),
            Tail::Turns(0) => ("0turns", "1 or more"),
            _ => return Ok(Recent(options)),
        };
        Err(BadOption { option: "recent.keep", given: given.to_owned(), expected })
    }
}

impl Strategy for Recent {
    fn name(&self) -> &'static str {
        "recent"
    }

    fn takes_oldest(&self) -> bool {
        true
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let from = context.units.tail(self.0.keep, |at| context.draft.entry_tokens(at));
        let units = context.units.all().iter();
        let older: Vec<&Unit> =
            units.filter(|unit| unit.entries.end <= from && may_leave(context, unit)).collect();
        let gone: u64 = older.iter().map(|unit| size(context, unit)).sum();
        // A checkpoint without new content, or larger than what it stands for, is no gain.
        if older.iter().all(|unit| is_checkpoint(context, unit)) || gone <= context.least {
            return Vec::new();
        }
        let fold = |unit: &&Unit| Edit::Fold(unit.entries.clone(), Reason::NotRecent);
        older.iter().map(fold).collect()
    }
}
