//! What use teaches of models: windows as they turn out to be, and how far counts are off.
//!
//! It holds for all conversations with a model, and may be kept beyond the process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::count::{Anchor, Calibration, Count, Sums, Usage};
use crate::model::overflow::PromptOverflow;
use crate::model::{Learnt, Window};

/// Learnt facts, by the model's name. A model without a name has the empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experience {
    /// Windows.
    pub learnt: Learnt,
    /// What refusals told the sender of one credential: a client can have an error say what it likes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Claim>,
    /// Counts against what providers reported.
    pub calibrations: BTreeMap<String, Calibration>,
}

/// What refusals told one tenant of a window, and nobody else yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The tenant.
    pub by: String,
    /// The window.
    pub window: Window,
}

/// Models of which something is known, at most. Clients may make names up, and some servers answer to any.
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
        for (model, claim) in other.claims {
            self.claim(&model, claim);
            self.make_room(&model);
        }
        for (model, other) in other.calibrations {
            self.calibrations.entry(model.clone()).or_insert(other);
            self.make_room(&model);
        }
    }

    /// A prompt of a tenant's was refused. That is believed of this tenant's prompts, and of all once another one is told the same;
    /// at once where there are no tenants.
    pub(super) fn refused(
        &mut self,
        by: &str,
        model: &str,
        overflow: &PromptOverflow,
        counted: Option<u64>,
    ) {
        if by.is_empty() {
            return self.learnt.refused(model, overflow, counted);
        }
        let known = self.learnt.models.get(model).copied().unwrap_or_default();
        let own = self.claims.get(model).filter(|claim| claim.by == by);
        let own = own.map(|claim| claim.window).unwrap_or_default();
        let mut window = Window { accepted: known.accepted, ..own };
        window.refused(overflow, counted);
        if (window.limit, window.refused) != (own.limit, own.refused) {
            self.claim(model, Claim { by: by.to_owned(), window });
        }
    }

    /// Takes what one tenant was told. What another one was told as well holds for all.
    fn claim(&mut self, model: &str, claim: Claim) {
        let other = self.claims.get(model).filter(|other| other.by != claim.by);
        let Some(agreed) = other.and_then(|other| other.window.agreed(&claim.window)) else {
            self.claims.insert(model.to_owned(), claim);
            return;
        };
        self.claims.remove(model);
        let known = self.learnt.models.entry(model.to_owned()).or_default();
        *known = Window { accepted: known.accepted, ..agreed };
    }

    /// A prompt of so many tokens was accepted.
    pub(super) fn accepted(&mut self, model: &str, prompt: u64) {
        self.learnt.accepted(model, prompt);
        if let Some(claim) = self.claims.get_mut(model) {
            claim.window.accepted(prompt);
        }
    }

    /// What of a model is worth keeping at once: what bounds its window, and by how many twentieths its counts are corrected.
    fn gist(&self, model: &str) -> (Option<u64>, Option<u64>, Option<Claim>, Option<u64>) {
        let window = self.learnt.models.get(model).copied().unwrap_or_default();
        let correction = self.calibrations.get(model).map(|known| known.counted(10_000) / 500);
        (window.limit, window.refused, self.claims.get(model).cloned(), correction)
    }

    /// Forgets a model if there are too many: one without a window bound, else this one. Forgets this one if its name is
    /// too long.
    fn make_room(&mut self, newest: &str) {
        let Experience { learnt, claims, calibrations } = self;
        let is_bounded = |name: &str| {
            let window = learnt.models.get(name).or(claims.get(name).map(|claim| &claim.window));
            window.is_some_and(|it| it.limit.or(it.refused).is_some())
        };
        let names = learnt.models.keys().chain(claims.keys()).chain(calibrations.keys());
        let mut names = names.map(String::as_str);
        let most = learnt.models.len().max(claims.len()).max(calibrations.len());
        let least = match newest {
            long if long.len() > LONGEST_NAME => newest,
            _ if most <= MOST => return,
            _ => names.find(|name| *name != newest && !is_bounded(name)).unwrap_or(newest),
        };
        let least = least.to_owned();
        learnt.models.remove(&least);
        claims.remove(&least);
        calibrations.remove(&least);
    }

    /// The most tokens of a tenant's prompt for a model of which `known` was said: learning makes it smaller,
    /// never larger, because who says it may want it so.
    pub(super) fn window(&self, tenant: &str, model: &str, known: Option<u64>) -> Option<u64> {
        let claimed = self.claims.get(model).filter(|claim| claim.by == tenant);
        let learnt = self.learnt.models.get(model).into_iter();
        let learnt = learnt.chain(claimed.map(|claim| &claim.window));
        learnt.filter_map(|window| window.most(known)).chain(known).min()
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

    /// How far counts of a model's prompts are off, and nothing else.
    pub(super) fn of_counts(&self, model: &str) -> Experience {
        let known = self.calibrations.get(model).map(|known| (model.to_owned(), known.clone()));
        Experience { calibrations: known.into_iter().collect(), ..Experience::default() }
    }

    /// The counter's tokens that the provider would report as so many.
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
        assert_eq!(experience.window("", "m", None), Some(9_000));
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
            assert_eq!(experience.window("", "m", Some(200_000)), Some(8_000));
        }
        let mut experience = Experience::default();
        experience.take(told(8_000));
        assert_eq!(experience, told(8_000));
    }

    #[test]
    fn what_one_tenant_was_told_holds_for_all_once_another_was_told_it() {
        let windows = |experience: &Experience| {
            ["one", "two", "other"].map(|tenant| experience.window(tenant, "m", Some(200_000)))
        };
        let (whole, told) = (Some(200_000), Some(9_000));
        let limit = PromptOverflow::of_window(9_000);
        let mut experience = Experience::default();
        experience.refused("one", "m", &limit, Some(9_500));
        assert_eq!(windows(&experience), [told, whole, whole]);
        let mut there = Experience::default();
        there.refused("two", "m", &limit, None);
        there.take(experience.clone());
        assert_eq!(windows(&there), [told; 3], "another process heard it of another tenant");
        experience.refused("two", "m", &PromptOverflow::of_window(2_000), None);
        assert_eq!(windows(&experience), [whole, Some(2_000), whole], "they don't agree");
        experience.accepted("m", 3_000);
        assert_eq!(windows(&experience), [whole; 3]);
        experience.refused("two", "m", &PromptOverflow::of_window(2_000), None);
        assert_eq!(windows(&experience), [whole; 3], "more was accepted");

        let mute = PromptOverflow::of_tokens(None, None);
        experience.refused("one", "m", &mute, Some(50_000));
        experience.refused("two", "m", &mute, Some(60_000));
        assert_eq!(windows(&experience), [Some(59_999); 3]);
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
