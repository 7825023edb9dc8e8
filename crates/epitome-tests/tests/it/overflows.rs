//! Errors of size: each row of PROVIDERS.md B.5, as it comes over the wire.

use std::collections::BTreeSet;

use epitome::model::overflow::{
    AnswerKind, LimitUnit, PATTERNS, PromptOverflow, classify, classify_event,
};
use expect_test::expect_file;
use serde_json::json;
use testkit::page;

fn overflow(status: u16, body: &str) -> PromptOverflow {
    match classify(status, body) {
        AnswerKind::Overflow(overflow) => overflow,
        other => panic!("{other:?}: {body}"),
    }
}

/// The message as OpenAI and its compatibles wrap it, as Anthropic does, as Gemini does, and bare.
fn wrapped(message: &str) -> [String; 7] {
    [
        json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages"}}).to_string(),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string(),
        json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}).to_string(),
        json!({"message": message}).to_string(),
        json!({"detail": [{"msg": message}]}).to_string(),
        message.to_owned(),
        format!("<html><body>{message}</body></html>"),
    ]
}

/// Whose words, what they count, used, reply, limit.
#[test]
fn every_row_is_read() {
    page::check(&expect_file!["overflows.txt"], |case| {
        let bodies = wrapped(&case.name);
        for body in &bodies {
            assert_eq!(classify(429, body), AnswerKind::Throttled, "429 goes first: {body}");
            for status in [401, 403, 404, 502, 503, 529] {
                assert_eq!(classify(status, body), AnswerKind::Other, "{status} {body}");
            }
        }
        let statuses = [400, 413, 422];
        let read = bodies.iter().flat_map(|body| statuses.map(|status| overflow(status, body)));
        let told: BTreeSet<String> = read
            .map(|PromptOverflow { provider, unit, used, reply, limit, .. }| {
                let numbers = [("used", used), ("reply", reply), ("limit", limit)];
                let numbers = numbers.into_iter().filter_map(|(name, n)| Some((name, n?)));
                let numbers = numbers.map(|(name, n)| format!(", {name} {n}"));
                format!("{provider}: {unit:?}{}", numbers.collect::<String>())
            })
            .collect();
        told.into_iter().collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn every_pattern_is_met_by_a_row() {
    let bodies: Vec<String> = include_str!("overflows.txt")
        .lines()
        .filter(|line| !line.starts_with(['#', ' ']))
        .chain(CODES.map(|(_, body)| body))
        .map(str::to_lowercase)
        .collect();
    for pattern in PATTERNS {
        let literal = pattern.text.split(['{', ':']).next().unwrap_or_default();
        let is_met = bodies.iter().any(|body| body.contains(literal));
        assert!(is_met, "no row is like {:?}", pattern.text);
    }
}

/// Errors that are told by a code or by their shape.
const CODES: [(&str, &str); 5] = [
    ("openai", r#"{"error":{"message":"…","code":"context_length_exceeded"}}"#),
    (
        "llama.cpp",
        r#"{"error":{"code":400,"message":"…","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
    ),
    ("llama.cpp", r#"{"error":{"code":400,"message":"…","type":"exceed_context_size_error"}}"#),
    (
        "anthropic",
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
    ),
    (
        "openai",
        r#"{"error":{"message":"litellm.ContextWindowExceededError: {\"error\":{\"code\":\"context_length_exceeded\"}}"}}"#,
    ),
];

#[test]
fn codes_tell_as_well() {
    for (provider, body) in CODES {
        assert_eq!(overflow(400, body).provider, provider, "{body}");
    }
    let llama = overflow(400, CODES[1].1);
    assert_eq!((llama.used, llama.limit), (Some(9000), Some(4096)));
    let large = overflow(413, CODES[3].1);
    assert_eq!((large.unit, large.tokens()), (LimitUnit::Bytes, None));
    let mute = overflow(413, "<html>413 Request Entity Too Large</html>");
    assert_eq!((mute.provider.as_str(), mute.unit), ("http", LimitUnit::Bytes));
}

#[test]
fn errors_within_errors_are_read_through_their_escapes() {
    let inner = r#"{"type":"error","error":{"message":"prompt is too long: 207791 tokens \u003e 200000 maximum"}}"#;
    for body in [
        inner.to_owned(),
        json!({"error": {"message": format!("BadRequestError: {inner}")}}).to_string(),
        format!("upstream said: {inner}"),
    ] {
        let got = overflow(400, &body);
        assert_eq!((got.used, got.limit), (Some(207_791), Some(200_000)), "{body}");
    }
}

#[test]
fn what_only_looks_like_it_is_not() {
    for body in [
        r#"{"error":{"message":"Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.","code":"string_above_max_length"}}"#,
        r#"{"error":{"message":"Invalid 'user': string too long. Expected a string with maximum length 64."}}"#,
        r#"{"error":{"message":"Invalid value for 'temperature'","code":"decimal_above_max_value"}}"#,
        r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 5000 + 200000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
        r#"{"error":{"message":"messages.1: `tool_use` ids were found without `tool_result` blocks"}}"#,
        "",
        "not json",
    ] {
        assert_eq!(classify(400, body), AnswerKind::Other, "{body}");
    }
    // Too many tokens a minute are not too many tokens, whatever the status says.
    for body in [
        r#"{"error":{"message":"Request too large for gpt-6-sol on tokens per min (TPM): Limit 30000, Requested 60000.","code":"rate_limit_exceeded"}}"#,
        r#"{"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."}"#,
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#,
    ] {
        assert_eq!(classify(400, body), AnswerKind::Throttled, "{body}");
    }
}

/// Errors repeat what a client sent, which may be the words of an overflow.
#[test]
fn what_an_error_repeats_of_the_request_is_no_overflow() {
    let echo = "This model's maximum context length is 2000 tokens. However, your messages resulted in 3000 tokens.";
    let named = |code: &str, param: &str| {
        json!({"error": {"message": echo, "type": "invalid_request_error", "code": code, "param": param}}).to_string()
    };
    for body in [
        named("invalid_value", "reasoning_effort"),
        named("", "reasoning_effort"),
        named("unsupported_value", "messages"),
        json!({"error": {"message": format!("Invalid value: '{echo}'. Supported values are: 'low'.")}}).to_string(),
        json!({"error": {"message": format!("Invalid value: 'x' {echo}'. Supported values are: 'low'.")}}).to_string(),
        json!({"error": {"message": format!("got {:?}", json!({"message": echo}).to_string())}}).to_string(),
        json!({"type": "error", "error": {"message": format!("metadata.user_id: Extra inputs are not permitted: {echo}")}}).to_string(),
        json!({"detail": [{"loc": ["body", echo], "msg": "Input should be a list", "input": {"role": echo}}]}).to_string(),
        json!({"error": {"message": format!("{}: {echo}", "No such thing. ".repeat(50))}}).to_string(),
        format!("unknown field \"{echo}\""),
    ] {
        assert_eq!(classify(400, &body), AnswerKind::Other, "{body}");
        let event = format!("event: error\ndata: {body}");
        assert!(matches!(classify_event(&event), None | Some(AnswerKind::Other)), "{event}");
    }
    for (code, param) in [("context_length_exceeded", "messages"), ("400", "None"), ("", "input")] {
        assert_eq!(overflow(400, &named(code, param)).limit, Some(2000), "{code} {param}");
    }
}

#[test]
fn errors_inside_a_stream_that_began_well_are_found() {
    for event in [
        // OpenAI Responses
        r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."},"usage":null}}"#,
        r#"{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}"#,
        // Chat Completions and llama.cpp
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
        // Anthropic
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 207791 tokens > 200000 maximum"}}"#,
        // Gemini
        r#"[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]"#,
        // Bedrock
        r#"{"validationException":{"message":"Input is too long for requested model."}}"#,
    ] {
        for form in
            [event.to_owned(), format!("data: {event}\n\n"), format!("event: error\ndata: {event}")]
        {
            let verdict = classify_event(&form);
            assert!(matches!(verdict, Some(AnswerKind::Overflow(_))), "{verdict:?}: {form}");
        }
    }
    let older = r#"error: {"code":400,"message":"exceeds the available context size"}"#;
    assert!(matches!(classify_event(older), Some(AnswerKind::Overflow(_))));
    let busy =
        r#"data: {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    assert_eq!(classify_event(busy), Some(AnswerKind::Throttled));
    let overloaded =
        r#"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(classify_event(overloaded), Some(AnswerKind::Other));
}

#[test]
fn a_reply_that_filled_the_window_was_cut_short() {
    for event in [
        r#"data: {"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message","role":"assistant","content":[],"stop_reason":"model_context_window_exceeded"}"#,
    ] {
        assert_eq!(classify_event(event), Some(AnswerKind::CutShort), "{event}");
    }
}

#[test]
fn what_a_model_says_is_no_error() {
    for event in [
        r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"prompt is too long: 5 tokens > 4 maximum"}}"#,
        r#"data: {"choices":[{"delta":{"content":"context_length_exceeded"}}],"error":null}"#,
        r#"{"type":"response.output_text.delta","delta":"Your input exceeds the context window of this model."}"#,
        r#"{"type":"response.completed","response":{"error":null,"output":[]}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"exceeds the maximum number of tokens allowed"}]}}]}"#,
        "data: [DONE]",
        ": ping",
        "",
        "{",
    ] {
        assert_eq!(classify_event(event), None, "{event}");
    }
}
