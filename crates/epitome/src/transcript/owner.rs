//! Which entry a part belongs to, told without a search through all of them: strategies ask that of each part again and
//! again, and of a long history each step of a search is in memory that is far away.

use std::ops::Range;
use std::sync::Arc;

use super::{EntryRow, Slot};

/// Of so many parts the first one's entry is noted.
const EACH: usize = 8;

/// The entries of every eighth part.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners(Arc<Vec<u32>>);

impl Owners {
    /// Notes that these parts are those of `entry`.
    pub(super) fn push(&mut self, entry: usize, parts: Range<usize>) {
        let noted = parts.end.div_ceil(EACH);
        if noted > self.0.len() {
            Arc::make_mut(&mut self.0).resize(noted, entry as u32);
        }
    }

    /// Those of the first `parts` parts.
    pub(super) fn of_first(&self, parts: usize) -> Self {
        Owners(Arc::new(self.0[..parts.div_ceil(EACH)].to_vec()))
    }

    /// The last of `entries` that begins with this part or before it.
    pub(super) fn of(&self, entries: &[EntryRow], part: Slot) -> usize {
        let at = part.0 as usize / EACH;
        let noted = |at: usize| self.0.get(at).map(|entry| *entry as usize);
        // A part behind the last one is nobody's: then it is all of them.
        let first = noted(at).unwrap_or(0);
        let end = noted(at + 1).map_or(entries.len(), |entry| entry + 1);
        first + entries[first..end].partition_point(|row| row.first_part <= part.0) - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::{Role, Span};

    proptest! {
        #[test]
        fn a_part_is_found_where_a_search_finds_it(sizes in prop::collection::vec(0..12_usize, 1..60), first in 0..60_usize) {
            let (mut owners, mut rows, mut parts) = (Owners::default(), Vec::new(), 0);
            for (entry, size) in sizes.iter().enumerate() {
                rows.push(EntryRow { span: Span::NONE, first_part: parts as u32, role: Role::User });
                owners.push(entry, parts..parts + size);
                parts += size;
            }
            let searched = |rows: &[EntryRow], slot: u32| {
                rows.partition_point(|row| row.first_part <= slot) - 1
            };
            for slot in 0..parts as u32 + 9 {
                prop_assert_eq!(owners.of(&rows, Slot(slot)), searched(&rows, slot));
            }
            // Of a history that goes another way from there.
            let first = first.min(rows.len());
            let parts = rows.get(first).map_or(parts, |row| row.first_part as usize);
            let (mut owners, mut rows) = (owners.of_first(parts), rows[..first].to_vec());
            rows.push(EntryRow { span: Span::NONE, first_part: parts as u32, role: Role::User });
            owners.push(first, parts..parts + 20);
            for slot in 0..parts as u32 + 20 {
                prop_assert_eq!(owners.of(&rows, Slot(slot)), searched(&rows, slot));
            }
        }
    }
}
