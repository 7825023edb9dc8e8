//! A request settled in one go, for drivers that have nothing to wait for.

use std::time::Duration;

use super::{
    Begun, Committed, Handling, Outgoing, Recipient, Retry, Sent, SessionId, Sessions, StallReason,
};
use crate::engine::{CompactError, Outcome};
use crate::model::overflow::PromptOverflow;
use crate::receipt::Stats;
use crate::request::Request;
use crate::trigger::Cause;

/// What to send of a request, and how it came to that.
#[derive(Debug)]
pub struct Settled {
    /// The conversation that it belongs to.
    pub session: SessionId,
    /// What to send; `None` if the request is sent byte for byte as it came.
    pub view: Option<Box<Request>>,
    /// What [`Sessions::reported`] and [`Sessions::resettle`] want back.
    pub sent: Sent,
    /// Statistics of the request as it came and as it is sent, with the reason. `triggered` says that a compaction was
    /// run and adopted.
    pub stats: Stats,
    /// Entries shortened on arrival.
    pub taken_in: usize,
    /// The compaction that was run for it.
    pub compacted: Option<RunCompaction>,
    /// Why nothing is compacted although a trigger fires; told once.
    pub stall: Option<StallReason>,
}

impl Settled {
    /// The bytes to send for `request`.
    pub fn rendered<'a>(&'a self, request: &'a Request) -> &'a str {
        self.view.as_deref().unwrap_or(request).source()
    }
}

/// A compaction that was run.
#[derive(Debug)]
pub struct RunCompaction {
    /// Why.
    pub cause: Cause,
    /// How it ended.
    pub outcome: Result<Box<Outcome>, CompactError>,
    /// Its outcome.
    pub committed: Committed,
}

impl Sessions {
    /// Decides about a request, running the necessary compaction at once. A compaction in the background is run too,
    /// and shows from the next request on.
    ///
    /// The caller, who has the history, holds the originals.
    pub fn settle(
        &mut self,
        tenant: &str,
        request: &Request,
        to: impl Into<Recipient>,
        now: Duration,
    ) -> Settled {
        let to = to.into();
        let mut answer = self.observe(tenant, request, to.clone(), now);
        let (stall, taken_in, begun) = (answer.stall, answer.taken_in, answer.begun.take());
        let reason = std::mem::take(&mut answer.stats.reason);
        let compacted = begun.map(|begun| self.run(answer.session, *begun, now));
        if matches!(answer.send, Outgoing::After(_)) {
            answer = self.show(tenant, request, to, now);
        }
        Settled { taken_in, stall, ..settled(answer, compacted, reason) }
    }

    /// After the provider refused a request as too long: something strictly smaller, once for each request; `None` if
    /// that was tried, or nothing smaller is possible.
    pub fn resettle(
        &mut self,
        tenant: &str,
        request: &Request,
        sent: Sent,
        told: &PromptOverflow,
        now: Duration,
    ) -> Option<Settled> {
        let Retry { session, begun, refused } =
            self.overflowed(tenant, request, sent, told, now)?;
        let compacted = self.run(session, *begun, now);
        let answer = self.retry(tenant, request, refused, now)?;
        let reason = compacted.cause.to_string();
        Some(settled(answer, Some(compacted), reason))
    }

    fn run(&mut self, session: SessionId, begun: Begun, now: Duration) -> RunCompaction {
        let outcome = begun.compaction.finish();
        let brought = outcome.as_ref().map(|outcome| &**outcome);
        let committed = self.commit(session, begun.ticket, brought, now);
        RunCompaction { cause: begun.cause, outcome, committed }
    }
}

fn settled(answer: Handling, compacted: Option<RunCompaction>, reason: String) -> Settled {
    let (view, sent) = match answer.send {
        Outgoing::View(view, sent) => (Some(view), sent),
        Outgoing::AsItCame(sent) => (None, sent),
        Outgoing::After(_) => unreachable!("what is only shown waits for nothing"),
    };
    let is_adopted = |ran: &RunCompaction| matches!(ran.committed, Committed::Adopted { .. });
    let triggered = compacted.as_ref().is_some_and(is_adopted);
    Settled {
        session: answer.session,
        view,
        sent,
        stats: Stats { triggered, reason, ..answer.stats },
        taken_in: answer.taken_in,
        compacted,
        stall: answer.stall,
    }
}
