//! What differs between models, as far as a compaction must know it.

use serde::{Deserialize, Serialize};

use crate::json::{self, Span, unquote};
use crate::request::Request;

/// Whether a model's reasoning is bound to the prefix that it was made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// Reasoning may be passed back behind an edited prefix.
    Free,
    /// It may not: after an edit all of it is stripped.
    Prefix,
    /// It may not, and the open loop's turn must start with it (thinking enabled by hand): the open
    /// loop leaves as a whole.
    PrefixManual,
}

/// Whether the turn in progress must start with thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It must: thinking was enabled by hand (PROVIDERS.md B.1.3).
    Manual,
    /// Adaptive, off, or nothing was said.
    Other,
}

impl Thinking {
    /// The mode that the request asks for.
    pub fn of(request: &Request) -> Self {
        let mode = request.thinking().and_then(|raw| {
            let mode = json::member(raw, Span::new(0..raw.len()), "type")?;
            Some(unquote(mode.of(raw)).into_owned())
        });
        if mode.as_deref() == Some("enabled") { Thinking::Manual } else { Thinking::Other }
    }
}

/// Models that check the prefix of their reasoning (PROVIDERS.md B.1.4).
const BOUND: [&str; 6] = [
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

impl Binding {
    /// The binding that the request's model and reasoning mode bring.
    pub fn of(request: &Request) -> Self {
        let model = request.model().unwrap_or_default();
        let asked = request.thinking().is_some_and(|raw| raw.contains("\"block_binding\""));
        if !asked && !BOUND.iter().any(|bound| model.contains(bound)) {
            return Binding::Free;
        }
        match Thinking::of(request) {
            Thinking::Manual => Binding::PrefixManual,
            Thinking::Other => Binding::Prefix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    #[test]
    fn is_read_from_model_and_mode() {
        let of = |head: &str| {
            let body = format!(r#"{{{head},"messages":[]}}"#);
            Binding::of(&parse(Format::Anthropic, body).expect("a body"))
        };
        assert_eq!(of(r#""model":"claude-opus-4-5""#), Binding::Free);
        assert_eq!(of(r#""model":"claude-opus-5-5-20261001""#), Binding::Prefix);
        assert_eq!(
            of(r#""model":"claude-opus-5-5","thinking":{"type":"enabled"}"#),
            Binding::PrefixManual
        );
        assert_eq!(
            of(r#""model":"x","thinking":{"type":"adaptive","block_binding":{}}"#),
            Binding::Prefix
        );
    }
}
