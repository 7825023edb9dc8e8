//! Conversations that are kept inside a window, request by request.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use epitome::CompactError;
use epitome::session::{
    ChainKey, Committed, Handling, Landing, Outgoing, Recipient, SessionId, SessionOptions,
    Sessions, Ticket,
};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::callbacks::raised;
use crate::compaction::Compaction;
use crate::compactor::Compactor;
use crate::error;
use crate::request::Given;
use crate::settings::{Reader, When};

/// The machine that decides, for conversations of one caller.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Session {
    compactor: Py<Compactor>,
    began: Instant,
    /// One for each counter and model, made by the first request that says who reads it.
    machines: Mutex<HashMap<Counted, Sessions>>,
    /// The process that made it. In a fork, nobody unlocks its locks.
    process: u32,
}

/// By whom a request is counted, and for which model: what a machine keeps was counted so.
type Counted = (String, Option<String>);

/// The result of a look at a request: what to send, the numbers as JSON, and what to run before sending.
type Looked = (Option<Py<PyAny>>, String, Option<Begun>);

/// A compaction to run and to bring back.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Begun {
    counted: Counted,
    session: SessionId,
    ticket: Ticket,
    /// Why it was begun.
    #[pyo3(get)]
    cause: String,
    /// The compaction.
    #[pyo3(get)]
    compaction: Py<Compaction>,
}

#[pymethods]
impl Session {
    #[new]
    fn new(compactor: Py<Compactor>) -> Self {
        Session {
            compactor,
            began: Instant::now(),
            machines: Mutex::default(),
            process: std::process::id(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.compactor)
    }

    /// Looks at a request that is about to be sent. Where a compaction is due it is returned, to be run and committed;
    /// then [`show`] says what to send. `window` is that of the model where nothing else says one.
    #[pyo3(signature = (request, window=None))]
    fn look(
        &self,
        py: Python<'_>,
        request: &Bound<'_, Given>,
        window: Option<u64>,
    ) -> PyResult<Looked> {
        self.usable(py)?;
        let given = request.get();
        given.is_of_its_format(py)?;
        let reader = self.compactor.get().settings.reader(py, &given.request)?.within(window);
        self.make(py, &reader, given)?;
        let counted = counted(&reader);
        let mut answer = self.asked(py, &counted, |sessions, now| {
            sessions.observe("", &given.request, recipient(&reader), now)
        })?;
        let begun = answer.begun.take().map(|begun| {
            let names = Arc::clone(&self.compactor.get().names);
            let compaction =
                Compaction::new(request.clone().unbind(), begun.compaction, names, None);
            Ok::<_, PyErr>(Begun {
                counted,
                session: answer.session,
                ticket: begun.ticket,
                cause: begun.cause.to_string(),
                compaction: Py::new(py, compaction)?,
            })
        });
        told(py, given, &answer, begun.transpose()?)
    }

    /// Brings back a compaction that was run; whether its view is in force.
    fn commit(&self, py: Python<'_>, begun: &Begun) -> PyResult<bool> {
        let committed = py.detach(|| {
            let now = self.began.elapsed();
            begun.compaction.get().with_outcome(|outcome| {
                let brought = outcome.ok_or(&CompactError::Cancelled);
                let mut machines = self.lock();
                let sessions = machines.get_mut(&begun.counted)?;
                Some(sessions.commit(begun.session, begun.ticket, brought, now))
            })
        });
        self.sound(py)?;
        Ok(matches!(committed, Some(Committed::Adopted { .. })))
    }

    /// What to send of a request, by the view in force.
    #[pyo3(signature = (request, window=None))]
    fn show(&self, py: Python<'_>, request: &Given, window: Option<u64>) -> PyResult<Looked> {
        let reader = self.compactor.get().settings.reader(py, &request.request)?.within(window);
        let answer = self.asked(py, &counted(&reader), |sessions, now| {
            sessions.show("", &request.request, recipient(&reader), now)
        })?;
        told(py, request, &answer, None)
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, HashMap<Counted, Sessions>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it can be asked.
    ///
    /// # Errors
    /// This process was forked while another thread asked it.
    fn usable(&self, py: Python<'_>) -> PyResult<()> {
        let here = std::process::id();
        if here == self.process || self.machines.try_lock().is_ok() {
            return Ok(());
        }
        let what =
            "this process was forked while another thread used the session: make a new one here";
        Err(error::compaction(py, what))
    }

    /// Makes the machine, with the first request that is counted so.
    fn make(&self, py: Python<'_>, reader: &Reader, given: &Given) -> PyResult<()> {
        let compactor = self.compactor.get();
        let settings = &compactor.settings;
        let usual = || When::Said("80%".parse().expect("the usual trigger is one"));
        let when = settings.trigger.clone().unwrap_or_else(usual);
        when.suits(py, reader.window)?;
        let counted = counted(reader);
        if py.detach(|| self.lock().contains_key(&counted)) {
            return Ok(());
        }
        let engine = compactor.compactor(py, reader, &given.request)?;
        let draw = |_| RandomState::new().build_hasher().finish();
        let options = SessionOptions {
            landing: settings.target.map_or(Landing::Window(0.3), Landing::Target),
            ..SessionOptions::new(when.trigger(), ChainKey(std::array::from_fn(draw)))
        };
        let made =
            Sessions::new(options, engine).map_err(|fault| error::option(py, "target", fault))?;
        py.detach(|| {
            self.lock().entry(counted).or_insert(made);
        });
        Ok(())
    }

    /// Whether no callback raised. Where one did, what was counted meanwhile isn't known, and the conversations are forgotten.
    fn sound(&self, py: Python<'_>) -> PyResult<()> {
        let Some(error) = raised() else { return Ok(()) };
        py.detach(|| self.lock().clear());
        Err(error)
    }

    fn asked(
        &self,
        py: Python<'_>,
        counted: &Counted,
        ask: impl FnOnce(&mut Sessions, Duration) -> Handling + Send,
    ) -> PyResult<Handling> {
        raised();
        let answer = py.detach(|| {
            let now = self.began.elapsed();
            self.lock().get_mut(counted).map(|sessions| ask(sessions, now))
        });
        self.sound(py)?;
        answer.ok_or_else(|| error::compaction(py, "no request was examined yet"))
    }
}

fn counted(reader: &Reader) -> Counted {
    let model = reader.model.as_ref().map(|model| model.id.clone());
    (reader.counter.name().to_owned(), model)
}

fn recipient(reader: &Reader) -> Recipient {
    let recipient = reader.model.as_deref().map(Recipient::from).unwrap_or_default();
    Recipient { window: reader.window, ..recipient }
}

fn told(
    py: Python<'_>,
    given: &Given,
    answer: &Handling,
    begun: Option<Begun>,
) -> PyResult<Looked> {
    let send = match &answer.send {
        Outgoing::AsItCame(_) => Some(given.back(py, given.request.source())?),
        Outgoing::View(view, _) => Some(given.back(py, view.source())?),
        Outgoing::After(_) => None,
    };
    let stats = serde_json::to_string(&answer.stats);
    Ok((send, stats.map_err(|fault| error::compaction(py, fault))?, begun))
}
