//! Units: the smallest runs of entries that may leave together. Steps and turns count them.

use std::collections::HashMap;
use std::ops::Range;

use super::{Marks, PartKind, Role, Slot, Transcript};

/// One tool call with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The call.
    pub call: Slot,
    /// Its result; `None` while the call is open.
    pub result: Option<Slot>,
}

/// A run of entries that leaves together: a batch, reasoning with what it belongs to, or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The entries.
    pub entries: Range<usize>,
    /// Whether it begins with the model, so that it is (at least) one step.
    pub is_step: bool,
    /// Whether a person speaks in it, so that it begins a turn.
    pub is_turn: bool,
}

/// The units of a transcript, in order, covering it; and its pairs.
///
/// Pairs are found by id, not by adjacency. Units are the finest division into contiguous runs
/// that cuts neither a pair nor a run of assistant entries: providers merge those, and reasoning
/// in one belongs to the calls in the next.
#[derive(Clone, Debug, Default)]
pub struct Units {
    all: Vec<Unit>,
    pairs: Vec<Pair>,
    call_of: HashMap<Slot, Slot>,
}

/// Where a format lets system text stand in mid-conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Anywhere.
    Anywhere,
    /// Only between a user entry and its reply, so that the three are one unit.
    BetweenUserAndReply,
}

impl Units {
    /// Finds units and pairs.
    pub fn of(transcript: &Transcript, instructions: Instructions) -> Self {
        let mut open: HashMap<String, Vec<usize>> = HashMap::new();
        let mut pairs: Vec<Pair> = Vec::new();
        let mut call_of = HashMap::new();
        // For each entry the last entry that it is tied to.
        let mut reach: Vec<usize> = (0..transcript.len()).collect();
        let mut previous: Option<Role> = None;
        for entry in transcript.entries() {
            if entry.role() == Role::Assistant && previous == Some(Role::Assistant) {
                reach[entry.index - 1] = entry.index;
            }
            let touches_instructions =
                previous.is_some_and(|previous| previous.instructs() || entry.role().instructs());
            if touches_instructions && instructions == Instructions::BetweenUserAndReply {
                reach[entry.index - 1] = entry.index;
            }
            previous = Some(entry.role());
            for part in entry.parts().filter(|p| !p.is(Marks::SERVER)) {
                match part.kind() {
                    PartKind::Call => {
                        open.entry(part.id().into_owned()).or_default().push(pairs.len());
                        pairs.push(Pair { call: part.slot, result: None });
                    }
                    PartKind::Result => {
                        let Some(waiting) = open.get_mut(part.id().as_ref()) else { continue };
                        if waiting.is_empty() {
                            continue;
                        }
                        let pair = &mut pairs[waiting.remove(0)];
                        pair.result = Some(part.slot);
                        call_of.insert(part.slot, pair.call);
                        let from = transcript.entry_of(pair.call);
                        reach[from] = reach[from].max(entry.index);
                    }
                    _ => {}
                }
            }
        }
        Units { all: runs(transcript, &reach), pairs, call_of }
    }

    /// The units, oldest first.
    pub fn all(&self) -> &[Unit] {
        &self.all
    }

    /// The index of the unit that holds `entry`.
    pub fn index_of(&self, entry: usize) -> usize {
        self.all.partition_point(|unit| unit.entries.end <= entry)
    }

    /// All pairs, by the order of their calls.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The call that a result answers.
    pub fn call_of(&self, result: Slot) -> Option<Slot> {
        self.call_of.get(&result).copied()
    }

    /// Index of the first unit of the newest `n` steps (`len` when `n` is 0).
    pub fn newest_steps(&self, n: usize) -> usize {
        self.newest(n, |unit| unit.is_step)
    }

    /// Index of the first unit of the newest `n` turns (`len` when `n` is 0).
    pub fn newest_turns(&self, n: usize) -> usize {
        self.newest(n, |unit| unit.is_turn)
    }

    fn newest(&self, n: usize, counts: impl Fn(&Unit) -> bool) -> usize {
        if n == 0 {
            return self.all.len();
        }
        let mut starts = self.all.iter().enumerate().rev().filter(|(_, unit)| counts(unit));
        starts.nth(n - 1).map_or(0, |(index, _)| index)
    }
}

fn runs(transcript: &Transcript, reach: &[usize]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut start = 0;
    while start < reach.len() {
        let mut last = reach[start];
        let mut at = start;
        while at < last {
            at += 1;
            last = last.max(reach[at]);
        }
        let entries = start..last + 1;
        units.push(Unit {
            is_step: entries.clone().any(|i| transcript.entry(i).role() == Role::Assistant),
            is_turn: entries.clone().any(|i| transcript.entry(i).is_human()),
            entries,
        });
        start = last + 1;
    }
    units
}
