//! Older units fold into the checkpoint; the newest that fit stay.
//!
//! All entries up to one place that may leave are folded, so that everything behind the checkpoint is newer than what it
//! stands for (law 14). How much stays depends on room: the more is folded, the more room its checkpoint needs.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, Strategy, StrategyContext};
use crate::transcript::unit::Unit;
use crate::transcript::{Marks, Origin, Part, PartKind};
use crate::view::Reason;

/// What may be set of [`Fold`]: nothing so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FoldOptions {}

/// Folds the oldest units that may leave, until the rest fits beside a checkpoint of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fold;

/// A checkpoint gets this part of the folded tokens, and this share of the room, in percent: the newest three tenths stay
/// verbatim.
const PART: u64 = 3;
const SHARE: u64 = 70;
/// Percent of the target that a view may leave unused where less would do.
const SLACK: u64 = 20;
/// The maximum tokens for quoting one human message, label included.
pub(crate) const QUOTE: u64 = 128;

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

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        if context.landing() <= context.budget.target {
            return Vec::new();
        }
        let leaving: Vec<&Unit> =
            context.units.all().iter().filter(|unit| may_leave(context, unit)).collect();
        // A lone checkpoint isn't folded into one of about the same size.
        let alone = leaving.iter().all(|unit| is_checkpoint(context, unit));
        let room = context.budget.share().max(2 * context.least);
        if alone && leaving.iter().map(|unit| size(context, unit)).sum::<u64>() <= room {
            return Vec::new();
        }
        let said = |unit: &Unit| -> u64 {
            let tokens = |at: usize| {
                // A checkpoint quotes no image, and not the data that the provider's tools find.
                let parts = context.counts.transcript.entry(at).parts();
                let unquoted = parts.filter(is_unquoted).map(|part| context.tokens(&part));
                let tokens = context.counts.tally.entry(at).saturating_sub(unquoted.sum());
                // Earlier memory keeps its room, and human words get room for quotes.
                match context.counts.transcript.entry(at).origin() {
                    Origin::Checkpoint => tokens * PART,
                    Origin::Human => tokens + tokens.min(QUOTE) * (PART - 1),
                    _ => tokens,
                }
            };
            unit.entries.clone().map(tokens).sum()
        };
        let sizes: Vec<(u64, u64)> =
            leaving.iter().map(|unit| (size(context, unit), said(unit))).collect();
        let shown: u64 = sizes.iter().map(|(shown, _)| shown).sum();
        let carried = carried_over(context);
        let fixed = context.draft.total() - shown - carried;
        let room = context.budget.target.saturating_sub(fixed);
        let newest = newest_held(context);
        let most = context.budget.checkpoint().min(((room + newest) * SHARE / 100).min(room));
        let slack = context.budget.target * SLACK / 100;
        let folds = folded(&sizes, carried * PART, (room, slack), (context.least, most));
        let fold = |unit: &&Unit| Edit::Fold(unit.entries.clone(), Reason::OlderStep);
        leaving[..folds].iter().map(fold).collect()
    }
}

/// How many of the oldest units are folded so that the others fit in `room` beside a checkpoint of `least` to `most` tokens; all
/// if nothing fits. Each unit comes with its shown tokens and its original ones; `gone` are further tokens that leave. A last
/// unit that would leave more than `slack` unused stays, if the checkpoint then has half of its room for other content than
/// human words and earlier checkpoints.
fn folded(
    sizes: &[(u64, u64)],
    mut gone: u64,
    (room, slack): (u64, u64),
    (least, most): (u64, u64),
) -> usize {
    let mut left: u64 = sizes.iter().map(|(shown, _)| shown).sum();
    let checkpoint = |gone: u64| checkpoint_of(gone, most).max(least);
    // Whether one unit less fits, beside a checkpoint that says half of the others' words.
    let mut fits_tightly = false;
    let mut others = 0;
    for (index, (shown, said)) in sizes.iter().enumerate() {
        let needed = left + checkpoint(gone);
        if needed <= room && index > 0 {
            return if fits_tightly && room - needed > slack { index - 1 } else { index };
        }
        fits_tightly = index > 0 && left + checkpoint(gone - others / 2) <= room;
        left -= shown;
        gone += said;
        others += if said == shown { *said } else { 0 };
    }
    let is_unused = room.saturating_sub(left + checkpoint(gone)) > slack;
    if fits_tightly && is_unused { sizes.len() - 1 } else { sizes.len() }
}

/// The room of a checkpoint of this many tokens.
fn checkpoint_of(gone: u64, most: u64) -> u64 {
    (gone / PART).min(most)
}

/// Whether the part is a medium, or what the provider's own tool gave, and no text.
fn is_unquoted(part: &Part<'_>) -> bool {
    let is_found = part.kind() == PartKind::Result && part.is(Marks::SERVER);
    part.kind() == PartKind::Media || is_found && !part.is(Marks::LITERAL)
}

pub(super) fn may_leave(context: &StrategyContext<'_>, unit: &Unit) -> bool {
    let mut entries = unit.entries.clone();
    entries.clone().any(|at| context.draft.is_shown(at))
        && entries.all(|at| context.guard.may_leave(at))
}

pub(super) fn size(context: &StrategyContext<'_>, unit: &Unit) -> u64 {
    unit.entries.clone().map(|at| context.draft.entry_tokens(at)).sum()
}

/// Tokens of the newest entries, which must stay.
fn newest_held(context: &StrategyContext<'_>) -> u64 {
    let all = context.counts.transcript.len();
    let held = (0..all).rev().take_while(|at| !context.guard.may_leave(*at));
    held.map(|at| context.draft.entry_tokens(at)).sum()
}

/// Earlier checkpoints in messages that must stay: they leave with the first fold.
fn carried_over(context: &StrategyContext<'_>) -> u64 {
    let transcript = context.counts.transcript;
    let held = transcript.entries().filter(|entry| {
        context.draft.is_shown(entry.index) && !context.guard.may_leave(entry.index)
    });
    let checkpoints = held
        .flat_map(|entry| entry.parts())
        .filter(|part| part.kind() == PartKind::Text && part.origin() == Origin::Checkpoint);
    checkpoints.map(|part| context.tokens(&part)).sum()
}

pub(super) fn is_checkpoint(context: &StrategyContext<'_>, unit: &Unit) -> bool {
    unit.entries
        .clone()
        .all(|at| context.counts.transcript.entry(at).origin() == Origin::Checkpoint)
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
    use super::{folded, level};

    #[test]
    fn water_finds_its_level() {
        assert_eq!(level(&[10, 100, 100], 110), Some(50));
        assert_eq!(level(&[10, 20], 100), Some(20));
        assert_eq!(level(&[], 5), None);
        assert_eq!(level(&[7, 7], 0), Some(0));
    }

    #[test]
    fn the_more_is_folded_the_more_room_its_checkpoint_has() {
        let sizes = [(100, 100); 10];
        assert_eq!(folded(&sizes, 0, (940, 200), (20, 500)), 1);
        assert_eq!(folded(&sizes, 0, (500, 200), (20, 500)), 8);
        assert_eq!(folded(&sizes, 0, (500, 200), (20, 200)), 7);
        assert_eq!(folded(&sizes, 0, (10, 2), (20, 7)), 10);
    }

    #[test]
    fn a_unit_that_would_leave_much_unused_stays() {
        let sizes = [(60, 60), (300, 300), (640, 640)];
        assert_eq!(folded(&sizes, 0, (955, 190), (5, 500)), 1);
        assert_eq!(folded(&sizes, 0, (955, 240), (5, 500)), 2);
        assert_eq!(folded(&sizes, 0, (945, 100), (5, 500)), 2);
        assert_eq!(folded(&sizes[..2], 0, (310, 60), (5, 500)), 1);
    }
}
