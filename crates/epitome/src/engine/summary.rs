//! The summary of a checkpoint, if there is one: between extraction and rendering.

use std::sync::Arc;

use super::extract::Extract;
use super::log::Log;
use super::planning::Planned;
use super::{CompactError, Compactor, REASON, Run, State, Step};
use crate::checkpoint::summary_room;
use crate::delegate::Compact;
use crate::events::Event;
use crate::plan::Reached;
use crate::summarize::admit::Door;
use crate::summarize::{
    Around, CallResult, Fault, Next, OnFailure, Summaries, SummarizeError, Summary, SummaryCall,
    SummaryEvent, SummarySource, Work,
};
use crate::text::cut;

/// A summary is being asked for.
#[derive(Debug)]
pub(super) struct Summarization {
    extract: Extract,
    on_failure: OnFailure,
    work: Work,
}

/// Why a given summary isn't used.
#[derive(Debug, thiserror::Error)]
enum Unused {
    #[error("there is no room for its summary")]
    NoRoom,
    #[error("its summary: {0}")]
    Rejected(Fault),
}

impl Extract {
    /// Asks for a summary, if there is something to be summed up and room for it.
    pub(super) fn summarize(self, source: SummarySource, run: &mut Run) -> State {
        let Some(summaries) = run.compactor.summaries().map(Arc::clone) else {
            return self.write(None, run);
        };
        if source.is_empty() {
            return self.write(None, run);
        }
        let Some(room) = self.summary_room(run) else {
            let why = "no summary was asked for: there is no room for one".to_owned();
            run.log.fallbacks.push(why.clone());
            return self.without_summary(why, summaries.on_failure, run);
        };
        let transcript = &self.prepared.base.request.transcript;
        let source = source.around(transcript, self.gathered.summary().to_owned());
        let newest = transcript.len() - self.plan.folded().last().map_or(0, |last| last + 1);
        let around =
            run.compactor.prompt.as_ref().map(|prompt| Around { prompt: prompt.clone(), newest });
        let on_failure = summaries.on_failure;
        let summaries = with_wishes(summaries, &run.compactor);
        let (counter, replaced) = (Arc::clone(&run.compactor.counter), self.replaced());
        let mut work = Work::new(summaries, source, counter, room, replaced, around);
        run.log.summarizers(&mut work);
        State::Summarization(Box::new(Summarization { extract: self, on_failure, work }))
    }

    /// Goes on, or doesn't, because there is no summary.
    fn without_summary(self, why: String, on_failure: OnFailure, run: &mut Run) -> State {
        match on_failure {
            OnFailure::Extractive => self.write(None, run),
            OnFailure::Skip => {
                run.log.given_up(&format!("there is no summary: {why}"));
                self.prepared.pass(Reached::Declined, run)
            }
            OnFailure::Error => {
                State::Failed(CompactError::Summary { why, spent: run.log.spent() })
            }
        }
    }

    /// Puts a hook's summary into the checkpoint; if it isn't admitted, summarizers are asked.
    pub(super) fn with_hooks_summary(
        mut self,
        all: SummarySource,
        folded: SummarySource,
        run: &mut Run,
    ) -> State {
        let Some(given) = &mut self.prepared.given else { return self.summarize(folded, run) };
        let (by, text) = (given.by.clone(), given.summary.text.clone());
        // It is paid once, however often it is tried.
        let spent = std::mem::take(&mut given.summary.spent);
        given.is_booked = true;
        match self.admit(&by, Summary { spent, ..Summary::new(text) }, all, run) {
            Ok(text) => self.write(Some(&text), run),
            Err(unused) => {
                run.log.fallbacks.push(format!("{by}: {unused}"));
                match (unused, &self.by) {
                    (Unused::Rejected(_), Planned::Here(_)) => self.summarize(folded, run),
                    _ => self.write(None, run),
                }
            }
        }
    }

    /// Puts the summary of whose plan it is into the checkpoint; if it isn't admitted, the plan isn't used.
    pub(super) fn with_compactors_summary(
        self,
        (by, at): (Arc<dyn Compact>, usize),
        summary: Summary,
        folded: SummarySource,
        run: &mut Run,
    ) -> State {
        match self.admit(by.name(), summary, folded, run) {
            Ok(text) => self.write(Some(&text), run),
            Err(unused @ Unused::Rejected(_)) => {
                self.prepared.without_compactor(by.as_ref(), at, &unused.to_string(), run)
            }
            Err(unused @ Unused::NoRoom) => {
                run.log.fallbacks.push(format!("{}: {unused}", by.name()));
                self.write(None, run)
            }
        }
    }

    /// The given summary as it may stand in the checkpoint, if it passes: `known` are the specifics that it may
    /// mention.
    fn admit(
        &self,
        by: &str,
        summary: Summary,
        known: SummarySource,
        run: &mut Run,
    ) -> Result<String, Unused> {
        let Summary { text, spent, metadata } = summary;
        run.log.note(by, metadata);
        let by = by.to_owned();
        let counter = run.compactor.counter();
        let admitted = self.summary_room(run).ok_or(Unused::NoRoom).and_then(|room| {
            let known = known.around(&self.prepared.base.request.transcript, String::new());
            let door = Door::new(&known, Vec::new(), self.replaced(), room);
            door.admit(&text, counter).map_err(Unused::Rejected)
        });
        let (result, why) = match &admitted {
            Ok(_) => (CallResult::Admitted, None),
            Err(Unused::NoRoom) => (CallResult::Rejected, Some(Unused::NoRoom.to_string())),
            Err(Unused::Rejected(fault)) => (CallResult::Rejected, Some(fault.to_string())),
        };
        let tokens = admitted.as_ref().map_or(0, |text| counter.text(text).tokens);
        run.log.book(SummaryCall { by: by.clone(), result, why, spent });
        match &admitted {
            Ok(_) => run.log.shows_summary(Some(by), tokens),
            Err(Unused::Rejected(fault)) => {
                run.log.tell(&Event::SummarizerRejected { by, fault: fault.clone() });
            }
            Err(Unused::NoRoom) => {}
        }
        admitted
    }

    fn summary_room(&self, run: &Run) -> Option<u64> {
        summary_room(self.plan.checkpoint.left, &self.gathered, run.compactor.counter())
    }

    /// Tokens of what the checkpoint stands for.
    fn replaced(&self) -> u64 {
        self.plan.folded().map(|at| self.prepared.tally.entry(at)).sum()
    }
}

impl Summarization {
    /// Whether the answer to this question is still of interest.
    pub(super) fn wants(&self, id: u32) -> bool {
        self.work.wants(id)
    }

    pub(super) fn answer(
        &mut self,
        id: u32,
        answer: Result<Summary, SummarizeError>,
        log: &mut Log,
    ) {
        self.work.supply(id, answer);
        log.summarizers(&mut self.work);
    }

    /// Asks, waits, or uses the answers.
    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> (State, Step) {
        let next = self.work.next();
        run.log.summarizers(&mut self.work);
        let summary = match next {
            Next::Ask(asks) => return (State::Summarization(self), Step::Summarize(asks)),
            Next::Wait => return (State::Summarization(self), Step::Wait),
            Next::Done(summary) => summary,
        };
        let Summarization { extract, on_failure, mut work } = *self;
        run.log.fallbacks.extend(work.whys().iter().cloned());
        let mut asked = work.receipt();
        if let Ok(text) = &summary {
            asked.tokens = run.compactor.counter().text(text).tokens;
        }
        run.log.book_all(asked);
        for (by, metadata) in work.metadata() {
            run.log.note(&by, metadata);
        }
        let state = match summary {
            Ok(text) => extract.write(Some(&text), run),
            Err(why) => extract.without_summary(why, on_failure, run),
        };
        (state, Step::Yield)
    }
}

impl Log {
    /// Tells what happened between summarizers.
    fn summarizers(&mut self, work: &mut Work) {
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

/// The brief, with the wishes of the caller and of the demand, and the cause.
fn with_wishes(summaries: Arc<Summaries>, compactor: &Compactor) -> Arc<Summaries> {
    let (about, cause) = (compactor.context(), compactor.cause());
    if about.is_empty() && cause.is_none() {
        return summaries;
    }
    let mut brief = summaries.brief.clone();
    brief.about = about.without_wishes();
    brief.more.extend_from_slice(&about.instructions);
    let Some(cause) = cause else { return Arc::new(Summaries { brief, ..(*summaries).clone() }) };
    let demands = cause.demands();
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
