//! Older steps fold into the checkpoint; the newest that fit stay.
//!
//! What people said goes last: the checkpoint quotes it beside its ledger, what it can't quote stays where it is,
//! and only then is room given to older steps. The newest, three tenths of the target, come before that.

use serde::{Deserialize, Serialize};

use super::excerpts::excerpted;
use super::{BadOption, Edit, Scene, Strategy};
use crate::checkpoint::{LEAST_TOKENS, LEDGER_LEAST, ledger_share};
use crate::ledger::is_terse;
use crate::transcript::unit::Unit;
use crate::transcript::{Origin, Part, PartKind};
use crate::view::Reason;

/// What may be set of [`Fold`]: nothing so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FoldOptions {}

/// Folds everything that may leave, from the oldest up to the newest units that fit beside what must
/// stay, the checkpoint and what people said.
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
        let units = scene.units.all().iter().filter(|unit| may_leave(scene, unit));
        let leaving: Vec<Leaving<'_>> = units.map(|unit| Leaving::of(scene, unit)).collect();
        let loose: u64 = leaving.iter().map(|unit| unit.size).sum();
        let fixed = scene.draft.total() - loose - taken_up(scene);
        let free = scene.budget.target.saturating_sub(fixed);
        if free < scene.least.line || leaving.iter().all(|of| is_checkpoint(scene, of.unit)) {
            return Vec::new();
        }
        // A checkpoint with all its lanes; or, where that would cost anybody's words and leave little to the ledger, one
        // with hardly more than some lines of that, beside what is newest; or next to none, if no words that say
        // something are lost then.
        let full = scene.budget.checkpoint().max(LEAST_TOKENS).min(free);
        let is_large = ledger_share(full) >= LEAST_TOKENS;
        let due = scene.due().min(full);
        let beside = free.saturating_sub(due + scene.budget.recent()).min(LEDGER_LEAST);
        let listing = (due + beside).min(full);
        let layout = |cap: u64| Layout::of(scene, &leaving, free - cap, cap);
        let mut layouts = Vec::new();
        if full >= LEAST_TOKENS {
            layouts.push(layout(full));
        }
        if !is_large {
            layouts.push(layout(listing));
            layouts.extend(Some(layout(due)).filter(|least| least.lost.0 == 0));
        }
        let best = layouts.into_iter().min_by_key(|layout| layout.lost);
        let best = best.expect("a large checkpoint is at least the least");
        let folded = leaving.iter().zip(&best.stays).filter(|(_, stays)| !**stays);
        let folded: Vec<&Unit> = folded.map(|(leaving, _)| leaving.unit).collect();
        let mut edits = best.cuts;
        if !folded.iter().all(|unit| is_checkpoint(scene, unit)) {
            let fold = |unit: &&Unit| Edit::Fold(unit.entries.clone(), Reason::OlderStep);
            edits.extend(folded.iter().map(fold));
        }
        edits
    }
}

/// A unit that may leave.
struct Leaving<'a> {
    unit: &'a Unit,
    size: u64,
    /// Tokens that a checkpoint takes to say what people said in it.
    quote: u64,
    /// Whether it is nothing but what people said.
    is_plain: bool,
    /// Whether it says next to nothing: `yes`, `go on`.
    is_terse: bool,
}

impl<'a> Leaving<'a> {
    fn of(scene: &Scene<'_>, unit: &'a Unit) -> Self {
        let quote = unit.entries.clone().map(|at| scene.quote(at)).sum();
        let is_plain = unit.is_turn && !unit.is_step;
        let said = |at: usize| scene.matter.transcript.entry(at).human_text();
        let is_terse = is_plain && unit.entries.clone().all(|at| is_terse(&said(at)));
        Leaving { unit, size: size(scene, unit), quote, is_plain, is_terse }
    }
}

/// Which units stay beside a checkpoint.
struct Layout {
    stays: Vec<bool>,
    cuts: Vec<Edit>,
    /// Units with people's words that are neither shown nor quoted: those that say something, and all of them.
    lost: (usize, usize),
}

impl Layout {
    /// The layout with `room` tokens for units beside a checkpoint of `cap`.
    fn of(scene: &Scene<'_>, leaving: &[Leaving<'_>], room: u64, cap: u64) -> Self {
        let mut layout =
            Layout { stays: vec![false; leaving.len()], cuts: Vec::new(), lost: (0, 0) };
        let mut left = room;
        let protected = room.min(scene.budget.recent());
        let mut from = leaving.len();
        while let Some(unit) = from.checked_sub(1).map(|at| &leaving[at]) {
            if room - left + unit.size > protected {
                break;
            }
            from -= 1;
            layout.keep(from, unit.size, &mut left);
        }
        let listed = ledger_share(cap);
        let quotes = cap.saturating_sub(scene.least.line + scene.least.lane + listed + scene.owed);
        // The step that the model is in the middle of stays, cut, rather than none.
        let newest = leaving.last().filter(|_| from == leaving.len());
        let cut = |room: u64| newest.and_then(|of| shrunk(scene, of.unit, of.size, room));
        let reserve = if cut(protected).is_some() { protected } else { 0 };
        left -= reserve;
        layout.keep_words(&leaving[..from], quotes, &mut left);
        left += reserve;
        if newest.is_some_and(|of| of.size > left)
            && let Some(cuts) = cut(left)
        {
            layout.cuts = cuts;
            from -= 1;
            layout.keep(from, left, &mut left);
        }
        while let Some(at) = from.checked_sub(1) {
            let is_kept = layout.stays[at];
            if !is_kept && leaving[at].size > left {
                break;
            }
            if !is_kept {
                layout.keep(at, leaving[at].size, &mut left);
            }
            from = at;
        }
        layout.lost = layout.lost(leaving, quotes);
        layout
    }

    fn keep(&mut self, at: usize, size: u64, left: &mut u64) {
        self.stays[at] = true;
        *left -= size;
    }

    /// What people said and the checkpoint has no room to quote stays, the newest of it first.
    fn keep_words(&mut self, older: &[Leaving<'_>], quotes: u64, left: &mut u64) {
        let mut over = older.iter().map(|unit| unit.quote).sum::<u64>().saturating_sub(quotes);
        let all = || older.iter().enumerate().rev();
        // What says next to nothing comes last.
        let telling = all().filter(|(_, unit)| !unit.is_terse);
        for (at, unit) in telling.chain(all().filter(|(_, unit)| unit.is_terse)) {
            if over == 0 {
                break;
            }
            if unit.is_plain && unit.size <= *left {
                self.keep(at, unit.size, left);
                over = over.saturating_sub(unit.quote);
            }
        }
    }

    fn lost(&self, leaving: &[Leaving<'_>], quotes: u64) -> (usize, usize) {
        let mut left = quotes;
        let folded = || leaving.iter().zip(&self.stays).rev().filter(|(_, stays)| !**stays);
        let mut lost = |is_terse: bool| {
            let is_lost = |unit: &&Leaving<'_>| match left.checked_sub(unit.quote) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            };
            let of = folded().map(|(unit, _)| unit).filter(|unit| unit.is_terse == is_terse);
            of.filter(is_lost).count()
        };
        let telling = lost(false);
        (telling, telling + lost(true))
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
    // What shares a message may be more by itself.
    let cap = level(&sizes, room.checked_sub(size.saturating_sub(cuttable))?)?;
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
