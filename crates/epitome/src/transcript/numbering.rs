//! Which message of the whole conversation an entry is, where checkpoints stand for some.

use std::collections::BTreeMap;

/// Entries by the numbers that messages had before any of them was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// From this entry on they go on from this number, in order.
    steps: Vec<(usize, usize)>,
    /// Of entries that several messages became, or that a checkpoint is in, the numbers of what stands behind that.
    shared: BTreeMap<usize, Vec<usize>>,
}

impl Numbering {
    /// From `entry` on, which comes behind all that was told, numbers go on from this one.
    pub(crate) fn go_on(&mut self, entry: usize, number: usize) {
        self.steps.push((entry, number));
    }

    /// The entry is made of several messages.
    pub(crate) fn share(&mut self, entry: usize, numbers: Vec<usize>) {
        self.shared.insert(entry, numbers);
    }

    /// The number of the entry at `index`, the first one where it is made of several messages; the first message has 0.
    pub fn of(&self, index: usize) -> usize {
        let begun = self.steps.partition_point(|(from, _)| *from <= index);
        let (from, number) = self.steps[..begun].last().copied().unwrap_or_default();
        number.saturating_add(index - from)
    }

    /// The numbers of the messages that the entry at `index` is made of, if there are several.
    pub(crate) fn shared(&self, index: usize) -> Option<&[usize]> {
        self.shared.get(&index).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_from_the_last_one_told() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.of(7), 7);
        numbering.go_on(3, 23);
        numbering.go_on(4, 27);
        assert_eq!([2, 3, 4, 5].map(|at| numbering.of(at)), [2, 23, 27, 28]);
        numbering.go_on(6, usize::MAX);
        assert_eq!(numbering.of(9), usize::MAX);
    }
}
