//! Hooks are asked before anything else is, and what they want is heeded.

use std::sync::Arc;

use super::planning::{Planning, Purpose};
use super::prepare::Prepared;
use super::{REASON, Reply, Run, State, Step};
use crate::events::Event;
use crate::guard::Pin;
use crate::hook::{Hook, Proposal, Question, Wish};
use crate::plan::{Plan, Reached};
use crate::summarize::{CallResult, SummarizeError, Summary, SummaryCall};
use crate::text::cut;

/// A hook is asked, and sees a plan.
#[derive(Debug)]
pub(super) struct HookCall {
    prepared: Box<Prepared>,
    plan: Plan,
    by: Arc<dyn Hook>,
    /// Its place in the chain.
    at: usize,
    reply: Reply<Result<Wish, SummarizeError>>,
}

/// The summary that a hook gave.
#[derive(Debug)]
pub(super) struct HookSummary {
    pub(super) by: String,
    pub(super) summary: Summary,
    /// Whether its call is booked: it is, once, however often it is tried.
    pub(super) is_booked: bool,
}

impl HookCall {
    /// Asks the hook at this place in the chain, which sees a plan; behind the last one the compaction goes on.
    pub(super) fn begin(
        prepared: Box<Prepared>,
        seen: Option<Plan>,
        at: usize,
        run: &mut Run,
    ) -> State {
        let by = run.compactor.hooks().and_then(|hooks| hooks.chain.get(at));
        match (by.map(Arc::clone), seen) {
            (Some(by), Some(plan)) => {
                let reply = Reply::Unasked;
                State::HookCall(Box::new(HookCall { prepared, plan, by, at, reply }))
            }
            (Some(_), None) => Planning::begin(prepared, Purpose::Hook(at), run),
            (None, seen) => prepared.compact(seen, run),
        }
    }

    pub(super) fn answer(&mut self, answer: Result<Wish, SummarizeError>) {
        self.reply = Reply::Given(answer);
    }

    /// Asks, waits, or uses the answers.
    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> (State, Step) {
        let answer = match std::mem::replace(&mut self.reply, Reply::Awaited) {
            Reply::Unasked => {
                let by = Arc::clone(&self.by);
                let question = Question { by, proposal: Arc::new(self.proposal(run)) };
                return (State::HookCall(self), Step::Hook(question));
            }
            Reply::Awaited => return (State::HookCall(self), Step::Wait),
            Reply::Given(answer) => answer,
        };
        let HookCall { mut prepared, plan, by, at, .. } = *self;
        let state = match answer {
            Ok(Wish { veto: Some(why), unread, summary, metadata, .. }) => {
                note_unread(by.name(), &unread, run);
                run.log.note(by.name(), metadata);
                prepared.give(by.name(), summary, run);
                let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
                let why = cut::one_line(why, REASON);
                run.log.tell(&Event::Vetoed { by: by.name().to_owned(), why: why.clone() });
                run.log.fallbacks.push(format!("{} vetoed: {why}", by.name()));
                prepared.pass(Reached::Declined, run)
            }
            Ok(wish) => {
                let is_pinned = prepared.heed(by.name(), wish, run);
                if is_pinned {
                    prepared.guard_again(&run.compactor);
                }
                Self::begin(prepared, (!is_pinned).then_some(plan), at + 1, run)
            }
            Err(error) => {
                let why = cut::one_line(&error.to_string(), REASON);
                run.log.tell(&Event::HookFailed { by: by.name().to_owned(), why: why.clone() });
                run.log.fallbacks.push(format!("{} wasn't heeded: {why}", by.name()));
                Self::begin(prepared, Some(plan), at + 1, run)
            }
        };
        (state, Step::Yield)
    }

    fn proposal(&self, run: &Run) -> Proposal {
        let Prepared { base, tally, target, .. } = self.prepared.as_ref();
        Proposal {
            request: base.request.clone(),
            tokens: tally.total().tokens,
            target: *target,
            cause: run.compactor.cause().cloned(),
            folds: self.plan.folded().collect(),
            about: run.compactor.context().clone(),
        }
    }
}

impl Prepared {
    /// Takes a hook's summary, if it gives one, in place of an earlier hook's.
    fn give(&mut self, by: &str, summary: Option<Summary>, run: &mut Run) {
        let Some(mut summary) = summary else { return };
        run.log.note(by, std::mem::take(&mut summary.metadata));
        self.book_given("another hook gave one", run);
        self.given = Some(HookSummary { by: by.to_owned(), summary, is_booked: false });
    }

    /// Records that a hook's summary wasn't tried, for this reason.
    pub(super) fn book_given(&mut self, why: &str, run: &mut Run) {
        let Some(given) = self.given.as_mut().filter(|given| !given.is_booked) else { return };
        given.is_booked = true;
        let (by, spent) = (given.by.clone(), std::mem::take(&mut given.summary.spent));
        let why = Some(format!("its summary isn't used: {why}"));
        run.log.book(SummaryCall { by, result: CallResult::Rejected, why, spent });
    }

    /// Applies a hook's wishes; returns whether it pinned something.
    fn heed(&mut self, by: &str, wish: Wish, run: &mut Run) -> bool {
        let Wish { veto: _, summary, instructions, pins, unread, metadata } = wish;
        note_unread(by, &unread, run);
        run.log.note(by, metadata);
        self.give(by, summary, run);
        let instructions = instructions.iter().filter(|wish| !wish.trim().is_empty());
        let instructions: Vec<String> =
            instructions.map(|wish| cut::one_line(wish, REASON)).collect();
        if !instructions.is_empty() {
            run.compactor = run.compactor.clone().with_instructions(&instructions);
        }
        let came = |pin| match pin {
            // Options speak of messages as they came.
            Pin::Entry(at) => self.base.came_from.get(at).copied().flatten().map(Pin::Entry),
            text @ Pin::Text(_) => Some(text),
        };
        let (all, pins) = (pins.len(), pins.into_iter().filter_map(came).collect::<Vec<_>>());
        if pins.len() < all {
            run.log.fallbacks.push(format!("{by}: it pins messages that aren't there"));
        }
        let mut is_pinned = false;
        // A bad one costs no good one.
        for pin in pins {
            match run.compactor.clone().with_pins(vec![pin]) {
                Ok(pinned) => (run.compactor, is_pinned) = (pinned, true),
                Err(error) => run.log.fallbacks.push(format!("{by}: {error}")),
            }
        }
        is_pinned
    }
}

fn note_unread(by: &str, unread: &[String], run: &mut Run) {
    let unread = unread.iter().map(|why| format!("{by}: {}", cut::one_line(why, REASON)));
    run.log.fallbacks.extend(unread);
}
