//! The limits that a request's reasoning puts on edits.

use serde::{Deserialize, Serialize};

use super::entry::Bound;
use super::registry::Registry;
use crate::request::Request;
use crate::wire::{Feature, Thinking};

/// Whether a model's reasoning is bound to the prefix that it was made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// Reasoning may be passed back behind an edited prefix.
    Free,
    /// It may not: an edit requires that all of it is stripped.
    Prefix,
    /// It may not, and the open loop's turn must start with it (thinking enabled by hand): the open
    /// loop leaves as a whole.
    PrefixManual,
}

impl Binding {
    /// Whether a view that was made for a model which binds is shown to one whose open loop must start with its reasoning, or
    /// was made for one.
    pub(crate) fn is_manual_with(self, shown_for: Binding) -> bool {
        self != Binding::Free && [self, shown_for].contains(&Binding::PrefixManual)
    }

    /// The binding that the request's own model and reasoning mode bring, by the built-in table.
    ///
    /// Gateways have their own names for models, and Bedrock's model is in the path. An unknown model is assumed to bind, unless
    /// thinking is enabled by hand, which only older models accept.
    pub fn of(request: &Request) -> Self {
        let dialect = request.format.dialect();
        let name = request.model();
        let known = name.as_ref().and_then(|name| Registry::built_in().known_bound(name));
        let is_elsewhere = dialect.has(Feature::ModelInUrl);
        let is_alias = name.is_some() && dialect.has(Feature::ThinkingModes);
        let may_bind = (is_elsewhere || is_alias) && Thinking::of(request) == Thinking::Other;
        let unknown = if may_bind { Bound::Refused } else { Bound::default() };
        Binding::under(request, known.unwrap_or(unknown))
    }

    /// The binding of the request, sent to a model that is bound so.
    pub fn under(request: &Request, bound: Bound) -> Self {
        // Gemini's signatures are bound to nothing, and no other provider reads them.
        let may_bind =
            [Feature::ThinkingModes, Feature::EncryptedReasoning, Feature::ReasoningContent];
        if !may_bind.iter().any(|feature| request.format.dialect().has(*feature)) {
            return Binding::Free;
        }
        let asked = request.thinking().is_some_and(|raw| raw.contains("\"block_binding\""));
        match Thinking::of(request) {
            _ if !asked && !bound.is_bound() => Binding::Free,
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
        assert_eq!(of(r#""model":"my-coder""#), Binding::Prefix, "nobody knows it");
        assert_eq!(of(r#""model":"my-coder","thinking":{"type":"enabled"}"#), Binding::Free);
        assert_eq!(of(r#""model":"claude-opus-5-5-20261001""#), Binding::Prefix);
        assert_eq!(of(r#""model":"us.anthropic.claude-sonnet-5-5-v1:0""#), Binding::Prefix);
        assert_eq!(of(r#""model":"claude-sonnet-6-20270101""#), Binding::Prefix, "by its family");
        assert_eq!(of(r#""model":"claude-mythos-5-1""#), Binding::Free, "recorded, not checked");
        assert_eq!(
            of(r#""model":"claude-opus-5-5","thinking":{"type":"enabled"}"#),
            Binding::PrefixManual
        );
        assert_eq!(
            of(r#""model":"x","thinking":{"type":"adaptive","block_binding":{}}"#),
            Binding::Prefix
        );
    }

    #[test]
    fn a_model_in_the_path_may_bind() {
        let of = |head: &str| {
            let thinking = format!(r#""additionalModelRequestFields":{{"thinking":{head}}}"#);
            let body = format!(r#"{{{thinking},"messages":[]}}"#);
            Binding::of(&parse(Format::Bedrock, body).expect("a body"))
        };
        assert_eq!(of(r#"{"type":"adaptive"}"#), Binding::Prefix);
        assert_eq!(of(r#"{"type":"enabled","budget_tokens":2048}"#), Binding::Free);
        let bare = parse(Format::Bedrock, r#"{"messages":[]}"#.to_owned()).expect("a body");
        assert_eq!(Binding::of(&bare), Binding::Prefix);
        let named = r#"{"modelId":"anthropic.claude-opus-4-5-v1:0","messages":[]}"#.to_owned();
        assert_eq!(Binding::of(&parse(Format::Bedrock, named).expect("a body")), Binding::Free);
    }

    #[test]
    fn signatures_of_gemini_are_bound_to_nothing() {
        for format in [Format::Gemini, Format::GeminiInteractions] {
            let body =
                if format == Format::Gemini { r#"{"contents":[]}"# } else { r#"{"input":[]}"# };
            let request = parse(format, body.to_owned()).expect("a body");
            assert_eq!(Binding::under(&request, Bound::Refused), Binding::Free);
        }
    }

    #[test]
    fn newer_gpts_are_bound() {
        for (model, binding) in [
            ("gpt-6.2-sol", Binding::Prefix),
            ("openai/gpt-6.2-astra-2026-11-18", Binding::Prefix),
            ("gpt-6.1-sol", Binding::Free),
            ("gpt-5.4", Binding::Free),
        ] {
            let body =
                format!(r#"{{"model":"{model}","input":[],"reasoning":{{"effort":"low"}}}}"#);
            let request = parse(Format::OpenaiResponses, body).expect("a body");
            assert_eq!(Binding::of(&request), binding, "{model}");
        }
    }
}
