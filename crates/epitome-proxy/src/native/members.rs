//! An object of JSON whose members keep their order and their bytes.

use std::fmt;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Values as they are written.
pub(crate) type Raws = Vec<Box<RawValue>>;

/// The members of an object in their order, each as it is written.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Members(IndexMap<String, Box<RawValue>>);

impl Members {
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a member that is there and isn't null, as it is written.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        Some(self.0.get(name)?.get()).filter(|raw| *raw != "null")
    }

    /// The same, read.
    pub(crate) fn get<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    /// Puts a value in the place of a member, or behind all.
    pub(crate) fn set(&mut self, name: &str, json: String) {
        self.0.insert(name.to_owned(), raw(json));
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

/// A list of values.
pub(crate) fn list<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(","))
}

/// The same of values as they are written.
pub(crate) fn list_of(values: &Raws) -> String {
    list(values.iter().map(|value| value.get()))
}

/// A value as it is written.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).expect("it is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_changed_keeps_its_bytes_and_its_place() {
        let text = r#"{"b": 1.50,"a":{"z":1, "y":"\u0041"},"n":null}"#;
        let mut members = Members::read(text).expect("an object");
        assert_eq!(members.to_string(), r#"{"b":1.50,"a":{"z":1, "y":"\u0041"},"n":null}"#);
        assert_eq!((members.raw("n"), members.get::<f64>("b")), (None, Some(1.5)));
        members.set("b", "[]".to_owned());
        members.set("c", "2".to_owned());
        members.remove("a");
        assert_eq!(members.to_string(), r#"{"b":[],"n":null,"c":2}"#);
        assert!(Members::read("[1]").is_none());
    }
}
