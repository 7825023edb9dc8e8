//! Errors as Python's exceptions, which are classes of `epitome.errors`.

use std::fmt::Display;

use epitome_recordings::OpenError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A step on the way to a value.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Key(String),
    Index(usize),
}

/// What a request isn't that the caller handed in, and where: the entry, and the path in it.
pub(crate) fn input(py: Python<'_>, what: &str, path: &[Place]) -> PyErr {
    // In a whole request the first number is that of the entry, where the list is that of the messages.
    let (entry, within) = match path {
        [Place::Index(entry), within @ ..] => (Some(*entry), within),
        [Place::Key(list), Place::Index(entry), within @ ..] if is_transcript(list) => {
            (Some(*entry), within)
        }
        within => (None, within),
    };
    let field = spelt(within);
    let at = match (entry, field.is_empty()) {
        (Some(entry), true) => format!("messages[{entry}]: "),
        (Some(entry), false) => format!("messages[{entry}], {field}: "),
        (None, true) => String::new(),
        (None, false) => format!("{field}: "),
    };
    raised(py, "InputError", &format!("{at}{what}"), entry, Some(field.as_str()))
}

/// What the wire formats call their list of messages.
fn is_transcript(key: &str) -> bool {
    ["messages", "input", "contents"].contains(&key)
}

/// How much of a path is said: who sees that much of one finds the rest, and a list that contains itself has no end.
const DEEPEST_SHOWN: usize = 12;

fn spelt(path: &[Place]) -> String {
    let shown = path.len().min(DEEPEST_SHOWN);
    let more = if shown < path.len() { "…" } else { "" };
    let steps = path[..shown].iter().enumerate().map(|(nth, place)| match place {
        Place::Index(at) => format!("[{at}]"),
        Place::Key(key) if nth == 0 => key.clone(),
        Place::Key(key) => format!(".{key}"),
    });
    steps.chain([more.to_owned()]).collect()
}

/// What can't be read as a request.
pub(crate) fn unread(py: Python<'_>, error: &OpenError) -> PyErr {
    match error {
        OpenError::Shape { format, first, lacks, odd, entries } => {
            let place = lacks.map(|member| Place::Key(member.to_owned()));
            let what = format!("not a valid {format} message ({odd} of {entries} aren't)");
            let path: Vec<_> = [Place::Index(first - 1)].into_iter().chain(place).collect();
            input(py, &what, &path)
        }
        OpenError::NoSuchFormat { .. } => {
            raised(py, "InputError", &format!("format: {error}"), None, Some("format"))
        }
        error => raised(py, "InputError", &error.to_string(), None, None),
    }
}

/// A setting that makes no sense.
pub(crate) fn option(py: Python<'_>, name: &str, what: impl Display) -> PyErr {
    raised(py, "OptionError", &format!("{name}: {what}"), None, Some(name))
}

/// A compaction that failed; nothing was changed.
pub(crate) fn compaction(py: Python<'_>, what: impl Display) -> PyErr {
    raised(py, "CompactionError", &what.to_string(), None, None)
}

/// What an archive couldn't do.
pub(crate) fn archive(py: Python<'_>, what: impl Display) -> PyErr {
    raised(py, "ArchiveError", &what.to_string(), None, None)
}

fn raised(
    py: Python<'_>,
    class: &str,
    message: &str,
    entry: Option<usize>,
    field: Option<&str>,
) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let fields = PyDict::new(py);
        fields.set_item("entry", entry)?;
        fields.set_item("field", field.filter(|field| !field.is_empty()))?;
        py.import("epitome.errors")?.getattr(class)?.call((message,), Some(&fields))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
