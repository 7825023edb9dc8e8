//! Archives on disk, in which a compaction keeps what it hides.

use std::path::PathBuf;

use epitome::Outcome;
use epitome::archive::recall::hits;
use epitome::archive::{Archive as _, ArchiveError, Shown, redone};
use epitome::count::counter;
use epitome_store::{Access, Document, Session, Store, StoreError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::request::Given;

/// An archive: a folder with one SQLite database, which the command line reads, too.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Archive {
    store: Store,
    /// SQLite's connections must not be carried into another process.
    process: u32,
}

/// The session of an archive, and the number of the view in it.
pub(crate) type Kept = (String, u64);

/// What is compacted, kept whole.
#[derive(Debug)]
pub(crate) struct Deposit {
    pub(crate) session: Session,
    head: u64,
    entries: usize,
}

/// The most bytes of a hit that is one of several.
const STRETCH: usize = 700;

#[pymethods]
impl Archive {
    /// Opens the archive in a folder, which is made if there is none.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let store = py.detach(move || Store::open(&folder, Access::Write));
        let store = store.map_err(|fault| error::archive(py, fault))?;
        Ok(Archive { store, process: std::process::id() })
    }

    /// What was removed and answers, best first, as JSON: by words, or by an id.
    #[pyo3(signature = (words, limit, tokens, session=None))]
    fn recall(
        &self,
        py: Python<'_>,
        words: &str,
        limit: usize,
        tokens: u64,
        session: Option<&str>,
    ) -> PyResult<String> {
        let store = self.store(py)?;
        let found = py.detach(|| {
            let only = session.map(|name| store.session(name)).transpose()?;
            let by_id = match &only {
                _ if words.len() < 8 || !words.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    Vec::new()
                }
                None => store.recall(words, limit)?,
                Some(session) => session.recall(words, limit)?,
            };
            if !by_id.is_empty() {
                return Ok((by_id, usize::MAX));
            }
            let by_words = match only {
                None => store.search(words, limit)?,
                Some(session) => {
                    let found = session.search(words, limit).map_err(StoreFault::Archive)?;
                    let name = session.name().to_owned();
                    found.into_iter().map(|found| (name.clone(), found)).collect()
                }
            };
            Ok((by_words, STRETCH))
        });
        let (found, stretch) = found.map_err(|fault: StoreFault| fault.raised(py))?;
        let counter = counter("o200k").expect("it is built in");
        let hits = py.detach(|| hits(found, words, stretch, tokens, counter.as_ref()));
        serde_json::to_string(&hits).map_err(|fault| error::archive(py, fault))
    }

    /// The bytes that a view was made from; those that came in last where none is named.
    #[pyo3(signature = (session, view=None))]
    fn restore<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        view: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let store = self.store(py)?;
        let bytes = py.detach(|| {
            let session = store.session(session)?;
            match view {
                Some(view) => session.input_of(view),
                None => session.newest_input(),
            }
        });
        let bytes = bytes.map_err(|fault| error::archive(py, fault))?;
        let none = || error::archive(py, format!("there is no view {}", view.unwrap_or_default()));
        Ok(PyBytes::new(py, &bytes.ok_or_else(none)?))
    }

    /// The sessions in it, as JSON.
    fn sessions(&self, py: Python<'_>) -> PyResult<String> {
        let store = self.store(py)?;
        let listed = py.detach(|| store.sessions()).map_err(|fault| error::archive(py, fault))?;
        serde_json::to_string(&listed).map_err(|fault| error::archive(py, fault))
    }

    /// Erases a session.
    fn forget(&self, py: Python<'_>, session: &str) -> PyResult<()> {
        let store = self.store(py)?;
        let forgotten = py.detach(|| store.forget(&store.session(session)?));
        forgotten.map(drop).map_err(|fault| error::archive(py, fault))
    }
}

/// What either half of the store says.
enum StoreFault {
    Store(StoreError),
    Archive(ArchiveError),
}

impl From<StoreError> for StoreFault {
    fn from(fault: StoreError) -> Self {
        StoreFault::Store(fault)
    }
}

impl StoreFault {
    fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            StoreFault::Store(fault) => error::archive(py, fault),
            StoreFault::Archive(fault) => error::archive(py, fault),
        }
    }
}

impl Archive {
    /// The store, in the process that opened it.
    ///
    /// # Errors
    /// This one was forked from that.
    fn store(&self, py: Python<'_>) -> PyResult<&Store> {
        let (here, there) = (std::process::id(), self.process);
        if here == there {
            return Ok(&self.store);
        }
        let what = format!(
            "the archive was opened in process {there}, and this is process {here}: open it again after a fork"
        );
        Err(error::archive(py, what))
    }

    /// Keeps a request whole, before it is compacted.
    pub(crate) fn deposit(&self, py: Python<'_>, given: &Given) -> PyResult<Deposit> {
        let store = self.store(py)?;
        let (raw, request) = (given.raw.as_slice(), &given.request);
        let kept = py.detach(|| {
            let session = store.take_in(&Document { raw, request, source: "", project: "" })?;
            let head = session.head().map_err(StoreFault::Archive)?;
            Ok(Deposit { session, head, entries: request.transcript.len() })
        });
        kept.map_err(|fault: StoreFault| fault.raised(py))
    }
}

impl Deposit {
    /// Keeps what the model will be shown, once: its session, and the number of its view.
    pub(crate) fn keep(&self, outcome: &Outcome) -> PyResult<Kept> {
        let shown = Shown::of(outcome, self.entries);
        let view = self.view(&shown);
        let view = view.map_err(|fault| Python::attach(|py| fault.raised(py)))?;
        Ok((self.session.name().to_owned(), view))
    }

    fn view(&self, shown: &Shown) -> Result<u64, StoreFault> {
        let archived = StoreFault::Archive;
        let mut head = self.head;
        loop {
            if self.is_there(head, shown)? {
                return Ok(head);
            }
            let history = self.session.history().map_err(archived)?;
            let again = match redone(&history, head) {
                Some(undone) if self.is_there(undone, shown)? => Some(undone),
                _ => None,
            };
            let done = match again {
                Some(again) => self.session.go(head, again).map(|()| again),
                None => self.session.commit(head, shown),
            };
            match done {
                // Somebody else was quicker, and this view follows theirs.
                Err(ArchiveError::Conflict { head: newer, .. }) => head = newer,
                done => return done.map_err(archived),
            }
        }
    }

    /// Whether a view says the same and was made from the same bytes.
    fn is_there(&self, view: u64, shown: &Shown) -> Result<bool, StoreFault> {
        let kept = self.session.view(view).map_err(StoreFault::Archive)?;
        let is_same = kept.is_some_and(|kept| {
            kept.shown.text == shown.text && kept.shown.entries == shown.entries
        });
        Ok(is_same && self.session.is_of_input(view)?)
    }
}
