//! What happened in a world, counted.

use std::collections::BTreeMap;

use epitome::wire::Format;

/// What happened in a world.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Requests that a provider answered, by format.
    pub answered: BTreeMap<&'static str, usize>,
    /// Requests that were sent as a view, by format.
    pub views: BTreeMap<&'static str, usize>,
    /// Compactions begun.
    pub begun: usize,
    /// Compactions adopted.
    pub adopted: usize,
    /// Compactions that were overtaken, refused, lost or failed.
    pub dropped: usize,
    /// Prompts that a provider refused as too long.
    pub overflows: usize,
    /// Requests given up: nothing smaller was left to send.
    pub given_up: usize,
    /// Causes told why nothing is compacted.
    pub stall: usize,
    /// Messages of which something giant was cut as it arrived.
    pub taken_in: usize,
    /// Crashes.
    pub crashes: usize,
    /// Crashes while a compaction was under way.
    pub crashes_inside: usize,
    /// Crashes between a commit and its being saved.
    pub crashes_unsaved: usize,
    /// Changes of the model.
    pub switches: usize,
    /// Clients that went two ways from here, back, or wrote their history anew.
    pub forks: usize,
    /// Back to an earlier answer.
    pub rewinds: usize,
    /// Answers that nobody heard, and refusals that had nothing to do with the request.
    pub lost: usize,
    /// Compactions that somebody asked for.
    pub demands: usize,
    /// Jumps of the clock, back too.
    pub jumps: usize,
}

impl Score {
    /// Adds what happened in another world.
    pub fn add(&mut self, other: &Score) {
        for (of, more) in &other.answered {
            *self.answered.entry(of).or_default() += more;
        }
        for (of, more) in &other.views {
            *self.views.entry(of).or_default() += more;
        }
        for (sum, more) in self.numbers().into_iter().zip(other.clone().numbers()) {
            *sum += *more;
        }
    }

    fn numbers(&mut self) -> [&mut usize; 16] {
        [
            &mut self.begun,
            &mut self.adopted,
            &mut self.dropped,
            &mut self.overflows,
            &mut self.given_up,
            &mut self.stall,
            &mut self.taken_in,
            &mut self.crashes,
            &mut self.crashes_inside,
            &mut self.crashes_unsaved,
            &mut self.switches,
            &mut self.forks,
            &mut self.rewinds,
            &mut self.lost,
            &mut self.demands,
            &mut self.jumps,
        ]
    }

    /// What a few worlds must have seen, and didn't.
    pub fn missing(&self) -> Vec<String> {
        let unseen = Format::ALL.iter().filter(|format| !self.views.contains_key(format.name()));
        let unseen = unseen.map(|format| format!("views of {}", format.name()));
        let counted = [
            ("adopted", self.adopted),
            ("dropped", self.dropped),
            ("overflows", self.overflows),
            ("taken in", self.taken_in),
            ("crashes inside compactions", self.crashes_inside),
            ("crashes before a save", self.crashes_unsaved),
            ("switches", self.switches),
            ("forks", self.forks),
            ("rewinds", self.rewinds),
            ("lost", self.lost),
            ("demands", self.demands),
            ("jumps", self.jumps),
        ];
        let none = counted.into_iter().filter(|(_, many)| *many == 0);
        unseen.chain(none.map(|(what, _)| what.to_owned())).collect()
    }
}
