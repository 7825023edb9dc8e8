//! Which message of the whole conversation an entry is, where checkpoints stand for some.

/// Entries by the numbers that messages had before any of them was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// From this entry on they go on from this number, in order.
    steps: Vec<(usize, usize)>,
}

impl Numbering {
    /// From `entry` on numbers go on from `number`; what was told of later entries no longer counts.
    pub(crate) fn go_on(&mut self, entry: usize, number: usize) {
        self.steps.retain(|(from, _)| *from < entry);
        self.steps.push((entry, number));
    }

    /// The number of the entry at `index`; the first message has 0.
    pub fn of(&self, index: usize) -> usize {
        let begun = self.steps.partition_point(|(from, _)| *from <= index);
        let (from, number) = self.steps[..begun].last().copied().unwrap_or_default();
        number.saturating_add(index - from)
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
