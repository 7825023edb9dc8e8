//! What compacts.

use std::sync::Arc;

use epitome::summarize::{Summaries, Summarizer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::archive::Archive;
use crate::callbacks::PythonSummarizer;
use crate::compaction::Compaction;
use crate::error;
use crate::request::Given;
use crate::settings::{Reader, Settings};

/// How to compact, and who is asked for summaries.
#[pyclass(frozen, module = "epitome._native")]
#[derive(Debug)]
pub(crate) struct Compactor {
    pub(crate) settings: Settings,
    pub(crate) names: Arc<[String]>,
    summarizers: Vec<Arc<PythonSummarizer>>,
}

#[pymethods]
impl Compactor {
    /// By options as keyword arguments, and summarizers by name and window, each name once.
    #[new]
    fn new(options: &Bound<'_, PyDict>, summarizers: Vec<(String, Option<u64>)>) -> PyResult<Self> {
        let settings = Settings::said(options)?;
        let names = summarizers.iter().map(|(name, _)| name.clone()).collect();
        let summarizer = |(name, window)| Arc::new(PythonSummarizer { name, window });
        Ok(Compactor {
            settings,
            names,
            summarizers: summarizers.into_iter().map(summarizer).collect(),
        })
    }

    /// Begins a compaction, of which an archive keeps what it hides.
    #[pyo3(signature = (request, archive=None))]
    fn begin(
        &self,
        py: Python<'_>,
        request: Py<Given>,
        archive: Option<&Archive>,
    ) -> PyResult<Compaction> {
        let given = request.get();
        given.is_of_its_format(py)?;
        let reader = self.settings.reader(py, &given.request)?;
        let compactor = self.compactor(py, &reader, &given.request)?;
        let compactor = self.settings.when_due(py, compactor, &reader)?;
        let deposit = archive.map(|archive| archive.deposit(py, given)).transpose()?;
        let compaction = match &deposit {
            Some(_) => compactor.begin_kept(&given.request),
            None => compactor.begin(&given.request),
        };
        Ok(Compaction::new(request, compaction, Arc::clone(&self.names), deposit))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.settings.callables.iter().try_for_each(|callable| callable.traverse(&visit))
    }

    fn __clear__(&self) {
        self.settings.callables.iter().for_each(|callable| callable.clear());
    }
}

impl Compactor {
    /// What compacts this request, with its summarizers.
    pub(crate) fn compactor(
        &self,
        py: Python<'_>,
        reader: &Reader,
        request: &epitome::Request,
    ) -> PyResult<epitome::Compactor> {
        let compactor = self.settings.compactor(py, reader, request)?;
        let chain = self.summarizers.iter().map(|one| Arc::clone(one) as Arc<dyn Summarizer>);
        let (brief, on_failure) = (self.settings.brief.clone(), self.settings.on_failure);
        compactor
            .with_summaries(Summaries { chain: chain.collect(), brief, on_failure })
            .map_err(|fault| error::option(py, "summary_tokens", fault))
    }
}
