//! A caller's own word, small enough to be copied.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A word of at most [`Label::MOST`] bytes: lower-case ASCII letters, digits and `-`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    bytes: [u8; Label::MOST],
    length: u8,
}

/// Why a text isn't a [`Label`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` isn't a label: 1 to {} lower-case letters, digits or hyphens", Label::MOST)]
pub struct BadLabel {
    /// The text.
    pub text: String,
}

impl Label {
    /// The most bytes.
    pub const MOST: usize = 31;

    /// The label as text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..usize::from(self.length)]).expect("only ASCII is let in")
    }
}

impl FromStr for Label {
    type Err = BadLabel;

    fn from_str(text: &str) -> Result<Self, BadLabel> {
        let is_in = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let length = text.len();
        if length == 0 || length > Label::MOST || !text.bytes().all(is_in) {
            return Err(BadLabel { text: text.to_owned() });
        }
        let mut bytes = [0; Label::MOST];
        bytes[..length].copy_from_slice(text.as_bytes());
        Ok(Label { bytes, length: length as u8 })
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_short_plain_word() {
        let label: Label = "same-lines".parse().expect("plain");
        assert_eq!(label.as_str(), "same-lines");
        let longest = "x".repeat(Label::MOST);
        assert_eq!(longest.parse::<Label>().expect("as long as may be").as_str(), longest);
        for text in ["", "Same", "two words", "é", &"x".repeat(Label::MOST + 1)] {
            assert_eq!(text.parse::<Label>(), Err(BadLabel { text: text.to_owned() }));
        }
    }
}
