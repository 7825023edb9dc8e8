//! What use teaches of models: windows as they turn out to be, and how far counts are off.
//!
//! It holds for all conversations with a model, and may be kept beyond the process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::count::{Anchor, Calibration, Count, Sums, Usage};
use crate::model::Learnt;

/// Learnt facts, by the model's name. A model without a name has the empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experience {
    /// Windows.
    pub learnt: Learnt,
    /// Counts against what providers reported.
    pub calibrations: BTreeMap<String, Calibration>,
}

/// The maximum number of known models. Clients may invent names, and some servers answer to any.
const MOST: usize = 256;
/// The longest name of a model about which anything is learnt.
const LONGEST_NAME: usize = 256;

/// Experience that parts of a machine share; held only to look something up or to note it.
#[derive(Clone, Debug, Default)]
pub struct SharedExperience(Arc<(Mutex<Experience>, AtomicU64)>);

impl SharedExperience {
    pub(super) fn get(&self) -> MutexGuard<'_, Experience> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the facts learnt from a prompt for a model, within bounds.
    pub(super) fn note<T>(&self, model: &str, note: impl FnOnce(&mut Experience) -> T) -> T {
        let mut experience = self.get();
        let before = experience.gist(model);
        let noted = note(&mut experience);
        experience.make_room(model);
        if experience.gist(model) != before {
            self.0.1.fetch_add(1, Ordering::Relaxed);
        }
        noted
    }

    /// All of it so far.
    pub fn known(&self) -> Experience {
        self.get().clone()
    }

    /// Adds facts that other machines learnt.
    pub fn take(&self, others: Experience) {
        self.get().take(others);
    }

    /// How often use taught something that is worth keeping at once: a bound of a window, or another correction of a
    /// model's counts.
    pub fn news(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }
}

impl Experience {
    /// Facts that others learnt: the tightest bound of a window; counts only if none are known here.
    fn take(&mut self, other: Experience) {
        for (model, other) in other.learnt.models {
            let own = self.learnt.models.entry(model.clone()).or_default();
            own.limit = own.limit.into_iter().chain(other.limit).min();
            own.refused = own.refused.into_iter().chain(other.refused).min();
            own.accepted = own.accepted.max(other.accepted);
            self.make_room(&model);
        }
        for (model, other) in other.calibrations {
            self.calibrations.entry(model.clone()).or_insert(other);
            self.make_room(&model);
        }
    }

    /// What of a model is worth keeping at once: what bounds its window, and by how many twentieths its counts are corrected.
    fn gist(&self, model: &str) -> (Option<u64>, Option<u64>, Option<u64>) {
        let window = self.learnt.models.get(model).copied().unwrap_or_default();
        let correction = self.calibrations.get(model).map(|known| known.counted(10_000) / 500);
        (window.limit, window.refused, correction)
    }

    /// Forgets a model if there are too many: one without a window bound, else this one. Forgets this one if its name is
    /// too long.
    fn make_room(&mut self, newest: &str) {
        let Experience { learnt, calibrations } = self;
        let is_bounded = |name: &str| {
            learnt.models.get(name).is_some_and(|it| it.limit.or(it.refused).is_some())
        };
        let mut names = learnt.models.keys().chain(calibrations.keys()).map(String::as_str);
        let least = match newest {
            long if long.len() > LONGEST_NAME => newest,
            _ if learnt.models.len().max(calibrations.len()) <= MOST => return,
            _ => names.find(|name| *name != newest && !is_bounded(name)).unwrap_or(newest),
        };
        let least = least.to_owned();
        learnt.models.remove(&least);
        calibrations.remove(&least);
    }

    /// The maximum tokens of a prompt for a model with a `known` window. Learning only makes it smaller, because the
    /// caller may want it small.
    pub(super) fn window(&self, model: &str, known: Option<u64>) -> Option<u64> {
        let learnt = self.learnt.models.get(model).and_then(|window| window.most(known));
        learnt.into_iter().chain(known).min()
    }

    /// The prompt's count, calibrated for the model, after `anchor`.
    pub(super) fn count(&self, model: &str, anchor: Option<Anchor>, prompt: &impl Sums) -> Count {
        match self.calibrations.get(model) {
            Some(known) => known.clone().anchored(anchor).total(prompt),
            None => prompt.total(),
        }
    }

    /// A count, calibrated for the model.
    pub(super) fn corrected(&self, model: &str, count: Count) -> Count {
        self.calibrations.get(model).map_or(count, |known| known.corrected(count))
    }

    /// The counter's tokens for which the provider would report this many.
    pub(super) fn counted(&self, model: &str, reported: u64) -> u64 {
        self.calibrations.get(model).map_or(reported, |known| known.counted(reported))
    }

    /// The provider reported `tokens` of a prompt. The conversation's anchor from now on.
    pub(super) fn reported(
        &mut self,
        of: Counted<'_>,
        prompt: &impl Sums,
        tokens: u64,
    ) -> Option<Anchor> {
        let ours = prompt.total().tokens;
        // Beyond these bounds something else was reported: a token has at least a byte, and ours have four or so.
        let is_likely = tokens >= ours.saturating_mul(3) / 10 && tokens <= ours.saturating_mul(5);
        if tokens == 0 || !is_likely {
            return of.anchor;
        }
        let known = self.calibrations.remove(of.model).unwrap_or_default();
        let mut known = known.for_counter(of.counter).anchored(of.anchor);
        known.observe(prompt, Usage { prompt: tokens, ..Usage::default() });
        let anchor = known.anchor();
        self.calibrations.insert(of.model.to_owned(), known.anchored(None));
        anchor
    }
}

/// Who counted a prompt, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'a> {
    pub(super) model: &'a str,
    pub(super) counter: &'a str,
    pub(super) anchor: Option<Anchor>,
}

/// What must be remembered of a sent prompt to learn from the report about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PromptEstimate {
    /// Links in it.
    pub(super) links: usize,
    /// By the counter that decides.
    pub(super) total: Count,
    /// Links of the prompt that was reported before, and their tokens.
    pub(super) known: Option<(usize, u64)>,
}

impl Sums for PromptEstimate {
    fn entries(&self) -> usize {
        self.links
    }

    fn total(&self) -> Count {
        self.total
    }

    fn first(&self, entries: usize) -> Option<u64> {
        let known = self.known.filter(|(links, _)| *links == entries).map(|(_, tokens)| tokens);
        known.or_else(|| (entries == self.links).then_some(self.total.tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::overflow::PromptOverflow;

    fn estimate(total: u64) -> PromptEstimate {
        PromptEstimate { links: 5, total: Count::exact(total), known: Some((3, 40)) }
    }

    #[test]
    fn a_glimpse_knows_the_prompt_that_was_reported_before() {
        let first = |entries| estimate(100).first(entries);
        assert_eq!([first(3), first(5), first(4)], [Some(40), Some(100), None]);
        assert_eq!(estimate(100).entries(), 5);
    }

    /// What makes names up leaves windows that a refusal told.
    #[test]
    fn no_more_models_are_known_than_have_room() {
        let shared = SharedExperience::default();
        let told = PromptOverflow::of_window(9_000);
        shared.note("m", |experience| experience.learnt.refused("m", &told, None));
        assert_eq!(shared.news(), 1);
        for nth in 0..2 * MOST {
            let name = format!("made up {nth}");
            shared.note(&name, |experience| experience.learnt.accepted(&name, 7));
        }
        let long = "x".repeat(LONGEST_NAME + 1);
        shared.note(&long, |experience| experience.learnt.refused(&long, &told, None));
        let experience = shared.get().clone();
        assert_eq!((experience.learnt.models.len(), shared.news()), (MOST, 1));
        assert_eq!(experience.window("m", None), Some(9_000));
        assert!(!experience.learnt.models.contains_key(&long));
    }

    #[test]
    fn what_others_learnt_bounds_a_window_and_never_widens_it() {
        let told = |limit| {
            let mut experience = Experience::default();
            experience.learnt.refused("m", &PromptOverflow::of_window(limit), None);
            experience
        };
        for (own, other) in [(8_000, 9_000), (9_000, 8_000)] {
            let mut experience = told(own);
            experience.take(told(other));
            assert_eq!(experience.window("m", Some(200_000)), Some(8_000));
        }
        let mut experience = Experience::default();
        experience.take(told(8_000));
        assert_eq!(experience, told(8_000));
    }

    #[test]
    fn what_is_far_from_what_was_counted_is_no_report_of_it() {
        let learns = |tokens: u64| {
            let of = Counted { model: "m", counter: "chars1", anchor: None };
            Experience::default().reported(of, &estimate(1_000), tokens).is_some()
        };
        let all = [0, 299, 300, 5_000, 5_001].map(learns);
        assert_eq!(all, [false, false, true, true, false]);
    }
}
