//! The request as a body of the model's format, by the library's own conversion.

use epitome::Format;
use epitome::convert::Goal;
use epitome::model::Model as Facts;
use epitome::summarize::{SYSTEM, SummaryRequest};
use epitome::wire;
use epitome::wire::json::{self, Span};
use serde_json::{Value, json};

use crate::endpoint::Endpoint;

/// Tokens for reasoning before the answer, where a model reasons: without them nothing is left of the limit.
pub(crate) const REASONING: u64 = 16_000;

/// The most tokens of an answer, reasoning included: twice what is asked for, since models miscount.
pub(crate) fn most_output(max_tokens: u64, facts: Option<&Facts>) -> u64 {
    let reasons = facts.is_none_or(|facts| facts.thinking.is_some());
    let most = max_tokens.saturating_mul(2).max(256) + if reasons { REASONING } else { 0 };
    facts.and_then(|facts| facts.output).map_or(most, |limit| most.min(limit))
}

/// A server of one's own has small models. Which of them reason nobody knows before one did.
fn is_own(endpoint: &Endpoint) -> bool {
    endpoint.format == Format::OpenaiChat && !endpoint.is_openai()
}

/// Whether there is no room for reasoning in what is asked for at first: a small window has none to spare.
pub(crate) fn is_without_reasoning(endpoint: &Endpoint, facts: Option<&Facts>) -> bool {
    is_own(endpoint) && facts.is_none_or(|facts| facts.thinking.is_none())
}

/// The most tokens of the answer to `request`, `besides` for reasoning.
pub(crate) fn most_answer(
    request: &SummaryRequest,
    endpoint: &Endpoint,
    facts: Option<&Facts>,
    besides: u64,
) -> u64 {
    let most = match facts {
        None if is_own(endpoint) => request.max_tokens.saturating_mul(2).max(256),
        facts => most_output(request.max_tokens, facts),
    };
    let most = facts
        .and_then(|facts| facts.output)
        .map_or(most + besides, |limit| most.saturating_add(besides).min(limit));
    let Some(agents) = &request.body else { return most };
    // The agent's own budget for thinking is part of the limit, and stays: another one is another prompt.
    let most = most + budget(agents).unwrap_or_default();
    facts.and_then(|facts| facts.output).map_or(most, |limit| most.min(limit))
}

/// Tokens that a request gives to thinking.
fn budget(body: &str) -> Option<u64> {
    let inside = |path: &[&str]| {
        path.iter().try_fold(whole(body), |span, key| json::member(body, span, key))
    };
    let said = inside(&["thinking", "budget_tokens"])
        .or_else(|| inside(&["generationConfig", "thinkingConfig", "thinkingBudget"]))?;
    said.of(body).parse().ok()
}

fn whole(body: &str) -> Span {
    let start = body.find('{').unwrap_or_default();
    Span::new(start..body.len())
}

/// The agent's own prompt unchanged, except for streaming and the length of the answer: neither is part of the cached
/// prefix.
fn behind_agents(body: &str, endpoint: &Endpoint, most: u64) -> String {
    let mut body = body.to_owned();
    let most = most.to_string();
    let has = |body: &str, key| json::member(body, whole(body), key).is_some();
    match endpoint.format {
        Format::Gemini => {
            let limit = format!("{{\"maxOutputTokens\":{most}}}");
            let config = json::member(&body, whole(&body), "generationConfig");
            match config.filter(|config| config.of(&body).starts_with('{')) {
                Some(config) => put(&mut body, config, "maxOutputTokens", &most),
                None => put_whole(&mut body, "generationConfig", &limit),
            }
            return body;
        }
        Format::OpenaiResponses => put_whole(&mut body, "max_output_tokens", &most),
        Format::OpenaiChat => {
            let is_new = has(&body, "max_completion_tokens")
                || (!is_own(endpoint) && !has(&body, "max_tokens"));
            let key = if is_new { "max_completion_tokens" } else { "max_tokens" };
            put_whole(&mut body, key, &most);
            put_whole(&mut body, "stream_options", "{\"include_usage\":true}");
        }
        _ => put_whole(&mut body, "max_tokens", &most),
    }
    put_whole(&mut body, "stream", "true");
    body
}

fn put_whole(body: &mut String, key: &str, value: &str) {
    put(body, whole(body), key, value);
}

/// Sets `key` in the object at `object`, in place of its value or first.
fn put(body: &mut String, object: Span, key: &str, value: &str) {
    if let Some(said) = json::member(body, object, key) {
        body.replace_range(said.range(), value);
        return;
    }
    let inside = object.range().start + 1;
    let is_empty = body[inside..].trim_start().starts_with('}');
    let comma = if is_empty { "" } else { "," };
    body.insert_str(inside, &format!("{}:{value}{comma}", json::quote(key)));
}

/// The body.
pub(crate) fn body(
    request: &SummaryRequest,
    endpoint: &Endpoint,
    facts: Option<&Facts>,
    besides: u64,
) -> String {
    let most = most_answer(request, endpoint, facts, besides);
    if let Some(agents) = &request.body {
        return behind_agents(agents, endpoint, most);
    }
    let is_own = is_own(endpoint);
    let mut chat = json!({
        "model": endpoint.model,
        "messages": [
            { "role": "system", "content": SYSTEM },
            { "role": "user", "content": request.prompt() },
        ],
        "stream": true,
    });
    let most_key = if is_own { "max_tokens" } else { "max_completion_tokens" };
    chat[most_key] = most.into();
    match endpoint.format {
        Format::OpenaiChat => chat["stream_options"] = json!({ "include_usage": true }),
        Format::OpenaiResponses => chat["store"] = Value::Bool(false),
        _ => {}
    }
    let chat =
        wire::parse(Format::OpenaiChat, chat.to_string()).expect("it is a body of that format");
    let goal =
        Goal { format: endpoint.format, model: Some(&endpoint.model), max_output: Some(most) };
    epitome::convert::convert(&chat, goal).text
}

#[cfg(test)]
mod tests {
    use epitome::summarize::Tab;

    use super::*;

    fn of(format: Format, base: &str) -> Value {
        let request = SummaryRequest {
            version: 1,
            instruction: "Sum it up.".to_owned(),
            transcript: "<transcript a>…</transcript a>".to_owned(),
            so_far: String::new(),
            max_tokens: 500,
            about: epitome::engine::delegate::JobContext::default(),
            reason: None,
            body: None,
            ahead: 0,
            tab: Tab::default(),
        };
        let endpoint =
            Endpoint { format, base: base.to_owned(), model: "some-model".to_owned(), key: None };
        let body = body(&request, &endpoint, None, 0);
        let parsed = wire::parse(format, body.clone()).expect("a body");
        assert!(wire::check(&parsed).is_empty(), "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    #[test]
    fn what_the_agent_sends_stays_but_for_the_answers_length() {
        for (format, agents, sent) in [
            (
                Format::Anthropic,
                r#" {"model":"m","max_tokens":64,"thinking":{"type":"enabled","budget_tokens":20000},"messages":[{"role":"user","content":"é"}]}"#,
                r#" {"stream":true,"model":"m","max_tokens":37000,"thinking":{"type":"enabled","budget_tokens":20000},"messages":[{"role":"user","content":"é"}]}"#,
            ),
            (
                Format::OpenaiChat,
                r#"{"messages":[],"stream":false,"max_tokens":9}"#,
                r#"{"stream_options":{"include_usage":true},"messages":[],"stream":true,"max_tokens":17000}"#,
            ),
            (
                Format::OpenaiResponses,
                r#"{"input":"x"}"#,
                r#"{"stream":true,"max_output_tokens":17000,"input":"x"}"#,
            ),
            (
                Format::Gemini,
                r#"{"contents":[],"generationConfig":{ }}"#,
                r#"{"contents":[],"generationConfig":{"maxOutputTokens":17000 }}"#,
            ),
            (
                Format::Gemini,
                r#"{"contents":[]}"#,
                r#"{"generationConfig":{"maxOutputTokens":17000},"contents":[]}"#,
            ),
        ] {
            let request = SummaryRequest {
                version: 1,
                instruction: String::new(),
                transcript: String::new(),
                so_far: String::new(),
                max_tokens: 500,
                about: epitome::engine::delegate::JobContext::default(),
                reason: None,
                body: Some(agents.into()),
                ahead: 0,
                tab: Tab::default(),
            };
            let base = "https://api.openai.com/v1".to_owned();
            let endpoint = Endpoint { format, base, model: "m".to_owned(), key: None };
            assert_eq!(body(&request, &endpoint, None, 0), sent);
        }
    }

    #[test]
    fn each_format_is_told_the_same() {
        let openai = "https://api.openai.com/v1";
        let chat = of(Format::OpenaiChat, openai);
        assert_eq!(chat["max_completion_tokens"], 17_000);
        assert_eq!(chat["stream_options"]["include_usage"], true);
        let own = of(Format::OpenaiChat, "http://localhost:8080/v1");
        assert_eq!(own["max_tokens"], 1_000);
        let responses = of(Format::OpenaiResponses, openai);
        assert_eq!(
            (&responses["max_output_tokens"], &responses["store"]),
            (&json!(17_000), &json!(false))
        );
        let anthropic = of(Format::Anthropic, "https://api.anthropic.com");
        assert_eq!(
            (&anthropic["max_tokens"], &anthropic["stream"]),
            (&json!(17_000), &json!(true))
        );
        assert!(anthropic["system"].to_string().contains("call no tools"));
        let gemini = of(Format::Gemini, "https://generativelanguage.googleapis.com");
        assert_eq!(gemini["generationConfig"]["maxOutputTokens"], 17_000);
        assert!(gemini["contents"].to_string().contains("Sum it up."));
    }
}
