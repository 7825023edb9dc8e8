//! Commands, as flags and settings name them.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<String>);

impl Line {
    /// The program and its arguments, as a shell would read them.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("a quote isn't closed")?;
        if words.is_empty() { Err("no program is named".to_owned()) } else { Ok(Line(words)) }
    }
}

/// As it would be written.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = shlex::try_join(self.0.iter().map(String::as_str));
        f.write_str(&words.expect("an argument holds no NUL"))
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text: String = Deserialize::deserialize(from)?;
        Line::read(&text).map_err(|error| de::Error::custom(format!("{text}: {error}")))
    }
}
