//! Counters, triggers and strategies in Python.
//!
//! The engine's traits can't fail, so an exception is kept until the step is over, and nothing more is asked in it.
//! All of a compaction's steps that ask run on one thread, which keeps it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::count::{Count, TokenCounter};
use epitome::strategy::{Edit, Strategy, StrategyContext};
use epitome::summarize::{
    Answering, FailureKind, SummarizeError, Summarizer, Summary, SummaryRequest,
};
use epitome::transcript::{PartKind, Slot};
use epitome::trigger::{Cause, Measurements, Trigger};
use epitome::view::{Label, PartEdit, Put, Reason};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{PyTraverseError, PyVisit};

use crate::error;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The exception that a callback raised since this was last asked, on this thread.
pub(crate) fn raised() -> Option<PyErr> {
    RAISED.take()
}

/// Asks Python; where that raises, or has raised before, `otherwise`.
fn ask<T>(otherwise: T, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    if RAISED.with_borrow(Option::is_some) {
        return otherwise;
    }
    Python::attach(|py| match question(py) {
        Ok(answer) => answer,
        Err(error) => {
            RAISED.set(Some(error));
            otherwise
        }
    })
}

/// A function, which the garbage collector sees by the object that it was given to: it may hold that object itself.
#[derive(Debug)]
pub(crate) struct Callable(Mutex<Option<Py<PyAny>>>);

impl Callable {
    fn new(call: &Bound<'_, PyAny>) -> Arc<Self> {
        Arc::new(Callable(Mutex::new(Some(call.clone().unbind()))))
    }

    fn ask<'py>(&self, py: Python<'py>, with: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
        let call = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|call| call.clone_ref(py));
        let call =
            call.ok_or_else(|| error::compaction(py, "the function was collected with its owner"))?;
        call.into_bound(py).call1(with)
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is asked for at this moment is in use.
        match self.0.try_lock() {
            Ok(call) => visit.call(&*call),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        let call = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(call);
    }
}

/// The name of a function, for receipts.
fn name(callable: &Bound<'_, PyAny>) -> String {
    let named = callable.getattr("__name__").or_else(|_| callable.get_type().getattr("__name__"));
    named.and_then(|name| name.extract()).unwrap_or_else(|_| "python".to_owned())
}

/// A function from a text to its tokens, or to tokens and the upper edge of their error. It is asked once for each text; what
/// raised is asked again.
#[derive(Debug)]
pub(crate) struct PythonCounter {
    name: String,
    call: Arc<Callable>,
    /// By two hashes of the text, whose keys are drawn: together they don't collide.
    known: Mutex<HashMap<(u64, u64), Count>>,
    keys: (RandomState, RandomState),
}

/// Texts whose counts are remembered.
const MOST_TEXTS: usize = 1 << 18;

impl PythonCounter {
    /// The counter, once it has shown that it counts.
    pub(crate) fn new(call: &Bound<'_, PyAny>) -> PyResult<Self> {
        let counter = PythonCounter {
            name: name(call),
            call: Callable::new(call),
            known: Mutex::default(),
            keys: (RandomState::new(), RandomState::new()),
        };
        counter.count(call.py(), "a")?;
        Ok(counter)
    }

    pub(crate) fn callable(&self) -> Arc<Callable> {
        Arc::clone(&self.call)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(u64, u64), Count>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, py: Python<'_>, text: &str) -> PyResult<Count> {
        let answer = self.call.ask(py, (text,))?;
        if let Ok(tokens) = answer.extract::<u64>() {
            return Ok(Count::exact(tokens));
        }
        let (tokens, upper) = answer.extract::<(u64, u64)>().map_err(|_| {
            let what = "a counter returns tokens, or (tokens, upper edge), as whole numbers from 0";
            error::option(py, "counter", what)
        })?;
        Ok(Count::estimated(tokens, upper))
    }
}

impl TokenCounter for PythonCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn text(&self, text: &str) -> Count {
        let key = (self.keys.0.hash_one(text), self.keys.1.hash_one(text));
        if let Some(known) = self.known().get(&key) {
            return *known;
        }
        // Others may look up while Python counts.
        let Some(count) = ask(None, |py| self.count(py, text).map(Some)) else {
            return Count::ZERO;
        };
        let mut known = self.known();
        if known.len() < MOST_TEXTS {
            known.insert(key, count);
        }
        count
    }
}

/// A function from measurements to why it is time to compact, or nothing.
#[derive(Debug)]
pub(crate) struct PythonTrigger {
    call: Arc<Callable>,
}

impl PythonTrigger {
    pub(crate) fn new(call: &Bound<'_, PyAny>) -> Self {
        PythonTrigger { call: Callable::new(call) }
    }

    pub(crate) fn callable(&self) -> Arc<Callable> {
        Arc::clone(&self.call)
    }
}

impl Trigger for PythonTrigger {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        ask(None, |py| {
            let told = PyDict::new(py);
            let rounds = measurements.rounds.count();
            told.set_item("messages", measurements.items)?;
            told.set_item("steps", rounds.steps)?;
            told.set_item("turns", rounds.turns)?;
            told.set_item("tokens", measurements.size())?;
            told.set_item("upper", measurements.tokens.upper)?;
            told.set_item("bytes", measurements.bytes)?;
            told.set_item("window", measurements.window)?;
            let why = self.call.ask(py, (told,))?;
            if why.is_none() {
                return Ok(None);
            }
            let why: String = why.extract().map_err(|_| {
                error::option(py, "trigger", "a trigger returns why it fires (a str), or None")
            })?;
            Ok(Some(Cause::Custom(why)))
        })
    }
}

/// A function from the parts of a transcript that may be edited to edits.
#[derive(Debug)]
pub(crate) struct PythonStrategy {
    name: &'static str,
    call: Arc<Callable>,
}

/// Names that the engine wants to live for ever: each is kept once.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A function's name as receipts have names: what isn't in those is left out.
fn label(name: &str) -> Label {
    let words = name.to_lowercase().replace('_', "-");
    let word: String = words
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .take(Label::MOST)
        .collect();
    word.trim_matches('-').parse().unwrap_or_else(|_| "python".parse().expect("it is a label"))
}

impl PythonStrategy {
    pub(crate) fn new(call: &Bound<'_, PyAny>) -> Self {
        let label = label(&name(call));
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(label.as_str()).copied();
        let name = known.unwrap_or_else(|| Box::leak(label.to_string().into_boxed_str()));
        names.insert(name);
        PythonStrategy { name, call: Callable::new(call) }
    }

    pub(crate) fn callable(&self) -> Arc<Callable> {
        Arc::clone(&self.call)
    }

    fn asked(&self, py: Python<'_>, context: &StrategyContext<'_>) -> PyResult<Vec<Edit>> {
        let told = PyDict::new(py);
        told.set_item("tokens", context.draft.total())?;
        told.set_item("target", context.budget.target)?;
        let parts = PyList::empty(py);
        let mut asked = HashMap::new();
        for entry in context.old_entries(context.budget.recent()) {
            for part in context.editable(entry) {
                let about = PyDict::new(py);
                let kind = part.kind();
                about.set_item("slot", part.slot.0)?;
                about.set_item("entry", entry.index)?;
                about.set_item("kind", kind_name(kind))?;
                about.set_item("role", lower(entry.role()))?;
                about.set_item("origin", lower(part.origin()))?;
                let named = context.call(&part).map(|call| call.name().into_owned());
                about.set_item("tool", named.unwrap_or_else(|| part.name().into_owned()))?;
                about.set_item("text", part.text())?;
                about.set_item("tokens", context.tokens(&part))?;
                parts.append(about)?;
                asked.insert(part.slot.0, part);
            }
        }
        told.set_item("parts", parts)?;
        let reason = Reason::Custom(self.name.parse().expect("it is a label"));
        let mut edits = Vec::new();
        for edit in self.call.ask(py, (told,))?.try_iter()? {
            let (slot, text): (u32, Option<String>) = edit?.extract()?;
            let Some(part) = asked.get(&slot) else {
                let what = format!("there is no part {slot} that may be edited");
                return Err(error::option(py, "strategies", what));
            };
            let put = match (part.kind(), text) {
                (_, None) => Put::Nothing,
                (PartKind::Call, Some(text)) => Put::Arguments(text.into()),
                (_, Some(text)) => Put::Text(text.into()),
            };
            if !put.suits(part) {
                let at = context.counts.transcript.entry_of(part.slot);
                let what = format!(
                    "{} edits the arguments of a call in message {at} to what isn't one JSON object",
                    self.name
                );
                return Err(error::option(py, "strategies", what));
            }
            edits.push(Edit::Put(PartEdit { at: Slot(slot), put, reason }));
        }
        Ok(edits)
    }
}

impl Strategy for PythonStrategy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        ask(Vec::new(), |py| self.asked(py, context))
    }
}

fn kind_name(kind: PartKind) -> String {
    lower(kind)
}

fn lower(name: impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}

/// A summarizer that Python's half asks: the engine never does.
#[derive(Debug)]
pub(crate) struct PythonSummarizer {
    pub(crate) name: String,
    pub(crate) window: Option<u64>,
}

impl Summarizer for PythonSummarizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<u64> {
        self.window
    }

    fn summarize(self: Arc<Self>, _: Arc<SummaryRequest>) -> Answering {
        let unasked = SummarizeError::new(FailureKind::Unattended, "");
        Box::pin(std::future::ready(Err::<Summary, _>(unasked)))
    }
}
