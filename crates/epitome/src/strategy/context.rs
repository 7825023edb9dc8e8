//! The input of a strategy.

use crate::budget::Budget;
use crate::context::JobContext;
use crate::guard::Guard;
use crate::strategy::HistoryFacts;
use crate::strategy::fold::{is_checkpoint, size};
use crate::transcript::unit::{Unit, Units};
use crate::transcript::{Entry, Marks, Part, PartKind};
use crate::trigger::Cause;
use crate::working_view::{CountContext, Draft};

/// Everything that a strategy may look at.
#[derive(Clone, Copy, Debug)]
pub struct StrategyContext<'a> {
    /// The request, and its counts.
    pub counts: CountContext<'a>,
    /// Its units and pairs.
    pub units: &'a Units,
    /// The working view: what earlier strategies did.
    pub draft: &'a Draft,
    /// What must stay.
    pub guard: &'a Guard,
    /// Where to land.
    pub budget: Budget,
    /// The least that a checkpoint takes, in tokens.
    pub least: u64,
    /// The reason for the compaction, if one was given.
    pub cause: Option<&'a Cause>,
    /// The caller's context, with the wishes of hooks.
    pub about: &'a JobContext,
    /// Entries before this one will be folded whatever is done to them: not worth an edit.
    pub horizon: usize,
    /// The findings so far, whatever the view shows.
    pub found: &'a HistoryFacts,
}

impl<'a> StrategyContext<'a> {
    /// Entries that are shown, worth an edit, and older than the newest `recent` tokens.
    pub fn old_entries(&self, recent: u64) -> impl Iterator<Item = Entry<'a>> {
        self.worthwhile(self.newest_from(recent))
    }

    /// Entries before `end` that are shown and worth an edit: what will be folded isn't.
    pub fn worthwhile(&self, end: usize) -> impl Iterator<Item = Entry<'a>> {
        let context = *self;
        (0..end)
            .filter(move |at| context.is_worthwhile(*at))
            .map(move |at| context.counts.transcript.entry(at))
    }

    /// Whether the entry is shown and worth an edit.
    pub fn is_worthwhile(&self, entry: usize) -> bool {
        let stays = entry >= self.horizon || !self.guard.may_leave(entry);
        stays && self.draft.is_shown(entry)
    }

    /// Index of the first entry of the newest units that fit in `tokens`. The newest step that is shown (without any,
    /// the newest unit), which the model has yet to answer, is new however large it is; without any
    /// `tokens` nothing is.
    pub fn newest_from(&self, tokens: u64) -> usize {
        if tokens == 0 {
            return self.counts.transcript.len();
        }
        let units = self.units.all();
        let is_shown = |unit: &&Unit| unit.entries.clone().any(|at| self.draft.is_shown(at));
        let step = units.iter().rfind(|unit| unit.is_step && is_shown(unit)).or(units.last());
        let newest = step.map_or(self.counts.transcript.len(), |unit| unit.entries.start);
        self.fitting_from(tokens).min(newest)
    }

    fn fitting_from(&self, tokens: u64) -> usize {
        let mut left = tokens;
        // The checkpoint isn't counted: its size isn't known before it is written.
        for unit in self.units.all().iter().rev().filter(|unit| !is_checkpoint(self, unit)) {
            let size = size(self, unit);
            if size > left {
                return unit.entries.end;
            }
            left -= size;
        }
        0
    }

    /// The parts of `entry` that may be edited and weren't, sub-parts of an edited result apart.
    pub fn editable(&self, entry: Entry<'a>) -> impl Iterator<Item = Part<'a>> {
        let draft = self.draft;
        self.cuttable(entry).filter(move |part| !draft.is_edited(part.slot))
    }

    /// The parts of `entry` that may be edited, edited or not; of an edited result no sub-parts.
    pub fn cuttable(&self, entry: Entry<'a>) -> impl Iterator<Item = Part<'a>> {
        let guard = self.guard;
        self.said(entry).filter(move |part| guard.may_edit(entry.index, part))
    }

    /// Whether the part may be edited and wasn't, itself or with the result that it is in.
    pub fn may_edit(&self, part: &Part<'a>) -> bool {
        self.editable(self.entry_of(part)).any(|editable| editable.slot == part.slot)
    }

    /// Whether the part may be cut, edited or not; nothing in an edited result may.
    pub fn may_cut(&self, part: &Part<'a>) -> bool {
        self.cuttable(self.entry_of(part)).any(|cuttable| cuttable.slot == part.slot)
    }

    fn entry_of(&self, part: &Part<'a>) -> Entry<'a> {
        self.counts.transcript.entry(self.counts.transcript.entry_of(part.slot))
    }

    /// Whether the part is of the newest unit.
    pub fn is_newest(&self, part: &Part<'_>) -> bool {
        let at = self.counts.transcript.entry_of(part.slot);
        self.guard.is_newest(at)
    }

    /// Tokens of a part as earlier strategies left it.
    pub fn tokens(&self, part: &Part<'_>) -> u64 {
        self.draft.part_tokens(part, &self.counts)
    }

    /// The name and arguments of the call that a result answers.
    pub fn call(&self, result: &Part<'_>) -> Option<Part<'a>> {
        self.units.call_of(result.slot).map(|slot| self.counts.transcript.part(slot))
    }

    /// Where the view would land with the least checkpoint that it needs.
    pub(crate) fn landing(&self) -> u64 {
        self.draft.total() + if self.draft.folds() { self.least } else { 0 }
    }

    /// Characters of the entry's text, as edited; 0 if it isn't shown.
    pub fn characters(&self, entry: usize) -> u64 {
        if !self.draft.is_shown(entry) {
            return 0;
        }
        let parts = self.said(self.counts.transcript.entry(entry));
        parts.map(|part| self.draft.characters(&part)).sum()
    }

    /// The parts whose own words are shown: none inside a result that was edited as a whole.
    fn said(&self, entry: Entry<'a>) -> impl Iterator<Item = Part<'a>> {
        let context = *self;
        let mut whole_result_edited = false;
        entry.parts().filter(move |part| {
            if !part.is(Marks::NESTED) {
                whole_result_edited =
                    part.kind() == PartKind::Result && context.draft.is_edited(part.slot);
            }
            !(part.is(Marks::NESTED) && whole_result_edited)
        })
    }
}
