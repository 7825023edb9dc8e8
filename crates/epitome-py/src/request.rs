//! What the caller hands over, and what they get back: in the same form, with their own objects where nothing was changed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome::checkpoint::disown;
use epitome::transcript::Origin;
use epitome::wire::json::{self, Span, unquote};
use epitome_recordings::{Input, Options, is_of_its_format, open};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};

use crate::error::{self, Place};
use crate::settings;
use crate::write::{Written, said};

/// In which form a request came.
#[derive(Debug)]
enum Form {
    Bytes,
    Text,
    /// A list or a dict, with the caller's objects.
    Objects(Written),
}

/// A request, as it was handed over.
#[pyclass(frozen, module = "epitome._native", name = "Request")]
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) request: epitome::Request,
    /// The bytes that an archive keeps.
    pub(crate) raw: Arc<Vec<u8>>,
    /// Whether it is an agent's file, whose reader made messages of its rows.
    is_recording: bool,
    /// What was handed over, to see whether it was changed meanwhile.
    object: Py<PyAny>,
    form: Form,
}

/// A value of what goes back.
enum Value {
    /// As it came.
    Own(Py<PyAny>),
    /// New: which of the new ones.
    New(usize),
    /// A list of both.
    List(Vec<Value>),
}

#[pymethods]
impl Given {
    /// Reads messages: a list, a request in a dict, or JSON. `injected` are those of a user's that no person wrote.
    #[new]
    #[pyo3(signature = (messages, format=None, injected=Vec::new()))]
    fn new(
        messages: &Bound<'_, PyAny>,
        format: Option<&Bound<'_, PyAny>>,
        injected: Vec<usize>,
    ) -> PyResult<Self> {
        let py = messages.py();
        let format = format.map(|name| settings::text("format", name)).transpose()?;
        let (raw, form) = if let Ok(bytes) = messages.cast::<PyBytes>() {
            (bytes.as_bytes().to_vec(), Form::Bytes)
        } else if let Ok(bytes) = messages.cast::<PyByteArray>() {
            (bytes.to_vec(), Form::Bytes)
        } else if let Ok(text) = messages.cast::<PyString>() {
            (said(text.as_any())?.as_bytes().to_vec(), Form::Text)
        } else {
            let mut written = Written::request(messages)?;
            (std::mem::take(&mut written.text), Form::Objects(written))
        };
        let object = messages.clone().unbind();
        let (raw, is_recording, request) = py
            .detach(|| {
                let kept = raw.clone();
                open(raw, format.as_deref(), Options::default()).map(|input| {
                    let is_recording = matches!(input, Input::Recording(_));
                    (kept, is_recording, request(input, injected))
                })
            })
            .map_err(|error| error::unread(py, &error))?;
        let given = Given { request, raw: Arc::new(raw), is_recording, object, form };
        given.unchanged(py)?;
        Ok(given)
    }

    /// The wire format.
    #[getter]
    fn format(&self) -> &'static str {
        self.request.format.name()
    }

    /// The model that the request names.
    #[getter]
    fn model(&self) -> Option<String> {
        self.request.model()
    }

    fn __len__(&self) -> usize {
        self.request.transcript.len()
    }
}

/// What the model saw. A checkpoint in it is no person's message, nor is one that was changed since it was written.
fn request(input: Input, injected: Vec<usize>) -> epitome::Request {
    let mut request = match input {
        Input::Recording(recording) => return recording.request,
        Input::Request(request) => request,
    };
    let entries = request.transcript.len();
    for at in injected.into_iter().filter(|at| *at < entries) {
        request.transcript.set_origin(at, Origin::Injected);
    }
    disown(&mut request.transcript);
    request
}

impl Given {
    /// Whether it may be compacted.
    ///
    /// # Errors
    /// A message that isn't of the format.
    pub(crate) fn is_of_its_format(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_recording {
            return Ok(());
        }
        py.detach(|| is_of_its_format(&self.request)).map_err(|error| error::unread(py, &error))
    }

    /// Whether the caller's lists still hold what they held, and their dict the same members.
    ///
    /// # Errors
    /// Another thread changed one: which entry, or which member.
    pub(crate) fn unchanged(&self, py: Python<'_>) -> PyResult<()> {
        let Form::Objects(written) = &self.form else { return Ok(()) };
        if let Ok(dict) = self.object.bind(py).cast::<PyDict>() {
            for (name, _, value) in &written.members {
                if !dict.get_item(name)?.is_some_and(|now| now.is(value)) {
                    let what = "the member was changed during the call";
                    return Err(error::input(py, what, &[Place::Key(name.clone())]));
                }
            }
        }
        for (name, list, elements) in &written.lists {
            let Ok(list) = list.bind(py).cast::<PyList>() else { continue };
            let elements = &written.elements[elements.clone()];
            let (held, now) = (elements.len(), list.len());
            let same = |at: usize| list.get_item(at).is_ok_and(|item| item.is(&elements[at].1));
            let changed = (0..held.min(now)).find(|at| !same(*at)).unwrap_or(held.min(now));
            if changed == held && now == held {
                continue;
            }
            let what =
                format!("the list was changed during the call (it had {held} elements, now {now})");
            let name = name.iter().map(|name| Place::Key(name.clone()));
            let path: Vec<_> = name.chain([Place::Index(changed)]).collect();
            return Err(error::input(py, &what, &path));
        }
        Ok(())
    }

    /// A text of the same request, in the form in which it came.
    ///
    /// # Errors
    /// The list was changed meanwhile.
    pub(crate) fn back(&self, py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
        let written = match &self.form {
            Form::Bytes => return Ok(PyBytes::new(py, text.as_bytes()).into_any().unbind()),
            Form::Text => return Ok(PyString::new(py, text).into_any().unbind()),
            Form::Objects(written) => written,
        };
        self.unchanged(py)?;
        let source = self.request.source().as_bytes();
        // A recording's messages aren't those that were handed over.
        let is_own = source == self.raw.as_slice();
        let mut back =
            Back { text, source: &self.raw, written, known: None, new: Vec::new(), is_own };
        let whole = Span::new(0..text.len());
        if text.trim_start().starts_with('[') {
            let list = back.list(py, whole)?;
            let new = loaded(py, &back.new)?;
            return list.made(py, &new);
        }
        let members = py
            .detach(|| json::members(text, whole))
            .map_err(|error| error::compaction(py, error.what))?;
        let mut values = Vec::with_capacity(members.len());
        for (key, value) in members {
            let key = unquote(key.of(text)).into_owned();
            let value = back.member(py, &key, value)?;
            values.push((key, value));
        }
        let new = loaded(py, &back.new)?;
        let dict = PyDict::new(py);
        for (key, value) in values {
            dict.set_item(key, value.made(py, &new)?)?;
        }
        Ok(dict.into_any().unbind())
    }
}

/// What goes back, under way.
struct Back<'a> {
    text: &'a str,
    source: &'a [u8],
    written: &'a Written,
    /// Where the caller's messages stand, by their JSON.
    known: Option<HashMap<&'a [u8], Vec<usize>>>,
    new: Vec<&'a str>,
    is_own: bool,
}

impl<'a> Back<'a> {
    fn member(&mut self, py: Python<'_>, key: &str, value: Span) -> PyResult<Value> {
        let raw = value.of(self.text);
        let own = self.written.members.iter().find(|(name, ..)| name == key);
        if let Some((_, span, object)) = own.filter(|_| self.is_own) {
            if self.source[span.clone()] == *raw.as_bytes() {
                return Ok(Value::Own(object.clone_ref(py)));
            }
            if raw.starts_with('[') {
                return self.list(py, value);
            }
        }
        Ok(self.add(raw))
    }

    fn list(&mut self, py: Python<'_>, list: Span) -> PyResult<Value> {
        let text = self.text;
        let elements = py.detach(|| json::elements(text, list));
        let elements = elements.map_err(|error| error::compaction(py, error.what))?;
        let found = py.detach(|| self.found(&elements));
        let written = self.written;
        let values = elements.into_iter().zip(found).map(|(span, found)| match found {
            Some(at) => Value::Own(written.elements[at].1.clone_ref(py)),
            None => self.add(span.of(text)),
        });
        Ok(Value::List(values.collect()))
    }

    /// Which of the caller's elements these are.
    fn found(&mut self, elements: &[Span]) -> Vec<Option<usize>> {
        let (source, written) = (self.source, self.written);
        let known = self.known.get_or_insert_default();
        if known.is_empty() && self.is_own {
            for (at, (span, _)) in written.elements.iter().enumerate() {
                known.entry(&source[span.clone()]).or_default().push(at);
            }
        }
        // From the end, which stays: of equal messages, the last one that precedes the next match.
        // None is shown twice: an edit may make a message equal to another one.
        let mut before = usize::MAX;
        let mut used = HashSet::new();
        let mut found: Vec<Option<usize>> = Vec::with_capacity(elements.len());
        for span in elements.iter().rev() {
            let places = known.get(span.of(self.text).as_bytes());
            let place = places.and_then(|places| {
                let (earlier, later) = places.split_at(places.partition_point(|at| *at < before));
                earlier.iter().rev().chain(later).find(|at| !used.contains(*at)).copied()
            });
            used.extend(place);
            before = place.unwrap_or(before);
            found.push(place);
        }
        found.reverse();
        found
    }

    fn add(&mut self, raw: &'a str) -> Value {
        self.new.push(raw);
        Value::New(self.new.len() - 1)
    }
}

/// All new values, as Python's own `json` reads them.
fn loaded<'py>(py: Python<'py>, new: &[&str]) -> PyResult<Bound<'py, PyList>> {
    if new.is_empty() {
        return Ok(PyList::empty(py));
    }
    let text = format!("[{}]", new.join(","));
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into()?)
}

impl Value {
    fn made(self, py: Python<'_>, new: &Bound<'_, PyList>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Value::Own(object) => object,
            Value::New(at) => new.get_item(at)?.unbind(),
            Value::List(values) => {
                let made: PyResult<Vec<_>> =
                    values.into_iter().map(|value| value.made(py, new)).collect();
                PyList::new(py, made?)?.into_any().unbind()
            }
        })
    }
}
