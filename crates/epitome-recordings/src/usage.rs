//! What the provider said a request cost in tokens, as the agent wrote it down.

use std::ops::Range;

use epitome::wire::json::{Span, key_is, members, unquote};

/// Tokens that a provider reported for one request and its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that no cache was involved in.
    pub input: u64,
    /// Prompt tokens that were read from the cache.
    pub cache_read: u64,
    /// Prompt tokens that were written to the cache.
    pub cache_write: u64,
    /// Those of them that stay in it for the longer time, which costs more.
    pub cache_write_long: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
}

impl Usage {
    /// All tokens of the prompt: system text, tools, and what lies before the reply.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

/// What was reported with one reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The entries that are the reply; the prompt was what lies before them.
    pub reply: Range<usize>,
    /// The tokens.
    pub usage: Usage,
    /// The model that replied, where the recording says so.
    pub model: Option<String>,
}

/// What was reported with a reply, before it is known which entries that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) usage: Usage,
    /// The model, as a JSON literal.
    pub(crate) model: Option<&'a str>,
}

/// How a format calls the counts, and what each includes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    input: &'static [&'static str],
    output: &'static [&'static str],
    /// Counted beside the output.
    reasoning: &'static [&'static str],
    cache_read: &'static [&'static str],
    cache_write: &'static [&'static str],
    /// Counted within what is written.
    cache_write_long: &'static [&'static str],
    input_is: Input,
}

/// What a format's count of input tokens stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// What no cache was involved in.
    Fresh,
    /// The whole prompt.
    Prompt,
}

impl Names {
    /// `usage` of Anthropic's Messages.
    pub(crate) const ANTHROPIC: Names = Names {
        input: &["input_tokens"],
        output: &["output_tokens"],
        reasoning: &[],
        cache_read: &["cache_read_input_tokens"],
        cache_write: &["cache_creation_input_tokens"],
        cache_write_long: &["ephemeral_1h_input_tokens"],
        input_is: Input::Fresh,
    };

    /// `usage` of pi's, in which the input is what no cache was involved in, whatever the provider.
    pub(crate) const PI: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &[],
        cache_read: &["cacheRead"],
        cache_write: &["cacheWrite"],
        cache_write_long: &["cacheWrite1h"],
        input_is: Input::Fresh,
    };

    /// `tokens` of opencode, which counts reasoning beside the output.
    pub(crate) const OPENCODE: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &["reasoning"],
        cache_read: &[],
        cache_write: &[],
        cache_write_long: &[],
        input_is: Input::Fresh,
    };

    /// `tokens.cache` of opencode.
    pub(crate) const OPENCODE_CACHE: Names = Names {
        input: &[],
        output: &[],
        reasoning: &[],
        cache_read: &["read"],
        cache_write: &["write"],
        cache_write_long: &[],
        input_is: Input::Fresh,
    };

    /// `tokens` of Gemini CLI.
    pub(crate) const GEMINI_CLI: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &["thoughts"],
        cache_read: &["cached"],
        cache_write: &[],
        cache_write_long: &[],
        input_is: Input::Prompt,
    };

    /// `last_token_usage` of Codex, in whose output the reasoning is counted.
    pub(crate) const CODEX: Names = Names {
        input: &["input_tokens"],
        output: &["output_tokens"],
        reasoning: &[],
        cache_read: &["cached_input_tokens"],
        cache_write: &["cache_write_input_tokens"],
        cache_write_long: &[],
        input_is: Input::Prompt,
    };
}

impl Usage {
    /// With the model that replied.
    pub(crate) fn by(self, model: Option<&str>) -> Counted<'_> {
        Counted { usage: self, model }
    }

    /// Reads the counts of an object; `None` if it isn't one or counts nothing.
    pub(crate) fn read(raw: &str, names: Names) -> Option<Self> {
        let mut found = members(raw, Span::new(0..raw.len())).ok()?;
        // Anthropic's say in an object of its own for how long what is written stays.
        let lives = found.iter().rev().find(|(key, _)| key_is(raw, *key, "cache_creation"));
        let lives = lives.and_then(|(_, value)| members(raw, *value).ok());
        found.extend(lives.into_iter().flatten());
        let count = |wanted: &[&str]| {
            let values = found.iter().filter(|(key, _)| wanted.contains(&&*unquote(key.of(raw))));
            // Written as `1.0` or below zero, a count is none.
            values.filter_map(|(_, value)| value.of(raw).parse::<u64>().ok()).next_back()
        };
        let cache_read = count(names.cache_read).unwrap_or(0);
        let cache_write = count(names.cache_write).unwrap_or(0);
        let cache_write_long = count(names.cache_write_long).unwrap_or(0).min(cache_write);
        let input = count(names.input).unwrap_or(0);
        let output = count(names.output).unwrap_or(0);
        let usage = Usage {
            input: match names.input_is {
                Input::Fresh => input,
                Input::Prompt => input.saturating_sub(cache_read).saturating_sub(cache_write),
            },
            cache_read,
            cache_write,
            cache_write_long,
            output: output.saturating_add(count(names.reasoning).unwrap_or(0)),
        };
        (usage != Usage::default()).then_some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_longer_in_the_cache_is_told_apart() {
        let raw = r#"{"input_tokens":1,"cache_creation_input_tokens":30,"output_tokens":2,
            "cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}"#;
        let usage =
            Usage { input: 1, cache_write: 30, cache_write_long: 20, output: 2, cache_read: 0 };
        assert_eq!(Usage::read(raw, Names::ANTHROPIC), Some(usage));
        let raw = r#"{"input":1,"output":2,"cacheRead":0,"cacheWrite":30,"cacheWrite1h":20}"#;
        assert_eq!(Usage::read(raw, Names::PI), Some(usage));
        // More than all can't be.
        let raw = r#"{"input":1,"output":2,"cacheRead":0,"cacheWrite":30,"cacheWrite1h":99}"#;
        let read = Usage::read(raw, Names::PI).expect("counts");
        assert_eq!((read.cache_write, read.cache_write_long), (30, 30));
    }
}
