//! What the provider said a request cost in tokens, as the agent wrote it down.

use std::ops::Range;

use epitome::json::{Span, members, unquote};

/// Tokens that a provider reported for one request and its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that no cache was involved in.
    pub input: u64,
    /// Prompt tokens that were read from the cache.
    pub cache_read: u64,
    /// Prompt tokens that were written to the cache.
    pub cache_write: u64,
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
        input_is: Input::Fresh,
    };

    /// `usage` of pi's, in which the input is what no cache was involved in, whatever the provider.
    pub(crate) const PI: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &[],
        cache_read: &["cacheRead"],
        cache_write: &["cacheWrite"],
        input_is: Input::Fresh,
    };

    /// `tokens` of opencode, which counts reasoning beside the output.
    pub(crate) const OPENCODE: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &["reasoning"],
        cache_read: &[],
        cache_write: &[],
        input_is: Input::Fresh,
    };

    /// `tokens.cache` of opencode.
    pub(crate) const OPENCODE_CACHE: Names = Names {
        input: &[],
        output: &[],
        reasoning: &[],
        cache_read: &["read"],
        cache_write: &["write"],
        input_is: Input::Fresh,
    };

    /// `tokens` of Gemini CLI.
    pub(crate) const GEMINI_CLI: Names = Names {
        input: &["input"],
        output: &["output"],
        reasoning: &["thoughts"],
        cache_read: &["cached"],
        cache_write: &[],
        input_is: Input::Prompt,
    };

    /// `last_token_usage` of Codex, in whose output the reasoning is counted.
    pub(crate) const CODEX: Names = Names {
        input: &["input_tokens"],
        output: &["output_tokens"],
        reasoning: &[],
        cache_read: &["cached_input_tokens"],
        cache_write: &["cache_write_input_tokens"],
        input_is: Input::Prompt,
    };
}

impl Usage {
    /// Reads the counts of an object; `None` if it isn't one or counts nothing.
    pub(crate) fn read(raw: &str, names: Names) -> Option<Self> {
        let found = members(raw, Span::new(0..raw.len())).ok()?;
        let count = |wanted: &[&str]| {
            let values = found.iter().filter(|(key, _)| wanted.contains(&&*unquote(key.of(raw))));
            // Written as `1.0` or below zero, a count is none.
            values.filter_map(|(_, value)| value.of(raw).parse::<u64>().ok()).next_back()
        };
        let cache_read = count(names.cache_read).unwrap_or(0);
        let cache_write = count(names.cache_write).unwrap_or(0);
        let input = count(names.input).unwrap_or(0);
        let output = count(names.output).unwrap_or(0);
        let usage = Usage {
            input: match names.input_is {
                Input::Fresh => input,
                Input::Prompt => input.saturating_sub(cache_read).saturating_sub(cache_write),
            },
            cache_read,
            cache_write,
            output: output.saturating_add(count(names.reasoning).unwrap_or(0)),
        };
        (usage != Usage::default()).then_some(usage)
    }
}
