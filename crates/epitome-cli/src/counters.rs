//! Which counter counts for which model.

use std::sync::Arc;

use anyhow::Result;
use epitome::Request;
use epitome::count::{NAMES, TokenCounter, counter};
use epitome::wire::Format;

use crate::config::Settings;
use crate::failure::Failure;

/// The counter that the settings name, or the one of the model that they name, or of the request's
/// own, or else of its format.
///
/// # Errors
/// A model or counter that was asked for and isn't known.
pub(crate) fn choose(settings: &Settings, request: &Request) -> Result<Arc<dyn TokenCounter>> {
    let name = match (&settings.counter, &settings.model) {
        (Some(name), _) => name,
        (None, Some(model)) => of_model(model).ok_or_else(|| {
            Failure::usage(format!("no token counter is known for the model {model:?}"))
                .hint(format!("name one: --counter o200k (there are {})", NAMES.join(", ")))
        })?,
        (None, None) => own(request),
    };
    named(name)
}

/// The counter of this name.
pub(crate) fn named(name: &str) -> Result<Arc<dyn TokenCounter>> {
    counter(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("epitome count --help lists them").into()
    })
}

fn own(request: &Request) -> &'static str {
    let of_format = match request.format {
        Format::Anthropic => "claude",
        _ => "o200k",
    };
    request.model().and_then(|model| of_model(&model)).unwrap_or(of_format)
}

/// The counter of a model, by its name; gateways put their own names before it.
fn of_model(model: &str) -> Option<&'static str> {
    let model = model.to_ascii_lowercase();
    if model.contains("claude") {
        return Some("claude");
    }
    if model.contains("gemini") {
        return Some("gemini");
    }
    let name = model.rsplit('/').next()?;
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.strip_prefix("chatgpt-4o").map_or(name, |_| "gpt-4o");
    let is_reasoner =
        name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_reasoner || name.starts_with("codex-") {
        return Some("o200k");
    }
    let version = name.strip_prefix("gpt-")?;
    let newer = ["4o", "4.1", "4.5", "oss"];
    let older = ["4", "3.5", "35"];
    if newer.iter().any(|newer| version.starts_with(newer)) {
        Some("o200k")
    } else if older.iter().any(|older| is_version(version, older)) {
        Some("cl100k")
    } else {
        // Every encoding since 2024 has been this one.
        version.starts_with(|c: char| matches!(c, '5'..='9')).then_some("o200k")
    }
}

/// Whether `text` is the version, or goes on behind a `-`.
fn is_version(text: &str, version: &str) -> bool {
    text.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_counters() {
        for (model, counter) in [
            ("gpt-6-sol", Some("o200k")),
            ("gpt-4o-mini", Some("o200k")),
            ("openai/gpt-4.1", Some("o200k")),
            ("ft:gpt-4o:acme::x", Some("o200k")),
            ("o3-mini", Some("o200k")),
            ("gpt-oss-120b", Some("o200k")),
            ("gpt-4", Some("cl100k")),
            ("gpt-4-turbo", Some("cl100k")),
            ("gpt-3.5-turbo-16k", Some("cl100k")),
            ("gpt-35-turbo", Some("cl100k")),
            ("us.anthropic.claude-sonnet-4-5-v1:0", Some("claude")),
            ("models/gemini-3-pro", Some("gemini")),
            ("llama-4", None),
            ("opus", None),
            ("gpt-2", None),
        ] {
            assert_eq!(of_model(model), counter, "{model}");
        }
    }
}
