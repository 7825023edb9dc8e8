//! Transcripts of every kind: valid ones, and ones whose pairs are broken in every way.
//!
//! A case is drawn as a tape of numbers, which shrink well, which chooses a script, and only then becomes JSON;
//! what a format doesn't allow at a place is left out there, so that every script is valid.

use std::fmt;

use epitome::wire::{self, Format, Request};
use proptest::prelude::*;

use crate::break_up::{Breach, break_up};
use crate::draft::{Draft, Thinking};
use crate::features::{Feature, Features, only_format};
use crate::responses;
use crate::script::{Prose, Script};
use crate::stage::play;
use crate::tape::tape;
use epitome_bench::dice::Dice;

/// One generated transcript and what is to be done to it.
#[derive(Clone)]
pub struct Case {
    /// The request.
    pub text: String,
    /// Its format.
    pub format: Format,
    /// An entry in the middle that is to survive verbatim.
    pub pin: Option<usize>,
    /// The target, in percent of the request's size.
    pub target: u8,
    /// What it has in it.
    pub features: Features,
    /// Before it was JSON.
    pub draft: Draft,
}

impl Case {
    /// The request, parsed.
    ///
    /// # Panics
    /// Never, as long as every draft is well-formed JSON.
    pub fn request(&self) -> Request {
        wire::parse(self.format, self.text.clone()).expect("drafts are well-formed")
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} target={}% pin={:?}\n{}", self.format, self.target, self.pin, self.text)
    }
}

/// Whether more is tried than usual, as `./test full` does.
pub fn is_full() -> bool {
    std::env::var_os("EPITOME_CASES").is_some()
}

/// How property tests run here: `default` cases each, or as many as `EPITOME_CASES` says; failures
/// are printed whole, so nothing is written beside the sources.
pub fn cases(default: u32) -> ProptestConfig {
    let asked =
        ["EPITOME_CASES", "PROPTEST_CASES"].iter().find_map(|name| std::env::var(name).ok());
    let cases = asked.and_then(|count| count.parse().ok()).unwrap_or(default);
    // Some properties are of half of the cases: the more there are, the more are left out.
    let max_global_rejects =
        cases.saturating_mul(4).max(ProptestConfig::default().max_global_rejects);
    ProptestConfig {
        cases,
        max_global_rejects,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Cases that their provider accepts and `check` finds nothing wrong with.
pub fn valid() -> impl Strategy<Value = Case> {
    valid_in(&Format::ALL)
}

/// [`valid`] in one of these formats.
pub fn valid_in(formats: &[Format]) -> impl Strategy<Value = Case> + use<> {
    let formats = drawn(formats);
    tape().prop_map(move |tape| valid_case(&tape, &formats))
}

/// Cases in which one to four things are wrong. (Some breaches happen to make a valid transcript.)
pub fn broken() -> impl Strategy<Value = Case> {
    broken_in(&Format::ALL)
}

/// [`broken`] in one of these formats.
pub fn broken_in(formats: &[Format]) -> impl Strategy<Value = Case> + use<> {
    let formats = drawn(formats);
    tape().prop_map(move |tape| broken_case(&tape, &formats))
}

/// The formats that are drawn from: all of these, or the one that `EPITOME_FORMAT` names, if it is among them.
fn drawn(all: &[Format]) -> Vec<Format> {
    let only = only_format().filter(|only| all.contains(only));
    only.map_or(all.to_vec(), |only| vec![only])
}

/// The valid case that a fuzzer's bytes choose, two for each choice, as long as they last.
pub fn valid_of_tape(tape: &[u8]) -> Case {
    valid_case(tape, &Format::ALL)
}

/// As [`valid_of_tape`], with one to four things wrong.
pub fn broken_of_tape(tape: &[u8]) -> Case {
    broken_case(tape, &Format::ALL)
}

fn valid_case(tape: &[u8], formats: &[Format]) -> Case {
    Script::of(&mut Dice::of_tape(tape), formats).case(&[])
}

fn broken_case(tape: &[u8], formats: &[Format]) -> Case {
    let mut dice = Dice::of_tape(tape);
    let breaches: Vec<Breach> = (0..=dice.below(4)).map(|_| Breach::of(&mut dice)).collect();
    Script::of(&mut dice, formats).case(&breaches)
}

impl Script {
    fn case(&self, breaches: &[Breach]) -> Case {
        let mut draft = Draft {
            format: self.format,
            envelope: self.envelope,
            system: self
                .system
                .as_ref()
                .map(Prose::words)
                .filter(|_| self.format != Format::OpenaiChat),
            thinking: if self.format == Format::OpenaiChat {
                Thinking::Unset
            } else {
                self.thinking
            },
            model: self.model,
            messages: match self.format {
                Format::OpenaiResponses => responses::play(self),
                _ => play(self),
            },
        };
        for breach in breaches {
            break_up(&mut draft, breach);
        }
        if !breaches.is_empty() {
            // No look at a body tells that a thought is missing.
            responses::untie(&mut draft);
        }
        let (text, mut features) = draft.write(self.ink);
        let len = draft.messages.len();
        let pin = self.pin.as_ref().filter(|_| len > 2).map(|pin| 1 + pin.index(len - 2));
        if pin.is_some() {
            features.insert(Feature::MiddlePin);
        }
        let target = text.len() * usize::from(self.target) / 100;
        let request = wire::parse(self.format, text.clone()).expect("drafts are well-formed");
        if request.transcript.entries().any(|entry| entry.raw().len() > target) {
            features.insert(Feature::LargeEntry);
        }
        Case { text, format: self.format, pin, target: self.target, features, draft }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accepted::accepted;
    use crate::features::Histogram;
    use proptest::strategy::ValueTree as _;

    #[test]
    fn generated_transcripts_are_valid_and_have_every_feature() {
        let histogram = Histogram::default();
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..1500 {
            let case = valid().new_tree(&mut runner).expect("no filters").current();
            histogram.count(&case.features);
            assert_eq!(accepted(&case.request()), Ok(()), "{case:?}");
        }
        histogram.assert_each_over(0.5);
    }
}
