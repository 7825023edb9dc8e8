//! What replies report of their tokens, in each format.

use serde_json::Value;

use super::entry::Billed;

/// The tokens that a reply, or an event of one, reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageReport {
    /// The billed tokens.
    pub billed: Billed,
    /// How much of the prompt is in the cache from now on; `None` if nothing is reported about a cache.
    pub kept: Option<u64>,
}

/// The possible place of a reply's usage: all of it, or the member of an event.
pub fn reply_levels(said: &Value) -> impl Iterator<Item = &Value> {
    let nested = ["message", "response", "interaction"].into_iter();
    std::iter::once(said).chain(nested.filter_map(|name| said.get(name)))
}

impl UsageReport {
    /// The usage in a whole reply, or in an event of a stream; `None` if there is none.
    pub fn of(said: &Value) -> Option<Self> {
        reply_levels(said).find_map(|said| {
            let is_there = |at| said.pointer(at).is_some_and(|value| !value.is_null());
            FORMATS.iter().find(|names| is_there(names.told_by))?.read(said)
        })
    }
}

/// Where a format says what, as pointers.
struct Names {
    /// What only this format has, or one further down.
    told_by: &'static str,
    prompt: &'static str,
    read: &'static str,
    written: &'static str,
    /// Counted in the written tokens.
    written_long: &'static str,
    /// Its parts.
    output: [&'static str; 2],
    cached: Cached,
}

/// How cache reads and writes are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cached {
    /// Beside the rest of the prompt.
    Beside,
    /// Part of the prompt. Without a report of writes, everything is cached from 1,024 tokens on, in steps of 128.
    Within,
    /// Part of the prompt; cache writes aren't reported.
    Unkept,
}

/// No such member.
const NONE: &str = "/usage/ ";

const FORMATS: [Names; 6] = [
    Names {
        told_by: "/usageMetadata",
        prompt: "/usageMetadata/promptTokenCount",
        read: "/usageMetadata/cachedContentTokenCount",
        written: NONE,
        written_long: NONE,
        output: ["/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"],
        cached: Cached::Unkept,
    },
    // Gemini's Interactions.
    Names {
        told_by: "/usage/total_input_tokens",
        prompt: "/usage/total_input_tokens",
        read: "/usage/total_cached_tokens",
        written: NONE,
        written_long: NONE,
        output: ["/usage/total_output_tokens", "/usage/total_thought_tokens"],
        cached: Cached::Unkept,
    },
    // OpenAI's Chat Completions.
    Names {
        told_by: "/usage/prompt_tokens",
        prompt: "/usage/prompt_tokens",
        read: "/usage/prompt_tokens_details/cached_tokens",
        written: "/usage/prompt_tokens_details/cache_write_tokens",
        written_long: NONE,
        output: ["/usage/completion_tokens", NONE],
        cached: Cached::Within,
    },
    // OpenAI's Responses.
    Names {
        told_by: "/usage/input_tokens_details",
        prompt: "/usage/input_tokens",
        read: "/usage/input_tokens_details/cached_tokens",
        written: "/usage/input_tokens_details/cache_write_tokens",
        written_long: NONE,
        output: ["/usage/output_tokens", NONE],
        cached: Cached::Within,
    },
    // Bedrock's Converse.
    Names {
        told_by: "/usage/inputTokens",
        prompt: "/usage/inputTokens",
        read: "/usage/cacheReadInputTokens",
        written: "/usage/cacheWriteInputTokens",
        written_long: NONE,
        output: ["/usage/outputTokens", NONE],
        cached: Cached::Beside,
    },
    // Anthropic's Messages. Later events of a stream only have changes.
    Names {
        told_by: "/usage",
        prompt: "/usage/input_tokens",
        read: "/usage/cache_read_input_tokens",
        written: "/usage/cache_creation_input_tokens",
        written_long: "/usage/cache_creation/ephemeral_1h_input_tokens",
        output: ["/usage/output_tokens", NONE],
        cached: Cached::Beside,
    },
];

impl Names {
    fn read(&self, said: &Value) -> Option<UsageReport> {
        let number = |at: &str| said.pointer(at).and_then(Value::as_u64);
        let or_none = |at: &str| number(at).unwrap_or(0);
        let (prompt, read, written) =
            (or_none(self.prompt), number(self.read), number(self.written));
        let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
        let written_long = or_none(self.written_long).min(written.unwrap_or(0));
        let billed = Billed {
            fresh: match self.cached {
                Cached::Beside => prompt,
                Cached::Within | Cached::Unkept => prompt.saturating_sub(cached),
            },
            read: read.unwrap_or(0),
            written: written.unwrap_or(0) - written_long,
            written_long,
            output: self.output.iter().map(|at| or_none(at)).fold(0, u64::saturating_add),
        };
        let kept = match self.cached {
            Cached::Beside => read.or(written).map(|_| cached),
            Cached::Within if written.is_none() => {
                read.map(|_| if prompt < 1024 { 0 } else { prompt / 128 * 128 })
            }
            Cached::Within => read.map(|_| cached),
            Cached::Unkept => read.map(|_| 0),
        };
        (billed != Billed::default()).then_some(UsageReport { billed, kept })
    }
}

impl Billed {
    /// Merges the usage of two events of one reply. A later one may repeat the prompt, but without the lifetime of cache
    /// writes, or cover only the reply.
    #[must_use]
    pub fn and_then(self, later: Billed) -> Billed {
        let prompt = if later.prompt() < self.prompt() { self } else { later };
        let written_long = self.written_long.max(later.written_long);
        let written = prompt.written.saturating_add(prompt.written_long);
        Billed {
            written: written.saturating_sub(written_long),
            written_long,
            output: self.output.max(later.output),
            ..prompt
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn billed(said: &str) -> Option<Billed> {
        let said = serde_json::from_str(said).expect("JSON");
        UsageReport::of(&said).map(|report| report.billed)
    }

    #[test]
    fn each_api_tells_what_is_billed() {
        let of = |fresh, read, written, written_long, output| {
            Some(Billed { fresh, read, written, written_long, output })
        };
        for (said, expected) in [
            (
                r#"{"usage":{"input_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":2},"output_tokens":3}}"#,
                of(7, 5, 7, 2, 3),
            ),
            (
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#,
                of(7, 0, 0, 0, 1),
            ),
            (
                r#"{"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5,"cache_write_tokens":2}}}"#,
                of(5, 5, 2, 0, 3),
            ),
            (
                r#"{"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":null}}"#,
                of(12, 0, 0, 0, 3),
            ),
            (
                r#"{"response":{"usage":{"input_tokens":12,"output_tokens":3,"input_tokens_details":{"cached_tokens":5,"cache_write_tokens":4}}}}"#,
                of(3, 5, 4, 0, 3),
            ),
            (
                r#"{"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1}}"#,
                of(7, 5, 0, 0, 3),
            ),
            (
                r#"{"interaction":{"usage":{"total_input_tokens":12,"total_cached_tokens":5,"total_output_tokens":2,"total_thought_tokens":1}}}"#,
                of(7, 5, 0, 0, 3),
            ),
            (
                r#"{"usage":{"inputTokens":7,"cacheReadInputTokens":5,"cacheWriteInputTokens":9,"outputTokens":3,"totalTokens":24}}"#,
                of(7, 5, 9, 0, 3),
            ),
            (r#"{"usage":null}"#, None),
            (r#"{"choices":[]}"#, None),
        ] {
            assert_eq!(billed(said), expected, "{said}");
        }
    }

    #[test]
    fn absurd_usage_numbers_are_harmless() {
        let most = r#"{"usageMetadata":{"promptTokenCount":18446744073709551615,"candidatesTokenCount":18446744073709551615,"thoughtsTokenCount":18446744073709551615}}"#;
        assert_eq!(billed(most).map(|billed| billed.output), Some(u64::MAX));
        for strange in [
            r#"{"usage":{"prompt_tokens":-7,"completion_tokens":"many"}}"#,
            r#"{"usage":{"input_tokens":1e300,"output_tokens":null}}"#,
            r#"{"usage":[1],"usageMetadata":{"promptTokenCount":[1],"candidatesTokenCount":{}}}"#,
        ] {
            assert_eq!(billed(strange), None, "{strange}");
        }
    }

    #[test]
    fn what_events_say_is_billed_once() {
        let all = |events: &[&str]| {
            events.iter().filter_map(|event| billed(event)).reduce(Billed::and_then)
        };
        let begun = r#"{"message":{"usage":{"input_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":9},"output_tokens":1}}}"#;
        let expected = Billed { fresh: 7, read: 5, written: 0, written_long: 9, output: 3 };
        for over in [
            r#"{"usage":{"output_tokens":3}}"#,
            r#"{"usage":{"input_tokens":7,"output_tokens":3}}"#,
            r#"{"usage":{"input_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":9,"output_tokens":3}}"#,
        ] {
            assert_eq!(all(&[begun, over]), Some(expected), "{over}");
        }
        let first = r#"{"usage":{"prompt_tokens":12,"completion_tokens":1}}"#;
        let last = r#"{"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}}"#;
        let expected = Billed { fresh: 7, read: 5, output: 3, ..Billed::default() };
        assert_eq!(all(&[first, last]), Some(expected));
    }
}
