//! The engine: a state machine without IO that compacts one request.
//!
//! [`Compaction::step`] does a bounded amount of work and says what it needs next. Whoever drives it
//! may stop at any step: until [`Step::Done`] the old view is in force.

mod compactor;
mod delegation;
mod driver;
mod extract;
mod fallback;
mod hooks;
mod observer;
mod options;
mod outcome;
mod planning;
mod summary;
mod trigger;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::archive::{ArchiveError, Original};
use crate::checkpoint::{self, Checkpoint, Gathered, look_alikes};
use crate::count::Tally;
use crate::delegate::{Decision, Delegation};
use crate::events::{CompactionId, Event};
use crate::guard::{KeepReason, Unheld};
use crate::hook::{Question, Wish};
use crate::plan::{Plan, Reached};
use crate::receipt::{Originals, Receipt};
use crate::request::Request;
use crate::strategy::HistoryFacts;
use crate::summarize::{Ask, Spent, SummarizeError, Summary, SummaryReceipt};
use crate::transcript::{Numbering, Origin, Slot};
use crate::view::{Placed, View};
use crate::wire::{self, Finding, Mended};

use delegation::{Delegating, Given};
use extract::Gathering;
use fallback::Attempt;
use hooks::Asking;
use observer::Told;
use summary::Summing;

pub use crate::budget::*;
pub use compactor::Compactor;
pub use driver::Drive;
pub use options::{Counting, Options, OptionsError};
pub(crate) use outcome::kept_task;

/// Whole compactions by somebody else: a remote process, or a caller's own code.
pub mod delegate {
    pub use crate::delegate::*;
}

/// What an observer is told, when it happens: sizes and names, and no content but what reasons quote.
pub mod events {
    pub use crate::events::*;
}

/// A caller's say before a compaction: a veto, a summary, instructions, pins.
pub mod hook {
    pub use crate::hook::*;
}

/// Which edits are made, what each saves, and where that lands, before anything is done.
pub mod plan {
    pub use crate::plan::*;
}

/// What was done: before and after, each edit with its reason and saving, and what held the rest up.
pub mod receipt {
    pub use crate::receipt::*;
}

/// What the machine needs next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// A bounded piece of work is done; call again.
    Yield,
    /// Keep these, durably, then [`Compaction::supply`] an answer.
    Persist(Vec<Original>),
    /// Ask these, if any, and [`Compaction::supply`] each answer; before the next step drop what it [wants](Compaction::wants)
    /// no more, so that what that took is booked.
    Summarize(Vec<Ask>),
    /// Ask this hook, and [`Compaction::supply`] the answer.
    Hook(Question),
    /// Ask this one for the whole compaction, and [`Compaction::supply`] the answer.
    Delegate(Delegation),
    /// Nothing can be done before an answer is there.
    Wait,
    /// It is over.
    Done(Result<Box<Outcome>, CompactError>),
}

/// What a driver brings back.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The originals are durable, or aren't.
    Persisted(Result<(), ArchiveError>),
    /// What a summarizer answered to the question of this id.
    Summary(u32, Result<Summary, SummarizeError>),
    /// What a hook answered.
    Hooked(Result<Wish, SummarizeError>),
    /// What a whole compactor answered.
    Delegated(Result<Decision, SummarizeError>),
    /// Stop; the old view stays.
    Cancel,
}

/// Why a compaction ended without a view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// The caller stopped it.
    #[error("the compaction was cancelled")]
    Cancelled,
    /// The originals couldn't be kept.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// No summarizer gave a summary that can be used, and it was to fail then.
    #[error("there is no summary: {why}")]
    Summary {
        /// Why each of the chain gave none.
        why: String,
        /// What asking took all the same.
        spent: Spent,
    },
    /// No whole compactor gave a view that can be used, and it was to fail then.
    #[error("no compactor gave a view that can be used: {why}")]
    Delegated {
        /// Why not the last of the chain.
        why: String,
        /// What asking took all the same.
        spent: Spent,
    },
    /// Somebody who is asked needs time to answer, and the compaction wasn't driven by something that waits.
    #[error("{by} needs time to answer: drive the compaction with `Drive`, which waits")]
    NotDriven {
        /// Who is asked.
        by: String,
    },
    /// Code that the caller gave panicked; whoever drives the compaction caught it.
    #[error("a strategy, counter or summarizer panicked: {0}")]
    Panicked(String),
}

/// A finished compaction.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The request that the view is of: the one that came in, mended if it was broken.
    pub base: Request,
    /// For each entry of `base`, the entry it was when it came in.
    pub came_from: Arc<[Option<usize>]>,
    /// What the model is shown.
    pub view: View,
    /// The view, rendered and read again.
    pub request: Request,
    /// What was done.
    pub receipt: Receipt,
}

/// Bytes of entries counted or gathered in one step: a few milliseconds of work.
const STEP_BYTES: usize = 1 << 18;

#[derive(Debug)]
enum State {
    Begin,
    /// The request as it came is counted, for a trigger to look at.
    Weigh(Tally),
    /// With the count of the request as it came, where that was taken.
    Mend(Option<Tally>),
    Count(Tally),
    Hook(Box<Asking>),
    Delegate(Box<Delegating>),
    Plan(Tally),
    Gather(Box<Gathering>),
    Sum(Box<Summing>),
    Render {
        tally: Tally,
        plan: Box<Plan>,
        checkpoint: Option<Checkpoint>,
    },
    Waiting(Box<Outcome>),
    Ready(Box<Outcome>),
    Failed(CompactError),
    Over,
}

/// One compaction, under way.
#[derive(Debug)]
pub struct Compaction {
    compactor: Compactor,
    request: Request,
    numbering: Arc<Numbering>,
    came_from: Arc<[Option<usize>]>,
    mended: Vec<Mended>,
    left: Vec<Finding>,
    unmatched_pins: Vec<String>,
    unheld_pins: Vec<Unheld>,
    /// What is held for its own sake.
    firm: BTreeMap<usize, KeepReason>,
    fallbacks: Vec<String>,
    summary: Option<SummaryReceipt>,
    /// How many hooks were asked.
    hooked: usize,
    /// The summary that one of them gave.
    given: Option<Given>,
    /// How many of the whole compactors were asked.
    delegated: usize,
    /// For observers.
    number: CompactionId,
    told: Told,
    /// Whether an observer is being told: it stays so where one panics.
    telling: AtomicBool,
    attempt: Attempt,
    /// What strategies found out.
    found: Option<Arc<HistoryFacts>>,
    originals: Originals,
    state: State,
}

impl Compaction {
    pub(crate) fn new(compactor: Compactor, request: Request, originals: Originals) -> Self {
        Compaction {
            number: compactor.number(),
            compactor,
            came_from: Arc::new([]),
            request,
            mended: Vec::new(),
            left: Vec::new(),
            unmatched_pins: Vec::new(),
            numbering: Arc::default(),
            unheld_pins: Vec::new(),
            firm: BTreeMap::new(),
            fallbacks: Vec::new(),
            summary: None,
            hooked: 0,
            given: None,
            delegated: 0,
            told: Told::Nothing,
            telling: AtomicBool::new(false),
            attempt: Attempt::Asked,
            found: None,
            originals,
            state: State::Begin,
        }
    }

    /// Brings back what the last step asked for, or cancels. Answers that nobody asked for are
    /// ignored.
    pub fn supply(&mut self, answer: Answer) {
        let state = std::mem::replace(&mut self.state, State::Over);
        self.state = match (answer, state) {
            (Answer::Cancel, State::Over) => State::Over,
            (Answer::Cancel, _) => State::Failed(CompactError::Cancelled),
            (Answer::Persisted(Ok(())), State::Waiting(outcome)) => State::Ready(outcome),
            (Answer::Persisted(Err(error)), State::Waiting(_)) => State::Failed(error.into()),
            (Answer::Persisted(_), state) => state,
            (Answer::Summary(id, answer), State::Sum(mut summing)) => {
                summing.work.supply(id, answer);
                self.tell_said(&mut summing.work);
                State::Sum(summing)
            }
            (Answer::Summary(..), state) => state,
            (Answer::Hooked(answer), State::Hook(mut asked)) => {
                asked.answer = Some(answer);
                State::Hook(asked)
            }
            (Answer::Hooked(_), state) => state,
            (Answer::Delegated(answer), State::Delegate(mut asked)) => {
                asked.answer = Some(answer);
                State::Delegate(asked)
            }
            (Answer::Delegated(_), state) => state,
        };
    }

    /// Does the next bounded piece of work: some milliseconds of a large session, so that a runtime with other
    /// work to do steps it on a thread of its own.
    ///
    /// # Panics
    /// When it is called again after [`Step::Done`].
    pub fn step(&mut self) -> Step {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Begin => self.start(),
            State::Weigh(tally) => self.weigh(tally),
            State::Mend(weighed) => self.mend(weighed),
            State::Count(tally) => self.count(tally),
            State::Plan(tally) => self.plan(tally),
            State::Hook(asked) => match self.hooked(asked) {
                Ok(state) => state,
                Err(step) => return step,
            },
            State::Delegate(asked) => match self.delegated(asked) {
                Ok(state) => state,
                Err(step) => return step,
            },
            State::Gather(gathering) => self.gather(gathering),
            State::Sum(summing) => match self.sum(summing) {
                Ok(state) => state,
                Err(step) => return step,
            },
            State::Render { tally, plan, checkpoint } => self.render(tally, plan, checkpoint),
            State::Waiting(outcome) => {
                let originals = outcome.originals();
                self.state = State::Waiting(outcome);
                return Step::Persist(originals);
            }
            State::Ready(outcome) => {
                self.settle_delegated();
                self.tell_finished(&outcome);
                return Step::Done(Ok(outcome));
            }
            State::Failed(CompactError::Cancelled) => {
                self.tell_ended(&Event::Cancelled);
                return Step::Done(Err(CompactError::Cancelled));
            }
            State::Failed(error) => {
                self.tell_ended(&Event::Failed { error: error.to_string() });
                return Step::Done(Err(error));
            }
            State::Over => panic!("a compaction was stepped after it was done"),
        };
        Step::Yield
    }

    fn start(&mut self) -> State {
        if self.compactor.due().is_none() {
            return State::Mend(None);
        }
        self.tell_origins();
        State::Weigh(self.begin_weighing())
    }

    fn mend(&mut self, weighed: Option<Tally>) -> State {
        let repaired = wire::repair(&self.request);
        self.request = repaired.request;
        self.came_from = repaired.came_from.into();
        self.mended = repaired.mended;
        self.left = repaired.left;
        self.tell_origins();
        match weighed.filter(|_| self.mended.is_empty()) {
            Some(tally) => State::Plan(tally),
            None => State::Count(self.begin_counting()),
        }
    }

    /// Whose words those are that the model was told as a checkpoint.
    fn tell_origins(&mut self) {
        let checkpoints: Vec<(Slot, Origin)> = look_alikes(&self.request.transcript)
            // What was changed since no person wrote either.
            .map(|part| match Compactor::continues(&part) {
                Some(_) => (part.slot, Origin::Checkpoint),
                None => (part.slot, Origin::Injected),
            })
            .collect();
        for (slot, origin) in checkpoints {
            self.request.transcript.set_part_origin(slot, origin);
        }
        self.numbering = Arc::new(checkpoint::numbering(&self.request.transcript));
    }

    fn plan(&mut self, tally: Tally) -> State {
        if let Some(by) = self.next_hook(&tally) {
            return self.ask_hook(tally, by);
        }
        if let Some(by) = self.next_compactor(&tally) {
            return self.delegate(tally, by);
        }
        let (units, plan) = self.draw_up(&tally);
        self.tell_considered(&tally);
        let is_left = matches!(self.attempt, Attempt::Nothing | Attempt::Declined | Attempt::Pass);
        if plan.reached == Reached::NothingToDo || is_left {
            return State::Render { tally, plan: Box::new(plan), checkpoint: None };
        }
        self.tell_started();
        self.begin_gathering(tally, units, plan)
    }

    fn view(&self, plan: &Plan, checkpoint: Option<&Checkpoint>) -> View {
        let mut view = plan.draft.view(&self.request.transcript);
        if let Some(checkpoint) = checkpoint {
            view.place(Placed { before: plan.place, text: Arc::clone(&checkpoint.text) });
        }
        view
    }

    fn render(
        &mut self,
        tally: Tally,
        mut plan: Box<Plan>,
        checkpoint: Option<Checkpoint>,
    ) -> State {
        let view = self.view(&plan, checkpoint.as_ref());
        plan.draft.forget_edits();
        match self.outcome(&tally, &plan, checkpoint, view) {
            Ok(outcome) if self.is_too_large(&outcome) => {
                let tokens = outcome.receipt.after.count.tokens;
                let why = format!("its view has {tokens} tokens, which are too many");
                self.try_without(tally, &self.asked_last(), &why)
            }
            Ok(outcome) if outcome.view.is_whole() || self.originals == Originals::Caller => {
                State::Ready(Box::new(outcome))
            }
            Ok(outcome) => State::Waiting(Box::new(outcome)),
            Err(why) if self.attempt == Attempt::Delegated => {
                self.try_without(tally, &self.asked_last(), &why)
            }
            Err(why) => {
                self.tell(&Event::FellBack { why: why.clone() });
                self.fallbacks.push(why);
                self.attempt = self.attempt.next();
                State::Plan(tally)
            }
        }
    }
}
