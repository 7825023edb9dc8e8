//! One kind of anchor: its items in the order they were first seen, found by their text, ranked by
//! use and recency.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is known of an item beside its text.
pub(super) trait Note: Default {
    /// Takes in what an older compaction knew of the same item.
    fn absorb(&mut self, older: Self);

    /// What makes it worth more or less than its use says.
    fn bonus(&self) -> i32 {
        0
    }
}

impl Note for () {
    fn absorb(&mut self, (): Self) {}
}

/// An anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item<T> {
    pub(super) text: Box<str>,
    pub(super) note: T,
    /// How much it was used.
    pub(super) weight: u32,
    /// The entry that used it last.
    pub(super) last: u32,
    /// The rank it had when it was written down, until it is used again.
    carried: Option<i32>,
}

/// Items of one kind, never more than twice `most`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane<T> {
    items: Vec<Item<T>>,
    index: BTreeMap<Box<str>, u32>,
    /// Items that were dropped to stay bounded.
    pruned: u32,
    most: usize,
}

/// What doubling the use of an item counts, against the 64 of being the newest.
const DOUBLE: i32 = 24;

impl<T: Note> Lane<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { items: Vec::new(), index: BTreeMap::new(), pruned: 0, most }
    }

    /// Notes that entry `at` used the item.
    pub(super) fn see(&mut self, text: &str, at: u32, weight: u32) -> &mut T {
        let found = if let Some(&found) = self.index.get(text) {
            found as usize
        } else {
            if self.items.len() >= self.most * 2 {
                self.prune(at);
            }
            self.push(Item {
                text: text.into(),
                note: T::default(),
                weight: 0,
                last: at,
                carried: None,
            })
        };
        let item = &mut self.items[found];
        item.weight = item.weight.saturating_add(weight);
        item.last = item.last.max(at);
        item.carried = None;
        &mut item.note
    }

    /// Notes an item as it was written down, the next in rank of its list after `rank`. The rank it
    /// gets.
    pub(super) fn carry(&mut self, text: &str, note: T, weight: u32, rank: i32) -> i32 {
        let rank = rank.min(use_rank(weight));
        if !self.index.contains_key(text) {
            self.push(Item { text: text.into(), note, weight, last: 0, carried: Some(rank) });
        }
        rank
    }

    pub(super) fn get(&mut self, text: &str) -> Option<&mut T> {
        let found = *self.index.get(text)?;
        Some(&mut self.items[found as usize].note)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many items were dropped to stay bounded.
    pub(super) fn pruned(&self) -> u32 {
        self.pruned
    }

    pub(super) fn items(&self) -> &[Item<T>] {
        &self.items
    }

    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut Item<T>> {
        self.items.iter_mut()
    }

    /// The items, best first, as seen from entry `now`.
    pub(super) fn ranked(&self, now: u32) -> Vec<&Item<T>> {
        let mut ranked: Vec<&Item<T>> = self.items.iter().collect();
        // Stable: items that are equal stay in the order they came.
        ranked.sort_by_key(|item| Reverse((item.rank(now), item.last)));
        ranked
    }

    /// Adds what an older compaction knew.
    pub(super) fn merge(&mut self, mut older: Self) {
        self.pruned = self.pruned.saturating_add(older.pruned);
        let now = older.items.iter().map(|item| item.last).max().unwrap_or(0);
        older.items.sort_by_key(|item| Reverse((item.rank(now), item.last)));
        for item in older.items {
            if let Some(&found) = self.index.get(&item.text) {
                let own = &mut self.items[found as usize];
                own.weight = own.weight.saturating_add(item.weight);
                own.note.absorb(item.note);
            } else {
                let carried = Some(item.carried.unwrap_or(use_rank(item.weight)));
                self.push(Item { last: 0, carried, ..item });
            }
        }
        if self.items.len() >= self.most * 2 {
            let now = self.items.iter().map(|item| item.last).max().unwrap_or(0);
            self.prune(now);
        }
    }

    fn push(&mut self, item: Item<T>) -> usize {
        let at = self.items.len();
        self.index.insert(item.text.clone(), at as u32);
        self.items.push(item);
        at
    }

    /// Drops all but the best `most`. Done once the lane is twice as long, so each item pays for
    /// one sort in the mean.
    fn prune(&mut self, now: u32) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&at| Reverse((self.items[at].rank(now), self.items[at].last)));
        let mut kept = vec![false; self.items.len()];
        order.iter().take(self.most).for_each(|&at| kept[at] = true);
        let before = self.items.len();
        let mut at = 0;
        self.items.retain(|_| {
            at += 1;
            kept[at - 1]
        });
        self.pruned = self.pruned.saturating_add((before - self.items.len()) as u32);
        self.find_anew();
    }

    /// Leaves out items by their text, uncounted.
    pub(super) fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.items.retain(|item| stays(&item.text));
        self.find_anew();
    }

    fn find_anew(&mut self) {
        self.index = self
            .items
            .iter()
            .enumerate()
            .map(|(at, item)| (item.text.clone(), at as u32))
            .collect();
    }
}

impl<T: Note> Item<T> {
    fn rank(&self, now: u32) -> i32 {
        let recency = (64 * u64::from(self.last) / (u64::from(now) + 1)) as i32;
        self.carried.unwrap_or_else(|| use_rank(self.weight) + recency + self.note.bonus())
    }
}

fn use_rank(weight: u32) -> i32 {
    weight.checked_ilog2().map_or(0, |log| log.cast_signed() * DOUBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(lane: &Lane<()>, now: u32) -> Vec<&str> {
        lane.ranked(now).into_iter().map(|item| &*item.text).collect()
    }

    #[test]
    fn use_and_recency_rank() {
        let mut lane: Lane<()> = Lane::new(10);
        for _ in 0..8 {
            lane.see("often", 1, 1);
        }
        lane.see("old", 0, 1);
        lane.see("new", 90, 1);
        assert_eq!(ranked(&lane, 90), ["often", "new", "old"]);
    }

    #[test]
    fn what_was_written_down_keeps_its_order() {
        let mut lane: Lane<()> = Lane::new(10);
        let rank = lane.carry("first", (), 1, i32::MAX);
        let rank = lane.carry("second", (), 9, rank);
        lane.carry("third", (), 1, rank);
        assert_eq!(ranked(&lane, 0), ["first", "second", "third"]);
        lane.see("third", 5, 4);
        assert_eq!(ranked(&lane, 5)[0], "third");
    }

    #[test]
    fn a_lane_stays_bounded() {
        let mut lane: Lane<()> = Lane::new(10);
        for at in 0..1_000 {
            lane.see(&at.to_string(), at, 1);
        }
        let kept = ranked(&lane, 1_000);
        assert!(kept.len() <= 20 && kept.contains(&"999"));
        assert_eq!(lane.pruned() as usize + kept.len(), 1_000);
    }
}
