//! JSON that keeps its bytes wherever nothing is changed.
//!
//! `serde_json::Value` reads numbers as `f64` and sorts members. A model's call of the client's tool has to arrive with the
//! numbers and the order that the model wrote.

use std::fmt;
use std::ops::Index;
use std::sync::OnceLock;

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

/// A value of JSON. It is read level by level, and only as far as somebody looks.
#[derive(Clone, Default)]
pub(crate) struct Verbatim {
    /// As it was written; `None` once something in it was changed.
    text: Option<Box<RawValue>>,
    level: OnceLock<Level>,
}

/// What a value is, with the values in it.
#[derive(Clone)]
enum Level {
    Null,
    /// A number, a truth value, or what can't be read: only its text is known.
    Opaque,
    Text(String),
    List(Vec<Verbatim>),
    Object(IndexMap<String, Verbatim>),
}

static NULL: Verbatim = Verbatim { text: None, level: OnceLock::new() };

impl Level {
    fn of(text: &str) -> Self {
        let read = match text.as_bytes().first() {
            Some(b'n') => Some(Level::Null),
            Some(b'"') => serde_json::from_str(text).ok().map(Level::Text),
            Some(b'[') => serde_json::from_str(text).ok().map(|values: Vec<Box<RawValue>>| {
                Level::List(values.into_iter().map(Verbatim::from).collect())
            }),
            Some(b'{') => {
                serde_json::from_str(text).ok().map(|members: IndexMap<String, Box<RawValue>>| {
                    let member = |(name, value)| (name, Verbatim::from(value));
                    Level::Object(members.into_iter().map(member).collect())
                })
            }
            _ => None,
        };
        read.unwrap_or(Level::Opaque)
    }
}

impl Verbatim {
    pub(crate) fn read(text: &str) -> Option<Self> {
        RawValue::from_string(text.to_owned()).ok().map(Verbatim::from)
    }

    /// An object of these members.
    pub(super) fn object<const N: usize>(members: [(&str, Verbatim); N]) -> Self {
        let member = |(name, value): (&str, Verbatim)| (name.to_owned(), value);
        Level::Object(members.into_iter().map(member).collect()).into()
    }

    fn level(&self) -> &Level {
        let read = || self.text.as_ref().map_or(Level::Null, |text| Level::of(text.get()));
        self.level.get_or_init(read)
    }

    /// The same, to be changed: the text of an object, a list or a text doesn't hold any more.
    fn level_mut(&mut self) -> &mut Level {
        if !matches!(self.level(), Level::Opaque) {
            self.text = None;
        }
        self.level.get_mut().expect("it was just read")
    }

    /// The same as a value that is reckoned with.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.to_string()).unwrap_or_default()
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.level(), Level::Null)
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.level(), Level::Object(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.level(), Level::Text(_))
    }

    pub(super) fn is_true(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.get() == "true")
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self.level() {
            Level::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        self.text.as_ref()?.get().parse().ok()
    }

    pub(super) fn as_list(&self) -> Option<&[Verbatim]> {
        match self.level() {
            Level::List(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn as_list_mut(&mut self) -> Option<&mut Vec<Verbatim>> {
        self.as_list()?;
        match self.level_mut() {
            Level::List(values) => Some(values),
            _ => None,
        }
    }

    /// The values of a list; none of anything else.
    pub(super) fn values(&self) -> &[Verbatim] {
        self.as_list().unwrap_or_default()
    }

    /// The members of an object; none of anything else.
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Verbatim)> {
        let members = match self.level() {
            Level::Object(members) => Some(members),
            _ => None,
        };
        members.into_iter().flatten().map(|(name, value)| (&**name, value))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Verbatim> {
        match self.level() {
            Level::Object(members) => members.get(name),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Verbatim> {
        self.get(name)?;
        match self.level_mut() {
            Level::Object(members) => members.get_mut(name),
            _ => None,
        }
    }

    /// Puts a value in the place of a member, or behind all. Null becomes an object; anything else stays as it is.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Verbatim>) {
        if self.is_null() {
            *self = Verbatim::object([]);
        }
        if self.is_object()
            && let Level::Object(members) = self.level_mut()
        {
            members.insert(name.to_owned(), value.into());
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if self.get(name).is_some()
            && let Level::Object(members) = self.level_mut()
        {
            members.shift_remove(name);
        }
    }

    /// The value at a place such as `/choices/0/delta`.
    pub(super) fn pointer(&self, place: &str) -> Option<&Verbatim> {
        place.split('/').skip(1).try_fold(self, |value, step| match value.level() {
            Level::List(values) => values.get(step.parse::<usize>().ok()?),
            _ => value.get(step),
        })
    }

    /// The same, to be changed.
    pub(super) fn pointer_mut(&mut self, place: &str) -> Option<&mut Verbatim> {
        self.pointer(place)?;
        place.split('/').skip(1).try_fold(self, |value, step| match value.level() {
            Level::List(_) => value.as_list_mut()?.get_mut(step.parse::<usize>().ok()?),
            _ => value.get_mut(step),
        })
    }

    /// Adds a piece to a text that comes in pieces.
    pub(super) fn append(&mut self, more: &str) {
        match self.level_mut() {
            Level::Text(text) => text.push_str(more),
            _ => *self = Verbatim::from(more),
        }
    }

    /// Adds to a list that may not be there yet.
    pub(super) fn push(&mut self, more: Verbatim) {
        match self.level_mut() {
            Level::List(values) => values.push(more),
            _ => *self = Verbatim::from(vec![more]),
        }
    }

    /// The member of this name, which is there afterwards if this is an object or null.
    pub(super) fn entry(&mut self, name: &str) -> Option<&mut Verbatim> {
        if self.get(name).is_none() {
            self.set(name, Verbatim::default());
        }
        self.get_mut(name)
    }
}

impl From<Box<RawValue>> for Verbatim {
    fn from(text: Box<RawValue>) -> Self {
        Verbatim { text: Some(text), level: OnceLock::new() }
    }
}

impl From<Level> for Verbatim {
    fn from(level: Level) -> Self {
        Verbatim { text: None, level: OnceLock::from(level) }
    }
}

impl From<Value> for Verbatim {
    fn from(value: Value) -> Self {
        RawValue::from_string(value.to_string()).map(Verbatim::from).expect("it is JSON")
    }
}

impl From<&str> for Verbatim {
    fn from(text: &str) -> Self {
        Level::Text(text.to_owned()).into()
    }
}

impl From<u64> for Verbatim {
    fn from(number: u64) -> Self {
        Value::from(number).into()
    }
}

impl From<Vec<Verbatim>> for Verbatim {
    fn from(values: Vec<Verbatim>) -> Self {
        Level::List(values).into()
    }
}

impl Index<&str> for Verbatim {
    type Output = Verbatim;

    fn index(&self, name: &str) -> &Verbatim {
        self.get(name).unwrap_or(&NULL)
    }
}

impl Index<usize> for Verbatim {
    type Output = Verbatim;

    fn index(&self, at: usize) -> &Verbatim {
        self.values().get(at).unwrap_or(&NULL)
    }
}

impl PartialEq for Verbatim {
    fn eq(&self, other: &Verbatim) -> bool {
        if let (Some(one), Some(two)) = (&self.text, &other.text) {
            return one.get() == two.get() || self.is_text() && self.as_str() == other.as_str();
        }
        match (self.level(), other.level()) {
            (Level::Null, Level::Null) => true,
            (Level::Text(one), Level::Text(two)) => one == two,
            (Level::List(one), Level::List(two)) => one == two,
            (Level::Object(one), Level::Object(two)) => one == two,
            _ => false,
        }
    }
}

impl PartialEq<str> for Verbatim {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Verbatim {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

impl fmt::Debug for Verbatim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Verbatim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text.get());
        }
        let quoted = |text: &str| Value::from(text).to_string();
        let parting = |at: usize| if at == 0 { "" } else { "," };
        match self.level() {
            Level::Null | Level::Opaque => f.write_str("null"),
            Level::Text(text) => f.write_str(&quoted(text)),
            Level::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", parting(at))?;
                }
                f.write_str("]")
            }
            Level::Object(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", parting(at), quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"{"z": [1.10, {"n":12345678901234567890123, "a":"\u0041"}],"a":null}"#;

    fn read(text: &str) -> Verbatim {
        Verbatim::read(text).expect("JSON")
    }

    #[test]
    fn what_is_looked_at_keeps_its_bytes() {
        let value = read(&format!("  {TEXT} "));
        assert_eq!(value["z"][1]["a"], "A");
        assert_eq!((value["z"][0].as_u64(), value["none"][7].is_null()), (None, true));
        assert_eq!(value.to_string(), TEXT);
    }

    #[test]
    fn what_is_beside_a_change_keeps_its_bytes() {
        let mut value = read(TEXT);
        value.set("index", 7);
        value.pointer_mut("/z/1").expect("it is there").set("b", "B");
        value.remove("a");
        let told = r#"{"z":[1.10,{"n":12345678901234567890123,"a":"\u0041","b":"B"}],"index":7}"#;
        assert_eq!(value.to_string(), told);
        assert_eq!((value.as_u64(), value["index"].as_u64()), (None, Some(7)));
    }

    #[test]
    fn only_a_change_makes_a_difference() {
        let (one, mut two) = (read(TEXT), read(TEXT));
        let inner = two.pointer_mut("/z/1").expect("it is there");
        let before = std::mem::take(inner);
        assert_ne!(one, two);
        two.pointer_mut("/z").and_then(Verbatim::as_list_mut).expect("a list")[1] = before;
        assert_eq!(one, two);
        assert_eq!(read("\"\\u0041\""), Verbatim::from("A"));
        assert_eq!(two.value(), one.value());
    }

    #[test]
    fn changes_fit_what_is_there() {
        let mut value = Verbatim::default();
        value.set("text", "a");
        value.entry("text").expect("it is there").append("b");
        value.entry("list").expect("it is made").push(json!(1).into());
        assert_eq!(value.to_string(), r#"{"text":"ab","list":[1]}"#);
        for other in ["7", "[1]", "\"a\"", r#"{"\ud800":1}"#] {
            let mut value = read(other);
            value.set("a", "b");
            assert!(value.entry("a").is_none() && value.pointer_mut("/a/0").is_none());
            assert_eq!(value, read(other));
        }
    }
}
