//! The context of a compaction, from the caller and from the participants' answers: ids, labels, wishes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::cut;
use crate::text::secrets::masked;

/// The caller's context of a compaction: it reaches strategies, hooks, summarizers, whole compactors, observers and the
/// receipt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct JobContext {
    /// The caller's id of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The caller's id of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The caller's labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Wishes in words, in order; what the cause of the compaction asks for comes behind them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
}

impl JobContext {
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        *self == JobContext::default()
    }

    /// The same without wishes, for participants that get these elsewhere.
    pub(crate) fn without_wishes(&self) -> Self {
        JobContext { instructions: Vec::new(), ..self.clone() }
    }
}

/// Metadata of a participant's answer, under its own names; receipts show it.
pub type Metadata = BTreeMap<String, String>;

/// The most that a receipt tells of what one says.
const MOST_NAMES: usize = 64;
/// The maximum characters of a name, and of a value.
const NAME: usize = 100;
const VALUE: usize = 400;

/// Adds metadata, up to the limits: some of it comes from another process.
pub(crate) fn note(told: &mut Metadata, said: Metadata) {
    for (name, value) in said {
        let name = cut::one_line(&masked(&cut::visible(&name)), NAME);
        if told.len() < MOST_NAMES || told.contains_key(&name) {
            told.insert(name, cut::one_line(&masked(&cut::visible(&value)), VALUE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_bounded_and_masked() {
        let mut told = Metadata::new();
        let key = format!("sk-ant-api03-{}", "aB3dE5gH7".repeat(10));
        note(&mut told, [("key".to_owned(), key.clone())].into());
        note(&mut told, [("trace".to_owned(), "a\nb".to_owned())].into());
        assert!(!told["key"].contains(&key[..30]), "{}", told["key"]);
        assert_eq!(told["trace"], "a b");
        let many = (0..100).map(|nth| (format!("n{nth}"), "x".repeat(1_000)));
        note(&mut told, many.collect());
        assert_eq!(told.len(), MOST_NAMES);
        assert!(told.values().all(|value| value.chars().count() <= VALUE));
    }
}
