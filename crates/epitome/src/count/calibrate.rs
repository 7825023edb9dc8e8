//! Counts corrected by what the provider reported.
//!
//! The newest `usage` is the anchor: only what came after it is estimated. Every report is also evidence of
//! how far the estimates are off for this model, and the more there is of it, the narrower the band.

use serde::{Deserialize, Serialize};

use super::{Basis, Count, Tally};

/// The count of a prompt, and of its beginnings.
pub trait Sums {
    /// How many entries it has.
    fn entries(&self) -> usize;

    /// All of it.
    fn total(&self) -> Count;

    /// The frame and the first `entries` entries, in tokens; `None` where that isn't known.
    fn first(&self, entries: usize) -> Option<u64>;
}

impl Sums for Tally {
    fn entries(&self) -> usize {
        self.len()
    }

    fn total(&self) -> Count {
        Tally::total(self)
    }

    fn first(&self, entries: usize) -> Option<u64> {
        let said = || (0..entries).map(|at| self.entry(at)).sum::<u64>();
        (entries <= self.len()).then(|| self.frame.total().tokens + said())
    }
}

/// Reports remembered; older ones predict the next less well.
const MOST: usize = 16;

/// Growth of fewer tokens between two reports is mostly what formats put around messages.
const LEAST: u64 = 100;

/// Calibration of one model's own counts against one counter's. Plain data: the caller keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The counter that it corrects; evidence about another is forgotten.
    counter: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<Anchor>,
    /// Newest last.
    #[serde(default)]
    evidence: Vec<Evidence>,
}

/// The newest report of a conversation, from which its next prompts are counted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Entries of the prompt.
    entries: usize,
    /// Our count of the prompt.
    counted: u64,
    /// Its report.
    usage: Usage,
}

/// A text's size, as reported and as counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Evidence {
    reported: u64,
    counted: u64,
}

/// A provider's report about a request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The whole prompt: tokens read from the cache, written to it, and others.
    pub prompt: u64,
    /// The part of the reply that the next prompt has (without reasoning that isn't sent back).
    pub reply: u64,
    /// The entries of the next prompt that the reply becomes; 0 if `reply` isn't known so exactly.
    pub reply_entries: usize,
}

impl Calibration {
    /// Nothing is known yet of how `counter` does.
    pub fn new(counter: impl Into<String>) -> Self {
        Calibration { counter: counter.into(), ..Calibration::default() }
    }

    /// The counter that it corrects.
    pub fn counter(&self) -> &str {
        &self.counter
    }

    /// How many reports it rests on, 16 at most.
    pub fn reports(&self) -> usize {
        self.evidence.len()
    }

    /// The newest report.
    pub fn anchor(&self) -> Option<Anchor> {
        self.anchor
    }

    /// The same evidence beside another conversation's newest report.
    #[must_use]
    pub fn anchored(self, anchor: Option<Anchor>) -> Self {
        Calibration { anchor, ..self }
    }

    /// Adds the report for the prompt that `tally` counted.
    pub fn observe(&mut self, tally: &impl Sums, usage: Usage) {
        let counted = tally.total().tokens;
        let entries = tally.entries();
        if counted == 0 || usage.prompt == 0 {
            return;
        }
        let grown = self.anchor.filter(|anchor| anchor.stands_in(tally)).map(|anchor| {
            let (before, known) = anchor.covers(tally);
            Evidence {
                reported: usage.prompt.saturating_sub(known),
                counted: counted.saturating_sub(before),
            }
        });
        let evidence = match grown {
            // The newest additions predict the next ones best.
            Some(grown) if grown.counted >= LEAST && grown.reported > 0 => Some(grown),
            Some(_) => None,
            None => Some(Evidence { reported: usage.prompt, counted }),
        };
        if let Some(evidence) = evidence {
            self.evidence.push(evidence);
            let surplus = self.evidence.len().saturating_sub(MOST);
            self.evidence.drain(..surplus);
        }
        self.anchor = Some(Anchor { entries, counted, usage });
    }

    /// The tokens of the prompt that `tally` counted: those up to the anchor as they were reported, if the
    /// prompt begins as that one did, and the rest corrected.
    pub fn total(&self, tally: &impl Sums) -> Count {
        let all = tally.total();
        let Some(anchor) = self.anchor.filter(|anchor| anchor.stands_in(tally)) else {
            return self.corrected(all);
        };
        let (before, known) = anchor.covers(tally);
        let reported = Count { tokens: known, upper: known, basis: Basis::Reported };
        match all.tokens.saturating_sub(before) {
            0 => reported,
            rest => reported + self.corrected(all.in_kind(rest)),
        }
    }

    /// Of the counter's tokens, as many as are `reported` by the provider.
    pub fn counted(&self, reported: u64) -> u64 {
        let sum =
            |of: fn(&Evidence) -> u64| self.evidence.iter().map(of).map(u128::from).sum::<u128>();
        let (theirs, ours) = (sum(|one| one.reported), sum(|one| one.counted));
        if theirs == 0 || ours == 0 {
            return reported;
        }
        u64::try_from(u128::from(reported) * ours / theirs).unwrap_or(u64::MAX)
    }

    /// An estimate, corrected; unchanged without evidence.
    pub fn corrected(&self, count: Count) -> Count {
        if self.evidence.is_empty() || count.tokens == 0 {
            return count;
        }
        let sum =
            |of: fn(&Evidence) -> u64| self.evidence.iter().map(of).map(u128::from).sum::<u128>();
        let times = |tokens: u64, by: u128, of: u128| {
            u64::try_from((u128::from(tokens) * by).div_ceil(of.max(1))).unwrap_or(u64::MAX)
        };
        let tokens = times(count.tokens, sum(|one| one.reported), sum(|one| one.counted));
        // No text is assumed to be further off than the worst report so far. From the fourth report on, the
        // counter's own error band counts less, down to an eighth: the next text may be of another kind.
        let seen = self
            .evidence
            .iter()
            .map(|one| times(count.tokens, one.reported.into(), one.counted.into()))
            .max()
            .unwrap_or(tokens)
            .max(tokens);
        let share = (self.evidence.len() as u64 / 2).clamp(1, 8);
        let doubt = count.upper.saturating_sub(seen).div_ceil(share);
        let basis = match count.basis {
            Basis::Unbounded => Basis::Unbounded,
            _ => Basis::Calibrated,
        };
        Count { tokens, upper: seen.saturating_add(doubt), basis }
    }

    /// The same for another counter, without the reports of this one.
    #[must_use]
    pub fn for_counter(self, counter: &str) -> Self {
        if self.counter == counter { self } else { Calibration::new(counter) }
    }
}

impl Anchor {
    /// The entries of the prompt that was reported.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Whether the prompt begins with the reported one. Counts tell: after an edit they differ.
    fn stands_in(&self, tally: &impl Sums) -> bool {
        tally.entries() >= self.entries && tally.first(self.entries) == Some(self.counted)
    }

    /// Of what the report covers our count, and the tokens as reported.
    fn covers(&self, tally: &impl Sums) -> (u64, u64) {
        let with_reply = self.entries + self.usage.reply_entries;
        let replied = (self.usage.reply_entries > 0).then(|| tally.first(with_reply)).flatten();
        match replied {
            Some(counted) => (counted, self.usage.prompt.saturating_add(self.usage.reply)),
            None => (self.counted, self.usage.prompt),
        }
    }
}
