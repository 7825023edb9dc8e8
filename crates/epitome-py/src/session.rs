//! Conversations that are kept inside a window, request by request.

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
    /// Made by the first request, which says who reads it.
    sessions: Mutex<Option<Sessions>>,
    /// Where it was made. In a process that is forked from that, nobody else unlocks what was locked.
    process: u32,
}

/// What a look at a request came to: what to send, the numbers as JSON, and what to run before anything is sent.
type Looked = (Option<Py<PyAny>>, String, Option<Begun>);

/// A compaction to run and to bring back.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Begun {
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
            sessions: Mutex::new(None),
            process: std::process::id(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.compactor)
    }

    /// Looks at a request that is about to be sent. Where a compaction is due it is returned, to be run and committed;
    /// then [`show`] says what to send.
    fn look(&self, py: Python<'_>, request: &Bound<'_, Given>) -> PyResult<Looked> {
        self.usable(py)?;
        let given = request.get();
        let reader = self.compactor.get().settings.reader(py, &given.request)?;
        self.make(py, &reader, given)?;
        let mut answer = self.asked(py, |sessions, now| {
            sessions.observe("", &given.request, recipient(&reader), now)
        })?;
        let begun = answer.begun.take().map(|begun| {
            let names = Arc::clone(&self.compactor.get().names);
            let compaction =
                Compaction::new(request.clone().unbind(), begun.compaction, names, None);
            Ok::<_, PyErr>(Begun {
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
                let mut sessions = self.lock();
                let sessions = sessions.as_mut()?;
                Some(sessions.commit(begun.session, begun.ticket, brought, now))
            })
        });
        self.sound(py)?;
        Ok(matches!(committed, Some(Committed::Adopted { .. })))
    }

    /// What to send of a request, by the view in force.
    fn show(&self, py: Python<'_>, request: &Given) -> PyResult<Looked> {
        let reader = self.compactor.get().settings.reader(py, &request.request)?;
        let answer = self.asked(py, |sessions, now| {
            sessions.show("", &request.request, recipient(&reader), now)
        })?;
        told(py, request, &answer, None)
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Option<Sessions>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it can be asked.
    ///
    /// # Errors
    /// This process was forked while another thread asked it.
    fn usable(&self, py: Python<'_>) -> PyResult<()> {
        let here = std::process::id();
        if here == self.process || self.sessions.try_lock().is_ok() {
            return Ok(());
        }
        let what =
            "this process was forked while another thread used the session: make a new one here";
        Err(error::compaction(py, what))
    }

    /// Makes the machine, with the first request.
    fn make(&self, py: Python<'_>, reader: &Reader, given: &Given) -> PyResult<()> {
        if py.detach(|| self.lock().is_some()) {
            return Ok(());
        }
        let compactor = self.compactor.get();
        let settings = &compactor.settings;
        let usual = || When::Said("80%".parse().expect("the usual trigger is one"));
        let when = settings.trigger.clone().unwrap_or_else(usual);
        when.suits(py, reader.window)?;
        let engine = compactor.compactor(py, reader, &given.request)?;
        let draw = |_| RandomState::new().build_hasher().finish();
        let options = SessionOptions {
            landing: settings.target.map_or(Landing::Window(0.3), Landing::Target),
            ..SessionOptions::new(when.trigger(), ChainKey(std::array::from_fn(draw)))
        };
        let made =
            Sessions::new(options, engine).map_err(|fault| error::option(py, "target", fault))?;
        py.detach(|| {
            self.lock().get_or_insert(made);
        });
        Ok(())
    }

    /// Whether no callback raised. Where one did, what was counted meanwhile isn't known, and the conversations are forgotten.
    fn sound(&self, py: Python<'_>) -> PyResult<()> {
        let Some(error) = raised() else { return Ok(()) };
        py.detach(|| *self.lock() = None);
        Err(error)
    }

    fn asked(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Sessions, Duration) -> Handling + Send,
    ) -> PyResult<Handling> {
        raised();
        let answer = py.detach(|| {
            let now = self.began.elapsed();
            self.lock().as_mut().map(|sessions| ask(sessions, now))
        });
        self.sound(py)?;
        answer.ok_or_else(|| error::compaction(py, "nothing was looked at yet"))
    }
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
