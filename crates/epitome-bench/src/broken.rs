//! What stops a measurement.

use std::fmt;

/// What stopped a measurement, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Broken {
    fn from(error: E) -> Self {
        Broken(error.to_string())
    }
}
