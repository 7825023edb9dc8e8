//! Which message of the whole conversation an entry is, where checkpoints stand for some.

/// Entries by the numbers that messages had before any of them was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// From this entry on they go on from this number, in order.
    steps: Vec<(usize, usize)>,
}

impl Numbering {
    /// Numbers continue from `number` at `entry`; earlier settings for later entries no longer count.
    pub(crate) fn go_on(&mut self, entry: usize, number: usize) {
        self.steps.retain(|(from, _)| *from < entry);
        self.steps.push((entry, number));
    }

    /// The same for messages of which some left or came while they were mended: each has the number of the entry that it
    /// was. Where a checkpoint has told, that counts.
    #[must_use]
    pub(crate) fn of_arrival(mut self, came_from: &[Option<usize>]) -> Self {
        if !self.steps.is_empty() {
            return self;
        }
        for (index, origin) in came_from.iter().enumerate() {
            if let Some(origin) = origin.filter(|origin| self.of(index) != *origin) {
                self.go_on(index, origin);
            }
        }
        self
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
        let mended = Numbering::default().of_arrival(&[Some(0), Some(3), Some(4), Some(7)]);
        assert_eq!([0, 1, 2, 3].map(|at| mended.of(at)), [0, 3, 4, 7]);
        numbering.go_on(6, usize::MAX);
        assert_eq!(numbering.of(9), usize::MAX);
    }
}
