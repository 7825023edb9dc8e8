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
    /// A request was refused; what that teaches is [said](Window::refused).
    pub fn refused(&mut self, model: &str, overflow: &PromptOverflow, counted: Option<u64>) {
        if overflow.tokens().is_some() {
            self.models.entry(model.to_owned()).or_default().refused(overflow, counted);
        }
    }

    /// A request of `prompt` tokens, as the provider reported them, was accepted.
    pub fn accepted(&mut self, model: &str, prompt: u64) {
        self.models.entry(model.to_owned()).or_default().accepted(prompt);
    }
}

impl Window {
    /// A request was refused. `counted` is its size by our own count, where all of it can be counted.
    ///
    /// A limit is believed where the request, with the room for its reply, is above it, and nothing larger was accepted. Sizes in
    /// bytes teach nothing about tokens, nor does our count of less than the provider accepted.
    pub fn refused(&mut self, overflow: &PromptOverflow, counted: Option<u64>) {
        let Some((used, limit)) = overflow.tokens() else { return };
        if let Some(limit) = limit {
            let reply = overflow.reply.unwrap_or(0);
            let is_above = counted.is_none_or(|counted| counted.saturating_add(reply) > limit);
            if !is_above || self.accepted > Some(limit) {
                return;
            }
            // The newest word counts: a provider may have changed it.
            *self = Window { limit: Some(limit), refused: None, ..*self };
        }
        let is_news = |counted: &u64| limit.is_none() && self.accepted < Some(*counted);
        if let Some(used) = used.or(counted.filter(is_news)) {
            self.refused = Some(self.refused.map_or(used, |least| least.min(used)));
            // What is refused now is no longer accepted.
            self.accepted = self.accepted.filter(|accepted| *accepted < used);
        }
    }

    /// A request of `prompt` tokens was accepted.
    pub fn accepted(&mut self, prompt: u64) {
        self.accepted = Some(self.accepted.map_or(prompt, |most| most.max(prompt)));
        self.limit = self.limit.filter(|limit| prompt <= *limit);
        self.refused = self.refused.filter(|least| prompt < *least);
    }

    /// What two credentials were told alike: the same limit, or without one that the larger of two prompts is too long.
    pub(crate) fn agreed(&self, other: &Window) -> Option<Window> {
        let limit = self.limit.filter(|limit| other.limit == Some(*limit));
        let refused = self.refused.zip(other.refused).map(|(one, other)| one.max(other));
        let refused = refused.filter(|_| self.limit.or(other.limit).is_none());
        limit.or(refused).map(|_| Window { limit, refused, accepted: None })
    }

    /// The most tokens that a prompt may have, given what the table says: an error's own figure goes
    /// first, what was refused bounds it from above, what was accepted from below.
    pub fn most(&self, known: Option<u64>) -> Option<u64> {
        let most = match (self.limit.or(known), self.refused) {
            (Some(most), Some(refused)) => Some(most.min(refused.saturating_sub(1))),
            (most, refused) => most.or(refused.map(|refused| refused.saturating_sub(1))),
        };
        most.map(|most| most.max(self.accepted.unwrap_or(0)))
    }
}
