//! An object of JSON whose members keep their order and their bytes.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Values as they are written.
pub(crate) type Raws = Vec<Box<RawValue>>;

/// The members of an object in their order, each as it is written.
#[derive(Debug, Default)]
pub(crate) struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some(member) = map.next_entry()? {
                    members.0.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Each)
    }
}

impl Members {
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a member that is there and isn't null, as it is written.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name)?;
        Some(found.1.get()).filter(|raw| *raw != "null")
    }

    /// The same, read.
    pub(crate) fn get<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Puts a value in the place of a member, or behind all.
    pub(crate) fn set(&mut self, name: &str, json: String) {
        let value = RawValue::from_string(json).expect("it is JSON");
        match self.0.iter_mut().rev().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (nth, (name, value)) in self.0.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            write!(f, "{comma}{}:{}", serde_json::Value::from(name.as_str()), value.get())?;
        }
        f.write_str("}")
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
