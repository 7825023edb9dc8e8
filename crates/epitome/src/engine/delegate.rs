//! A compaction that somebody else is asked for as a whole, before the engine plans one itself.

use std::sync::Arc;

use super::{Attempt, CompactError, Compaction, Gathering, Outcome, State, Step};
use crate::budget::Stop;
use crate::checkpoint::{Checkpoint, Gathered, Seat};
use crate::compact::{About, Compact, Compacted, Delegation, Job, Verdict};
use crate::count::Tally;
use crate::events::Event;
use crate::plan::Plan;
use crate::summarize::admit::Door;
use crate::summarize::{
    CallResult, OnFailure, Source, SummarizeError, Summary, SummaryCall, SummaryReceipt,
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
    pub(super) answer: Option<Result<Verdict, SummarizeError>>,
}

/// A summary that came with a whole compaction.
#[derive(Debug)]
pub(super) struct Given {
    by: String,
    summary: Summary,
}

impl Compaction {
    /// Who is to be asked before anything is planned here, if anybody is.
    pub(super) fn next_compactor(&self, tally: &Tally) -> Option<Arc<dyn Compact>> {
        let is_small = tally.total().tokens <= self.target(tally);
        let is_due = !is_small || self.compactor.options().stop == Stop::AtEnd;
        if self.attempt != Attempt::Asked || !is_due || self.request.transcript.is_empty() {
            return None;
        }
        self.compactor.compactors()?.chain.get(self.delegated).map(Arc::clone)
    }

    pub(super) fn delegate(&mut self, tally: Tally, by: Arc<dyn Compact>) -> State {
        let target = self.target(&tally);
        if self.delegated == 0 {
            self.tell(&Event::Considered { tokens: tally.total().tokens, target });
            self.tell(&Event::Started);
        }
        self.delegated += 1;
        self.tell(&Event::CompactorCalled { by: by.name().to_owned() });
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let guard = self.guard(&tally, &units);
        let about = self.compactor.compactors().map(|all| all.about.clone()).unwrap_or_default();
        let job = Job {
            request: self.request.clone(),
            tokens: tally.total().tokens,
            target,
            entries: self.subject(&tally, &units, &guard).known(),
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
        let Delegating { tally, by, .. } = *asked;
        let by = by.name();
        Ok(match answer {
            Err(error) => self.try_without(tally, by, &error.to_string()),
            Ok(Verdict::Skip(why)) => {
                let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
                self.fallbacks.push(format!("{by} skipped: {}", cut::one_line(why, REASON)));
                self.attempt = Attempt::Nothing;
                State::Plan(tally)
            }
            Ok(Verdict::Compacted(compacted)) => self.take(tally, by, compacted),
        })
    }

    /// What somebody else decided, if it obeys the laws.
    fn take(&mut self, tally: Tally, by: &str, compacted: Compacted) -> State {
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let guard = self.guard(&tally, &units);
        let plan = match self.subject(&tally, &units, &guard).proposed(by, &compacted.fates) {
            Ok(plan) => plan,
            Err(breach) => return self.try_without(tally, by, &breach),
        };
        self.note(&guard, &plan);
        self.attempt = Attempt::Delegated;
        plan.steps.iter().for_each(|step| self.tell(&Event::Applied(step.clone())));
        let gathered = Gathered::recalled_by(self.compactor.channel().cloned());
        let given = compacted.summary.map(|summary| Given { by: by.to_owned(), summary });
        let source = given.is_some().then(Source::default);
        State::Gather(Box::new(Gathering { tally, units, plan, gathered, source, given, next: 0 }))
    }

    /// Puts a given summary into the checkpoint.
    pub(super) fn seat(
        &mut self,
        tally: Tally,
        plan: Plan,
        gathered: &Gathered,
        source: Source,
        checkpoint: Checkpoint,
        given: Given,
    ) -> State {
        let Given { by, summary: Summary { text, spent } } = given;
        let counter = self.compactor.counter();
        let free = self.target(&tally).saturating_sub(plan.draft.total());
        let seat = Seat::of(&checkpoint, gathered, plan.checkpoint.min(free), counter);
        let Some(seat) = seat else {
            self.fallbacks.push(format!("{by}: there is no room for its summary"));
            return self.fill(tally, plan, Some(checkpoint));
        };
        let folded = (0..self.request.transcript.len()).filter(|at| plan.draft.is_folded(*at));
        let replaced = folded.map(|at| tally.entry(at)).sum();
        let source = source.around(&self.request.transcript, String::new());
        let admitted = Door::new(&source, Vec::new(), replaced, seat.room).admit(&text, counter);
        let text = match admitted {
            Ok(text) => text,
            Err(fault) => {
                let fault = fault.to_string();
                self.tell(&Event::SummarizerRejected { by: by.clone(), fault: fault.clone() });
                return self.try_without(tally, &by, &format!("its summary: {fault}"));
            }
        };
        let call = SummaryCall { by: by.clone(), result: CallResult::Admitted, why: None, spent };
        let mut receipt = SummaryReceipt { calls: vec![call], spent, ..SummaryReceipt::default() };
        let seated = seat.take(&text, gathered, counter);
        let checkpoint = if let Some((with_summary, tokens)) = seated {
            receipt.by = Some(by);
            receipt.tokens = tokens;
            with_summary
        } else {
            self.fallbacks.push(format!("{by}: nothing of its summary fits"));
            checkpoint
        };
        self.summary = Some(receipt);
        self.fill(tally, plan, Some(checkpoint))
    }

    /// On to the next in the chain, or to what is to happen without one.
    pub(super) fn try_without(&mut self, tally: Tally, by: &str, why: &str) -> State {
        let why = cut::one_line(why, REASON);
        self.tell(&Event::CompactorFellBack { by: by.to_owned(), why: why.clone() });
        let why = format!("{by}: {why}");
        self.fallbacks.push(why.clone());
        self.summary = None;
        self.attempt = Attempt::Asked;
        let Some(all) = self.compactor.compactors() else { return State::Plan(tally) };
        match all.on_failure {
            _ if self.delegated < all.chain.len() => State::Plan(tally),
            OnFailure::Extractive => State::Plan(tally),
            OnFailure::Skip => {
                self.attempt = Attempt::Nothing;
                State::Plan(tally)
            }
            OnFailure::Error => State::Failed(CompactError::Delegated(why)),
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
        let all = self.compactor.compactors().map_or(&[][..], |all| &all.chain);
        let last = self.delegated.checked_sub(1).and_then(|last| all.get(last));
        last.map_or_else(String::new, |by| by.name().to_owned())
    }
}

/// With the wishes of those who asked for the compaction, and why it is made.
fn wished(about: About, cause: Option<&Cause>) -> About {
    let Some(cause) = cause else { return about };
    let mut instructions = about.instructions;
    instructions.push(format!("It is made because: {}", cut::one_line(&cause.to_string(), REASON)));
    for demand in cause.demands() {
        let wishes = demand.focus.iter().chain([&demand.reason]);
        let said = wishes.filter(|wish| !wish.trim().is_empty());
        instructions.extend(said.map(|wish| cut::one_line(wish, REASON)));
    }
    About { instructions, ..about }
}
