//! What people said and no checkpoint quotes is shown where it was said, if there is room.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attempt, Compaction};
use crate::budget::{Budget, Stop};
use crate::checkpoint::{self, Checkpoint, Gathered, LEAST_TOKENS, says_besides};
use crate::count::{AROUND_MESSAGE, Tally};
use crate::draft::Matter;
use crate::ledger::Whence;
use crate::plan::{Plan, Reached};
use crate::strategy::Edit;
use crate::text::secrets::masked;
use crate::transcript::unit::{Unit, Units};
use crate::transcript::{Entry, Part, PartKind, Transcript};
use crate::view::Reason;
use crate::wire;

/// So many tokens more a checkpoint may take, written anew to stand for less; and for each message that it tells the
/// number of.
const ANOTHER_NONCE: u64 = 16;
const NUMBER: u64 = 4;

impl Compaction {
    /// The tokens that a checkpoint needs for what edits hide and ought to be remembered, where the plan has
    /// none. It is tried once.
    pub(super) fn uncovered(&self, tally: &Tally, plan: &Plan, gathered: &Gathered) -> Option<u64> {
        let is_asked = self.attempt == Attempt::Asked
            && self.reserve.is_none()
            && self.compactor.options().stop == Stop::AtTarget
            && self.compactor.strategies().iter().any(|strategy| strategy.takes_oldest());
        if !is_asked || plan.draft.folds() || plan.reached != Reached::Target {
            return None;
        }
        let most = Budget::new(self.target(tally)).checkpoint();
        let room = most.checked_sub(LEAST_TOKENS)?;
        let lane = checkpoint::ledger_tokens(gathered, room, self.compactor.counter());
        (lane > 0).then_some(LEAST_TOKENS + lane)
    }

    /// Folds messages of nothing but what people took back in ones that are folded: behind the checkpoint it would read as newer
    /// than that.
    pub(super) fn fold_outdated(
        &self,
        tally: &Tally,
        units: &Units,
        plan: &mut Plan,
        gathered: &mut Gathered,
    ) {
        let transcript = &self.request.transcript;
        let mut outdated = outdated(transcript, plan, gathered);
        if self.attempt != Attempt::Asked || outdated.is_empty() {
            return;
        }
        let guard = self.guard(tally, units);
        outdated.retain(|at| {
            let unit = &units.all()[units.index_of(*at)];
            let may_leave = unit.entries.clone().all(|at| guard.may_leave(at));
            plan.draft.is_shown(*at) && may_leave && unit.is_turn && !unit.is_step
        });
        let matter = Matter { transcript, tally, counter: self.compactor.counter() };
        for at in &outdated {
            plan.draft.apply(&Edit::Fold(*at..*at + 1, Reason::Superseded), &matter);
        }
        for at in outdated {
            gathered.add_late(transcript, units, transcript.entry(at));
        }
    }

    /// Shows what fits of it; the checkpoint, which then stands for less.
    pub(super) fn show_words(
        &self,
        tally: &Tally,
        units: &Units,
        plan: &mut Plan,
        gathered: &mut Gathered,
        checkpoint: Option<Checkpoint>,
    ) -> Option<Checkpoint> {
        // Where roles must alternate, what is left would not be in turns.
        if self.attempt != Attempt::Asked || self.compactor.options().stop != Stop::AtTarget {
            return checkpoint;
        }
        let turns = units.all().iter().filter(|unit| unit.is_turn && !unit.is_step);
        let said: Vec<usize> = turns.flat_map(|unit| unit.entries.clone()).collect();
        let mut checkpoint = self.worth_its_room(tally, units, plan, checkpoint);
        let counter = self.compactor.counter();
        let tokens = |checkpoint: &Option<Checkpoint>| checkpoint.as_ref().map_or(0, |c| c.tokens);
        let first = tokens(&checkpoint);
        loop {
            let own = tokens(&checkpoint);
            // What took something back may be shown by now.
            let outdated = outdated(&self.request.transcript, plan, gathered);
            let said: Vec<usize> =
                said.iter().copied().filter(|at| !outdated.contains(at)).collect();
            let shown = self.show_unquoted(tally, &said, plan, gathered, checkpoint.as_ref());
            if shown.is_empty() {
                return checkpoint;
            }
            if checkpoint.is_none() {
                continue;
            }
            let following = self.following(plan, gathered.messages() - shown.len());
            if own + ANOTHER_NONCE < first {
                // Each lane has its share: written anew once more, the ledger would be shorter, and nobody's words longer.
                checkpoint =
                    checkpoint.map(|bare| bare.sparing(&shown, following, gathered, counter));
                continue;
            }
            gathered.spare(&shown);
            gathered.follow(following);
            let write = |most: u64| checkpoint::write(gathered, plan.checkpoint.min(most), counter);
            let missing =
                |c: &Option<Checkpoint>| c.as_ref().map_or(usize::MAX, Checkpoint::words_missing);
            let most = self.target(tally) + self.shared(plan, checkpoint.as_ref());
            let most = most.saturating_sub(plan.draft.total());
            let numbers = NUMBER * shown.len() as u64;
            checkpoint = write(most.min(own + ANOTHER_NONCE + numbers));
            // What is left is for words before it goes back to what was cut.
            if missing(&checkpoint) > 0 {
                let longer = write(most);
                if missing(&longer) < missing(&checkpoint) {
                    checkpoint = longer;
                }
            }
        }
    }

    /// Shows what fits beside the checkpoint, written anew, of what it doesn't quote; which of it was folded.
    fn show_unquoted(
        &self,
        tally: &Tally,
        said: &[usize],
        plan: &mut Plan,
        gathered: &Gathered,
        checkpoint: Option<&Checkpoint>,
    ) -> Vec<usize> {
        let quoted = quoted(checkpoint);
        let own = checkpoint.map_or(0, |checkpoint| checkpoint.tokens + ANOTHER_NONCE);
        let room = |plan: &Plan| {
            let most = self.target(tally) + self.shared(plan, checkpoint);
            most.checked_sub(plan.draft.total() + own)
        };
        let Some(mut free) = room(plan) else { return Vec::new() };
        let before = self.request.format.alternates().then(|| plan.draft.clone());
        let mut shown = Vec::new();
        let holding = gathered.holding();
        // First what says most that holds in the room that it takes, then the rest; the newest of it first.
        let turn = |at: usize| match holding.get(&Whence::Here(at as u32)) {
            Some(lines) => tally.entry(at) / lines,
            None => u64::MAX,
        };
        let mut in_turn: Vec<usize> = said.iter().rev().copied().collect();
        in_turn.sort_by_key(|at| turn(*at));
        for at in in_turn.into_iter().filter(|at| !quoted.contains(at)) {
            let was_folded = plan.draft.is_folded(at);
            if plan.draft.show(at, &mut free) && was_folded {
                // The checkpoint may have to say which one it is.
                free = free.saturating_sub(NUMBER);
                shown.push(at);
            }
        }
        // Between messages that came one behind the other a new one leaves nothing shared.
        if let Some(before) = before.filter(|_| room(plan).is_none()) {
            plan.draft = before;
            shown.clear();
        }
        shown
    }

    /// Tokens that are saved where several messages become one.
    fn shared(&self, plan: &Plan, checkpoint: Option<&Checkpoint>) -> u64 {
        if !self.request.format.alternates() {
            return 0;
        }
        let laid = wire::layout(&self.request, &self.view(plan, checkpoint));
        wire::shared(&laid) as u64 * AROUND_MESSAGE
    }

    /// Entries that stay as they were cut: while something that people said is neither shown nor quoted, the newest
    /// steps have their share and no more.
    pub(super) fn stays_cut(
        &self,
        tally: &Tally,
        plan: &Plan,
        checkpoint: Option<&Checkpoint>,
    ) -> BTreeSet<usize> {
        let transcript = &self.request.transcript;
        let quoted = quoted(checkpoint);
        let is_said = |at: usize| plan.draft.is_shown(at) || quoted.contains(&at);
        if transcript.entries().filter(Entry::is_human).all(|entry| is_said(entry.index)) {
            return BTreeSet::new();
        }
        let units = Units::of(transcript, self.request.format.instructions());
        let guard = self.guard(tally, &units);
        let size =
            |unit: &Unit| unit.entries.clone().map(|at| plan.draft.entry_tokens(at)).sum::<u64>();
        let cut = |unit: &Unit| {
            let shown = unit.entries.clone().filter(|at| plan.draft.is_shown(*at));
            shown.map(|at| tally.entry(at)).sum::<u64>().saturating_sub(size(unit))
        };
        let leaves = |unit: &&Unit| {
            let may_leave = unit.entries.clone().all(|at| guard.may_leave(at));
            may_leave && !unit.is_turn && size(unit) > 0
        };
        let mut left = Budget::new(self.target(tally)).recent();
        let mut newest = Vec::new();
        for unit in units.all().iter().rev().filter(leaves) {
            let Some(rest) = left.checked_sub(size(unit)) else { break };
            left = rest;
            newest.push(unit);
        }
        newest.retain(|unit| match left.checked_sub(cut(unit)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        newest.into_iter().flat_map(|unit| unit.entries.clone()).collect()
    }

    /// A checkpoint that quotes nobody and lists nothing, unless what it takes would show no more of what people said.
    fn worth_its_room(
        &self,
        tally: &Tally,
        units: &Units,
        plan: &Plan,
        checkpoint: Option<Checkpoint>,
    ) -> Option<Checkpoint> {
        let bare = checkpoint?;
        if bare.words == 0 || bare.words_missing() < bare.words || bare.listed > 0 {
            return Some(bare);
        }
        let turns = units.all().iter().filter(|unit| unit.is_turn && !unit.is_step);
        let said: Vec<usize> = turns.flat_map(|unit| unit.entries.clone()).collect();
        let hidden = || said.iter().rev().filter(|at| !plan.draft.is_shown(**at));
        let fitting = |room: u64| {
            hidden().fold((room, 0), |(left, shown), at| match left.checked_sub(tally.entry(*at)) {
                Some(rest) => (rest, shown + 1),
                None => (left, shown),
            })
        };
        let free = self.target(tally).saturating_sub(plan.draft.total());
        let beside = free.saturating_sub(bare.tokens + ANOTHER_NONCE);
        (fitting(beside).1 >= fitting(free).1).then_some(bare)
    }
}

/// Entries that say nothing but what a person took back, some of it in one that isn't shown: what else is said there holds.
fn outdated(transcript: &Transcript, plan: &Plan, gathered: &Gathered) -> BTreeSet<usize> {
    let mut gone: BTreeMap<usize, Vec<(&str, usize)>> = BTreeMap::new();
    for (old, new) in gathered.ledger().taken_back() {
        if let (Whence::Here(at), Whence::Here(newer)) = (old.whence(), new.whence()) {
            gone.entry(at as usize).or_default().push((old.source(), newer as usize));
        }
    }
    let is_outdated = |(at, lines): &(usize, Vec<(&str, usize)>)| {
        let entry = transcript.entry(*at);
        let is_text = |part: Part<'_>| part.kind() == PartKind::Text;
        lines.iter().any(|(_, newer)| at < newer && plan.draft.is_folded(*newer))
            && entry.parts().all(is_text)
            && !says_besides(&masked(&entry.human_text()), lines.iter().map(|(words, _)| *words))
    };
    gone.into_iter().filter(is_outdated).map(|(at, _)| at).collect()
}

/// The entries that the checkpoint quotes.
fn quoted(checkpoint: Option<&Checkpoint>) -> BTreeSet<usize> {
    checkpoint.into_iter().flat_map(|checkpoint| checkpoint.quoted.iter().copied()).collect()
}
