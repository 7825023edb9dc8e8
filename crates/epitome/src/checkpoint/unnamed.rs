//! Calls that a checkpoint only counts.

use super::deeds::Deed;

/// Calls without a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Unnamed {
    pub(super) calls: u32,
    /// Whether one of them didn't fail.
    pub(super) is_made: bool,
}

impl Unnamed {
    pub(super) fn of(deeds: &[Deed]) -> Self {
        Unnamed { calls: count(deeds), is_made: !deeds.iter().all(Deed::has_failed) }
    }

    pub(super) fn and(self, others: Self) -> Self {
        let calls = self.calls.saturating_add(others.calls);
        Unnamed { calls, is_made: self.is_made || others.is_made }
    }
}

/// How many calls these are.
pub(super) fn count(deeds: &[Deed]) -> u32 {
    deeds.iter().map(Deed::times).fold(0, u32::saturating_add)
}
