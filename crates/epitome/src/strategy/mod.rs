//! Strategies propose edits; they perform none. Each is one file, useful alone.
//!
//! A strategy sees a [`Scene`] and answers with edits in the order in which they should be made:
//! the plan stops when the target is reached. It never looks at wire formats.

mod excerpts;
mod fold;
mod head;
mod media;
mod outputs;
mod reasoning;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::budget::Budget;
use crate::draft::{Draft, Matter};
use crate::guard::Guard;
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Part, PartKind};
use crate::view::{PartEdit, Reason};

pub use excerpts::Excerpts;
pub(crate) use excerpts::fit;
pub use fold::Fold;
pub(crate) use fold::level;
pub use head::Head;
pub use media::OldMedia;
pub use outputs::OldOutputs;
pub use reasoning::OldReasoning;

/// Everything that a strategy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// What was said, and what it weighs.
    pub matter: Matter<'a>,
    /// Its units and pairs.
    pub units: &'a Units,
    /// The working view: what earlier strategies did.
    pub draft: &'a Draft,
    /// What must stay.
    pub guard: &'a Guard,
    /// Where to land.
    pub budget: Budget,
    /// Entries before this one will be folded whatever is done to them: not worth an edit.
    pub horizon: usize,
}

impl<'a> Scene<'a> {
    /// Entries that are shown, worth an edit, and older than the newest `recent` tokens.
    pub fn old_entries(&self, recent: u64) -> impl Iterator<Item = Entry<'a>> {
        self.worthwhile(self.newest_from(recent))
    }

    /// Entries before `end` that are shown and worth an edit: what will be folded isn't.
    pub fn worthwhile(&self, end: usize) -> impl Iterator<Item = Entry<'a>> {
        let scene = *self;
        (0..end)
            .filter(move |at| *at >= scene.horizon || !scene.guard.may_leave(*at))
            .filter(move |at| scene.draft.is_shown(*at))
            .map(move |at| scene.matter.transcript.entry(at))
    }

    /// Index of the first entry of the newest units that fit in `tokens`. The newest step, which the
    /// model has yet to answer, is new however large it is; without any `tokens` nothing is.
    pub fn newest_from(&self, tokens: u64) -> usize {
        if tokens == 0 {
            return self.matter.transcript.len();
        }
        let units = self.units.all();
        let step = units.iter().rfind(|unit| unit.is_step);
        let newest = step.map_or(self.matter.transcript.len(), |unit| unit.entries.start);
        self.fitting_from(tokens).min(newest)
    }

    fn fitting_from(&self, tokens: u64) -> usize {
        let mut left = tokens;
        for unit in self.units.all().iter().rev() {
            let size: u64 = unit.entries.clone().map(|at| self.draft.entry_tokens(at)).sum();
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
        let scene = *self;
        let mut whole_result_edited = false;
        entry.parts().filter(move |part| {
            if !part.is(Marks::NESTED) {
                whole_result_edited =
                    part.kind() == PartKind::Result && scene.draft.is_edited(part.slot);
            }
            let is_covered = part.is(Marks::NESTED) && whole_result_edited;
            !is_covered && scene.guard.may_edit(entry.index, part)
        })
    }

    /// Tokens of a part as earlier strategies left it.
    pub fn tokens(&self, part: &Part<'_>) -> u64 {
        self.draft.part_tokens(part, &self.matter)
    }

    /// The name and arguments of the call that a result answers.
    pub fn call(&self, result: &Part<'_>) -> Option<Part<'a>> {
        self.units.call_of(result.slot).map(|slot| self.matter.transcript.part(slot))
    }
}

/// Below this many tokens a text isn't worth an edit.
pub(crate) const LEAST_TEXT: u64 = 48;

/// Which parts a strategy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those older than the newest three tenths of the target, as they were said.
    Old,
    /// Those as they were said, however new.
    New,
    /// All, also what earlier strategies left of them: nothing smaller will be tried.
    Last,
}

impl Which {
    /// The parts to look at.
    fn parts<'a>(self, scene: &Scene<'a>) -> Vec<Part<'a>> {
        let recent = if self == Which::Old { scene.budget.recent() } else { 0 };
        let entries = scene.old_entries(recent);
        match self {
            Which::Old | Which::New => entries.flat_map(|entry| scene.editable(entry)).collect(),
            Which::Last => entries.flat_map(|entry| scene.cuttable(entry)).collect(),
        }
    }
}

/// A change that a strategy proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A slot's payload is replaced.
    Put(PartEdit),
    /// The entries (whole units) are stood for by the checkpoint.
    Fold(Range<usize>, Reason),
    /// The entries (whole units) leave without a trace.
    Drop(Range<usize>, Reason),
}

/// Proposes edits of the working view; performs none.
pub trait Strategy: Debug + Send + Sync {
    /// Its name, as options and receipts spell it.
    fn name(&self) -> &'static str;

    /// Whether it takes whole units away, oldest first, so that editing these before is lost work.
    fn takes_oldest(&self) -> bool {
        false
    }

    /// Edits, in the order in which they should be made.
    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit>;
}

/// One after the other, on the same working view; an empty list is the identity.
impl Strategy for Vec<Arc<dyn Strategy>> {
    fn name(&self) -> &'static str {
        "in-turn"
    }

    fn takes_oldest(&self) -> bool {
        self.iter().any(|strategy| strategy.takes_oldest())
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let mut draft = scene.draft.clone();
        let mut all = Vec::new();
        for strategy in self {
            let edits = strategy.propose(&Scene { draft: &draft, ..*scene });
            for edit in &edits {
                draft.apply(edit, &scene.matter);
            }
            all.extend(edits);
        }
        all
    }
}

/// The ladder: cheapest loss first (DESIGN.md §7).
pub fn ladder() -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(OldReasoning),
        Arc::new(OldOutputs::default()),
        Arc::new(OldMedia),
        Arc::new(Excerpts::old()),
        Arc::new(Excerpts::oversized()),
        Arc::new(Fold),
        // What must stay leaves no room for a checkpoint: cut what belongs to it, try again.
        Arc::new(OldOutputs::last()),
        Arc::new(Excerpts::last()),
        Arc::new(Fold),
        Arc::new(Head),
    ]
}
