//! Python objects as JSON, exactly as Python's own `json` means them.

use std::ops::Range;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::{Place, input};

/// The maximum depth of nested lists and dicts; a list that contains itself has no end.
const DEEPEST: usize = 500;

/// How many elements are written at a time.
const PIECE: usize = 256;

/// The JSON of an object, and which of the caller's objects stand where in it.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: Vec<u8>,
    /// The values of the members of a dict.
    pub(crate) members: Vec<(String, Range<usize>, Py<PyAny>)>,
    /// The elements of a list, or of the lists that a dict's members are.
    pub(crate) elements: Vec<(Range<usize>, Py<PyAny>)>,
    /// Which of the elements are of which list; a dict's member has a name.
    pub(crate) lists: Vec<(Option<String>, Py<PyAny>, Range<usize>)>,
}

/// Why an object isn't JSON, and where: the innermost place first.
struct Fault {
    what: String,
    path: Vec<Place>,
}

type Outcome = Result<(), Fault>;

impl Written {
    /// Of a request: a list of messages, or a dict with one in it.
    pub(crate) fn request(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut written = Written::default();
        let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        let outcome = match object.cast::<PyDict>() {
            Ok(dict) => written.body(dict),
            Err(_) if is_list => written.list(object, None),
            Err(_) => {
                Err(fault(format!("{} is neither a list of messages nor a request", kind(object))))
            }
        };
        match outcome {
            Ok(()) => Ok(written),
            Err(Fault { what, mut path }) => {
                path.reverse();
                Err(input(object.py(), &what, &path))
            }
        }
    }

    /// Of any object.
    pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let mut text = Vec::new();
        write(&mut text, object, 0).map(|()| text).map_err(|Fault { what, mut path }| {
            path.reverse();
            input(object.py(), &what, &path)
        })
    }

    fn body(&mut self, dict: &Bound<'_, PyDict>) -> Outcome {
        let mut before = b'{';
        // At once: others may add members while a list of it is written.
        let items: Vec<_> = dict.iter().collect();
        for (key, value) in items {
            self.text.push(before);
            before = b',';
            let name = text(&key)?.to_owned();
            quote(&mut self.text, &name);
            self.text.push(b':');
            let start = self.text.len();
            let within = if value.is_instance_of::<PyList>() {
                self.list(&value, Some(&name))
            } else {
                write(&mut self.text, &value, 1)
            };
            within.map_err(|fault| fault.at(Place::Key(name.clone())))?;
            self.members.push((name, start..self.text.len(), value.unbind()));
        }
        close(&mut self.text, before, *b"{}");
        Ok(())
    }

    fn list(&mut self, list: &Bound<'_, PyAny>, name: Option<&str>) -> Outcome {
        let first = self.elements.len();
        let items = list.try_iter().map_err(|error| fault(error.to_string()))?;
        let mut before = b'[';
        for (nth, item) in items.enumerate() {
            if nth % PIECE == PIECE - 1 {
                // Other threads go on meanwhile, such as an event loop's.
                list.py().detach(|| ());
            }
            let item = item.map_err(|error| fault(error.to_string()))?;
            self.text.push(before);
            before = b',';
            let start = self.text.len();
            write(&mut self.text, &item, 1).map_err(|fault| fault.at(Place::Index(nth)))?;
            self.elements.push((start..self.text.len(), item.unbind()));
        }
        close(&mut self.text, before, *b"[]");
        let of = first..self.elements.len();
        self.lists.push((name.map(str::to_owned), list.clone().unbind(), of));
        Ok(())
    }
}

impl Fault {
    fn at(mut self, place: Place) -> Self {
        self.path.push(place);
        self
    }
}

fn fault(what: String) -> Fault {
    Fault { what, path: Vec::new() }
}

/// What an object is, for a person.
fn kind(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().fully_qualified_name();
    name.map_or_else(|_| "an object".to_owned(), |name| format!("`{name}`"))
}

fn write(out: &mut Vec<u8>, value: &Bound<'_, PyAny>, depth: usize) -> Outcome {
    if value.is_instance_of::<PyString>() {
        quote(out, text(value)?);
        return Ok(());
    }
    if depth > DEEPEST {
        return Err(fault(format!("more than {DEEPEST} levels of lists and dicts")));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut before = b'{';
        for (key, value) in dict.iter() {
            out.push(before);
            before = b',';
            let name = text(&key)?;
            quote(out, name);
            out.push(b':');
            write(out, &value, depth + 1).map_err(|fault| fault.at(Place::Key(name.to_owned())))?;
        }
        close(out, before, *b"{}");
    } else if let Ok(list) = value.cast::<PyList>() {
        array(out, list.iter(), depth)?;
    } else if value.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true".as_slice() } else { b"false" });
    } else if value.is_instance_of::<PyInt>() {
        number(out, value, value.py().get_type::<PyInt>().as_any())?;
    } else if let Ok(float) = value.cast::<PyFloat>() {
        if !float.value().is_finite() {
            return Err(fault(format!("{} isn't a JSON number", float.value())));
        }
        number(out, value, value.py().get_type::<PyFloat>().as_any())?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        array(out, tuple.iter(), depth)?;
    } else {
        return Err(fault(format!(
            "{} isn't JSON: pass dicts, lists, strings, numbers, booleans and None",
            kind(value)
        )));
    }
    Ok(())
}

/// Closes a list or dict, of which nothing is written yet if `before` still opens it.
fn close(out: &mut Vec<u8>, before: u8, pair: [u8; 2]) {
    if before == pair[0] {
        out.push(before);
    }
    out.push(pair[1]);
}

fn array<'py>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Outcome {
    let mut before = b'[';
    for (nth, item) in items.enumerate() {
        out.push(before);
        before = b',';
        write(out, &item, depth + 1).map_err(|fault| fault.at(Place::Index(nth)))?;
    }
    close(out, before, *b"[]");
    Ok(())
}

/// As `kind` spells it, whatever a class of its own makes of it.
fn number(out: &mut Vec<u8>, value: &Bound<'_, PyAny>, kind: &Bound<'_, PyAny>) -> Outcome {
    let spelt = kind.call_method1(intern!(value.py(), "__repr__"), (value,));
    let spelt = spelt.map_err(|error| fault(error.to_string()))?;
    let spelt = spelt.cast::<PyString>().map_err(|error| fault(error.to_string()))?;
    out.extend_from_slice(spelt.to_str().map_err(|error| fault(error.to_string()))?.as_bytes());
    Ok(())
}

/// What a string says.
///
/// # Errors
/// It isn't Unicode.
pub(crate) fn said<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    text(value).map_err(|fault| input(value.py(), &fault.what, &[]))
}

fn text<'a>(value: &'a Bound<'_, PyAny>) -> Result<&'a str, Fault> {
    let Ok(text) = value.cast::<PyString>() else {
        return Err(fault(format!(
            "{} is the key of a dict, and JSON keys are strings",
            kind(value)
        )));
    };
    text.to_str().map_err(|_| {
        fault(
            "half a character (a lone surrogate) is in a string, which no provider takes"
                .to_owned(),
        )
    })
}

fn quote(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a str is always a JSON string");
}
