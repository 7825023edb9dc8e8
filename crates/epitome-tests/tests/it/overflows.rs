//! Errors of size: each row of PROVIDERS.md B.5, as it comes over the wire.

use epitome::model::overflow::{
    AnswerKind, LimitUnit, PATTERNS, PromptOverflow, classify, classify_event,
};
use serde_json::json;

fn overflow(status: u16, body: &str) -> PromptOverflow {
    match classify(status, body) {
        AnswerKind::Overflow(overflow) => overflow,
        other => panic!("{other:?}: {body}"),
    }
}

/// Whose words, what they count, used, reply, limit.
type Read = (&'static str, LimitUnit, Option<u64>, Option<u64>, Option<u64>);

const fn tokens(provider: &'static str, used: Option<u64>, limit: Option<u64>) -> Read {
    (provider, LimitUnit::Tokens, used, None, limit)
}

const fn with_reply(provider: &'static str, used: u64, reply: u64, limit: u64) -> Read {
    (provider, LimitUnit::Tokens, Some(used), Some(reply), Some(limit))
}

/// B.5, row by row.
const MESSAGES: [(&str, Read); 38] = [
    // Anthropic
    (
        "prompt is too long: 207791 tokens > 200000 maximum",
        tokens("anthropic", Some(207_791), Some(200_000)),
    ),
    (
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        with_reply("anthropic", 178_959, 64_000, 200_000),
    ),
    ("prompt is too long", tokens("anthropic", None, None)),
    // OpenAI Chat
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130561 tokens. Please reduce the length of the messages.",
        tokens("openai", Some(130_561), Some(128_000)),
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce.",
        with_reply("openai", 8000, 1000, 8192),
    ),
    (
        "This model's maximum context length is 8,192 tokens. However, you requested 9,050 tokens (8,000 in the messages, 50 in the functions, and 1,000 in the completion).",
        with_reply("openai", 8050, 1000, 8192),
    ),
    // OpenAI Responses
    (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        tokens("openai", None, None),
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301124 tokens. Please reduce the length of the messages.",
        tokens("openai", Some(301_124), Some(272_000)),
    ),
    (
        "Input tokens exceed the configured limit of 922000 tokens.",
        tokens("openai", None, Some(922_000)),
    ),
    ("The prompt would exceed customer model maximum of something", tokens("openai", None, None)),
    (
        "Invalid 'input': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.",
        ("openai", LimitUnit::Characters, Some(11_000_000), None, Some(10_485_760)),
    ),
    // Gemini
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        tokens("gemini", Some(1_196_265), Some(1_048_575)),
    ),
    (
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        tokens("gemini", None, Some(1_048_576)),
    ),
    (
        "Request payload size exceeds the limit: 20971520 bytes. Please use the File API.",
        ("gemini", LimitUnit::Bytes, None, None, Some(20_971_520)),
    ),
    // Bedrock
    ("Input is too long for requested model.", tokens("bedrock", None, None)),
    ("ValidationException: input tokens exceeded", tokens("bedrock", None, None)),
    ("too many total text bytes: 25000001", ("bedrock", LimitUnit::Bytes, None, None, None)),
    (
        "prompt tokens (210000) exceed model maximum (200000)",
        tokens("bedrock", Some(210_000), Some(200_000)),
    ),
    // vLLM, SGLang, TGI
    (
        "This model's maximum context length is 32768 tokens. However, you requested 33000 tokens (32500 in the messages, 500 in the completion).",
        with_reply("openai", 32_500, 500, 32_768),
    ),
    (
        "You passed 40000 input tokens and requested 2000 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 30768 tokens.",
        with_reply("vllm", 40_000, 2000, 32_768),
    ),
    (
        "The prompt (length 40000) exceeds the max_model_len of 32768",
        tokens("vllm", None, Some(32_768)),
    ),
    (
        "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
        tokens("sglang", Some(40_000), Some(32_768)),
    ),
    (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens",
        tokens("sglang", None, Some(32_768)),
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`",
        with_reply("tgi", 4000, 512, 4096),
    ),
    // llama.cpp
    (
        "the request exceeds the available context size, try increasing it",
        tokens("llama.cpp", None, None),
    ),
    (
        "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        tokens("llama.cpp", Some(9000), Some(4096)),
    ),
    // Ollama
    ("the input length exceeds the context length", tokens("ollama", None, None)),
    ("the prompt is longer than the context length", tokens("ollama", None, None)),
    ("exceeded max context length by 12 tokens", tokens("ollama", None, None)),
    // Others
    (
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        tokens("cerebras", Some(9000), Some(8192)),
    ),
    ("The maximum input length is 131072 tokens", tokens("other", None, Some(131_072))),
    (
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        tokens("mistral", Some(65_673), Some(32_768)),
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        tokens("xai", Some(200_000), Some(131_072)),
    ),
    (
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        tokens("kimi", Some(300_000), Some(262_144)),
    ),
    ("invalid params, context window exceeds limit (2013)", tokens("minimax", None, None)),
    ("input too long: 9000 input tokens, limit is 8192", tokens("other", Some(9000), Some(8192))),
    ("tokens exceed context limit", tokens("other", None, None)),
    ("This is larger than the model's maximum context limit", tokens("other", None, None)),
];

#[test]
fn every_row_is_read() {
    for (message, (provider, unit, used, reply, limit)) in MESSAGES {
        // As OpenAI and its compatibles wrap it, as Anthropic does, as Gemini does, and bare.
        for body in [
            json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages"}}).to_string(),
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string(),
            json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}).to_string(),
            json!({"message": message}).to_string(),
            json!({"detail": [{"msg": message}]}).to_string(),
            message.to_owned(),
            format!("<html><body>{message}</body></html>"),
        ] {
            for status in [400, 413, 422] {
                let got = overflow(status, &body);
                let got = (got.provider.as_str(), got.unit, got.used, got.reply, got.limit);
                assert_eq!(got, (provider, unit, used, reply, limit), "{status} {body}");
            }
            assert_eq!(classify(429, &body), AnswerKind::Throttled, "429 goes first: {body}");
            for status in [401, 403, 404, 502, 503, 529] {
                assert_eq!(classify(status, &body), AnswerKind::Other, "{status} {body}");
            }
        }
    }
}

#[test]
fn every_pattern_is_met_by_a_row() {
    let bodies: Vec<String> = MESSAGES
        .iter()
        .map(|(message, _)| *message)
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
