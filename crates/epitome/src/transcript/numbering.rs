//! Which message of the whole conversation an entry is, where checkpoints stand for the messages before it.

/// Entries by the numbers that messages had before any of them was compacted. Of entries that are shown before others
/// which a checkpoint stands for, only the first one's is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// From this entry on so many more than its index, in order.
    steps: Vec<(usize, usize)>,
}

impl Numbering {
    /// From `entry` on there are so many `more` messages before an entry, `later` of which came after it itself.
    pub(crate) fn skip(&mut self, entry: usize, more: usize, later: usize) {
        let before = self.more(entry);
        let all = before.saturating_add(more);
        self.steps.retain(|(from, _)| *from < entry);
        self.steps.push((entry, all.saturating_sub(later).max(before)));
        if later > 0 {
            self.steps.push((entry + 1, all));
        }
    }

    /// The number of the entry at `index`; the first message has 0.
    pub fn of(&self, index: usize) -> usize {
        index.saturating_add(self.more(index))
    }

    fn more(&self, index: usize) -> usize {
        let begun = self.steps.partition_point(|(from, _)| *from <= index);
        self.steps[..begun].last().map_or(0, |(_, more)| *more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_what_is_skipped() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.of(7), 7);
        // The entry before stands for 24 messages, 3 of which came after the one that follows.
        numbering.skip(3, 23, 3);
        assert_eq!([2, 3, 4, 5].map(|at| numbering.of(at)), [2, 23, 27, 28]);
        numbering.skip(5, 10, 0);
        assert_eq!([4, 5, 6].map(|at| numbering.of(at)), [27, 38, 39]);
        numbering.skip(6, usize::MAX, 1);
        assert_eq!(numbering.of(9), usize::MAX);
    }
}
