//! What keeps a session from compacting in circles: each cause is found, told once with a hint, and
//! not tried again until something changes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why compacting doesn't help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StallReason {
    /// What can't be compacted alone is over the trigger.
    Overhead,
    /// A compaction saved next to nothing.
    NoGain,
    /// The trigger fired again at once, three times in a row.
    Refilled,
    /// The same failure again.
    Failing,
    /// What was compacted because it was refused as too long was refused as well.
    Refused,
}

impl StallReason {
    /// Its name, and the advice.
    pub fn words(self) -> &'static str {
        match self {
            StallReason::Overhead => {
                "system prompt, tools, pins and tail alone are over the trigger: raise it, offer fewer tools, or pin less"
            }
            StallReason::NoGain => {
                "the last compaction saved next to nothing: nothing is tried before the conversation has grown"
            }
            StallReason::Refilled => {
                "the window filled up again right after each of three compactions: cap tool outputs, or raise the trigger"
            }
            StallReason::Failing => {
                "compactions fail again and again: see the error; tried again later"
            }
            StallReason::Refused => {
                "what was compacted was refused as too long as well, again and again: tried again later"
            }
        }
    }
}

/// The state under which something didn't help; when it changes, it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Circumstances {
    /// Tokens shown.
    pub(super) tokens: u64,
    /// Where the trigger would have to be satisfied: window, learnt or given.
    pub(super) window: Option<u64>,
    /// Tokens of system prompt and tools.
    pub(super) frame: u64,
}

impl Circumstances {
    /// Whether so much is different that another try makes sense.
    fn differ_from(self, then: Circumstances) -> bool {
        let grown = self.tokens > then.tokens + then.tokens / 8;
        let shrunk = self.tokens < then.tokens - then.tokens / 8;
        grown || shrunk || self.window != then.window || self.frame != then.frame
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Breaker {
    stall: Option<(StallReason, Circumstances)>,
    /// Compactions in a row after which the trigger fired again at once.
    refills: u8,
    failures: u32,
    error: Option<String>,
    until: Option<Duration>,
    /// Retries in a row that were refused as well.
    refusals: u32,
    /// Nothing is tried before then because of these.
    rests: Option<Duration>,
    untold: Option<StallReason>,
}

/// After this many useless compactions a session waits.
const MOST_REFILLS: u8 = 3;
/// After so many refused retries it rests.
const MOST_REFUSALS: u32 = 2;
/// A cooldown is doubled at most so often.
const MOST_DOUBLINGS: u32 = 8;

impl Breaker {
    /// Whether a compaction may be tried.
    pub(super) fn allows(&mut self, now: Duration, is: Circumstances) -> bool {
        if self.stall.is_some_and(|(_, was)| is.differ_from(was)) {
            self.stall = None;
            self.refills = 0;
        }
        self.stall.is_none() && !self.cools(now)
    }

    /// Why nothing is tried, where that is known.
    pub(super) fn stall(&self, now: Duration) -> Option<StallReason> {
        let rests = self.rests(now).then_some(StallReason::Refused);
        self.stall.map(|(cause, _)| cause).or(rests)
    }

    /// Whether refused retries are too fresh to try again.
    pub(super) fn rests(&self, now: Duration) -> bool {
        self.rests.is_some_and(|until| now < until)
    }

    /// Why the newest compaction failed, if it did.
    pub(super) fn failure(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether a failure is too fresh to try again.
    pub(super) fn cools(&self, now: Duration) -> bool {
        self.until.is_some_and(|until| now < until) || self.rests(now)
    }

    /// What was compacted for a refusal was refused as well.
    pub(super) fn refused(&mut self, now: Duration, cooldown: Duration) {
        self.refusals = self.refusals.saturating_add(1);
        let Some(more) = self.refusals.checked_sub(MOST_REFUSALS) else { return };
        if more == 0 {
            self.untold = Some(StallReason::Refused);
        }
        let rest = cooldown.saturating_mul(1 << more.min(MOST_DOUBLINGS));
        self.rests = Some(now.saturating_add(rest));
    }

    /// A prompt was accepted.
    pub(super) fn accepted(&mut self) {
        self.refusals = 0;
        self.rests = None;
    }

    /// The cause that wasn't reported yet.
    pub(super) fn tell(&mut self) -> Option<StallReason> {
        self.untold.take()
    }

    /// The trigger fires; `since` requests after the last compaction.
    pub(super) fn fires(&mut self, requests_since: Option<u32>, is: Circumstances) {
        match requests_since {
            Some(0..=1) => self.refills += 1,
            _ => self.refills = 0,
        }
        if self.refills >= MOST_REFILLS {
            self.stop(StallReason::Refilled, is);
        }
    }

    /// Compacting doesn't help until something changes.
    pub(super) fn stop(&mut self, cause: StallReason, is: Circumstances) {
        if self.stall.is_none_or(|(known, was)| known != cause || is.differ_from(was)) {
            self.untold = Some(cause);
            self.stall = Some((cause, is));
        }
    }

    /// Whether something changed since it was found not to help.
    pub(super) fn has_changed(&self, is: Circumstances) -> bool {
        self.stall.is_some_and(|(_, was)| is.differ_from(was))
    }

    /// A compaction failed.
    pub(super) fn failed(&mut self, now: Duration, cooldown: Duration, error: String) {
        if self.error.as_ref() == Some(&error) && self.failures == 1 {
            self.untold = Some(StallReason::Failing);
        }
        self.failures = if self.error.as_ref() == Some(&error) { self.failures + 1 } else { 1 };
        self.error = Some(error);
        let doublings = (self.failures - 1).min(MOST_DOUBLINGS);
        self.until = Some(now.saturating_add(cooldown.saturating_mul(1 << doublings)));
    }

    /// A compaction was adopted.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
        self.error = None;
        self.until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tokens: u64) -> Circumstances {
        Circumstances { tokens, window: Some(1000), frame: 10 }
    }

    #[test]
    fn three_refills_stop_it_until_something_changes() {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            assert!(breaker.allows(Duration::ZERO, at(900)));
            breaker.fires(Some(1), at(900));
        }
        assert!(!breaker.allows(Duration::ZERO, at(900)));
        assert_eq!(breaker.tell(), Some(StallReason::Refilled));
        assert_eq!(breaker.tell(), None);
        assert!(breaker.allows(Duration::ZERO, Circumstances { window: Some(2000), ..at(900) }));
    }

    #[test]
    fn a_pause_between_refills_starts_the_count_anew() {
        let mut breaker = Breaker::default();
        for since in [Some(1), Some(1), Some(2), Some(1), Some(1)] {
            breaker.fires(since, at(900));
        }
        assert!(breaker.allows(Duration::ZERO, at(900)));
    }

    #[test]
    fn failures_wait_longer_each_time_and_are_told_once() {
        let mut breaker = Breaker::default();
        let second = Duration::from_secs(1);
        breaker.failed(Duration::ZERO, second, "no".to_owned());
        assert_eq!(breaker.tell(), None);
        assert!(!breaker.allows(second / 2, at(900)) && breaker.allows(second, at(900)));
        breaker.failed(second, second, "no".to_owned());
        assert_eq!(breaker.tell(), Some(StallReason::Failing));
        assert!(!breaker.allows(second * 2, at(900)) && breaker.allows(second * 3, at(900)));
        breaker.failed(second * 3, second, "no".to_owned());
        assert_eq!(breaker.tell(), None);
        breaker.succeeded();
        assert!(breaker.allows(second * 3, at(900)));
    }

    #[test]
    fn refused_retries_make_it_rest_until_a_prompt_is_accepted() {
        let mut breaker = Breaker::default();
        let second = Duration::from_secs(1);
        breaker.refused(Duration::ZERO, second);
        assert!(breaker.allows(Duration::ZERO, at(900)));
        breaker.refused(Duration::ZERO, second);
        assert!(!breaker.allows(second / 2, at(900)) && breaker.allows(second, at(900)));
        assert_eq!(breaker.stall(second / 2), Some(StallReason::Refused));
        assert_eq!(breaker.tell(), Some(StallReason::Refused));
        breaker.refused(second, second);
        assert!(breaker.rests(second * 2) && !breaker.rests(second * 3));
        assert_eq!((breaker.stall(second * 3), breaker.tell()), (None, None));
        breaker.accepted();
        breaker.refused(second * 2, second);
        assert!(breaker.allows(second * 2, at(900)));
    }

    #[test]
    fn an_eighth_more_or_less_is_another_matter() {
        let then = at(804);
        for (tokens, differs) in
            [(703, true), (704, false), (804, false), (904, false), (905, true)]
        {
            assert_eq!(at(tokens).differ_from(then), differs, "{tokens}");
        }
        assert!(Circumstances { window: None, ..then }.differ_from(then));
        assert!(Circumstances { frame: 11, ..then }.differ_from(then));
    }

    #[test]
    fn a_breaker_knows_its_pause_and_changes() {
        let mut breaker = Breaker::default();
        let second = Duration::from_secs(1);
        assert!(!breaker.cools(Duration::ZERO) && !breaker.has_changed(at(800)));
        breaker.failed(Duration::ZERO, second, "no".to_owned());
        assert!(breaker.cools(second / 2) && !breaker.cools(second));
        breaker.stop(StallReason::NoGain, at(800));
        assert!(!breaker.has_changed(at(800)) && breaker.has_changed(at(1000)));
        assert!(StallReason::NoGain.words().contains("saved next to nothing"));
    }
}
