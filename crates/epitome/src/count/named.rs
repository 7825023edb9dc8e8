//! Counters by name, for configuration and command lines.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::{BytesPer, CharsPer, TokenCounter};

/// The names that [`counter`] knows.
pub const NAMES: &[&str] = &[
    #[cfg(feature = "o200k")]
    "o200k",
    #[cfg(feature = "cl100k")]
    "cl100k",
    #[cfg(feature = "o200k")]
    "claude",
    #[cfg(feature = "o200k")]
    "gemini",
    #[cfg(feature = "o200k")]
    "deepseek",
    #[cfg(feature = "o200k")]
    "llama",
    #[cfg(feature = "o200k")]
    "mistral",
    #[cfg(feature = "o200k")]
    "qwen",
    #[cfg(feature = "o200k")]
    "other",
    "chars4",
    "bytes4",
];

/// There is no counter of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no token counter is called {name:?}; there are {}", NAMES.join(", "))]
pub struct UnknownCounter {
    /// The name asked for.
    pub name: String,
}

/// The counter of this name, one of [`NAMES`].
pub fn counter(name: &str) -> Result<Arc<dyn TokenCounter>, UnknownCounter> {
    const FOUR: NonZeroU32 = NonZeroU32::new(4).expect("4 isn't 0");
    Ok(match name {
        #[cfg(feature = "o200k")]
        "o200k" => Arc::new(super::Bpe::o200k()),
        #[cfg(feature = "cl100k")]
        "cl100k" => Arc::new(super::Bpe::cl100k()),
        #[cfg(feature = "o200k")]
        "claude" => Arc::new(super::Claude::new()),
        #[cfg(feature = "o200k")]
        "gemini" => Arc::new(super::Gemini::new()),
        #[cfg(feature = "o200k")]
        "deepseek" => Arc::new(super::Kin::deepseek()),
        #[cfg(feature = "o200k")]
        "llama" => Arc::new(super::Kin::llama()),
        #[cfg(feature = "o200k")]
        "mistral" => Arc::new(super::Kin::mistral()),
        #[cfg(feature = "o200k")]
        "qwen" => Arc::new(super::Kin::qwen()),
        #[cfg(feature = "o200k")]
        "other" => Arc::new(super::Kin::other()),
        "chars4" => Arc::new(CharsPer::new(FOUR)),
        "bytes4" => Arc::new(BytesPer::new(FOUR)),
        _ => return Err(UnknownCounter { name: name.to_owned() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_the_counter_that_bears_it() {
        for name in NAMES {
            assert_eq!(counter(name).expect("listed").name(), *name);
        }
    }

    #[test]
    fn the_error_lists_the_names() {
        let error = counter("p50k").expect_err("not listed").to_string();
        assert!(error.contains("p50k") && error.ends_with("chars4, bytes4"), "{error}");
    }
}
