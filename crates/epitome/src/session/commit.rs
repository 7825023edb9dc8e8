//! How compactions come back: adopted if nothing overtook them, by compare and swap.

use std::time::Duration;

use super::breaker::StallReason;
use super::conversation::{Flight, Urgency};
use super::epoch::{Epoch, notes_left_out};
use super::late_reply::Late;
use super::{Chain, SessionId, Sessions, Ticket};
use crate::engine::{CompactError, Outcome};
use crate::plan::Reached;

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
    /// A participant declined. The next request is decided from the start.
    Declined,
}

/// The outcome of a compaction that a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// It isn't back yet.
    UnderWay,
    /// It came back, adopted or not: [`Sessions::show`] tells what to send.
    Back,
    /// It was cancelled, took too long, or was replaced: [`Sessions::observe`] decides again.
    GivenUp,
}

impl Sessions {
    /// The outcome, by `now`, of the compaction under `ticket` that a request of a conversation waits for.
    pub fn awaited(&self, session: SessionId, ticket: Ticket, now: Duration) -> Awaited {
        let Some(line) = self.lines.get(&session) else { return Awaited::GivenUp };
        match &line.flight {
            Some(flight) if flight.ticket == ticket && !self.is_overdue(flight, now) => {
                Awaited::UnderWay
            }
            _ if line.back >= Some(ticket) => Awaited::Back,
            _ => Awaited::GivenUp,
        }
    }

    /// Whether a compaction has taken too long to wait for.
    pub(super) fn is_overdue(&self, flight: &Flight, now: Duration) -> bool {
        now.saturating_sub(flight.since) > self.options.patience
    }

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
        if !matches!(outcome, Err(CompactError::Cancelled)) {
            line.back = Some(ticket);
        }
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(CompactError::Cancelled) => return Committed::Failed,
            Err(error) => {
                line.breaker.failed(now, self.options.cooldown, error.to_string());
                return Committed::Failed;
            }
        };
        line.breaker.succeeded();
        if line.epoch().number != flight.epoch {
            return Committed::Overtaken;
        }
        let receipt = &outcome.receipt;
        if receipt.reached == Reached::Declined {
            return Committed::Refused { cause: Refusal::Declined };
        }
        let (before, after) = (receipt.before.count.tokens, receipt.after.count.tokens);
        let shown = before.saturating_sub(line.epoch().spared);
        let least = match flight.urgency {
            Urgency::Economy => ((shown as f64) * self.options.least_gain) as u64,
            Urgency::Must => 0,
        };
        if after >= shown.saturating_sub(least) {
            line.breaker.stop(StallReason::NoGain, flight.is);
            return Committed::Refused { cause: Refusal::NoGain };
        }
        let chain = Chain::of(&outcome.base, &line.tenant, self.options.key);
        let mut epoch = Epoch::of(&outcome.view, &outcome.base, &chain);
        epoch.number = flight.epoch + 1;
        let counter = self.compactor.counter();
        let notes = notes_left_out(&outcome.view, &outcome.base, &chain, counter);
        epoch.spared = (before - after).saturating_sub(notes);
        epoch.checkpoint = receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id);
        // The model may be another one by now than it was made for.
        let now_shown_for = line.shown_for.map_or(epoch.binding, |(binding, _)| binding);
        let is_manual = epoch.binding.is_manual_with(now_shown_for);
        if is_manual && flight.late.iter().any(Late::reasons) {
            return Committed::Refused { cause: Refusal::BoundMeanwhile };
        }
        for (nth, late) in flight.late.iter().enumerate() {
            epoch.take_late(chain.len() + nth, late);
        }
        epoch.carry(line.epoch(), |text| counter.text(text).tokens);
        let cleared = line.cleared_since(&chain);
        epoch.forget_edits(&cleared);
        line.is_cleared |= !cleared.is_empty();
        line.floor = matches!(receipt.reached, Reached::Unreachable { .. } | Reached::Short)
            .then_some(after);
        line.requests = 0;
        if now_shown_for != epoch.binding {
            line.shown_for = None;
        }
        line.enter(epoch);
        Committed::Adopted { epoch: flight.epoch + 1 }
    }
}
