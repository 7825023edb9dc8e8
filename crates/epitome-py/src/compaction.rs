//! A compaction under way: the engine's steps, without the interpreter's lock, until somebody has to be asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use epitome::archive::Archive as _;
use epitome::engine::{Answer, Step};
use epitome::summarize::{Ask, FailureKind, Spent, SummarizeError, Summary};
use epitome::{CompactError, Outcome};
use pyo3::prelude::*;

use crate::archive::{Deposit, Kept};
use crate::callbacks::raised;
use crate::error;
use crate::request::Given;

/// A compaction under way.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Compaction {
    given: Py<Given>,
    /// Who may be asked for summaries, by name.
    summarizers: Arc<[String]>,
    deposit: Option<Deposit>,
    state: Mutex<State>,
    is_cancelled: AtomicBool,
}

#[derive(Debug)]
enum State {
    Running(Box<epitome::engine::Compaction>),
    Done(Box<Outcome>, Option<Kept>),
    Over,
}

/// A question for a summarizer: its id, which one, the request as JSON, and the prompt.
type Question = (u32, usize, String, String);

/// What the steps came to.
enum Pause {
    Done,
    Asks(Vec<Ask>),
}

/// How often it is looked whether somebody pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

#[pymethods]
impl Compaction {
    /// Works until summaries are wanted, whose questions it returns, or until it is over: `None`.
    fn run(&self, py: Python<'_>) -> PyResult<Option<Vec<Question>>> {
        match py.detach(|| self.steps())? {
            Pause::Done => Ok(None),
            Pause::Asks(asks) => Ok(Some(asks.iter().map(|ask| self.question(ask)).collect())),
        }
    }

    /// Brings a summary, with what it took: requests, and tokens of prompt and answer.
    fn supply(
        &self,
        py: Python<'_>,
        id: u32,
        text: String,
        input: u64,
        output: u64,
    ) -> PyResult<()> {
        let spent = Spent { requests: 1, input, output, ..Spent::default() };
        let summary = Summary { text, spent, ..Summary::default() };
        py.detach(|| self.answered(id, Ok(summary)))
    }

    /// Says why there is no summary.
    fn fail(&self, py: Python<'_>, id: u32, why: &str) -> PyResult<()> {
        let failure = SummarizeError::new(FailureKind::Refusal, why);
        py.detach(|| self.answered(id, Err(failure)))
    }

    /// Ends it at its next step, wherever it runs.
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// The result in the form in which the request came, the receipt as JSON, and where it was archived.
    fn outcome(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, String, Option<Kept>)> {
        let (text, receipt, kept) = py
            .detach(|| match &*self.lock() {
                State::Done(outcome, kept) => {
                    let receipt = serde_json::to_string(&outcome.receipt).ok();
                    Some((Arc::clone(outcome.request.source()), receipt, kept.clone()))
                }
                _ => None,
            })
            .ok_or_else(|| error::compaction(py, "the compaction isn't over"))?;
        let receipt =
            receipt.ok_or_else(|| error::compaction(py, "the receipt can't be written"))?;
        Ok((self.given.get().back(py, &text)?, receipt, kept))
    }
}

impl Compaction {
    pub(crate) fn new(
        given: Py<Given>,
        compaction: epitome::engine::Compaction,
        summarizers: Arc<[String]>,
        deposit: Option<Deposit>,
    ) -> Self {
        let state = Mutex::new(State::Running(Box::new(compaction)));
        Compaction { given, summarizers, deposit, state, is_cancelled: AtomicBool::new(false) }
    }

    /// The outcome, for a session; `None` if it isn't finished.
    pub(crate) fn with_outcome<T>(&self, look: impl FnOnce(Option<&Outcome>) -> T) -> T {
        match &*self.lock() {
            State::Done(outcome, _) => look(Some(outcome)),
            _ => look(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn steps(&self) -> PyResult<Pause> {
        let mut state = self.lock();
        // An exception of another call on this thread isn't of this one.
        raised();
        let mut looked = Instant::now();
        loop {
            let State::Running(compaction) = &mut *state else { return Ok(Pause::Done) };
            if self.is_cancelled.load(Ordering::Relaxed) {
                compaction.supply(Answer::Cancel);
            }
            let step = compaction.step();
            let is_time = looked.elapsed() > LOOK;
            let signal = is_time.then(|| Python::attach(|py| py.check_signals().err()));
            if let Some(error) = raised().or(signal.flatten()) {
                *state = State::Over;
                return Err(error);
            }
            if is_time {
                looked = Instant::now();
            }
            match step {
                Step::Yield => {}
                Step::Persist(originals) => {
                    let kept = match &self.deposit {
                        Some(deposit) => deposit.session.put(&originals),
                        None => Ok(()),
                    };
                    compaction.supply(Answer::Persisted(kept));
                }
                Step::Summarize(asks) if !asks.is_empty() => return Ok(Pause::Asks(asks)),
                Step::Summarize(_) => {}
                Step::Done(Ok(outcome)) => {
                    let kept = match &self.deposit {
                        Some(deposit) if !outcome.view.is_whole() => Some(deposit.keep(&outcome)?),
                        _ => None,
                    };
                    *state = State::Done(outcome, kept);
                    return Ok(Pause::Done);
                }
                Step::Done(Err(error)) => {
                    *state = State::Over;
                    return Err(Python::attach(|py| failed(py, &error)));
                }
                _ => {
                    *state = State::Over;
                    return Err(Python::attach(|py| error::compaction(py, "an answer is missing")));
                }
            }
        }
    }

    fn answered(&self, id: u32, answer: Result<Summary, SummarizeError>) -> PyResult<()> {
        // Checks of an answer ask the counter.
        if let State::Running(compaction) = &mut *self.lock() {
            compaction.supply(Answer::Summary(id, answer));
        }
        raised().map_or(Ok(()), Err)
    }

    fn question(&self, Ask { id, by, request }: &Ask) -> Question {
        let nth = self.summarizers.iter().position(|name| name == by.name()).unwrap_or_default();
        let json = serde_json::to_string(&**request).unwrap_or_default();
        (*id, nth, json, request.prompt())
    }
}

/// A failure as an exception.
fn failed(py: Python<'_>, failure: &CompactError) -> PyErr {
    match failure {
        CompactError::Archive(failure) => error::archive(py, failure),
        failure => error::compaction(py, format!("nothing was changed: {failure}")),
    }
}
