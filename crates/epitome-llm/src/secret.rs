//! A key that nothing prints.

use std::fmt;

/// A key. It has no `Debug` and no `Display`; only the header of a request shows it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A key as it came from the environment or a file; white space around it isn't part of it.
    pub fn new(key: impl AsRef<str>) -> Self {
        Secret(key.as_ref().trim().to_owned())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn shown(&self) -> &str {
        &self.0
    }

    /// Whether a text that has it can only have it from here: a short word that stands for a key where none is needed
    /// (`ollama`) is a word like others.
    pub(crate) fn is_telling(&self) -> bool {
        let has_digit = self.0.bytes().any(|byte| byte.is_ascii_digit());
        self.0.len() >= if has_digit { 8 } else { 12 }
    }

    /// `text` without it: servers repeat keys in their complaints.
    pub(crate) fn left_out_of(&self, text: &str) -> String {
        if self.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

/// What nobody is to read of what a request says.
#[derive(Clone, Default)]
pub(crate) struct Secrets(pub(crate) Vec<Secret>);

impl Secrets {
    /// `text` without them.
    pub(crate) fn left_out_of(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| secret.left_out_of(&text))
    }

    /// Those that no text has by chance.
    pub(crate) fn telling(&self) -> Self {
        Secrets(self.0.iter().filter(|secret| secret.is_telling()).cloned().collect())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}
