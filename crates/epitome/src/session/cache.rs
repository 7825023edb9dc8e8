//! Which part of a prompt a provider's cache can hold: each prompt continues the one before, or the reason is recorded.

use std::time::Duration;

use super::conversation::Line;
use super::{Chain, Intent};

/// Why a prompt doesn't begin with the previous one of its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheBreak {
    /// Another view is in force: it was compacted, or is shown to another model.
    View,
    /// The client changed its instructions or tools, the model, or a setting that the provider's cache depends on.
    Frame,
    /// The client changed a beginning that it rewrites.
    Restated,
    /// The client went back in its history, and another way from there.
    History,
    /// The client wrote what was said before otherwise: members in another order, or old results and reasoning cleared.
    Rewritten,
}

impl CacheBreak {
    /// In one word, as files and reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            CacheBreak::View => "view",
            CacheBreak::Frame => "frame",
            CacheBreak::Restated => "restated",
            CacheBreak::History => "history",
            CacheBreak::Rewritten => "rewritten",
        }
    }
}

/// A provider's report about a prompt, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptReport {
    /// The whole prompt.
    pub tokens: u64,
    /// What its cache had to do with it, where that is told.
    pub cache: Option<CacheReport>,
    /// The model's window, where the reply ended because that was full: prompt and reply together.
    pub window: Option<u64>,
}

impl From<u64> for PromptReport {
    fn from(tokens: u64) -> Self {
        PromptReport { tokens, ..PromptReport::default() }
    }
}

/// A provider's report about its cache, in tokens of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheReport {
    /// Read from it.
    pub read: u64,
    /// In it from now on.
    pub kept: u64,
}

/// Tokens read from a cache, and the tokens that it should hold: those reported for the earlier prompt that begins this
/// one, while the cache remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheUse {
    /// Tokens that had to be in it.
    pub expected: u64,
    /// Tokens that were read from it.
    pub read: u64,
}

/// A prompt that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastSent {
    epoch: u32,
    links: usize,
    /// The frame and the client's rewritten parts, hashed.
    frame: Option<u128>,
    restated: u128,
    /// How its links are written of which something may be shown.
    written: u64,
    /// The links at which the conversation went another way since.
    pub(super) parted: Option<usize>,
    /// Tokens of it in the cache.
    kept: Option<u64>,
    intent: Intent,
}

impl LastSent {
    /// The same for a conversation that goes its own way behind `links` links; none where the client left the earlier one
    /// with a summary.
    pub(super) fn of_first(self, links: usize) -> Option<Self> {
        let parted = (self.links > links).then_some(links).or(self.parted);
        let kept = self.kept.filter(|_| parted.is_none());
        let is_left = self.intent == Intent::Summary && self.links > links;
        (!is_left).then_some(LastSent { parted, kept, ..self })
    }
}

impl Line {
    /// Notes that a chain is sent now. Why that doesn't go on with what was sent before, and the tokens of it that the
    /// provider's cache has; `idle` is the time since.
    pub(super) fn forward(
        &mut self,
        chain: &Chain,
        idle: Option<Duration>,
        ttl: Option<Duration>,
        intent: Intent,
    ) -> (Option<CacheBreak>, Option<u64>) {
        let (frame, restated) = self.hashes();
        let (epoch, links) = (self.epoch().number, chain.len());
        let written = |links: usize| {
            let runs = self.epoch().shown(links).map(|run| chain.written(run));
            runs.fold(0, u64::wrapping_add)
        };
        let before = self.last.filter(|was| was.links <= links).map(|was| written(was.links));
        let now = written(links);
        let is = LastSent {
            epoch,
            links,
            frame,
            restated,
            written: now,
            parted: None,
            kept: None,
            intent,
        };
        let Some(was) = self.last.replace(is) else { return (None, None) };
        let why = [
            (was.epoch != epoch, CacheBreak::View),
            (was.frame != frame, CacheBreak::Frame),
            (was.restated != restated, CacheBreak::Restated),
            (was.parted.is_some_and(|parted| links > parted), CacheBreak::History),
            (before.is_some_and(|before| before != was.written), CacheBreak::Rewritten),
        ];
        let why = why.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why);
        let is_warm = idle.zip(ttl).is_some_and(|(idle, ttl)| idle < ttl);
        let kept = was.kept.filter(|_| why.is_none() && links >= was.links);
        if let Some(last) = &mut self.last {
            last.kept = kept;
        }
        (why, kept.filter(|_| is_warm))
    }

    /// Adds the cache's report for a prompt of this many links.
    pub(super) fn cached(&mut self, links: usize, report: CacheReport) {
        if let Some(last) = self.last.as_mut().filter(|last| last.links == links) {
            last.kept = Some(report.kept);
        }
    }
}
