//! What use teaches of models: windows as they turn out to be, and how far counts are off.
//!
//! It holds for all conversations with a model, and may be kept beyond the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::count::{Anchor, Calibration, Count, Sums, Usage};
use crate::model::Learnt;

/// What was learnt, by the model's name. A model that nobody names is the one with the empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experience {
    /// Windows.
    pub learnt: Learnt,
    /// Counts against what providers reported.
    pub calibrations: BTreeMap<String, Calibration>,
}

/// Experience that parts of a machine share; held only to look something up or to note it.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedExperience(Arc<Mutex<Experience>>);

impl SharedExperience {
    pub(super) fn get(&self) -> MutexGuard<'_, Experience> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Experience {
    /// The most tokens of a prompt for a model of which `known` was said: learning makes it smaller,
    /// never larger, because who says it may want it so.
    pub(super) fn window(&self, model: &str, known: Option<u64>) -> Option<u64> {
        let learnt = self.learnt.models.get(model).and_then(|window| window.most(known));
        learnt.into_iter().chain(known).min()
    }

    /// What the prompt counts, by what is known of the model, after `anchor`.
    pub(super) fn count(&self, model: &str, anchor: Option<Anchor>, prompt: &impl Sums) -> Count {
        match self.calibrations.get(model) {
            Some(known) => known.clone().anchored(anchor).total(prompt),
            None => prompt.total(),
        }
    }

    /// A count, corrected by what is known of the model.
    pub(super) fn corrected(&self, model: &str, count: Count) -> Count {
        self.calibrations.get(model).map_or(count, |known| known.corrected(count))
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
        // Beyond these bounds something else was reported.
        let is_likely = tokens >= ours.saturating_mul(3) / 10 && tokens <= ours.saturating_mul(3);
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

/// What must be known of a prompt that was sent, to learn from what is reported of it.
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

    fn glimpse(total: u64) -> PromptEstimate {
        PromptEstimate { links: 5, total: Count::exact(total), known: Some((3, 40)) }
    }

    #[test]
    fn a_glimpse_knows_the_prompt_that_was_reported_before() {
        let first = |entries| glimpse(100).first(entries);
        assert_eq!([first(3), first(5), first(4)], [Some(40), Some(100), None]);
        assert_eq!(glimpse(100).entries(), 5);
    }

    #[test]
    fn what_is_far_from_what_was_counted_is_no_report_of_it() {
        let learns = |tokens: u64| {
            let of = Counted { model: "m", counter: "chars1", anchor: None };
            Experience::default().reported(of, &glimpse(1_000), tokens).is_some()
        };
        let all = [0, 299, 300, 3_000, 3_001].map(learns);
        assert_eq!(all, [false, false, true, true, false]);
    }
}
