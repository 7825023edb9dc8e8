//! Windows as they turn out to be: what errors and accepted requests teach.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::overflow::PromptOverflow;

/// Learnt facts, by the model's name in requests. The caller keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Learnt {
    /// Of each model.
    pub models: BTreeMap<String, Window>,
}

/// A window's bounds from use, in tokens of prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    /// The limit that an error named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The smallest prompt that was refused as too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// The largest prompt that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
}

impl Learnt {
    /// A request was refused. `counted` is its size by our own count, for errors without a size, if all of it can be counted.
    ///
    /// Sizes in bytes teach nothing about tokens, nor does our count of less than the provider accepted.
    pub fn refused(&mut self, model: &str, overflow: &PromptOverflow, counted: Option<u64>) {
        let Some((used, limit)) = overflow.tokens() else { return };
        let window = self.models.entry(model.to_owned()).or_default();
        if let Some(limit) = limit {
            // The newest word counts: a provider may have changed it.
            *window = Window { limit: Some(limit), refused: None, accepted: None };
        }
        let is_news = |counted: &u64| limit.is_none() && window.accepted < Some(*counted);
        if let Some(used) = used.or(counted.filter(is_news)) {
            window.refused = Some(window.refused.map_or(used, |least| least.min(used)));
            // A size that is refused now is no longer accepted.
            window.accepted = window.accepted.filter(|accepted| *accepted < used);
        }
    }

    /// A request of `prompt` tokens, as the provider reported them, was accepted.
    pub fn accepted(&mut self, model: &str, prompt: u64) {
        let window = self.models.entry(model.to_owned()).or_default();
        window.accepted = Some(window.accepted.map_or(prompt, |most| most.max(prompt)));
        window.limit = window.limit.filter(|limit| prompt <= *limit);
        window.refused = window.refused.filter(|least| prompt < *least);
    }
}

impl Window {
    /// The maximum tokens of a prompt, starting from the table's value: an error's own figure comes
    /// first, refused prompts bound it from above, accepted ones from below.
    pub fn most(&self, known: Option<u64>) -> Option<u64> {
        let most = match (self.limit.or(known), self.refused) {
            (Some(most), Some(refused)) => Some(most.min(refused.saturating_sub(1))),
            (most, refused) => most.or(refused.map(|refused| refused.saturating_sub(1))),
        };
        most.map(|most| most.max(self.accepted.unwrap_or(0)))
    }
}
