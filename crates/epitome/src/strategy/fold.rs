//! Older steps fold into the checkpoint; the newest that fit stay.
//!
//! What people said goes last: the checkpoint quotes it beside its ledger, what it can't quote stays where it is,
//! and only then is room given to older steps. The newest, three tenths of the target, come before that.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::excerpts::excerpted;
use super::{BadOption, Edit, Scene, Strategy};
use crate::checkpoint::{self, LEAST_TOKENS, LEDGER_LEAST, ledger_share};
use crate::ledger::{Ledger, Shown, is_terse};
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
        let mut leaving: Vec<Leaving<'_>> = units.map(|unit| Leaving::of(scene, unit)).collect();
        let loose: u64 = leaving.iter().map(|unit| unit.size).sum();
        let fixed = scene.draft.total() - loose - taken_up(scene);
        let free = scene.budget.target.saturating_sub(fixed);
        if free < scene.least.line || leaving.iter().all(|of| is_checkpoint(scene, of.unit)) {
            return Vec::new();
        }
        let full = scene.budget.checkpoint().max(LEAST_TOKENS).min(free);
        let is_large = ledger_share(full) >= LEAST_TOKENS;
        let mut caps: Vec<u64> =
            Some(full).filter(|full| *full >= LEAST_TOKENS).into_iter().collect();
        if !is_large {
            // Where that would lose what people said: one with hardly more than some lines of the ledger, beside what is
            // newest, half of the room at most; or one with next to none.
            tell_lines(scene, &mut leaving);
            let due = scene.due().min(full);
            let newest = scene.budget.recent().min(free / 2);
            let lines = free.saturating_sub(due + newest).min(scene.least.lane + LEDGER_LEAST);
            caps.extend([(due + lines).min(full), due]);
        }
        let layouts = caps.into_iter().map(|cap| Layout::of(scene, &leaving, free - cap, cap));
        let best = layouts.min_by_key(|layout| layout.lost).expect("the least is one of them");
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
    /// Tokens that the ledger takes to list what they said in it that holds, where that is told; an earlier checkpoint's
    /// lines count as some.
    lines: u64,
    /// How many lines these are.
    held: u64,
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
        Leaving { unit, size: size(scene, unit), quote, lines: 0, held: 0, is_plain, is_terse }
    }
}

/// Which units stay beside a checkpoint.
struct Layout {
    stays: Vec<bool>,
    cuts: Vec<Edit>,
    /// Units with people's words that are neither shown nor quoted: those that say what holds and aren't listed either,
    /// those that say something and aren't, and all of them.
    lost: (usize, usize, usize),
}

impl Layout {
    /// The layout with `room` tokens for units beside a checkpoint of `cap`.
    fn of(scene: &Scene<'_>, leaving: &[Leaving<'_>], room: u64, cap: u64) -> Self {
        let mut layout =
            Layout { stays: vec![false; leaving.len()], cuts: Vec::new(), lost: (0, 0, 0) };
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
        let room = Room::of(scene, leaving, cap);
        // The step that the model is in the middle of stays, cut, rather than none.
        let newest = leaving.last().filter(|_| from == leaving.len());
        let cut = |room: u64| newest.and_then(|of| shrunk(scene, of.unit, of.size, room));
        let reserve = if cut(protected).is_some() { protected } else { 0 };
        left -= reserve;
        layout.keep_words(&leaving[..from], room, &mut left);
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
        layout.lost = layout.lost(leaving, room);
        layout
    }

    fn keep(&mut self, at: usize, size: u64, left: &mut u64) {
        self.stays[at] = true;
        *left -= size;
    }

    /// What people said and the checkpoint has no room to quote stays, the newest of it first.
    fn keep_words(&mut self, older: &[Leaving<'_>], room: Room, left: &mut u64) {
        let all = older.iter().map(|unit| unit.quote).sum::<u64>();
        let mut over = all.saturating_sub(room.quotes);
        let listed = room.listed(older.iter().enumerate());
        // What holds and isn't listed comes first, what says most of it in the room that it takes before the rest, and what
        // says next to nothing last.
        let turn = |at: usize| match &older[at] {
            unit if unit.lines > 0 && !listed.contains(&at) => (0, unit.size / unit.held.max(1)),
            unit => (1 + u8::from(unit.is_terse), 0),
        };
        let mut turns: Vec<usize> = (0..older.len()).rev().collect();
        turns.sort_by_key(|at| turn(*at));
        for at in turns {
            let unit = &older[at];
            if over == 0 {
                break;
            }
            if unit.is_plain && unit.size <= *left {
                self.keep(at, unit.size, left);
                over = over.saturating_sub(unit.quote);
            }
        }
    }

    fn lost(&self, leaving: &[Leaving<'_>], room: Room) -> (usize, usize, usize) {
        let folded = || leaving.iter().enumerate().filter(|(at, _)| !self.stays[*at]);
        let listed = room.listed(folded());
        let mut left = room.quotes;
        let mut lost = |is_of: &dyn Fn(usize, &Leaving<'_>) -> bool| {
            let is_lost = |(at, unit): &(usize, &Leaving<'_>)| {
                let has_words = unit.quote > 0 || unit.lines > 0 && !listed.contains(at);
                match left.checked_sub(unit.quote).filter(|_| unit.quote > 0) {
                    Some(rest) => {
                        left = rest;
                        false
                    }
                    None => has_words,
                }
            };
            folded().rev().filter(|(at, unit)| is_of(*at, unit)).filter(is_lost).count()
        };
        let holds = |at: usize, unit: &Leaving<'_>| unit.lines > 0 && !listed.contains(&at);
        let holding = lost(&|at, unit| holds(at, unit));
        let telling = lost(&|at, unit| !holds(at, unit) && !unit.is_terse && !listed.contains(&at));
        let rest = lost(&|at, unit| !holds(at, unit) && (unit.is_terse || listed.contains(&at)));
        (holding, holding + telling, holding + telling + rest)
    }
}

/// What a checkpoint has room for.
#[derive(Clone, Copy)]
struct Room {
    lines: u64,
    quotes: u64,
}

impl Room {
    /// The room in a checkpoint of `cap` tokens. What the ledger doesn't need for what holds is for quotes, as far as that is
    /// told.
    fn of(scene: &Scene<'_>, leaving: &[Leaving<'_>], cap: u64) -> Self {
        let most = cap.saturating_sub(scene.least.line + scene.owed);
        let lines: u64 = leaving.iter().map(|unit| unit.lines).sum();
        let share = ledger_share(cap).min(most);
        let listed = if lines > 0 { share.min(LANE + lines) } else { share };
        Room {
            lines: share.saturating_sub(LANE),
            quotes: most.saturating_sub(scene.least.lane + listed),
        }
    }

    /// Those of the units, the newest first, for which the ledger has room.
    fn listed<'u>(
        self,
        units: impl DoubleEndedIterator<Item = (usize, &'u Leaving<'u>)>,
    ) -> BTreeSet<usize> {
        let mut left = self.lines;
        let fits = |(_, unit): &(usize, &Leaving<'_>)| match left.checked_sub(unit.lines) {
            Some(rest) if unit.lines > 0 => {
                left = rest;
                true
            }
            _ => false,
        };
        units.rev().filter(fits).map(|(at, _)| at).collect()
    }
}

/// Tokens of the ledger's title and a heading, and of a line's label.
const LANE: u64 = 20;
const LINE: u64 = 8;
/// An earlier checkpoint's lines are worth so many tokens at most: not all of them are asked for.
const STANDING: u64 = 40;

/// Tells of each unit what the ledger would list of it.
fn tell_lines(scene: &Scene<'_>, leaving: &mut [Leaving<'_>]) {
    let (transcript, counter) = (scene.matter.transcript, scene.matter.counter);
    let mut ledger = Ledger::default();
    for entry in
        leaving.iter().flat_map(|of| of.unit.entries.clone()).map(|at| transcript.entry(at))
    {
        if entry.is_human() {
            ledger.observe_entry(transcript, entry, |_| Shown::Elsewhere);
        }
    }
    let mut lines: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for line in ledger.ranked() {
        lines.entry(line.at as usize).or_default().push(counter.text(&line.text).tokens + LINE);
    }
    for of in leaving {
        let own: Vec<u64> =
            of.unit.entries.clone().filter_map(|at| lines.get(&at)).flatten().copied().collect();
        of.lines = own.iter().sum();
        of.held = own.len() as u64;
        if is_checkpoint(scene, of.unit) {
            let texts = of.unit.entries.clone().flat_map(|at| transcript.entry(at).parts());
            let carried = texts.filter_map(|part| checkpoint::read(&part.text()));
            let carried: u64 = carried.map(|read| counter.text(&read.ledger).tokens).sum();
            of.lines += carried.min(STANDING);
        }
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
