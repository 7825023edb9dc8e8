//! How compactions come back: adopted if nothing overtook them, by compare and swap.

use std::time::Duration;

use super::breaker::Stuck;
use super::epoch::Epoch;
use super::line::{Late, Line, Urgency};
use super::{Begun, Chain, SessionId, Sessions, Subject, Ticket};
use crate::budget::Target;
use crate::count::FrameTally;
use crate::engine::{CompactError, Outcome};
use crate::model::Binding;
use crate::plan::Reached;
use crate::request::Request;
use crate::trigger::Cause;
use crate::wire;

/// What became of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Its view is in force, in a new epoch.
    Adopted {
        /// The epoch's number.
        epoch: u32,
    },
    /// Another one was faster, or it came too late: the view in force stays.
    Overtaken,
    /// Its view isn't worth the rewrite, or can't be shown any more: the view in force stays.
    Refused {
        /// Why.
        cause: Refusal,
    },
    /// It failed: the view in force stays.
    Failed,
}

/// Why a finished compaction isn't adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It saves too little.
    NoGain,
    /// Reasoning that came in meanwhile is bound to the old prompt and can't be stripped inside its
    /// loop.
    BoundMeanwhile,
}

impl Sessions {
    /// Brings back a compaction that [`Sessions::observe`] or [`Sessions::overflowed`] began.
    pub fn commit(
        &mut self,
        session: SessionId,
        ticket: Ticket,
        outcome: Result<&Outcome, &CompactError>,
        now: Duration,
    ) -> Committed {
        let Some(line) = self.lines.get_mut(&session) else { return Committed::Overtaken };
        let Some(flight) = line.flight.take_if(|flight| flight.ticket == ticket) else {
            return Committed::Overtaken;
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(CompactError::Cancelled) => return Committed::Failed,
            Err(error) => {
                line.breaker.failed(now, self.options.cooldown, error.to_string());
                return Committed::Failed;
            }
        };
        if line.epoch().number != flight.epoch {
            return Committed::Overtaken;
        }
        let receipt = &outcome.receipt;
        let (before, after) = (receipt.before.count.tokens, receipt.after.count.tokens);
        let shown = before.saturating_sub(line.epoch().spared);
        let least = match flight.urgency {
            Urgency::Economy => ((shown as f64) * self.options.least_gain) as u64,
            Urgency::Must => 0,
        };
        if after >= shown.saturating_sub(least) {
            line.breaker.stop(Stuck::NoGain, flight.is);
            return Committed::Refused { cause: Refusal::NoGain };
        }
        let chain = Chain::of(&outcome.base, &line.tenant, self.options.key);
        let mut epoch = Epoch::of(&outcome.view, &outcome.base, &chain);
        epoch.number = flight.epoch + 1;
        epoch.spared = before - after;
        epoch.checkpoint = receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id);
        if epoch.binding == Binding::PrefixManual && flight.late.iter().any(Late::reasons) {
            return Committed::Refused { cause: Refusal::BoundMeanwhile };
        }
        for (nth, late) in flight.late.iter().enumerate() {
            epoch.take_late(chain.len() + nth, late);
        }
        self.checkpoints.extend(epoch.checkpoint);
        line.floor = matches!(receipt.reached, Reached::Unreachable { .. } | Reached::Short)
            .then_some(after);
        line.breaker.succeeded();
        line.requests = 0;
        line.epochs.push(epoch);
        Committed::Adopted { epoch: flight.epoch + 1 }
    }

    /// The provider refused what was sent as too long: learns its window and begins a compaction to
    /// something strictly smaller. Once for a request; `None` if that was tried, or nothing smaller
    /// is known.
    pub fn overflowed(
        &mut self,
        tenant: &str,
        request: &Request,
        told: Told,
        now: Duration,
    ) -> Option<(SessionId, Box<Begun>)> {
        let base = wire::repair(request).request;
        let chain = Chain::of(&base, tenant, self.options.key);
        let id = *self.by_prefix.get(chain.ids().last()?)?;
        let line = self.lines.get_mut(&id)?;
        let sent = line.sent.as_mut()?;
        if std::mem::replace(&mut sent.retried, true) {
            return None;
        }
        let sent = *sent;
        line.learnt = told.limit.or(line.learnt);
        if let (Some(used), true) = (told.used, sent.tokens > 0) {
            line.correct(used, sent.tokens);
        }
        // What was in flight was made for a window that isn't there.
        line.flight = None;
        let limit = told.limit.unwrap_or(u64::MAX);
        let most = (sent.tokens * 9 / 10).min(line.in_own_tokens(limit * 9 / 10)).max(1);
        let target = match self.options.landing.target(line.learnt) {
            Target::Tokens(target) => Target::Tokens(line.in_own_tokens(target).min(most)),
            Target::Percent(_) => Target::Tokens(most),
        };
        let window = line.learnt;
        let frame = FrameTally::of(&base, self.compactor.counter()).total().tokens;
        let subject = Subject { id, base: &base, counted: sent.tokens, frame, now };
        let cause = Cause::Overflow { window: told.limit };
        let begun = self.begin(&subject, cause, target, window);
        Some((id, Box::new(begun)))
    }
}

/// What the provider's refusal said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Tokens of the prompt.
    pub used: Option<u64>,
    /// Tokens of the window.
    pub limit: Option<u64>,
}

impl Line {
    /// Takes the provider's count of what was counted as `counted`.
    pub(super) fn correct(&mut self, reported: u64, counted: u64) {
        // Beyond these bounds something else was reported.
        self.correction = Some((reported * 1000 / counted.max(1)).clamp(300, 3000));
    }

    /// The provider's tokens in those of the counter that decides.
    pub(super) fn in_own_tokens(&self, reported: u64) -> u64 {
        match self.correction {
            Some(permille) => u64::try_from(u128::from(reported) * 1000 / u128::from(permille))
                .unwrap_or(u64::MAX),
            None => reported,
        }
    }
}
