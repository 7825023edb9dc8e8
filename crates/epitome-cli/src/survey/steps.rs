//! What each step weighs.

use epitome::Request;
use epitome::count::{ContentKind, Tally, Weights};
use epitome::transcript::unit::Units;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::said::does;

/// A unit of the transcript: a step of the model, or a message by itself.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Moment {
    /// First message.
    pub(crate) from: usize,
    /// Last message.
    pub(crate) to: usize,
    pub(crate) is_step: bool,
    pub(crate) tokens: u64,
    /// Tokens by kind.
    #[serde(serialize_with = "by_kind")]
    pub(crate) kinds: Weights,
    /// The calls, or the first words.
    pub(crate) does: String,
}

/// Columns of what a unit does.
const WORDS: usize = 120;

/// All units, in order.
pub(crate) fn timeline(request: &Request, units: &Units, tally: &Tally) -> Vec<Moment> {
    let transcript = &request.transcript;
    let moment = |unit: &epitome::transcript::unit::Unit| {
        let mut kinds = Weights::default();
        let entries = || unit.entries.clone().map(|at| transcript.entry(at));
        entries().for_each(|entry| kinds.add_entry(&entry, tally));
        let tokens = unit.entries.clone().map(|at| tally.entry(at)).sum();
        kinds.wrap(tokens);
        Moment {
            from: unit.entries.start,
            to: unit.entries.end - 1,
            is_step: unit.is_step,
            tokens,
            kinds,
            does: does(entries(), WORDS),
        }
    };
    units.all().iter().map(moment).collect()
}

/// Positions of the heaviest, heaviest first.
pub(super) fn biggest(timeline: &[Moment], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..timeline.len()).collect();
    places.sort_by_key(|at| std::cmp::Reverse(timeline[*at].tokens));
    places.truncate(most);
    places
}

fn by_kind<S: Serializer>(weights: &Weights, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    for (kind, weight) in weights.kinds().filter(|(_, weight)| weight.tokens > 0) {
        map.serialize_entry(ContentKind::name(kind), &weight.tokens)?;
    }
    map.end()
}
