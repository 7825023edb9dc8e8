//! The request as a body of the model's format, by the library's own conversion.

use epitome::Format;
use epitome::model::Model as Facts;
use epitome::summarize::{SYSTEM, SummaryRequest};
use epitome::wire::{self, Goal};
use serde_json::{Value, json};

use crate::endpoint::Endpoint;

/// Tokens for reasoning before the answer, where a model reasons: without them nothing is left of the limit.
const REASONING: u64 = 16_000;

/// The most tokens of an answer, reasoning included: twice what is asked for, since models miscount.
pub(crate) fn most_output(max_tokens: u64, facts: Option<&Facts>) -> u64 {
    let reasons = facts.is_none_or(|facts| facts.thinking.is_some());
    let most = max_tokens.saturating_mul(2).max(256) + if reasons { REASONING } else { 0 };
    facts.and_then(|facts| facts.output).map_or(most, |limit| most.min(limit))
}

/// The body.
pub(crate) fn body(request: &SummaryRequest, endpoint: &Endpoint, facts: Option<&Facts>) -> String {
    // A server of one's own has small models, that don't reason unless the table says so.
    let is_own = endpoint.format == Format::OpenaiChat && !endpoint.is_openai();
    let most = match facts {
        None if is_own => request.max_tokens.saturating_mul(2).max(256),
        facts => most_output(request.max_tokens, facts),
    };
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
    wire::convert(&chat, goal).text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(format: Format, base: &str) -> Value {
        let request = SummaryRequest {
            version: 1,
            instruction: "Sum it up.".to_owned(),
            transcript: "<transcript a>…</transcript a>".to_owned(),
            ledger: String::new(),
            max_tokens: 500,
            reason: None,
            ahead: 0,
        };
        let endpoint =
            Endpoint { format, base: base.to_owned(), model: "some-model".to_owned(), key: None };
        let body = body(&request, &endpoint, None);
        let parsed = wire::parse(format, body.clone()).expect("a body");
        assert!(wire::check(&parsed).is_empty(), "{body}");
        serde_json::from_str(&body).expect("JSON")
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
