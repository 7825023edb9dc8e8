//! What replies tell of a prompt's size.

use std::future::Future;

use epitome::model::UsageReport;
use epitome::model::overflow::{AnswerKind, PromptOverflow, classify, classify_event};
use epitome::session::{CacheReport, PromptReport};
use serde_json::Value;

/// Takes what a reply reports of its prompt, once it has. Dropped, nothing is learnt.
pub type Tell = Box<dyn FnOnce(PromptReport) + Send + Sync>;

/// A reply of a provider.
pub trait Reply: Sized + Send {
    /// Reads what it tells of the prompt's size, and gives it back as it was. A reply that is a stream
    /// should be left alone, but for its first events, which may say that the prompt is too long.
    fn read(self) -> impl Future<Output = (Self, Read)> + Send;

    /// The same reply, which calls `tell` when what passes through it has told the tokens of the prompt. Asked where
    /// [`read`](Self::read) found nothing. Without such a way nothing is learnt of replies that are streams.
    #[must_use]
    fn telling(self, tell: Tell) -> Self {
        drop(tell);
        self
    }
}

/// What a reply tells of the prompt's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// Nothing.
    Nothing,
    /// How many tokens the prompt has.
    Prompt(PromptReport),
    /// That it is too long, and perhaps by how much; or that it left the reply no room.
    TooLong(PromptOverflow),
}

impl Read {
    /// Reads a status and a body.
    pub fn of(status: u16, body: &str) -> Read {
        if !(200..300).contains(&status) {
            let AnswerKind::Overflow(overflow) = classify(status, body) else {
                return Read::Nothing;
            };
            return Read::TooLong(overflow);
        }
        match said_error(body) {
            Some(AnswerKind::Overflow(overflow)) => Read::TooLong(overflow),
            _ => Read::unseen(heard(None, body)),
        }
    }

    /// What a reply tells by its report, while nobody has seen anything of it.
    pub fn unseen(report: Option<PromptReport>) -> Read {
        match report {
            // Where most of the window is the reply's, a smaller prompt doesn't help.
            Some(PromptReport { window: Some(window), tokens, .. }) if tokens > window / 2 => {
                Read::TooLong(PromptOverflow::of_window(window))
            }
            told => told.map_or(Read::Nothing, Read::Prompt),
        }
    }
}

/// The error in an event, or in a whole reply with status 200: some gateways pass an upstream's error on that way, or the
/// bare body of one. `None` of anything else.
pub fn said_error(json: &str) -> Option<AnswerKind> {
    let is_bare = || {
        let Ok(Value::Object(said)) = serde_json::from_str(json) else { return false };
        said.get("object").is_some_and(|kind| kind == "error")
            || said.len() == 1 && said.contains_key("detail")
    };
    let bare = || is_bare().then(|| classify(400, json));
    classify_event(json).or_else(bare)
}

/// What is reported of a prompt after another piece of its reply, an event's JSON or all of it, knowing what was before.
pub fn heard(before: Option<PromptReport>, json: &str) -> Option<PromptReport> {
    let Ok(body) = serde_json::from_str::<Value>(json) else { return before };
    let told = UsageReport::of(&body).filter(|report| report.billed.prompt() > 0);
    let told = told.map(|UsageReport { billed, kept }| PromptReport {
        tokens: billed.prompt(),
        cache: kept.map(|kept| CacheReport { read: billed.read, kept }),
        window: None,
    });
    let mut told = told.or(before)?;
    // An event at the end may tell of the reply alone.
    told.cache = told.cache.or(before.and_then(|before| before.cache));
    if classify_event(json) == Some(AnswerKind::CutShort) {
        let output = body.pointer("/usage/output_tokens").and_then(Value::as_u64);
        told.window = Some(told.tokens + output.unwrap_or(0));
    }
    Some(told)
}

/// A reply whose body is at hand.
impl<B> Reply for http::Response<B>
where
    B: AsRef<[u8]> + Send,
{
    async fn read(self) -> (Self, Read) {
        let body = std::str::from_utf8(self.body().as_ref()).unwrap_or_default();
        let read = Read::of(self.status().as_u16(), body);
        (self, read)
    }
}

/// A refusal is read whole; a reply that isn't one is left alone, since it may be a stream.
#[cfg(feature = "reqwest")]
impl Reply for reqwest::Response {
    async fn read(self) -> (Self, Read) {
        if self.status().is_success() {
            return (self, Read::Nothing);
        }
        let mut whole = http::Response::builder().status(self.status()).version(self.version());
        if let Some(headers) = whole.headers_mut() {
            headers.clone_from(self.headers());
        }
        let status = self.status().as_u16();
        // A refusal that can't be read to its end tells nothing, but is one.
        let body = self.bytes().await.unwrap_or_default();
        let read = Read::of(status, std::str::from_utf8(&body).unwrap_or_default());
        let whole = whole.body(body).unwrap_or_default();
        (whole.into(), read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_counted_with_what_came_from_a_cache() {
        for (body, tokens) in [
            (r#"{"usage":{"prompt_tokens":12,"prompt_tokens_details":{"cached_tokens":5}}}"#, 12),
            (r#"{"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":5}}}"#, 12),
            (
                r#"{"usage":{"input_tokens":12,"cache_read_input_tokens":5,"cache_creation_input_tokens":3}}"#,
                20,
            ),
            (r#"{"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":5}}"#, 12),
            (r#"{"usage":{"total_input_tokens":12,"total_cached_tokens":5}}"#, 12),
            (r#"{"usage":{"inputTokens":12,"cacheReadInputTokens":5}}"#, 17),
            (r#"{"type":"message_start","message":{"usage":{"input_tokens":12}}}"#, 12),
            (r#"{"type":"response.completed","response":{"usage":{"input_tokens":12}}}"#, 12),
        ] {
            let Read::Prompt(report) = Read::of(200, body) else { panic!("{body}") };
            assert_eq!(report.tokens, tokens, "{body}");
        }
        for body in ["", "data: {}", "{}", "[1]", r#"{"usage":{"prompt_tokens":-1}}"#] {
            assert_eq!(Read::of(200, body), Read::Nothing, "{body}");
        }
    }

    #[test]
    fn an_error_is_one_whatever_the_status_says() {
        let words = "This model's maximum context length is 20096 tokens. However, your messages resulted in 50000 tokens.";
        for body in [
            format!(r#"{{"error":{{"message":"{words}","code":400}},"user_id":"u"}}"#),
            format!(r#"{{"id":"g","choices":[],"error":{{"message":"{words}","code":400}}}}"#),
            format!(r#"{{"object":"error","message":"{words}","code":400}}"#),
            format!(r#"{{"detail":"{words}"}}"#),
        ] {
            let Read::TooLong(overflow) = Read::of(200, &body) else { panic!("{body}") };
            assert_eq!(overflow.limit, Some(20_096), "{body}");
        }
        for body in [
            r#"{"error":null,"usage":{"input_tokens":12}}"#.to_owned(),
            format!(
                r#"{{"choices":[{{"message":{{"content":"{words}"}}}}],"usage":{{"prompt_tokens":12}}}}"#
            ),
            format!(r#"{{"detail":"{words}","usage":{{"prompt_tokens":12}}}}"#),
        ] {
            assert!(matches!(Read::of(200, &body), Read::Prompt(_)), "{body}");
        }
        let busy = r#"{"error":{"code":429,"message":"Rate limit reached"}}"#;
        assert_eq!(Read::of(200, busy), Read::Nothing);
    }

    #[test]
    fn what_the_cache_had_to_do_with_it_is_told() {
        for (body, read, kept) in [
            (
                r#"{"usage":{"input_tokens":12,"cache_read_input_tokens":5,"cache_creation_input_tokens":3}}"#,
                5,
                8,
            ),
            (
                r#"{"usage":{"prompt_tokens":2100,"prompt_tokens_details":{"cached_tokens":1024}}}"#,
                1024,
                2048,
            ),
            (
                r#"{"usage":{"prompt_tokens":900,"prompt_tokens_details":{"cached_tokens":0}}}"#,
                0,
                0,
            ),
            (
                r#"{"usage":{"input_tokens":2100,"input_tokens_details":{"cached_tokens":9,"cache_write_tokens":50}}}"#,
                9,
                59,
            ),
            (
                r#"{"usageMetadata":{"promptTokenCount":5000,"cachedContentTokenCount":500}}"#,
                500,
                0,
            ),
        ] {
            let cache = heard(None, body).and_then(|told| told.cache);
            assert_eq!(cache, Some(CacheReport { read, kept }), "{body}");
        }
        assert_eq!(heard(None, r#"{"usage":{"prompt_tokens":12}}"#).expect("told").cache, None);
    }

    #[test]
    fn a_reply_that_fills_the_window_tells_it() {
        let begun = r#"{"type":"message_start","message":{"usage":{"input_tokens":90,"cache_read_input_tokens":5}}}"#;
        let over = r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":5}}"#;
        let told = heard(heard(None, begun), over).expect("told");
        assert_eq!((told.tokens, told.window), (95, Some(100)));
        assert_eq!(told.cache.map(|cache| cache.read), Some(5));
        let whole = r#"{"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":95,"output_tokens":5}}"#;
        let Read::TooLong(overflow) = Read::of(200, whole) else { panic!("it is cut") };
        assert_eq!(overflow.tokens(), Some((None, Some(100))));
        let long =
            whole.replace("95", "5").replace(r#""output_tokens":5"#, r#""output_tokens":95"#);
        assert!(
            matches!(Read::of(200, &long), Read::Prompt(told) if told.window == Some(100)),
            "{long}"
        );
    }

    #[test]
    fn only_a_refusal_for_its_length_says_that_it_is_too_long() {
        let long = r#"{"error":{"message":"prompt is too long: 207791 tokens > 200000 maximum"}}"#;
        let Read::TooLong(told) = Read::of(400, long) else { panic!("it is one") };
        assert_eq!(told.tokens(), Some((Some(207_791), Some(200_000))));
        assert_eq!(Read::of(429, long), Read::Nothing);
        assert_eq!(Read::of(400, r#"{"error":{"message":"no"}}"#), Read::Nothing);
        assert_eq!(Read::of(502, "<html>"), Read::Nothing);
    }
}
