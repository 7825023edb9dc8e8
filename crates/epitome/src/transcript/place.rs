//! Where parts stand in their entry, and among all.

use std::ops::Range;

use super::{Entry, Part};

impl Entry<'_> {
    /// Its slots.
    pub fn slots(&self) -> Range<u32> {
        let range = self.transcript.part_range(self.index);
        range.start as u32..range.end as u32
    }
}

impl Part<'_> {
    /// Whether it is an element of a list, and not what stands in place of one.
    pub(crate) fn is_element(&self) -> bool {
        self.source[..self.row.span.start as usize].trim_end().ends_with(['[', ','])
    }
}
