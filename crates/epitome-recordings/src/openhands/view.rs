//! Which events the model is shown, and in what order.

use std::collections::{HashMap, HashSet};

use super::event::{Events, What};
use crate::notes::Notes;
use crate::recording::{Reach, Why};

/// What is shown.
pub(super) struct View {
    pub(super) seen: Vec<Seen>,
    pub(super) condensations: usize,
}

/// Something that is shown; a place among the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Event(usize),
    /// The summary that a condensation left.
    Summary(usize),
}

impl View {
    pub(super) fn of(events: &Events<'_>, reach: Reach, notes: &mut Notes) -> Self {
        let way = way(events);
        let on_way: HashSet<usize> = way.iter().copied().collect();
        for (place, event) in events.all.iter().enumerate() {
            if event.what.is_shown() && !on_way.contains(&place) {
                notes.skip(event.row, Why::OtherBranch);
            }
        }
        let mut view = View { seen: Vec::new(), condensations: 0 };
        for place in way {
            match events.all[place].what {
                What::Condensation => view.condense(events, place, reach),
                what if what.is_shown() => view.seen.push(Seen::Event(place)),
                _ => {}
            }
        }
        view
    }

    fn condense(&mut self, events: &Events<'_>, place: usize, reach: Reach) {
        self.condensations += 1;
        let fields = &events.all[place].fields;
        let forgotten = fields.list("forgotten_event_ids").unwrap_or_default();
        let forgotten: HashSet<&str> = forgotten.into_iter().collect();
        if reach == Reach::SinceLastCompaction {
            self.seen.retain(|seen| match seen {
                Seen::Event(place) => {
                    events.all[*place].id.is_none_or(|id| !forgotten.contains(id))
                }
                // A summary has the condensation's id, with an ending.
                Seen::Summary(place) => events.all[*place].id.is_none_or(|id| {
                    let name = format!("{}-summary\"", id.trim_end_matches('"'));
                    !forgotten.contains(name.as_str())
                }),
            });
        }
        let offset = fields.get("summary_offset").and_then(|offset| offset.parse::<usize>().ok());
        if let (Some(offset), Some(_)) = (offset, fields.literal("summary")) {
            let at = match reach {
                Reach::SinceLastCompaction => offset.min(self.seen.len()),
                Reach::Whole => self.seen.len(),
            };
            self.seen.insert(at, Seen::Summary(place));
        }
    }
}

/// The way to the newest event. One that names no parent follows the one before it, unless it says
/// that it is a root.
fn way(events: &Events<'_>) -> Vec<usize> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (place, event) in events.all.iter().enumerate() {
        by_id.extend(event.id.map(|id| (id, place)));
    }
    let mut seen = vec![false; events.all.len()];
    let mut way = Vec::new();
    let mut next = events.all.len().checked_sub(1);
    while let Some(at) = next {
        seen[at] = true;
        way.push(at);
        let parent = events.all[at].parent.and_then(|parent| by_id.get(parent)).copied();
        next = parent.or_else(|| at.checked_sub(1)).filter(|at| !seen[*at]);
    }
    way.reverse();
    way
}
