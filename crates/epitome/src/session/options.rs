//! What the sessions are asked to do, validated once.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::identity::ChainKey;
use crate::budget::Target;
use crate::trigger::Trigger;

/// Where a session's compaction is to land.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// At a share of the window, from 0 to 1; at the share of the input where no window is known, or where a compaction is
    /// asked for and less than that is shown.
    Window(f64),
    /// At this many tokens, or percent of the input.
    Target(Target),
    /// So that this many further turns of the same size fit: from a quarter to a half of the shown prompt.
    Turns(u32),
}

impl Landing {
    /// In tokens or percent, for a window.
    pub(super) fn target(self, window: Option<u64>) -> Target {
        match (self, window) {
            (Landing::Target(target), _) => target,
            (Landing::Window(share), Some(window)) => {
                Target::Tokens(((window as f64 * share) as u64).max(1))
            }
            (Landing::Window(share), None) => Target::Percent((share * 100.0) as u8),
            (Landing::Turns(_), _) => Target::DEFAULT,
        }
    }
}

/// What becomes of a request that can't be sent before it is compacted, where models or others are asked about that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtLimit {
    /// It waits for them, at most [`SessionOptions::patience`].
    #[default]
    Wait,
    /// No summarizer is asked: the request is compacted extractively at once, and a summary under way comes too late.
    /// Only summaries that `soft` prepares in time are used.
    Extractive,
}

/// Who begins compactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initiative {
    /// Triggers, prompts over the window, refusals of prompts as too long, and demands.
    #[default]
    Automatic,
    /// Demands alone ([`Sessions::demand`](super::Sessions::demand)). What else would have begun one is told
    /// ([`Handling::due`](super::Handling::due)), and a prompt that is refused as too long stays refused.
    OnDemand,
}

/// When sessions act, where they land, and what they put up with.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// When a request isn't sent before it is compacted.
    pub trigger: Arc<dyn Trigger>,
    /// When to prepare a compaction in the background, while the request is sent as it is.
    pub soft: Option<Arc<dyn Trigger>>,
    /// Who begins compactions.
    pub initiative: Initiative,
    /// Whether a request that must be compacted first waits for summarizers.
    pub at_limit: AtLimit,
    /// Where a compaction lands.
    pub landing: Landing,
    /// A compaction that saves less than this share (0 to 1) of the shown prompt isn't worth its rewrite.
    pub least_gain: f64,
    /// After this long an answer that didn't come is given up.
    pub patience: Duration,
    /// After a failure nothing is tried for so long; twice as long after each further one.
    pub cooldown: Duration,
    /// Conversations remembered; beyond, the least recently used are forgotten.
    pub most_sessions: usize,
    /// Bytes of the newest requests that are kept, to parse the next ones incrementally; conversations that the host
    /// holds and appends to don't count.
    pub most_known: usize,
    /// The key of the chains.
    pub key: ChainKey,
}

impl SessionOptions {
    /// The usual: land at three tenths of the window, at least a tenth saved, two minutes' patience, 64 MiB
    /// of requests kept, and as much of what compactions read.
    pub fn new(trigger: Arc<dyn Trigger>, key: ChainKey) -> Self {
        SessionOptions {
            trigger,
            soft: None,
            initiative: Initiative::Automatic,
            at_limit: AtLimit::Wait,
            landing: Landing::Window(0.3),
            least_gain: 0.1,
            patience: Duration::from_mins(2),
            cooldown: Duration::from_secs(30),
            most_sessions: 4096,
            most_known: 64 << 20,
            key,
        }
    }

    pub(super) fn validate(&self) -> Result<(), SessionOptionsError> {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        match self.landing {
            Landing::Window(share) if !(is_share(share) && share >= 0.01) => {
                return Err(SessionOptionsError::Landing(share));
            }
            Landing::Target(target @ (Target::Tokens(0) | Target::Percent(0 | 101..))) => {
                return Err(SessionOptionsError::Target(target));
            }
            Landing::Window(_) | Landing::Target(_) | Landing::Turns(_) => {}
        }
        if !is_share(self.least_gain) {
            return Err(SessionOptionsError::LeastGain(self.least_gain));
        }
        if self.most_sessions == 0 {
            return Err(SessionOptionsError::NoSessions);
        }
        Ok(())
    }
}

/// A setting that is out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionOptionsError {
    /// A share of the window that is none.
    #[error("`landing` is {0}, not a share of the window from 0.01 to 1")]
    Landing(f64),
    /// A target of nothing, or of more than there is.
    #[error("`landing` is {0}: tokens from 1, percent from 1 to 100")]
    Target(Target),
    /// A gain that is no share.
    #[error("`least_gain` is {0}, not a share from 0 to 1")]
    LeastGain(f64),
    /// No session could be remembered.
    #[error("`most_sessions` is 0: at least one must be remembered")]
    NoSessions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_window_is_tokens_or_percent_of_the_input() {
        let landing = Landing::Window(0.3);
        assert_eq!(landing.target(Some(1000)), Target::Tokens(300));
        assert_eq!(landing.target(Some(1)), Target::Tokens(1));
        assert_eq!(landing.target(None), Target::Percent(30));
    }
}
