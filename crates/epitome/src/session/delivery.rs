//! Sent requests, handed back with the provider's answer.
//!
//! Many requests of one conversation may be under way: only the sender knows which one a provider's report is about.

use std::time::Duration;

use super::conversation::{Asks, Manner, Urgency};
use super::decide::{Look, Subject};
use super::experience::{Experience, PromptEstimate};
use super::landing::within;
use super::{
    AtLimit, Begun, CacheUse, Handling, Initiative, Intent, Outgoing, PromptReport, Recipient,
    SessionId, Sessions,
};
use crate::budget::Target;
use crate::count::Count;
use crate::model::overflow::PromptOverflow;
use crate::request::Request;
use crate::trigger::Cause;

/// A request that is sent. It can't be copied: one prompt is reported, or refused, once.
#[derive(Debug)]
pub struct Sent {
    pub(super) session: SessionId,
    /// The epoch that it was shown under.
    pub(super) epoch: u32,
    pub(super) to: Recipient,
    /// The model's name.
    pub(super) model: String,
    pub(super) estimate: PromptEstimate,
    /// Its tokens, with what was reported before.
    pub(super) tokens: Count,
    pub(super) bytes: usize,
    /// The epoch under which more was shown and refused, where it is something smaller than that.
    pub(super) retry_of: Option<u32>,
    /// Tokens of it that the provider's cache has, where that is known.
    pub(super) expects: Option<u64>,
}

impl Sent {
    /// The conversation that it belongs to.
    pub fn session(&self) -> SessionId {
        self.session
    }
}

/// How to go on after a refusal: whatever was begun is committed, then [`Sessions::retry`] tells what to send.
#[derive(Debug)]
pub struct Retry {
    /// The conversation that the compaction is of.
    pub session: SessionId,
    /// A compaction to run; [`Sessions::commit`] wants its outcome.
    pub begun: Box<Begun>,
    /// What [`Sessions::retry`] wants then.
    pub refused: RefusedPrompt,
}

/// A request that was refused as too long, and not sent again yet.
#[derive(Debug)]
pub struct RefusedPrompt(Sent);

impl Sessions {
    /// The provider reported the tokens of a prompt: later counts for its model are corrected by it, and its window is at
    /// least that large; if the reply filled it, the window is known. Returns the use of the provider's cache, if both
    /// figures are known.
    #[expect(clippy::needless_pass_by_value, reason = "a prompt is reported once")]
    pub fn reported(&mut self, sent: Sent, report: impl Into<PromptReport>) -> Option<CacheUse> {
        let PromptReport { tokens, cache, window } = report.into();
        let model = &sent.model;
        let tenant = self.lines.get(&sent.session).map_or("", |line| &line.tenant);
        self.experience.note(model, |experience| match window {
            Some(window) => {
                experience.refused(tenant, model, &PromptOverflow::of_window(window), None);
            }
            None => experience.accepted(model, tokens),
        });
        self.learn(&sent, tokens);
        if let Some(line) = self.lines.get_mut(&sent.session) {
            line.breaker.accepted();
            line.too_long = None;
        }
        let cache = cache?;
        let line = self.lines.get_mut(&sent.session);
        if let Some(line) = line.filter(|line| line.epoch().number == sent.epoch) {
            line.cached(sent.estimate.links, cache);
        }
        let expected = sent.expects.filter(|expected| *expected > 0)?.min(tokens);
        Some(CacheUse { expected, read: cache.read })
    }

    fn learn(&mut self, sent: &Sent, prompt: u64) {
        let counter = self.compactor.counter().name();
        if let Some(line) = self.lines.get_mut(&sent.session) {
            let note = |experience: &mut _| line.learn(experience, counter, sent, prompt);
            self.experience.note(&sent.model, note);
        }
    }

    /// The provider refused what was sent as too long: learns its model's window and begins a compaction to
    /// something strictly smaller. Once for a request; `None` if that was tried, which puts the earlier view in force again, nothing
    /// smaller is known, such retries were refused again and again, or only demands begin compactions.
    pub fn overflowed(
        &mut self,
        tenant: &str,
        request: &Request,
        sent: Sent,
        told: &PromptOverflow,
        now: Duration,
    ) -> Option<Retry> {
        let model = &sent.model;
        // Of a file that only the provider sees nobody knows how much of the prompt it is.
        let (used, limit) = told.tokens().unwrap_or_default();
        let of = |most: u64| if limit.is_some() { most } else { sent.tokens.tokens };
        let counted = sent.estimate.total.most().and(sent.tokens.most()).map(of);
        let note = |known: &mut Experience| known.refused(tenant, model, told, counted);
        self.experience.note(model, note);
        // What it tells of the prompt corrects the counts of this conversation alone.
        let mut counts = self.experience.get().of_counts(model);
        let by = self.compactor.counter().name();
        if let (Some(used), Some(line)) = (used, self.lines.get_mut(&sent.session)) {
            line.learn(&mut counts, by, &sent, used);
        }
        if let Some(epoch) = sent.retry_of {
            // It didn't help: what the view has lost for it comes back.
            let line = self.lines.get_mut(&sent.session)?;
            line.breaker.refused(now, self.options.cooldown);
            line.too_long = line.too_long.into_iter().chain([sent.estimate.total.tokens]).min();
            if line.epoch().number == sent.epoch {
                line.return_to(epoch);
            }
            return None;
        }
        if self.options.initiative == Initiative::OnDemand {
            return None;
        }
        // The conversation may have gone on without it: then it goes its own way from here.
        let arrived = self.reader.arrive(tenant, request);
        let seen = self.see(arrived, &sent.to, now);
        let line = self.lines.get_mut(&seen.session)?;
        if line.breaker.rests(now) {
            return None;
        }
        // What was in flight was made for a window that isn't there.
        line.flight = None;
        let window = self.experience.get().window(tenant, &sent.model, sent.to.window);
        // Whatever is known of the model, this was too long.
        let window = match limit {
            None => window.into_iter().chain([sent.tokens.tokens.saturating_sub(1)]).min(),
            Some(_) => window,
        };
        // Above the window the last one landed too: nothing smaller can be had until something changes.
        let most = limit.or(window).map(|window| counts.counted(&sent.model, window));
        let subject = Subject {
            id: seen.session,
            base: &seen.base,
            model: &sent.model,
            counts: &counts,
            // Another epoch may show more by now.
            counted: seen.estimate.total.tokens.min(sent.estimate.total.tokens),
            frame: seen.weight.frame.tokens,
            whole: seen.weight.total().tokens,
            // It doesn't fit, so that nothing fits behind it.
            prompt: None,
            about: &sent.to.about,
            // There is one try: where nobody says how much fits, it isn't spent on what may not.
            intent: limit.map_or(Intent::Step, |_| sent.to.intent),
            now,
        };
        let is = subject.circumstances(window);
        let is_hopeless = line.floor.zip(most).is_some_and(|(floor, most)| floor > most);
        if is_hopeless && !line.breaker.has_changed(is) {
            return None;
        }
        let most = line.too_long.map_or(u64::MAX, |too_long| (too_long / 10 * 9).max(1));
        let target = self.landing(&subject, window);
        let target = within(&subject, limit.or(window).unwrap_or(u64::MAX), target);
        let target = Target::Tokens(target.resolve(subject.counted).min(most));
        let cause = Cause::Overflow { window: limit };
        let asks = match self.options.at_limit {
            AtLimit::Wait => Asks::Others,
            AtLimit::Extractive => Asks::Nobody,
        };
        let manner = Manner { urgency: Urgency::Must, asks, alone: None };
        let begun = self.begin(&subject, cause, target, window, manner);
        Some(Retry { session: seen.session, begun: Box::new(begun), refused: RefusedPrompt(sent) })
    }

    /// What to send for a request that was refused as too long, after its compaction; `None` if that isn't strictly
    /// smaller.
    pub fn retry(
        &mut self,
        tenant: &str,
        request: &Request,
        refused: RefusedPrompt,
        now: Duration,
    ) -> Option<Handling> {
        let RefusedPrompt(before) = refused;
        let arrived = self.reader.arrive(tenant, request);
        let mut answer = self.look(arrived, before.to, now, Look::Show);
        let (Outgoing::AsItCame(sent) | Outgoing::View(_, sent)) = &mut answer.send else {
            return None;
        };
        sent.retry_of = Some(before.epoch);
        let is_smaller =
            sent.bytes < before.bytes && sent.estimate.total.tokens < before.estimate.total.tokens;
        is_smaller.then_some(answer)
    }
}
