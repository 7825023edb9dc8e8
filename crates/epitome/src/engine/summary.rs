//! Between the checkpoint as it is without a model and the view: the summary, if one is asked for.

use super::{Attempt, CompactError, Compaction, Gathered, State, Step};
use crate::checkpoint::summary_room;
use crate::count::Tally;
use crate::events::Event;
use crate::plan::Plan;
use crate::summarize::{Around, Next, OnFailure, Summaries, SummaryEvent, SummarySource, Work};
use crate::text::cut;
use crate::trigger::Cause;

use std::sync::Arc;

/// Characters of a reason or a focus.
const REASON: usize = 400;

/// A summary is being asked for.
#[derive(Debug)]
pub(super) struct Summing {
    tally: Tally,
    plan: Plan,
    gathered: Gathered,
    pub(super) work: Work,
}

impl Compaction {
    /// Whether the answer to this question is still of interest.
    pub fn wants(&self, id: u32) -> bool {
        matches!(&self.state, State::Sum(summing) if summing.work.wants(id))
    }

    /// Asks for a summary, if there is something to be summed up and room for it.
    pub(super) fn begin_summing(
        &mut self,
        tally: Tally,
        plan: Plan,
        gathered: Gathered,
        source: SummarySource,
    ) -> State {
        let summaries = self.compactor.summaries().map(Arc::clone);
        let counter = self.compactor.counter();
        let is_new = !source.is_empty();
        let room = summary_room(plan.checkpoint, &gathered, counter).filter(|_| is_new);
        let (Some(summaries), Some(room)) = (summaries, room) else {
            if is_new {
                self.fallbacks
                    .push("no summary was asked for: there is no room for one".to_owned());
            }
            let checkpoint = self.written(&plan, &gathered, None);
            return self.fill(tally, plan, Some(checkpoint));
        };
        let folded = (0..self.request.transcript.len()).filter(|at| plan.draft.is_folded(*at));
        let replaced = folded.map(|at| tally.entry(at)).sum();
        let source = source.around(&self.request.transcript, gathered.summary().to_owned());
        let counter = self.compactor.shared_counter();
        let summaries = wished(summaries, self.compactor.cause());
        let last = (0..self.request.transcript.len()).rev().find(|at| plan.draft.is_folded(*at));
        let newest = self.request.transcript.len() - last.map_or(0, |last| last + 1);
        let around =
            self.compactor.prompt().map(|prompt| Around { prompt: prompt.clone(), newest });
        let mut work = Work::new(summaries, source, counter, room, replaced, around);
        self.tell_said(&mut work);
        State::Sum(Box::new(Summing { tally, plan, gathered, work }))
    }

    /// Asks, or goes on with what came back.
    pub(super) fn sum(&mut self, mut summing: Box<Summing>) -> Result<State, Step> {
        let next = summing.work.next();
        self.tell_said(&mut summing.work);
        let summary = match next {
            Next::Ask(asks) => {
                self.state = State::Sum(summing);
                return Err(Step::Summarize(asks));
            }
            Next::Wait => {
                self.state = State::Sum(summing);
                return Err(Step::Wait);
            }
            Next::Done(summary) => summary,
        };
        self.fallbacks.extend(summing.work.whys().iter().cloned());
        let Summing { tally, plan, gathered, mut work } = *summing;
        let mut receipt = work.receipt();
        if let Some(before) = self.summary.take() {
            receipt.calls.splice(0..0, before.calls);
            receipt.spent += before.spent;
        }
        let on_failure = self.compactor.summaries().map(|summaries| summaries.on_failure);
        let checkpoint = self.written(&plan, &gathered, summary.as_deref().ok());
        let state = match (summary, on_failure.unwrap_or_default()) {
            (Ok(text), _) => {
                receipt.tokens = self.compactor.counter().text(&text).tokens;
                self.fill(tally, plan, Some(checkpoint))
            }
            (Err(_), OnFailure::Extractive) => self.fill(tally, plan, Some(checkpoint)),
            (Err(_), OnFailure::Skip) => {
                self.attempt = Attempt::Declined;
                State::Plan(tally)
            }
            (Err(why), OnFailure::Error) => {
                State::Failed(CompactError::Summary { why, spent: receipt.spent })
            }
        };
        self.summary = Some(receipt);
        Ok(state)
    }

    pub(super) fn tell_said(&self, work: &mut Work) {
        for said in work.said() {
            self.tell(&match said {
                SummaryEvent::Called { by, requests } => Event::SummarizerCalled { by, requests },
                SummaryEvent::Rejected { by, fault } => Event::SummarizerRejected { by, fault },
                SummaryEvent::FellBack { by, why, kind } => {
                    Event::SummarizerFellBack { by, why, kind }
                }
            });
        }
    }
}

/// What is asked for, with the wishes of those who asked for the compaction, and why it is made.
fn wished(summaries: Arc<Summaries>, cause: Option<&Cause>) -> Arc<Summaries> {
    let Some(cause) = cause else { return summaries };
    let demands = cause.demands();
    let mut brief = summaries.brief.clone();
    brief.reason = Some(cut::one_line(&cause.to_string(), REASON));
    let focuses =
        brief.focus.iter().chain(demands.iter().filter_map(|demand| demand.focus.as_ref()));
    let focuses: Vec<String> = focuses.map(|focus| cut::one_line(focus, REASON)).collect();
    brief.focus = (!focuses.is_empty()).then(|| focuses.join("; "));
    let asked = demands.iter().filter(|demand| !demand.reason.trim().is_empty());
    brief.more.extend(asked.map(|demand| {
        format!("It was asked for with the words: {}", cut::one_line(&demand.reason, REASON))
    }));
    Arc::new(Summaries { brief, ..(*summaries).clone() })
}
