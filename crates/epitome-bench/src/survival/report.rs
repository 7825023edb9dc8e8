//! The figures: how many items there were, how many are left, and how sure that is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::book::{Kind, Set, Shape, Speaker};

/// Compactions of a session.
pub const ROUNDS: usize = 5;

/// The sizes that sessions are compacted to, in percent of what was there before the first compaction.
pub const BUDGETS: [u8; 3] = [5, 10, 20];

/// The version of the report as JSON.
pub const VERSION: u32 = 1;

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// How often each session was planted anew.
    pub seeds: u64,
    /// The sessions.
    pub streams: Vec<StreamRow>,
    /// Items that hold, after each compaction.
    pub items: Vec<ItemRow>,
    /// Items that were changed, after each compaction that came later.
    pub updates: Vec<UpdateRow>,
    /// Items of the same shape.
    pub pairs: Vec<PairRow>,
    /// Whether the requests became as small as they were to.
    pub landings: Vec<LandingRow>,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamRow {
    /// What it is.
    pub name: String,
    /// Its wire format.
    pub format: String,
    /// Its entries.
    pub entries: usize,
    /// Its tokens.
    pub tokens: u64,
    /// Those that were there before the first compaction.
    pub first: u64,
}

/// What rows are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct When {
    /// The file of phrasings.
    pub set: Set,
    /// The size, in percent.
    pub budget: u8,
    /// After how many compactions.
    pub round: usize,
}

/// Items that hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemRow {
    /// When.
    #[serde(flatten)]
    pub when: When,
    /// What they are.
    pub kind: Kind,
    /// Who said them.
    pub speaker: Speaker,
    /// How many there are.
    pub plants: u64,
    /// How many of them the request says.
    pub present: u64,
    /// Where these stand; the first of several places by [`rank`](super::judge::rank).
    pub places: BTreeMap<String, u64>,
}

/// Items that were changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateRow {
    /// When.
    #[serde(flatten)]
    pub when: When,
    /// How.
    pub shape: Shape,
    /// Their count.
    #[serde(flatten)]
    pub found: Updates,
}

/// What became of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Updates {
    /// Items that were changed.
    pub plants: u64,
    /// A lane states the former value and doesn't say that it no longer holds.
    pub stated: u64,
    /// The former value is there and the one that holds is nowhere.
    pub alone: u64,
    /// The ledger has a line for the former value that names no newer one; or `stated`; or `alone`.
    pub missed: u64,
}

/// Pairs of items of the same shape, both of which hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRow {
    /// When.
    #[serde(flatten)]
    pub when: When,
    /// Their count.
    #[serde(flatten)]
    pub found: Pairs,
}

/// What became of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Pairs.
    pub plants: u64,
    /// Both are present.
    pub both: u64,
    /// Only one is.
    pub one: u64,
    /// A line gives one's value to the other.
    pub merged: u64,
}

/// How small the requests became.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandingRow {
    /// When.
    #[serde(flatten)]
    pub when: When,
    /// Compactions.
    pub runs: u64,
    /// Those that landed at or under the size.
    pub reached: u64,
}

/// Rows as they grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) items: BTreeMap<(When, Kind, Speaker), Found>,
    pub(super) updates: BTreeMap<(When, Shape), Updates>,
    pub(super) pairs: BTreeMap<When, Pairs>,
    pub(super) landings: BTreeMap<When, (u64, u64)>,
}

/// Items, and where those stand that are there.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) plants: u64,
    pub(super) places: BTreeMap<String, u64>,
}

impl Tally {
    pub(super) fn report(self, seeds: u64, streams: Vec<StreamRow>) -> Report {
        let items = self.items.into_iter().map(|((when, kind, speaker), found)| {
            let present = found.places.values().sum();
            let Found { plants, places } = found;
            ItemRow { when, kind, speaker, plants, present, places }
        });
        let updates = self.updates.into_iter();
        let landings = self.landings.into_iter();
        Report {
            version: VERSION,
            seeds,
            streams,
            items: items.collect(),
            updates: updates
                .map(|((when, shape), found)| UpdateRow { when, shape, found })
                .collect(),
            pairs: self.pairs.into_iter().map(|(when, found)| PairRow { when, found }).collect(),
            landings: landings
                .map(|(when, (runs, reached))| LandingRow { when, runs, reached })
                .collect(),
        }
    }
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that are.
    pub of: u64,
    /// All.
    pub all: u64,
}

impl Share {
    /// The interval that holds the true share in 95 of 100 cases, after Wilson, from 0 to 1; all of it, if
    /// nothing was counted. Items of one session aren't independent, so that it is somewhat too narrow.
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        if self.all == 0 {
            return (0.0, 1.0);
        }
        let all = self.all as f64;
        let share = self.of as f64 / all;
        let below = 1.0 + Z * Z / all;
        let middle = (share + Z * Z / (2.0 * all)) / below;
        let half = Z / below * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

impl std::iter::Sum for Share {
    fn sum<I: Iterator<Item = Share>>(shares: I) -> Share {
        shares.fold(Share::default(), |sum, share| Share {
            of: sum.of + share.of,
            all: sum.all + share.all,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        let near = |share: Share, low: f64, high: f64| {
            let (found_low, found_high) = share.interval();
            assert!((found_low - low).abs() < 5e-4, "{found_low}");
            assert!((found_high - high).abs() < 5e-4, "{found_high}");
        };
        near(Share { of: 0, all: 10 }, 0.0, 0.2775);
        near(Share { of: 95, all: 100 }, 0.8882, 0.9785);
        near(Share { of: 10, all: 10 }, 0.7225, 1.0);
        near(Share::default(), 0.0, 1.0);
    }
}
