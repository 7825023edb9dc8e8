//! "It doesn't fit": which errors say so, and the figures in them.
//!
//! ```
//! use epitome::model::overflow::{AnswerKind, classify};
//!
//! let body = r#"{"error":{"message":"prompt is too long: 207791 tokens > 200000 maximum"}}"#;
//! let AnswerKind::Overflow(overflow) = classify(400, body) else { panic!("it is one") };
//! assert_eq!((overflow.used, overflow.limit), (Some(207_791), Some(200_000)));
//! assert_eq!(classify(429, body), AnswerKind::Throttled);
//! ```

mod pattern;
mod table;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use table::PATTERNS;

/// What an answer of a provider's means for the size of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnswerKind {
    /// Too many requests or tokens for now; the same request may be sent again.
    Throttled,
    /// Too long: the same request will never be taken.
    Overflow(PromptOverflow),
    /// It was taken, and the reply ended where the window did.
    CutShort,
    /// Something else, or nothing that is known.
    Other,
}

/// A request that was too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptOverflow {
    /// Whose words these are, as in [`PATTERNS`].
    pub provider: String,
    /// The unit of the counts.
    pub unit: LimitUnit,
    /// The size of the prompt, where it is told.
    pub used: Option<u64>,
    /// Room asked for the reply, where it counted towards the limit.
    pub reply: Option<u64>,
    /// The limit, where it is told.
    pub limit: Option<u64>,
}

impl PromptOverflow {
    /// A reply's report that it ended because prompt and reply filled the window.
    pub fn of_window(tokens: u64) -> Self {
        let (provider, unit) = ("anthropic".to_owned(), LimitUnit::Tokens);
        PromptOverflow { provider, unit, used: None, reply: None, limit: Some(tokens) }
    }
}

/// The unit of a limit. Tokens are not bytes: a large picture is few tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitUnit {
    /// Tokens.
    Tokens,
    /// Bytes of the body.
    Bytes,
    /// Characters of one text.
    Characters,
}

impl PromptOverflow {
    /// A refusal that tells so much, in tokens.
    pub fn of_tokens(used: Option<u64>, limit: Option<u64>) -> Self {
        PromptOverflow {
            provider: String::new(),
            unit: LimitUnit::Tokens,
            used,
            reply: None,
            limit,
        }
    }

    /// Size and limit in tokens; `None` if something else was counted. Where the room for the reply
    /// counted too, the prompt's size alone says nothing and is left out.
    pub fn tokens(&self) -> Option<(Option<u64>, Option<u64>)> {
        let used = self.used.filter(|_| self.reply.is_none());
        (self.unit == LimitUnit::Tokens).then_some((used, self.limit))
    }
}

/// Answers that say that a request was wrong. 500 is what some local servers say instead [BK].
const REFUSALS: [u16; 4] = [400, 413, 422, 500];

/// Reads an answer that isn't a success: its status and body, JSON or not.
pub fn classify(status: u16, body: &str) -> AnswerKind {
    if status == 429 {
        return AnswerKind::Throttled;
    }
    if !REFUSALS.contains(&status) {
        return AnswerKind::Other;
    }
    let verdict = if let Ok(value) = serde_json::from_str::<Value>(body) {
        by_value(&value)
    } else {
        let text = &body[..body.floor_char_boundary(LONGEST)];
        let mut own = String::new();
        let told = words::tell_text(text, "", &mut own).map(|()| plain(&own));
        by_words(&plain(text), told.as_deref())
    };
    match verdict {
        // Whatever it says, the status says that the body was too large.
        AnswerKind::Other if status == 413 => AnswerKind::Overflow(PromptOverflow {
            provider: "http".to_owned(),
            unit: LimitUnit::Bytes,
            used: None,
            reply: None,
            limit: None,
        }),
        verdict => verdict,
    }
}

/// Reads one event of a stream that began with status 200: the object, its `data:` line, or the whole
/// event with its `event:` line. `None` for events that are no error, whatever they say.
pub fn classify_event(event: &str) -> Option<AnswerKind> {
    let event = event.trim();
    let data = if event.starts_with(['{', '[']) { event.to_owned() } else { lines_of_data(event) };
    let value: Value = serde_json::from_str(&data).ok()?;
    // Gemini streams an array unless events are asked for.
    let value = match &value {
        Value::Array(values) => values.first()?,
        value => value,
    };
    let is_full = |at: &str| value.pointer(at).and_then(Value::as_str) == Some(WINDOW_FULL);
    if is_full("/delta/stop_reason") || is_full("/stop_reason") {
        return Some(AnswerKind::CutShort);
    }
    let names_error =
        event.lines().any(|line| line == "event: error" || line.starts_with("error:"));
    let error = match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "response.failed" => value.pointer("/response/error"),
        "error" => Some(value),
        _ if names_error => Some(value),
        _ => value.get("error").or_else(|| exception(value)),
    };
    error.filter(|error| !error.is_null()).map(by_value)
}

/// What an event carries: most send `data:`, llama.cpp's older servers `error:`.
fn lines_of_data(event: &str) -> String {
    let line = |line: &'static str| event.lines().filter_map(move |one| one.strip_prefix(line));
    let lines: Vec<&str> = line("data:").chain(line("error:")).map(str::trim_start).collect();
    lines.join("\n")
}

/// Bedrock's streams name the exception.
fn exception(value: &Value) -> Option<&Value> {
    let members = value.as_object()?;
    members.iter().find(|(key, _)| key.ends_with("Exception")).map(|(_, error)| error)
}

/// What the newer Claude models stop with when prompt and reply fill the window.
const WINDOW_FULL: &str = "model_context_window_exceeded";

/// Phrases of rate limits.
const THROTTLED: [&str; 8] = [
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate limit reached",
    "tokens per min",
    "throttlingexception",
    "too many requests",
    "resource_exhausted",
    "too many tokens, please wait",
];

/// What looks like it and isn't: a parameter of a request, not its length.
fn is_excluded(words: &str) -> bool {
    words.contains("string_above_max_length")
        || words.contains("invalid 'user'") && words.contains("string too long")
}

fn by_value(value: &Value) -> AnswerKind {
    by_words(&gathered(value), words::own_words(value).as_deref())
}

/// Reads all words of an error, and those of its own, which alone tell of the prompt: errors repeat what a client sent.
fn by_words(words: &str, own: Option<&str>) -> AnswerKind {
    if THROTTLED.iter().any(|sign| words.contains(sign)) {
        return AnswerKind::Throttled;
    }
    if is_excluded(words) {
        return AnswerKind::Other;
    }
    let found = PATTERNS.iter().find_map(|known| {
        let figures = pattern::find(known.text, own?)?;
        Some(PromptOverflow {
            provider: known.provider.to_owned(),
            unit: known.unit,
            used: figures.used,
            reply: figures.reply,
            limit: figures.limit,
        })
    });
    // Where the reply alone is to fill the window, no prompt is short enough.
    let leaves_room = |found: &PromptOverflow| {
        found.reply.zip(found.limit).is_none_or(|(reply, limit)| reply < limit)
    };
    found.filter(leaves_room).map_or(AnswerKind::Other, AnswerKind::Overflow)
}

/// More of an error body than this is no error message.
const LONGEST: usize = 1 << 16;

/// The words of an error, in lower case: its strings without escapes, and its figures.
fn gathered(value: &Value) -> String {
    let mut out = String::new();
    gather(value, "", &mut out);
    plain(&out)
}

/// Proxies put one error, as JSON, into the text of another.
fn plain(text: &str) -> String {
    text.to_lowercase().replace("\\\"", "\"").replace("\\u003e", ">").replace("\\n", "\n")
}

fn gather(value: &Value, key: &str, out: &mut String) {
    if out.len() > LONGEST {
        return;
    }
    match value {
        Value::String(text) => {
            out.extend([key, ": ", &text[..text.floor_char_boundary(LONGEST)], "\n"]);
        }
        Value::Number(number) => out.extend([key, ": ", &number.to_string(), "\n"]),
        Value::Array(values) => values.iter().for_each(|value| gather(value, key, out)),
        Value::Object(members) => members.iter().for_each(|(key, value)| gather(value, key, out)),
        Value::Null | Value::Bool(_) => {}
    }
}
