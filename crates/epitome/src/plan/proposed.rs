//! A plan by another compactor, checked before it is used.

use std::collections::BTreeSet;

use super::work::WorkingPlan;
use super::{Plan, PlanInput, Reached};
use crate::delegate::EntryFacts;
use crate::json;
use crate::strategy::{Edit, StrategyContext, is_stub_for, media_note};
use crate::text::cut;
use crate::text::shortened::{Between, are_arguments, is_excerpt, said};
use crate::transcript::{Entry, Marks, Origin, Part, PartKind};
use crate::view::{Fate, PartEdit, Put, Reason};

impl PlanInput<'_> {
    /// Facts about each entry that another compactor needs.
    pub fn known(&self) -> Vec<EntryFacts> {
        let entries = self.request.transcript.entries();
        entries
            .map(|entry| EntryFacts {
                unit: self.units.index_of(entry.index),
                tokens: self.tally.entry(entry.index),
                may_leave: self.guard.may_leave(entry.index),
                may_edit: entry.parts().map(|part| self.may_be_asked(entry, &part)).collect(),
            })
            .collect()
    }

    /// The plan of these fates.
    ///
    /// # Errors
    /// What they breach, in words.
    pub fn proposed(&self, by: &str, fates: &[Fate]) -> Result<Plan, String> {
        let transcript = &self.request.transcript;
        if fates.len() != transcript.len() {
            return Err(format!("it has {} fates for {} messages", fates.len(), transcript.len()));
        }
        let mut edits = Vec::new();
        let mut folded = BTreeSet::new();
        for (index, unit) in self.units.all().iter().enumerate() {
            let mut of_unit = unit.entries.clone().map(|at| &fates[at]);
            if of_unit.clone().all(Fate::is_shown) {
                continue;
            }
            if of_unit.any(Fate::is_shown) {
                let (first, last) = (unit.entries.start, unit.entries.end - 1);
                return Err(format!(
                    "it parts messages {first} to {last}, which stay or go together"
                ));
            }
            if let Some(held) = unit.entries.clone().find(|at| !self.guard.may_leave(*at)) {
                return Err(format!("it takes message {held} away, which must stay"));
            }
            folded.insert(index);
        }
        // One checkpoint stands for all of them.
        if !folded.is_empty() {
            let stands = |at: usize| transcript.entry(at).origin() == Origin::Checkpoint;
            let units = self.units.all().iter().enumerate();
            let standing = units.filter(|(_, unit)| {
                unit.entries.clone().all(|at| stands(at) && self.guard.may_leave(at))
            });
            folded.extend(standing.map(|(index, _)| index));
        }
        let fold =
            |index: &usize| Edit::Fold(self.units.all()[*index].entries.clone(), Reason::Delegated);
        edits.extend(folded.iter().map(fold));
        let mut working = WorkingPlan::new(self);
        let context = self.context(&working.draft, 0);
        for (entry, fate) in transcript.entries().zip(fates) {
            let Fate::Edit(puts) = fate else { continue };
            for put in puts {
                edits.push(Edit::Put(self.admitted(entry, put, &context)?));
            }
        }
        if edits.is_empty() {
            return Err("it compacts nothing".to_owned());
        }
        if !folded.is_empty() {
            working.take_checkpoints(self, Reason::Delegated);
        }
        working.make_all(self, by, edits);
        working.keep_order(self);
        working.mend_opening(self);
        let (landing, target) = (working.landing(self), self.budget.target);
        if landing > target {
            return Err(format!("it leaves {landing} tokens, and the target is {target}"));
        }
        let floor = self.floor().min(working.draft.total());
        Ok(working.planned(self, Reached::Target, floor))
    }

    /// Whether the part may be edited. Calls leave only with their units; a model's own words and arguments are cut by
    /// nobody else.
    fn may_be_asked(&self, entry: Entry<'_>, part: &Part<'_>) -> bool {
        if !self.guard.may_edit(entry.index, part) || part.is(Marks::SERVER) {
            return false;
        }
        match part.kind() {
            PartKind::Reasoning => entry.index < self.guard.reasoning_from(),
            PartKind::Text | PartKind::Call | PartKind::Result | PartKind::Media => true,
            PartKind::Opaque | PartKind::Link => false,
        }
    }

    /// The edit as it may be made.
    fn admitted(
        &self,
        entry: Entry<'_>,
        edit: &PartEdit,
        context: &StrategyContext<'_>,
    ) -> Result<PartEdit, String> {
        let transcript = &self.request.transcript;
        let at = entry.index;
        let Some(nth) = edit.at.0.checked_sub(entry.slots().start) else {
            return Err(format!("an edit of message {at} names a part of another one"));
        };
        if !entry.slots().contains(&edit.at.0) {
            return Err(format!("message {at} has no part {nth}"));
        }
        let part = transcript.part(edit.at);
        if !self.may_be_asked(entry, &part) {
            return Err(format!("it edits part {nth} of message {at}, which must stay"));
        }
        let counts = self.counts();
        // Nothing is put into anybody's mouth: people's words are shown as they are, and text that a tool
        // didn't write names its author.
        let put = match (&edit.put, part.kind()) {
            (Put::Nothing, PartKind::Reasoning | PartKind::Media) => Some(Put::Nothing),
            (Put::Text(text), PartKind::Text) => {
                // Part of a sentence of the model's may say the opposite.
                if part.origin() == Origin::Model {
                    said(text, &part.text()).map(|text| Put::Text(text.into()))
                } else {
                    is_excerpt(text, &part.text(), Between::Words).then(|| edit.put.clone())
                }
            }
            (Put::Text(text), PartKind::Result) => {
                let is_ours = is_stub_for(text, context, &part)
                    || is_excerpt(text, &counts.part_text(&part), Between::Words);
                Some(if is_ours { edit.put.clone() } else { told_by_compactor(text) })
            }
            (Put::Text(text), PartKind::Media) => {
                let is_ours = **text == *media_note(&part);
                Some(if is_ours { edit.put.clone() } else { told_by_compactor(text) })
            }
            (Put::Arguments(text), PartKind::Call) => {
                let whole = part.raw_body();
                // Some formats hold arguments as a string of JSON.
                let whole =
                    if whole.starts_with('"') { json::unquote(whole) } else { whole.into() };
                are_arguments(text, &whole).then(|| edit.put.clone())
            }
            _ => None,
        };
        let Some(put) = put else {
            return Err(format!("what it puts into part {nth} of message {at} can't stand there"));
        };
        if let Put::Text(text) | Put::Arguments(text) = &put
            && counts.put_tokens(&part, text) >= counts.part_tokens(&part)
        {
            return Err(format!("part {nth} of message {at} would be no smaller"));
        }
        Ok(PartEdit { at: edit.at, put, reason: Reason::Delegated })
    }
}

/// A compactor's own words, marked so that nobody takes them for a tool's or a person's.
fn told_by_compactor(text: &str) -> Put {
    let text = cut::one_line(text, usize::MAX);
    let bare = text.trim_matches(['[', ']']).replace(['[', ']'], "|");
    Put::Text(format!("[a compactor's words: {bare}]").into())
}
