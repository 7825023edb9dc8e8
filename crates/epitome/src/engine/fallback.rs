//! The ways in which a compaction is tried, one after the other.

/// How a plan is made. A view that would break a provider's rule is never handed out: the next way
/// is tried, and the receipt says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Not at all: no trigger fired, everything passes as it came.
    Pass,
    /// As somebody else said.
    Delegated,
    /// By the compactor's strategies.
    Asked,
    /// By dropping the oldest units.
    Oldest,
    /// Not at all: everything stays.
    Nothing,
    /// Not at all: somebody who was asked doesn't want it.
    Declined,
}

impl Attempt {
    pub(super) fn next(self) -> Self {
        match self {
            Attempt::Delegated => Attempt::Asked,
            Attempt::Asked => Attempt::Oldest,
            Attempt::Oldest | Attempt::Nothing | Attempt::Declined | Attempt::Pass => {
                Attempt::Nothing
            }
        }
    }
}
