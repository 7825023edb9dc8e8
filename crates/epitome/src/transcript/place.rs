//! Where a part stands in its entry.

use super::Part;

impl Part<'_> {
    /// Whether it is an element of a list, and not what stands in place of one.
    pub(crate) fn is_element(&self) -> bool {
        self.source[..self.row.span.start as usize].trim_end().ends_with(['[', ','])
    }
}
