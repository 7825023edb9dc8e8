//! A compaction by a whole compactor, before the engine plans one itself.

use std::sync::Arc;

use super::extract::{Extraction, SummaryFrom};
use super::planning::Planned;
use super::prepare::Prepared;
use super::{CompactError, REASON, Reply, Run, State, Step};
use crate::delegate::{Compact, Decision, Delegation, Job, JobContext, ProposedView, Skip};
use crate::events::Event;
use crate::plan::Reached;
use crate::summarize::{
    CallResult, End, OnFailure, Spent, SummarizeError, SummaryCall, SummarySource,
};
use crate::text::cut;
use crate::trigger::Cause;

/// A whole compactor is asked.
#[derive(Debug)]
pub(super) struct CompactorCall {
    prepared: Box<Prepared>,
    by: Arc<dyn Compact>,
    /// Its place in the chain.
    at: usize,
    reply: Reply<Result<Decision, SummarizeError>>,
}

impl Prepared {
    /// Asks the compactor at this place in the chain.
    ///
    /// # Errors
    /// No compactor is asked.
    pub(super) fn call_compactor(
        self: Box<Self>,
        at: usize,
        run: &mut Run,
    ) -> Result<State, Box<Self>> {
        let is_always = run.compactor.cause().is_some_and(Cause::is_remote)
            && !self.base.request.transcript.is_empty();
        let next = run.compactor.compactors().and_then(|all| all.chain.get(at));
        let Some(by) = next.filter(|_| is_always || self.is_due(run)).map(Arc::clone) else {
            return Err(self);
        };
        run.log.started(&self.base.request, &run.compactor);
        run.log.tell(&Event::CompactorCalled { by: by.name().to_owned() });
        let call = CompactorCall { prepared: self, by, at, reply: Reply::Unasked };
        Ok(State::CompactorCall(Box::new(call)))
    }

    /// On to the next in the chain, or to the fallback.
    pub(super) fn without_compactor(
        self: Box<Self>,
        by: &dyn Compact,
        at: usize,
        why: &str,
        run: &mut Run,
    ) -> State {
        by.settled(End::GaveUp);
        let why = cut::one_line(why, REASON);
        let event = Event::CompactorFellBack { by: by.name().to_owned(), why: why.clone() };
        let why = format!("{}: {why}", by.name());
        run.log.fell_back(&event, why.clone());
        // Spent money stays recorded.
        run.log.shows_summary(None, 0);
        let prepared = match self.call_compactor(at + 1, run) {
            Ok(state) => return state,
            Err(prepared) => prepared,
        };
        match run.compactor.compactors().map(|all| all.on_failure).unwrap_or_default() {
            OnFailure::Extractive => prepared.compact_alone(None, run),
            OnFailure::Skip => prepared.pass(Reached::Declined, run),
            OnFailure::Error => {
                let spent = run.log.spent();
                State::Failed(CompactError::Delegated { why, spent })
            }
        }
    }
}

impl CompactorCall {
    pub(super) fn answer(&mut self, answer: Result<Decision, SummarizeError>) {
        self.reply = Reply::Given(answer);
    }

    /// Asks, waits, or uses the answers.
    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> (State, Step) {
        let answer = match std::mem::replace(&mut self.reply, Reply::Awaited) {
            Reply::Unasked => {
                let (by, job) = (Arc::clone(&self.by), Arc::new(self.prepared.job(run)));
                return (State::CompactorCall(self), Step::Delegate(Delegation { by, job }));
            }
            Reply::Awaited => return (State::CompactorCall(self), Step::Wait),
            Reply::Given(answer) => answer,
        };
        let CompactorCall { prepared, by, at, .. } = *self;
        let name = by.name();
        let state = match answer {
            Err(error) => {
                let why = error.to_string();
                book_unused(name, &why, error.spent, run);
                prepared.without_compactor(by.as_ref(), at, &why, run)
            }
            Ok(Decision::Skip(Skip { why, spent, metadata })) => {
                run.log.note(name, metadata);
                by.settled(End::Admitted);
                let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
                book_unused(name, &format!("skipped: {why}"), spent, run);
                run.log.fallbacks.push(format!("{name} skipped: {}", cut::one_line(why, REASON)));
                // A request that is small enough may well be left alone.
                if prepared.is_small() {
                    prepared.leave(run)
                } else {
                    prepared.pass(Reached::Declined, run)
                }
            }
            Ok(Decision::Compacted(compacted)) => prepared.take(&by, at, compacted, run),
        };
        (state, Step::Yield)
    }
}

impl Prepared {
    fn job(&self, run: &Run) -> Job {
        let cause = run.compactor.cause();
        let mut about = run.compactor.context().clone();
        let own = run.compactor.compactors().map(|all| all.instructions.as_slice());
        about.instructions.splice(0..0, own.unwrap_or_default().iter().cloned());
        Job {
            request: self.base.request.clone(),
            tokens: self.tally.total().tokens,
            target: self.target,
            entries: self.input(run).known(),
            reason: cause.map(|cause| cut::one_line(&cause.to_string(), REASON)),
            about: with_wishes(about, cause),
        }
    }

    /// Another compactor's view, if it obeys the laws.
    fn take(
        self: Box<Self>,
        by: &Arc<dyn Compact>,
        at: usize,
        compacted: ProposedView,
        run: &mut Run,
    ) -> State {
        let name = by.name();
        let ProposedView { fates, summary, spent, metadata } = compacted;
        run.log.note(name, metadata);
        let plan = match self.input(run).proposed(name, &fates) {
            Ok(plan) => plan,
            Err(breach) => {
                let mut spent = spent;
                spent += summary.map(|summary| summary.spent).unwrap_or_default();
                book_unused(name, &breach, spent, run);
                return self.without_compactor(by.as_ref(), at, &breach, run);
            }
        };
        run.log.applied(&plan.steps, &self.base.request, &run.compactor);
        let from = match (summary, self.given.is_some()) {
            (Some(mut summary), false) => {
                summary.spent += spent;
                SummaryFrom::Compactor {
                    by: Arc::clone(by),
                    at,
                    summary,
                    folded: SummarySource::default(),
                }
            }
            (Some(summary), true) => {
                let mut spent = spent;
                spent += summary.spent;
                book_unused(name, "there is a summary by a hook", spent, run);
                SummaryFrom::hook()
            }
            (None, is_given) => {
                if spent != Spent::default() {
                    let (by, result) = (name.to_owned(), CallResult::Admitted);
                    run.log.book(SummaryCall { by, result, why: None, spent });
                }
                if is_given { SummaryFrom::hook() } else { SummaryFrom::Nobody }
            }
        };
        Extraction::begin(self, plan, Planned::Elsewhere(Arc::clone(by), at), from, run)
    }
}

/// Records the cost of unused answers.
fn book_unused(by: &str, why: &str, spent: Spent, run: &mut Run) {
    if spent != Spent::default() {
        let (by, why) = (by.to_owned(), Some(cut::one_line(why, REASON)));
        run.log.book(SummaryCall { by, result: CallResult::Failed, why, spent });
    }
}

/// With the wishes of those who asked for the compaction, and why it is made.
fn with_wishes(about: JobContext, cause: Option<&Cause>) -> JobContext {
    let Some(cause) = cause else { return about };
    let mut instructions = about.instructions;
    instructions.push(format!("It is made because: {}", cut::one_line(&cause.to_string(), REASON)));
    for demand in cause.demands() {
        let wishes = demand.focus.iter().chain([&demand.reason]);
        let said = wishes.filter(|wish| !wish.trim().is_empty());
        instructions.extend(said.map(|wish| cut::one_line(wish, REASON)));
    }
    JobContext { instructions, ..about }
}
