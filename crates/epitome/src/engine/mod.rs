//! The engine: a state machine without IO that compacts one request.
//!
//! [`Compaction::step`] does a bounded amount of work and says what it needs next. The driver may
//! stop at any step: until [`Step::Done`] the old view is in force.

mod compactor;
mod delegation;
mod driver;
mod extract;
mod hooks;
mod log;
mod options;
mod outcome;
mod planning;
mod prepare;
mod render;
mod summary;

use std::sync::Arc;

use crate::archive::{ArchiveError, Original};
use crate::delegate::{Decision, Delegation};
use crate::events::{Event, ThreadScope};
use crate::hook::{Question, Wish};
use crate::receipt::{Originals, Receipt};
use crate::request::Request;
use crate::summarize::{Ask, Spent, SummarizeError, Summary};
use crate::view::View;

use delegation::CompactorCall;
use extract::Extraction;
use hooks::HookCall;
use log::Log;
use planning::Planning;
use prepare::{Arrival, Mending, Sizing, Tallying};
use render::{Finished, Rendering};
use summary::Summarization;

pub use crate::budget::*;
pub use compactor::Compactor;
pub use driver::Drive;
pub use options::{Counting, Options, OptionsError};
pub(crate) use outcome::kept_task;

/// Whole compactions by others: a remote process, or a caller's own code.
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

/// The receipt: before and after, each edit with its reason and saving, and what held the rest up.
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
    /// Ask these, if any, and [`Compaction::supply`] each answer. Before the next step, drop questions that it no longer
    /// [wants](Compaction::wants), so that their cost is booked.
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

/// An answer from the driver.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The originals are durable, or aren't.
    Persisted(Result<(), ArchiveError>),
    /// A summarizer's answer to the question of this id.
    Summary(u32, Result<Summary, SummarizeError>),
    /// A hook's answer.
    Hooked(Result<Wish, SummarizeError>),
    /// A whole compactor's answer.
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
    /// No summarizer gave a usable summary, and it was to fail then.
    #[error("there is no summary: {why}")]
    Summary {
        /// Why each of the chain gave none.
        why: String,
        /// What asking took all the same.
        spent: Spent,
    },
    /// No whole compactor gave a usable view, and it was to fail then.
    #[error("no compactor gave a usable view: {why}")]
    Delegated {
        /// Why not the last of the chain.
        why: String,
        /// What asking took all the same.
        spent: Spent,
    },
    /// An answer takes time, and the driver can't wait.
    #[error("{by} needs time to answer: drive the compaction with `Drive`, which waits")]
    NotDriven {
        /// The participant that was asked.
        by: String,
    },
    /// The caller's code panicked; the driver caught it.
    #[error("a strategy, counter or summarizer panicked: {0}")]
    Panicked(String),
}

/// A finished compaction.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The request of the view: the one that came in, repaired if it was broken.
    pub base: Request,
    /// For each entry of `base`, the entry it was when it came in.
    pub came_from: Arc<[Option<usize>]>,
    /// What the model is shown.
    pub view: View,
    /// The view, rendered and read again.
    pub request: Request,
    /// The summary that the checkpoint shows, as it stands there: written now, or carried on from an earlier checkpoint.
    pub summary: Option<String>,
    /// The receipt.
    pub receipt: Receipt,
}

/// Bytes of entries counted or gathered in one step: a few milliseconds of work.
const STEP_BYTES: usize = 1 << 18;
/// Characters of a reason, a breach or a wish.
const REASON: usize = 400;

/// The parts of a compaction that stay from its begin to its end.
#[derive(Debug)]
struct Run {
    /// With the cause that a trigger fired for, and with what hooks wish.
    compactor: Compactor,
    originals: Originals,
    log: Log,
}

/// The state of a compaction. Each state owns its data, and hands it on to the next.
#[derive(Debug)]
enum State {
    Arrival(Arrival),
    Sizing(Box<Sizing>),
    Mending(Mending),
    Tallying(Box<Tallying>),
    HookCall(Box<HookCall>),
    CompactorCall(Box<CompactorCall>),
    Planning(Box<Planning>),
    Extraction(Box<Extraction>),
    Summarization(Box<Summarization>),
    Rendering(Box<Rendering>),
    /// The originals have to be kept.
    Keeping(Finished),
    Finished(Finished),
    Failed(CompactError),
    Over,
}

/// What became of a question.
#[derive(Debug)]
enum Reply<T> {
    Unasked,
    Awaited,
    Given(T),
}

/// One compaction, under way.
#[derive(Debug)]
pub struct Compaction {
    run: Run,
    state: State,
}

impl Compaction {
    pub(crate) fn new(compactor: Compactor, request: Request, originals: Originals) -> Self {
        let log = Log::new(compactor.observer());
        let state = State::Arrival(Arrival(request));
        Compaction { run: Run { compactor, originals, log }, state }
    }

    /// Supplies an answer to the last step, or cancels. Unasked answers are ignored.
    pub fn supply(&mut self, answer: Answer) {
        // Checks of an answer ask the caller's counter: where that panics, it is over.
        let state = std::mem::replace(&mut self.state, State::Over);
        self.state = match (answer, state) {
            (_, State::Over) => State::Over,
            (Answer::Cancel, _) => State::Failed(CompactError::Cancelled),
            (Answer::Persisted(Ok(())), State::Keeping(finished)) => State::Finished(finished),
            (Answer::Persisted(Err(error)), State::Keeping(_)) => State::Failed(error.into()),
            (Answer::Summary(id, answer), State::Summarization(mut asked)) => {
                asked.answer(id, answer, &mut self.run.log);
                State::Summarization(asked)
            }
            (Answer::Hooked(answer), State::HookCall(mut call)) => {
                call.answer(answer);
                State::HookCall(call)
            }
            (Answer::Delegated(answer), State::CompactorCall(mut call)) => {
                call.answer(answer);
                State::CompactorCall(call)
            }
            (
                Answer::Persisted(_)
                | Answer::Summary(..)
                | Answer::Hooked(_)
                | Answer::Delegated(_),
                state,
            ) => state,
        };
    }

    /// Ends it with this error.
    fn fail(&mut self, error: CompactError) {
        self.state = State::Failed(error);
    }

    /// Whether the answer to this question is still of interest.
    pub fn wants(&self, id: u32) -> bool {
        matches!(&self.state, State::Summarization(asked) if asked.wants(id))
    }

    /// What its observer wants around a stretch of steps that is done on another thread than this.
    pub fn around(&self) -> ThreadScope {
        self.run.log.around()
    }

    /// Does the next bounded piece of work, of strategies one: some milliseconds of a large session, so that a runtime
    /// with other work to do steps it on a thread of its own.
    ///
    /// # Panics
    /// When it is called again after [`Step::Done`].
    pub fn step(&mut self) -> Step {
        let run = &mut self.run;
        let (state, step) = match std::mem::replace(&mut self.state, State::Over) {
            State::Arrival(arrival) => (arrival.next(run), Step::Yield),
            State::Sizing(sizing) => (sizing.next(run), Step::Yield),
            State::Mending(mending) => (mending.next(run), Step::Yield),
            State::Tallying(tallying) => (tallying.next(run), Step::Yield),
            State::HookCall(call) => call.next(run),
            State::CompactorCall(call) => call.next(run),
            State::Planning(planning) => (planning.next(run), Step::Yield),
            State::Extraction(extraction) => (extraction.next(run), Step::Yield),
            State::Summarization(summarization) => summarization.next(run),
            State::Rendering(rendering) => (rendering.next(run), Step::Yield),
            State::Keeping(finished) => {
                let originals = finished.originals();
                (State::Keeping(finished), Step::Persist(originals))
            }
            State::Finished(finished) => (State::Over, Step::Done(Ok(finished.next(&mut run.log)))),
            State::Failed(error) => {
                run.log.end(&match &error {
                    CompactError::Cancelled => Event::Cancelled,
                    error => Event::Failed { error: error.to_string() },
                });
                (State::Over, Step::Done(Err(error)))
            }
            State::Over => panic!("a compaction was stepped after it was done"),
        };
        self.state = state;
        step
    }
}

impl Drop for Compaction {
    /// A dropped compaction is cancelled; a panicked one failed.
    fn drop(&mut self) {
        let error = "code that it called panicked".to_owned();
        let is_panic = matches!(self.state, State::Over);
        self.run.log.end(&if is_panic { Event::Failed { error } } else { Event::Cancelled });
    }
}
