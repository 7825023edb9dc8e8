//! How compactions come back: adopted if nothing overtook them, by compare and swap.

use std::time::Duration;

use super::breaker::{Circumstances, Stuck};
use super::epoch::Epoch;
use super::late::Late;
use super::line::Urgency;
use super::{Begun, Chain, SessionId, Sessions, Subject, Ticket};
use crate::count::FrameTally;
use crate::engine::{CompactError, Outcome};
use crate::model::Binding;
use crate::model::overflow::Overflow;
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
        let counter = self.compactor.counter();
        epoch.carry(line.epoch(), |text| counter.text(text).tokens);
        self.checkpoints.extend(epoch.checkpoint);
        line.floor = matches!(receipt.reached, Reached::Unreachable { .. } | Reached::Short)
            .then_some(after);
        line.breaker.succeeded();
        line.requests = 0;
        line.enter(epoch);
        Committed::Adopted { epoch: flight.epoch + 1 }
    }

    /// The provider refused what was sent as too long: learns its model's window and begins a compaction to
    /// something strictly smaller. Once for a request; `None` if that was tried, or nothing smaller
    /// is known.
    pub fn overflowed(
        &mut self,
        tenant: &str,
        request: &Request,
        told: &Overflow,
        now: Duration,
    ) -> Option<(SessionId, Box<Begun>)> {
        let base = wire::repair(request).request;
        let chain = Chain::of(&base, tenant, self.options.key);
        let id = *self.by_prefix.get(chain.ids().last()?)?;
        let counter = self.compactor.counter();
        let line = self.lines.get_mut(&id)?;
        let sent = line.sent.as_mut()?;
        if std::mem::replace(&mut sent.retried, true) {
            return None;
        }
        let (own, model, known) = (sent.glimpse.total.tokens, sent.model.clone(), sent.to.window);
        self.experience.learnt.refused(&model, told, Some(sent.tokens));
        let (used, limit) = told.tokens().unwrap_or_default();
        if let Some(used) = used {
            line.learn(&mut self.experience, counter.name(), used);
        }
        // What was in flight was made for a window that isn't there.
        line.flight = None;
        let frame = FrameTally::of(&base, counter).total().tokens;
        let window = self.experience.window(&model, known);
        // Above the window the last one landed too: nothing smaller can be had until something changes.
        let most = limit.or(window).map(|window| self.experience.counted(&model, window));
        let is = Circumstances { tokens: own, window, frame };
        let is_hopeless = line.floor.zip(most).is_some_and(|(floor, most)| floor > most);
        if is_hopeless && !line.breaker.has_changed(is) {
            return None;
        }
        let subject = Subject { id, base: &base, model: &model, counted: own, frame, now };
        let target = self.landing(&subject, window);
        let target = self.within(&subject, limit.or(window).unwrap_or(u64::MAX), target);
        let cause = Cause::Overflow { window: limit };
        let begun = self.begin(&subject, cause, target, window, Urgency::Must);
        Some((id, Box::new(begun)))
    }
}
