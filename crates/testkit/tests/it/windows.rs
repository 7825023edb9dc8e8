//! PROVIDERS.md B.5: what is longer than the window is refused, in each provider's words.

use serde_json::{Value, json};
use testkit::server::{Api, ApiError, Call, Endpoint, Judge, Model};

use crate::{with, words};

/// What is said to a model with a window of 5,000 tokens. A message has four tokens besides its words.
struct Asked {
    api: Api,
    model: &'static str,
    body: Value,
}

fn asked(api: Api, model: &'static str, tokens: usize, more: &[(&str, Value)]) -> Asked {
    let said = words(tokens);
    let body = match api {
        Api::Responses => json!({"input": [{"role": "user", "content": said}]}),
        Api::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": said}]}]}),
        Api::Converse => json!({"messages": [{"role": "user", "content": [{"text": said}]}]}),
        _ => json!({"messages": [{"role": "user", "content": said}]}),
    };
    let body = match api {
        Api::Gemini | Api::Converse => body,
        _ => with(body, &[("model", json!(model))]),
    };
    Asked { api, model, body: with(body, more) }
}

/// Tokens of the prompt.
fn judged(asked: &Asked, endpoint: Endpoint) -> Result<u64, ApiError> {
    let Asked { api, model, body } = asked;
    let mut judge = Judge::default();
    let known = Model::named(model).expect("known");
    judge.models.put(Model { window: 5_000, max_output: 5_000, ..known });
    let call = Call { model: Some(model), endpoint, ..Call::new(*api, body) };
    judge.validate(&call).map(|understood| understood.prompt.tokens())
}

#[test]
fn the_window_is_a_wall() {
    let answer = |tokens: u64| [("max_tokens", json!(tokens))];
    let overflow = Some("context_length_exceeded");
    for (asked, refusal, code) in [
        // The answer may end with the window.
        (asked(Api::Anthropic, "claude-opus-5-5", 4_500, &answer(1_000)), None, None),
        (
            asked(Api::Anthropic, "claude-opus-5-5", 6_000, &answer(1_000)),
            Some("prompt is too long: 6005 tokens > 5000 maximum"),
            None,
        ),
        (
            asked(Api::Anthropic, "claude-sonnet-4-20250514", 4_500, &answer(1_000)),
            Some(
                "input length and `max_tokens` exceed context limit: 4505 + 1000 > 5000, decrease input length or \
                 `max_tokens` and try again",
            ),
            None,
        ),
        (asked(Api::Chat, "gpt-4o", 4_000, &answer(500)), None, None),
        (
            asked(Api::Chat, "gpt-4o", 6_000, &[]),
            Some(
                "This model's maximum context length is 5000 tokens. However, your messages resulted in 6005 tokens. \
                 Please reduce the length of the messages.",
            ),
            overflow,
        ),
        (
            asked(Api::Chat, "gpt-4o", 4_000, &answer(2_000)),
            Some(
                "This model's maximum context length is 5000 tokens. However, you requested 6005 tokens (4005 in the \
                 messages, 2000 in the completion). Please reduce the length of the messages or completion.",
            ),
            overflow,
        ),
        (
            asked(Api::Responses, "gpt-5.5", 6_000, &[]),
            Some(
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
            ),
            overflow,
        ),
        (
            asked(Api::Gemini, "gemini-3.1-pro", 6_000, &[]),
            Some(
                "The input token count (6005) exceeds the maximum number of tokens allowed (5000).",
            ),
            None,
        ),
        (
            asked(Api::Converse, "us.anthropic.claude-opus-5-5-v1:0", 6_000, &[]),
            Some("Input is too long for requested model."),
            None,
        ),
    ] {
        let refused = judged(&asked, Endpoint::Generate).err();
        let message = refused.as_ref().map(|refused| refused.message.as_str());
        assert_eq!(message, refusal, "{}", asked.api);
        if let Some(refused) = refused.filter(|_| code.is_some()) {
            assert_eq!(refused.code.as_deref(), code, "{}", asked.api);
        }
    }
}

#[test]
fn counting_takes_anything() {
    let long = asked(Api::Gemini, "gemini-3.1-pro", 6_000, &[]);
    assert_eq!(judged(&long, Endpoint::Count), Ok(6_005));
    let wrapped = Asked { body: json!({"generateContentRequest": long.body}), ..long };
    assert_eq!(judged(&wrapped, Endpoint::Count), Ok(6_005), "both ways");
    let long = asked(Api::Responses, "gpt-5.5", 6_000, &[]);
    assert_eq!(judged(&long, Endpoint::Count), Ok(6_005));
}

#[test]
fn responses_may_be_cut() {
    let said = |tokens| json!({"role": "user", "content": words(tokens)});
    let more = [("input", json!([said(4_000), said(4_000)])), ("truncation", json!("auto"))];
    let long = asked(Api::Responses, "gpt-5.5", 0, &more);
    assert_eq!(judged(&long, Endpoint::Generate), Ok(4_005));
}
