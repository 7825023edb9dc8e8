//! A compaction that somebody else is asked for as a whole, before the engine plans one itself.

use std::sync::Arc;

use super::{Attempt, CompactError, Compaction, Outcome, State, Step};
use crate::checkpoint::{Gathered, summary_room};
use crate::count::Tally;
use crate::delegate::{Compact, Decision, Delegation, Job, JobContext, ProposedView, Skip};
use crate::events::Event;
use crate::plan::Plan;
use crate::summarize::admit::Door;
use crate::summarize::{
    CallResult, End, OnFailure, Spent, SummarizeError, Summary, SummaryCall, SummaryReceipt,
    SummarySource,
};
use crate::text::cut;
use crate::transcript::unit::Units;
use crate::trigger::Cause;

/// Characters of a reason or a breach.
const REASON: usize = 400;

/// Somebody is asked.
#[derive(Debug)]
pub(super) struct Delegating {
    tally: Tally,
    by: Arc<dyn Compact>,
    job: Arc<Job>,
    is_out: bool,
    pub(super) answer: Option<Result<Decision, SummarizeError>>,
}

/// A summary that came without being asked for: with a whole compaction, or from a hook.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) by: String,
    pub(super) summary: Summary,
    /// What it may speak of besides what is folded: a hook's of all that was said.
    pub(super) said: Option<SummarySource>,
}

impl Compaction {
    /// Who is to be asked before anything is planned here, if anybody is.
    pub(super) fn next_compactor(&self, tally: &Tally) -> Option<Arc<dyn Compact>> {
        let next = self.compactor.compactors()?.chain.get(self.delegated);
        let is_always = self.compactor.cause().is_some_and(Cause::is_remote)
            && self.attempt == Attempt::Asked
            && !self.request.transcript.is_empty();
        next.filter(|_| is_always || self.is_due(tally)).map(Arc::clone)
    }

    pub(super) fn delegate(&mut self, tally: Tally, by: Arc<dyn Compact>) -> State {
        let target = self.target(&tally);
        self.tell_considered(&tally);
        self.tell_started();
        self.delegated += 1;
        self.tell(&Event::CompactorCalled { by: by.name().to_owned() });
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let found = self.found();
        let guard = self.guard(&tally, &units);
        let about = self.compactor.compactors().map(|all| all.about.clone()).unwrap_or_default();
        let job = Job {
            request: self.request.clone(),
            tokens: tally.total().tokens,
            target,
            entries: self.subject(&tally, (&units, &guard), &found).known(),
            about: wished(about, self.compactor.cause()),
        };
        let job = Arc::new(job);
        State::Delegate(Box::new(Delegating { tally, by, job, is_out: false, answer: None }))
    }

    /// Asks, or goes on with what came back.
    pub(super) fn delegated(&mut self, mut asked: Box<Delegating>) -> Result<State, Step> {
        let Some(answer) = asked.answer.take() else {
            let delegation = Delegation { by: Arc::clone(&asked.by), job: Arc::clone(&asked.job) };
            let was_out = std::mem::replace(&mut asked.is_out, true);
            self.state = State::Delegate(asked);
            return Err(if was_out { Step::Wait } else { Step::Delegate(delegation) });
        };
        let Delegating { tally, by: asked, .. } = *asked;
        let by = asked.name();
        Ok(match answer {
            Err(error) => {
                self.book_unused(by, &error.to_string(), error.spent);
                self.try_without(tally, by, &error.to_string())
            }
            Ok(Decision::Skip(Skip { why, spent })) => {
                asked.settled(End::Admitted);
                let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
                self.book_unused(by, &format!("skipped: {why}"), spent);
                self.fallbacks.push(format!("{by} skipped: {}", cut::one_line(why, REASON)));
                // What is small enough is left with good reason.
                let is_small = tally.total().tokens <= self.target(&tally);
                self.attempt = if is_small { Attempt::Nothing } else { Attempt::Declined };
                State::Plan(tally)
            }
            Ok(Decision::Compacted(compacted)) => self.take(tally, by, compacted),
        })
    }

    /// What somebody else decided, if it obeys the laws.
    fn take(&mut self, tally: Tally, by: &str, compacted: ProposedView) -> State {
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let found = self.found();
        let guard = self.guard(&tally, &units);
        let plan =
            match self.subject(&tally, (&units, &guard), &found).proposed(by, &compacted.fates) {
                Ok(plan) => plan,
                Err(breach) => {
                    let mut spent = compacted.spent;
                    spent += compacted.summary.map(|summary| summary.spent).unwrap_or_default();
                    self.book_unused(by, &breach, spent);
                    return self.try_without(tally, by, &breach);
                }
            };
        self.note(&guard);
        self.attempt = Attempt::Delegated;
        let mut summary = compacted.summary;
        match &mut summary {
            Some(summary) => summary.spent += compacted.spent,
            None if compacted.spent == Spent::default() => {}
            None => {
                let (by, result) = (by.to_owned(), CallResult::Admitted);
                self.book(SummaryCall { by, result, why: None, spent: compacted.spent });
            }
        }
        let theirs = |summary| Given { by: by.to_owned(), summary, said: None };
        let given = match (self.given.clone(), summary) {
            (Some(given), theirs) => {
                let unused = theirs.map(|summary| summary.spent).unwrap_or_default();
                self.book_unused(by, "there is a summary by a hook", unused);
                Some(given)
            }
            (None, summary) => summary.map(theirs),
        };
        let source = given.is_some().then(SummarySource::default);
        self.gathering((tally, units, plan), source, given)
    }

    /// Puts a given summary into the checkpoint.
    pub(super) fn seat(
        &mut self,
        tally: Tally,
        plan: Plan,
        gathered: Gathered,
        source: SummarySource,
        given: Given,
    ) -> State {
        let Given { by, summary: Summary { text, spent }, said } = given;
        let is_theirs = said.is_none();
        let counter = self.compactor.counter();
        let Some(room) = summary_room(plan.checkpoint, &gathered, counter) else {
            let why = "there is no room for its summary";
            self.fallbacks.push(format!("{by}: {why}"));
            let (result, why) = (CallResult::Rejected, Some(why.to_owned()));
            self.book(SummaryCall { by, result, why, spent });
            let checkpoint = self.written(&plan, &gathered, None);
            return self.fill(tally, plan, Some(checkpoint));
        };
        let folded = (0..self.request.transcript.len()).filter(|at| plan.draft.is_folded(*at));
        let replaced = folded.map(|at| tally.entry(at)).sum();
        let known = said.unwrap_or_else(|| source.clone());
        let known = known.around(&self.request.transcript, String::new());
        let admitted = Door::new(&known, Vec::new(), replaced, room).admit(&text, counter);
        let mut call =
            SummaryCall { by: by.clone(), result: CallResult::Admitted, why: None, spent };
        let text = match admitted {
            Ok(text) => text,
            Err(fault) => {
                let why = format!("its summary: {fault}");
                (call.result, call.why) = (CallResult::Rejected, Some(fault.to_string()));
                self.book(call);
                self.tell(&Event::SummarizerRejected { by: by.clone(), fault });
                if is_theirs {
                    return self.try_without(tally, &by, &why);
                }
                self.fallbacks.push(format!("{by}: {why}"));
                let is_asked =
                    self.attempt == Attempt::Asked && self.compactor.summaries().is_some();
                return if is_asked {
                    self.begin_summing(tally, plan, gathered, source)
                } else {
                    let checkpoint = self.written(&plan, &gathered, None);
                    self.fill(tally, plan, Some(checkpoint))
                };
            }
        };
        let tokens = counter.text(&text).tokens;
        let checkpoint = self.written(&plan, &gathered, Some(&text));
        let receipt = self.book(call);
        receipt.by = Some(by);
        receipt.tokens = tokens;
        self.fill(tally, plan, Some(checkpoint))
    }

    /// Books what was paid for nothing.
    fn book_unused(&mut self, by: &str, why: &str, spent: Spent) {
        if spent != Spent::default() {
            let (by, why) = (by.to_owned(), Some(cut::one_line(why, REASON)));
            self.book(SummaryCall { by, result: CallResult::Failed, why, spent });
        }
    }

    /// Books a call, in the order of calls.
    fn book(&mut self, call: SummaryCall) -> &mut SummaryReceipt {
        let receipt = self.summary.get_or_insert_default();
        receipt.spent += call.spent;
        receipt.calls.push(call);
        receipt
    }

    /// On to the next in the chain, or to what is to happen without one.
    pub(super) fn try_without(&mut self, tally: Tally, by: &str, why: &str) -> State {
        if let Some(last) = self.last_asked() {
            last.settled(End::GaveUp);
        }
        let why = cut::one_line(why, REASON);
        self.tell(&Event::CompactorFellBack { by: by.to_owned(), why: why.clone() });
        let why = format!("{by}: {why}");
        self.fallbacks.push(why.clone());
        if let Some(booked) = &mut self.summary {
            // What was paid stays paid.
            (booked.by, booked.tokens) = (None, 0);
        }
        self.attempt = Attempt::Asked;
        let Some(all) = self.compactor.compactors() else { return State::Plan(tally) };
        match all.on_failure {
            _ if self.delegated < all.chain.len() => State::Plan(tally),
            OnFailure::Extractive => State::Plan(tally),
            OnFailure::Skip => {
                self.attempt = Attempt::Declined;
                State::Plan(tally)
            }
            OnFailure::Error => {
                let spent = self.summary.as_ref().map(|booked| booked.spent).unwrap_or_default();
                State::Failed(CompactError::Delegated { why, spent })
            }
        }
    }

    /// Whether somebody else's view isn't smaller, or misses the target.
    pub(super) fn is_too_large(&self, outcome: &Outcome) -> bool {
        let receipt = &outcome.receipt;
        let (before, after) = (receipt.before.count.tokens, receipt.after.count.tokens);
        self.attempt == Attempt::Delegated && (after >= before || after > receipt.target)
    }

    /// The name of who was asked last.
    pub(super) fn asked_last(&self) -> String {
        self.last_asked().map_or_else(String::new, |by| by.name().to_owned())
    }

    /// Tells whose view it is that it is used.
    pub(super) fn settle_delegated(&self) {
        if self.attempt == Attempt::Delegated
            && let Some(last) = self.last_asked()
        {
            last.settled(End::Admitted);
        }
    }

    fn last_asked(&self) -> Option<&Arc<dyn Compact>> {
        self.compactor.compactors()?.chain.get(self.delegated.checked_sub(1)?)
    }
}

/// With the wishes of those who asked for the compaction, and why it is made.
fn wished(about: JobContext, cause: Option<&Cause>) -> JobContext {
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
