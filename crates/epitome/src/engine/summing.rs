//! Between the checkpoint as it is without a model and the view: the summary, if one is asked for.

use super::deltas::Place;
use super::{Attempt, CompactError, Compaction, Gathered, State, Step};
use crate::checkpoint::{Checkpoint, Seat};
use crate::count::Tally;
use crate::events::Event;
use crate::plan::Plan;
use crate::summarize::{Around, Next, OnFailure, Said, Source, Summaries, Work};
use crate::text::cut;
use crate::trigger::Cause;

use std::sync::Arc;

/// The most bytes of the ledger that a summarizer is told besides the transcript.
const LEDGER: usize = 2 * 1024;
/// Of anchors.
const ANCHORS: usize = 3 * 1024;
/// Characters of a reason or a focus.
const REASON: usize = 400;

/// A summary is being asked for.
#[derive(Debug)]
pub(super) struct Summing {
    tally: Tally,
    plan: Plan,
    gathered: Gathered,
    seat: Seat,
    checkpoint: Checkpoint,
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
        source: Source,
        checkpoint: Checkpoint,
    ) -> State {
        let summaries = self.compactor.summaries().map(Arc::clone);
        let counter = self.compactor.counter();
        let free = self.target(&tally).saturating_sub(plan.draft.total());
        let most = plan.checkpoint.min(free);
        let is_new = !source.is_empty();
        let seat = Seat::of(&checkpoint, &gathered, most, counter).filter(|_| is_new);
        let (Some(summaries), Some(seat)) = (summaries, seat) else {
            if is_new {
                self.fallbacks
                    .push("no summary was asked for: there is no room for one".to_owned());
            }
            return self.fill(tally, plan, Some(checkpoint));
        };
        let folded = (0..self.request.transcript.len()).filter(|at| plan.draft.is_folded(*at));
        let replaced = folded.map(|at| tally.entry(at)).sum();
        let carried = gathered.ledger().render(LEDGER) + &gathered.anchors().render(ANCHORS);
        let source = source.around(&self.request.transcript, carried);
        let counter = self.compactor.shared_counter();
        let summaries = wished(summaries, self.compactor.cause());
        let last = (0..self.request.transcript.len()).rev().find(|at| plan.draft.is_folded(*at));
        let newest = self.request.transcript.len() - last.map_or(0, |last| last + 1);
        let around =
            self.compactor.prompt().map(|prompt| Around { prompt: prompt.clone(), newest });
        let mut work = Work::new(summaries, source, counter, seat.room, replaced, around);
        self.tell_said(&mut work);
        State::Sum(Box::new(Summing { tally, plan, gathered, seat, checkpoint, work }))
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
        let Summing { tally, plan, gathered, seat, checkpoint, mut work } = *summing;
        let mut receipt = work.receipt();
        let mut place = Place { gathered, seat, checkpoint };
        if summary.is_ok() {
            receipt.ledger = self.change_ledger(&tally, &plan, &mut place, work.deltas());
        }
        let Place { gathered, seat, checkpoint } = place;
        self.ledger_changes = gathered.ledger().changes_in(&self.request.transcript);
        if let Some(before) = self.summary.take() {
            receipt.calls.splice(0..0, before.calls);
            receipt.spent += before.spent;
        }
        let on_failure = self.compactor.summaries().map(|summaries| summaries.on_failure);
        let counter = self.compactor.counter();
        let seated = summary.map(|text| seat.take(&text, &gathered, counter));
        let state = match (seated, on_failure.unwrap_or_default()) {
            (Ok(Some((with_summary, tokens))), _) => {
                receipt.tokens = tokens;
                self.summary = Some(receipt);
                return Ok(self.fill(tally, plan, Some(with_summary)));
            }
            (Ok(None), _) => {
                receipt.by = None;
                self.fallbacks.push("nothing of the summary fits".to_owned());
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
                Said::Called { by, requests } => Event::SummarizerCalled { by, requests },
                Said::Rejected { by, fault } => Event::SummarizerRejected { by, fault },
                Said::FellBack { by, why, kind } => Event::SummarizerFellBack { by, why, kind },
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
