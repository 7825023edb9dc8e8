//! What replies tell of a prompt's size.

use std::future::Future;

use epitome::model::overflow::{AnswerKind, PromptOverflow, classify};
use serde_json::Value;

/// Takes the tokens of a prompt, once its reply has told them. Dropped, nothing is learnt.
pub type Tell = Box<dyn FnOnce(u64) + Send + Sync>;

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
    Prompt(u64),
    /// That it is too long, and perhaps by how much.
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
        let body: Option<Value> = serde_json::from_str(body).ok();
        body.and_then(|body| prompt_tokens(&body)).map_or(Read::Nothing, Read::Prompt)
    }
}

/// Tokens of the prompt as the formats report them, what came from a cache included: in a whole reply, or in an event of one.
fn prompt_tokens(body: &Value) -> Option<u64> {
    let nested =
        ["message", "response", "interaction"].into_iter().filter_map(|name| body.get(name));
    std::iter::once(body).chain(nested).find_map(reported)
}

fn reported(body: &Value) -> Option<u64> {
    let number = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64);
    // Anthropic and Bedrock report what is read from a cache or written to it apart.
    let apart = |names: [&str; 2]| names.iter().filter_map(|name| number(name)).sum::<u64>();
    let whole =
        ["/usage/prompt_tokens", "/usageMetadata/promptTokenCount", "/usage/total_input_tokens"];
    if let Some(prompt) = whole.into_iter().find_map(number) {
        return Some(prompt);
    }
    if let Some(fresh) = number("/usage/input_tokens") {
        let names = ["/usage/cache_read_input_tokens", "/usage/cache_creation_input_tokens"];
        return Some(fresh + apart(names));
    }
    let fresh = number("/usage/inputTokens")?;
    Some(fresh + apart(["/usage/cacheReadInputTokens", "/usage/cacheWriteInputTokens"]))
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
            assert_eq!(Read::of(200, body), Read::Prompt(tokens), "{body}");
        }
        for body in ["", "data: {}", "{}", "[1]", r#"{"usage":{"prompt_tokens":-1}}"#] {
            assert_eq!(Read::of(200, body), Read::Nothing, "{body}");
        }
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
